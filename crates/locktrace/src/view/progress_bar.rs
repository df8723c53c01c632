//! Progress on standard error while traces are read into a model.

use std::ops::ControlFlow;

use indicatif::ProgressBar;

use crate::input;
use crate::view::loader::Watcher;
use crate::view::progress::Progress;

/// A bar on standard error for traces that are long together, if a person waits for them.
pub(crate) fn progress_bar() -> Bar {
    Bar(None)
}

/// See [`progress_bar`].
pub(crate) struct Bar(Option<ProgressBar>);

impl Watcher for Bar {
    fn progress(&mut self, progress: Progress) -> ControlFlow<()> {
        let bar = self
            .0
            .get_or_insert_with(|| input::bar_of("traces", Some(progress.total_bytes)));
        bar.set_length(progress.total_bytes);
        bar.set_position(progress.bytes);
        if progress.done {
            bar.finish_and_clear();
        }
        ControlFlow::Continue(())
    }
}
