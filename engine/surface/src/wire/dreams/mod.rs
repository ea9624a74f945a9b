//! Dream passes.

mod apply;
mod show;
mod start;

pub use self::apply::{AppliedView, Current, ResultError, ResultView};
pub use self::show::{ActionView, CandidateRef, DreamView, DreamsView, OptionsView, SummaryView};
pub use self::start::{CandidateView, StartedView};
