//! Benchmarks of Bilinc: `bilinc-bench [--quick]`.

mod http;

fn main() -> std::io::Result<()> {
    let quick = std::env::args().any(|word| word == "--quick");
    for row in http::run(quick)? {
        println!("{row}");
    }
    Ok(())
}
