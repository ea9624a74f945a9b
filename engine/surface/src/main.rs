//! The `bilinc` command.

/// Threads that make checkpoints come and go; the system's allocator keeps for each what it let go of
/// (`docs/decisions/0010-the-allocator-of-the-program.md`).
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    bilinc_surface::cli::main()
}
