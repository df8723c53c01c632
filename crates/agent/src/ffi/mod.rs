//! All that is unsafe: the JVM's native interfaces, and the memory of the runtime. What is
//! outside of this module sees safe types only.
//!
//! The JVM calls [`entry`]; the rest of the agent calls the JVM by an [`Env`].

mod entry;
mod env;
mod exit_helper;
mod jvm_memory;
mod machine;
mod runtime_owner;

pub(crate) use env::{Class, Env, Event, Frame, Frames, LongField, Method, Object, WeakObject};
pub(crate) use exit_helper::{ExitHelper, HELPER_CLASS, HELPER_METHOD, SLOTS};
pub(crate) use jvm_memory::JvmText;
pub(crate) use machine::{Environment, Vm, local_time};
pub(crate) use runtime_owner::RuntimeOwner;
