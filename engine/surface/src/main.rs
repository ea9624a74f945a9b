//! The `bilinc` command.

fn main() -> std::process::ExitCode {
    bilinc_surface::cli::main()
}
