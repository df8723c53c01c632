//! The stages of the analysis, connected (paper, figure 6).

pub(crate) mod analysis;
pub(crate) mod blame_stage;
pub(crate) mod contents;
pub(crate) mod file_analysis;
pub(crate) mod ingest;
pub(crate) mod lock_users;
pub(crate) mod output;
pub(crate) mod parallel;
pub(crate) mod snapshot;
