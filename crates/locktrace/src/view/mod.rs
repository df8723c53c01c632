//! The viewer: what its page asks, answered by a server, on standard output, or in a file.

pub(crate) mod answer;
mod answer_cache;
pub(crate) mod export;
mod finding_search;
mod index;
pub(crate) mod loader;
mod model_thread;
mod overview;
mod progress;
pub(crate) mod progress_bar;
pub(crate) mod server;
mod short_names;
mod source;
pub(crate) mod state;
mod stored_overview;
pub(crate) mod topic;
pub(crate) mod traces;
