//! How output looks: colours and width.

use std::io::Write;

use anstream::ColorChoice;
use anstyle::AnsiColor;

/// Whether there are colours, how wide a line may be, and which store or server the reader named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style<'a> {
    colour: bool,
    width: Option<usize>,
    place: Option<&'a str>,
}

/// What a piece of output says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Tone {
    /// Nothing special.
    #[default]
    Plain,
    /// A heading or a name.
    Strong,
    /// Beside the point.
    Quiet,
    /// It went well.
    Good,
    /// Somebody should look at it.
    Warning,
    /// It went wrong.
    Bad,
}

impl<'a> Style<'a> {
    /// Plain text of any width: what goes into files and pipes.
    #[must_use]
    pub const fn plain() -> Self {
        Self { colour: false, width: None, place: None }
    }

    /// The same for a reader who named this store or server, as words of a shell: what there is to
    /// run next must name it, too, or it would happen to another one.
    #[must_use]
    pub(crate) const fn naming(self, place: Option<&'a str>) -> Self {
        Self { place, ..self }
    }

    /// What standard output can show. Colours only on a terminal, and never against `NO_COLOR`.
    #[must_use]
    pub fn of_stdout() -> Self {
        let stdout = std::io::stdout();
        Self {
            colour: anstream::AutoStream::choice(&stdout) != ColorChoice::Never,
            width: terminal_size::terminal_size_of(&stdout).map(|(width, _)| usize::from(width.0).max(40)),
            place: None,
        }
    }

    /// What standard error can show.
    #[must_use]
    pub fn of_stderr() -> Self {
        let stderr = std::io::stderr();
        Self { colour: anstream::AutoStream::choice(&stderr) != ColorChoice::Never, width: None, place: None }
    }

    /// How wide a line may be; none when nobody looks.
    #[must_use]
    pub const fn width(self) -> Option<usize> {
        self.width
    }

    /// Text in bold.
    #[must_use]
    pub fn bold(self, text: &str) -> String {
        self.paint(Tone::Strong, text)
    }

    /// Text that steps back.
    #[must_use]
    pub fn dim(self, text: &str) -> String {
        self.paint(Tone::Quiet, text)
    }

    /// Text in a tone. The text must be free of control characters.
    #[must_use]
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        let style = match tone {
            Tone::Plain => anstyle::Style::new(),
            Tone::Strong => anstyle::Style::new().bold(),
            Tone::Quiet => anstyle::Style::new().dimmed(),
            Tone::Good => AnsiColor::Green.on_default(),
            Tone::Warning => AnsiColor::Yellow.on_default(),
            Tone::Bad => AnsiColor::Red.on_default(),
        };
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// A line that says what to run next.
    pub(crate) fn next_step(self, out: &mut dyn Write, what: &str, command: &str) -> std::io::Result<()> {
        let command = match (self.place, command.strip_prefix("bilinc ")) {
            (Some(place), Some(rest)) => format!("bilinc {place} {rest}"),
            _ => command.to_owned(),
        };
        writeln!(out, "{} {}", self.dim(what), self.bold(&command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_stays_as_it_is() {
        assert_eq!(Style::plain().paint(Tone::Bad, "x"), "x");
        let colours = Style { colour: true, width: None, place: None };
        assert!(colours.paint(Tone::Bad, "x").contains("\u{1b}["));
    }
}
