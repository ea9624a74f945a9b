//! How the guided run looks.

use std::io::Write;

use anstyle::{AnsiColor, Style as Escapes};

use super::Style;
use super::error::{DemoError, Step};

/// Longest line, in characters.
const WIDTH: usize = 98;
/// What stands before every line of a step.
const INDENT: &str = "   ";

/// How a piece of a line looks.
#[derive(Clone, Copy)]
pub(super) enum Paint {
    /// As it comes.
    Plain,
    /// A heading.
    Bold,
    /// What can be passed over.
    Faint,
    /// What went well.
    Green,
    /// What was left alone.
    Yellow,
    /// What can be typed.
    Cyan,
}

/// Where the guided run is written to.
pub(super) struct Page<'a> {
    out: &'a mut dyn Write,
    colour: bool,
    width: usize,
}

/// A part of a line: a text in a column of a width, and its look.
pub(super) struct Cell<'a>(pub(super) &'a str, pub(super) usize, pub(super) Paint);

impl<'a> Page<'a> {
    pub(super) fn new(out: &'a mut dyn Write, style: Style) -> Self {
        // Whether a style has colours shows in what it does with a text.
        let colour = style.bold("x") != "x";
        Self { out, colour, width: style.width().map_or(WIDTH, |width| width.min(WIDTH)) }
    }

    /// The title of the whole or of a step.
    pub(super) fn heading(&mut self, text: &str) -> Step {
        let painted = self.paint(text, Paint::Bold);
        self.line(&painted)
    }

    /// A line of explanation.
    pub(super) fn say(&mut self, text: &str) -> Step {
        self.line(&format!("{INDENT}{text}"))
    }

    /// The command line that does the same, with a remark behind it.
    pub(super) fn command(&mut self, command: &str, remark: &str) -> Step {
        let painted = self.paint(&format!("$ bilinc {command}"), Paint::Cyan);
        let remark = if remark.is_empty() { String::new() } else { self.paint(&format!("  # {remark}"), Paint::Faint) };
        self.line(&format!("{INDENT}{painted}{remark}"))
    }

    /// A command line in a list of them, and what it is for.
    pub(super) fn suggest(&mut self, command: &str, what: &str) -> Step {
        self.row(&[Cell(&format!("$ bilinc {command}"), 55, Paint::Cyan), Cell(what, 0, Paint::Faint)])
    }

    /// A row of a table. The last cell takes what is left of the line.
    pub(super) fn row(&mut self, cells: &[Cell<'_>]) -> Step {
        let mut line = String::from(INDENT);
        let mut used = INDENT.len();
        for (number, Cell(text, width, paint)) in cells.iter().enumerate() {
            let last = number + 1 == cells.len();
            let width = if last { self.width.saturating_sub(used) } else { *width };
            let shown = cut(text, width);
            let gap = if last { 0 } else { width.saturating_sub(shown.chars().count()) + 2 };
            line.push_str(&self.paint(&shown, *paint));
            line.push_str(&" ".repeat(gap));
            used += width + 2;
        }
        self.line(&line)
    }

    /// An empty line.
    pub(super) fn gap(&mut self) -> Step {
        self.line("")
    }

    fn paint(&self, text: &str, paint: Paint) -> String {
        let escapes = match paint {
            _ if !self.colour || text.is_empty() => Escapes::new(),
            Paint::Plain => Escapes::new(),
            Paint::Bold => Escapes::new().bold(),
            Paint::Faint => Escapes::new().dimmed(),
            Paint::Green => AnsiColor::Green.on_default(),
            Paint::Yellow => AnsiColor::Yellow.on_default(),
            Paint::Cyan => AnsiColor::Cyan.on_default(),
        };
        format!("{escapes}{text}{escapes:#}")
    }

    fn line(&mut self, text: &str) -> Step {
        writeln!(self.out, "{text}").map_err(DemoError::Output)
    }
}

/// The text in so many characters; what does not fit ends with `…`.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}
