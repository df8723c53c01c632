//! All that is unsafe: the JVM's native interfaces, and the memory of the runtime. What is
//! outside of this module sees safe types only.
//!
//! The JVM calls [`entry`]; the rest of the agent calls the JVM by an [`Env`].

mod entry;
mod env;
mod exit_helper;
mod helper;
mod jvm_memory;
mod machine;
mod park_fields;
mod park_helper;
mod runtime_owner;

pub(crate) use env::{Class, Env, Event, Frame, Frames, LongField, Method, Object, WeakObject};
pub(crate) use exit_helper::{EXITS_CLASS, EXITS_METHOD, ExitHelper, WATCHING_EXITS_FILE};
pub(crate) use helper::{Helper, SLOTS};
pub(crate) use jvm_memory::JvmText;
pub(crate) use machine::{Environment, Vm, local_time};
pub(crate) use park_fields::ParkFields;
pub(crate) use park_helper::{PARKS_CLASS, ParkHelper, VIRTUAL_PARKS_CLASS};
pub(crate) use runtime_owner::RuntimeOwner;
