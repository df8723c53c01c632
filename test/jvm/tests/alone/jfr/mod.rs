//! The Flight Recorder of the same JVM sees what the trace shows.

mod monitors;
mod parks;
mod recording;
