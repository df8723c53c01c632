//! Tests that are right whatever else the machine does, and run as many at once as there are
//! processors. One that calls `jvm_tests::alone` belongs to the tests in `tests/alone`.

mod call_chains;
mod code_life;
mod control;
mod crowds;
mod damaged_traces;
mod deadlocks;
mod embedded;
mod endings;
mod fastdebug;
mod instrumentation;
mod kills;
mod loader_churn;
mod monitor_life;
mod park_events;
mod pipes;
mod release_paths;
mod return_barriers;
mod shared_classes;
mod storms;
mod threads;
mod top;
mod trace_file;
mod tracing_off;
mod wait_kinds;
