//! Tables.

use std::io::{self, Write};

use comfy_table::{ContentArrangement, Table, presets};
use unicode_width::UnicodeWidthStr;

use super::style::{Style, Tone};
use super::text::cut;

/// Space between columns.
const GAP: usize = 2;
/// Widest column beside the one that takes what is left.
const NARROW: usize = 50;
/// Least that the widest column gets.
const LEAST: usize = 20;
/// What it gets when nobody looks.
const UNSEEN: usize = 80;

/// A table whose rows are one line each. One column, the last, takes the width that the others
/// leave; what does not fit is cut.
pub(crate) struct Grid {
    headings: Vec<&'static str>,
    rows: Vec<(Tone, Vec<String>)>,
    whole: Vec<usize>,
}

impl Grid {
    /// A table with these headings.
    pub(crate) fn new(headings: &[&'static str]) -> Self {
        Self { headings: headings.to_vec(), rows: Vec::new(), whole: Vec::new() }
    }

    /// Never cuts this column, because it is there to be copied.
    pub(crate) fn whole(mut self, column: usize) -> Self {
        self.whole.push(column);
        self
    }

    /// Adds a row. Cells must be free of control characters.
    pub(crate) fn row(&mut self, tone: Tone, cells: Vec<String>) {
        self.rows.push((tone, cells));
    }

    /// Draws it.
    pub(crate) fn draw(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let widths = self.widths(style);
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(self.headings.clone());
        for (_, cells) in &self.rows {
            table.add_row(cells.iter().zip(&widths).map(|(cell, width)| cut(cell, *width)));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, 2));
        }
        let tones = std::iter::once(Tone::Strong).chain(self.rows.iter().map(|(tone, _)| *tone));
        for (line, tone) in table.lines().zip(tones) {
            writeln!(out, "{}", style.paint(tone, line.trim_end()))?;
        }
        Ok(())
    }

    /// How wide each column may be.
    fn widths(&self, style: Style) -> Vec<usize> {
        let last = self.headings.len().saturating_sub(1);
        let mut widths: Vec<usize> = (self.headings.iter().enumerate())
            .map(|(column, heading)| {
                let cells = self.rows.iter().filter_map(|(_, cells)| cells.get(column)).map(|cell| cell.width());
                let natural = cells.chain([heading.width()]).max().unwrap_or(0);
                if column == last || self.whole.contains(&column) { natural } else { natural.min(NARROW) }
            })
            .collect();
        let others: usize = widths.iter().take(last).map(|width| width + GAP).sum();
        if let Some(width) = widths.last_mut().filter(|_| !self.whole.contains(&last)) {
            let room = style.width().map_or(UNSEEN, |width| width.saturating_sub(others).max(LEAST));
            *width = (*width).min(room);
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn rows_are_one_line_each_and_long_cells_are_cut() {
        let mut grid = Grid::new(&["KEY", "VALUE"]);
        grid.row(Tone::Plain, vec!["a".repeat(50), "v".repeat(100)]);
        grid.row(Tone::Plain, vec!["b".into(), String::new()]);
        let mut out = Vec::new();
        grid.draw(&mut out, Style::plain()).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines.get(1).unwrap().width(), NARROW + GAP + UNSEEN);
        assert_eq!(*lines.get(2).unwrap(), "b");
    }

    #[test]
    fn what_is_there_to_be_copied_is_never_cut() {
        let mut grid = Grid::new(&["ID", "VALUE"]).whole(0);
        grid.row(Tone::Plain, vec!["a".repeat(50), "v".into()]);
        let mut out = Vec::new();
        grid.draw(&mut out, Style::plain()).unwrap();
        assert!(String::from_utf8(out).unwrap().contains(&"a".repeat(50)));
    }
}
