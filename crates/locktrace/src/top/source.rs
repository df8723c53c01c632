//! Where pictures come from.

use std::sync::Arc;

use crate::top::picture::Picture;

/// Something that is looked at while it goes on: a trace, one day a JVM that is attached to.
pub(crate) trait Source {
    /// The newest picture; `None` if there is none yet. Does not wait.
    ///
    /// # Errors
    ///
    /// If there will be no more because something went wrong.
    fn latest(&mut self) -> anyhow::Result<Option<Arc<Picture>>>;
}
