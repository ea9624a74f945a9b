//! Progress of long work, on standard error and only where somebody looks.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that knows how much there is to do once the work has said so.
pub(super) struct Progress(ProgressBar);

impl Progress {
    /// A bar over numbers of something.
    pub(super) fn items(what: &'static str, quiet: bool) -> Self {
        Self::new("{msg} {wide_bar} {human_pos}/{human_len}", what, quiet)
    }

    /// A bar over bytes.
    pub(super) fn bytes(what: &'static str, quiet: bool) -> Self {
        Self::new("{msg} {wide_bar} {bytes}/{total_bytes}", what, quiet)
    }

    fn new(template: &str, what: &'static str, quiet: bool) -> Self {
        // Standard error hides the bar by itself when it is no terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar.with_message(what))
    }

    /// Says how far the work is.
    pub(super) fn at(&self, done: u64, total: u64) {
        self.0.set_length(total);
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
