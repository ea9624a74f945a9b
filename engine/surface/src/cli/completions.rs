//! Completion scripts.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::args::Cli;
use super::console::Console;
use super::errors::CliError;

/// Options of `completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bilinc completions bash > ~/.local/share/bash-completion/completions/bilinc
  bilinc completions zsh > \"${fpath[1]}/_bilinc\"
  bilinc completions fish > ~/.config/fish/completions/bilinc.fish")]
pub(super) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a completion script.
pub(super) fn completions(console: &mut Console<'_>, args: &CompletionsArgs) -> Result<(), CliError> {
    // Through memory, because the generator panics when its writer fails.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "bilinc", &mut script);
    Ok(console.out.write_all(&script)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shell_gets_a_script() {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::Elvish, Shell::PowerShell] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "bilinc", &mut script);
            assert!(String::from_utf8_lossy(&script).contains("commit"), "{shell}");
        }
    }
}
