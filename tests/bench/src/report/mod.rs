//! What is shown and kept of a run.

mod keep;
mod plot;
mod table;

pub(crate) use keep::{Kept, run};
pub(crate) use plot::{Chart, Line};
pub(crate) use table::{Table, rows as row_table};

use crate::rows::Measured;

/// A number with as many digits as it needs.
pub(crate) fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The numbers beside a ratio.
pub(crate) fn beside(measured: &Measured) -> String {
    let each = measured.beside.iter().map(|beside| format!("{} {} {}", beside.name, number(beside.value), beside.unit));
    each.collect::<Vec<_>>().join("; ")
}
