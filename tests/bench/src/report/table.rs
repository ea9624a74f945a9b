//! Tables in Markdown, straight on a screen, too.

use super::{beside, number};
use crate::rows::{Better, Measured, Verdict};

/// A table in the making.
#[derive(Debug)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    /// A table with these columns.
    pub(crate) fn new(columns: impl IntoIterator<Item: Into<String>>) -> Self {
        Self(vec![columns.into_iter().map(Into::into).collect()])
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.0.push(cells.into_iter().collect());
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut widths: Vec<usize> = Vec::new();
        for row in &self.0 {
            widths.resize(widths.len().max(row.len()), 0);
            for (cell, width) in row.iter().zip(&mut widths) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for (at, row) in self.0.iter().enumerate() {
            for (cell, width) in row.iter().zip(&widths) {
                write!(f, "| {cell:width$} ")?;
            }
            f.write_str("|\n")?;
            if at == 0 {
                widths.iter().try_for_each(|width| write!(f, "|{}", "-".repeat(width + 2)))?;
                f.write_str("|\n")?;
            }
        }
        Ok(())
    }
}

/// The table of some rows, in Markdown.
pub(crate) fn rows(rows: &[Measured]) -> String {
    let mut table = Table::new(["row", "measure", "anchor", "floor", "goal", "result", "min–max", "verdict", "beside"]);
    for row in rows {
        let bound = |wanted: Option<f64>| match (wanted, row.spec.better) {
            (None, _) => "–".to_owned(),
            (Some(wanted), Better::More) => format!("≥ {wanted}"),
            (Some(wanted), Better::Less) => format!("≤ {wanted}"),
        };
        let (least, most) = row.spread();
        let verdict = match row.verdict() {
            Verdict::Goal => "goal",
            Verdict::Floor => "floor",
            Verdict::Below => "BELOW",
        };
        table.row([
            row.spec.row.to_owned(),
            row.spec.measure.to_owned(),
            row.spec.anchor.to_owned(),
            bound(row.spec.floor),
            bound(row.spec.goal),
            number(row.result()),
            format!("{}–{}", number(least), number(most)),
            verdict.to_owned(),
            beside(row),
        ]);
    }
    table.to_string()
}
