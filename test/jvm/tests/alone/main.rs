//! Tests whose verdict needs the processors, and which therefore run while no other does: each asks
//! for them, see `jvm_tests::alone`.
//!
//! They compare with another clock that is read some instructions away from the tracer's, or want a program to
//! contend as much as was planned. What other tests compare is right also if others have the processors.

mod agent_virtual_threads;
mod double_trace;
mod jfr;
mod jmh;
mod owner_places;
mod thread_mx_bean;
mod tracers_time;
mod wait_notify;
mod what_if;
