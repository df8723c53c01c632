//! The JVM's native interfaces, and the memory of the runtime, behind safe types.
//!
//! The agent calls the JVM by an [`Env`]. What the JVM calls is in [`entry`](crate::entry).

mod callbacks;
mod env;
mod event;
mod exit_helper;
mod helper;
mod machine;
mod memory;
mod park_fields;
mod park_helper;
mod reference;
mod runtime_owner;

pub(crate) use callbacks::Callbacks;
pub(crate) use env::Env;
pub(crate) use env::stack::{Frame, Frames};
pub(crate) use env::threads::Waits;
pub(crate) use event::Event;
pub(crate) use exit_helper::{
    EXITS_CLASS, EXITS_METHOD, ExitHelper, ExitNatives, WATCHING_EXITS_FILE,
};
pub(crate) use helper::{Helper, MAX_SLOTS};
pub(crate) use machine::{Environment, Vm, local_time};
pub(crate) use memory::JvmText;
pub(crate) use park_fields::ParkFields;
pub(crate) use park_helper::{PARKS_CLASS, ParkHelper, ParkNatives, VIRTUAL_PARKS_CLASS};
pub(crate) use reference::{Class, LongField, Method, Object, WeakObject};
pub(crate) use runtime_owner::RuntimeOwner;
