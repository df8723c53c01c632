//! Tests whose verdict depends on time, and which therefore run while no other does.
//!
//! Each test here asks for the processors, also one that can do with a part of them: see
//! `jvm_tests::alone` and `jvm_tests::among_others`.

mod agent;
mod agent_applications;
mod agent_parks;
mod agent_virtual_threads;
mod byte_code;
mod class_init;
mod clock_oracle;
mod conservation;
mod convoys;
mod demo;
mod diff;
mod double_trace;
mod h2;
mod hold_oracle;
mod inversions;
mod jfr;
mod jmh;
mod jmx;
mod lock_oracle;
mod lock_sites;
mod metrics;
mod online;
mod owner_activities;
mod owner_samples;
mod owner_shares;
mod owner_stops;
mod pool;
mod server;
mod thread_mx_bean;
mod tracers_time;
mod wait_notify;
mod what_if;
