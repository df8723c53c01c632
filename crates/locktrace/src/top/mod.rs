//! Tables of a running program: who waits for whom now, and what is blocked most.

pub(crate) mod batch;
mod capture;
mod recent;
mod render;
pub(crate) mod snapshot;
mod state;
pub(crate) mod terminal;
#[cfg(test)]
mod tests;
mod text;
pub(crate) mod trace_source;
