//! What the JVM calls: the exported functions here, callbacks of [`events`], and [`natives`] of
//! helper classes. All of it only converts.

mod events;
mod natives;
mod text;

use std::ffi::{c_char, c_void};

use jvmti_bindings::sys::jni::{JNI_ERR, JNI_OK, JavaVM, jint};

use crate::commands;
use crate::entry::text::text;
use crate::ffi::{Callbacks, ExitNatives, ParkNatives, Vm};

/// Returns the functions that the JVM calls once they are handed to it.
fn callbacks() -> Callbacks {
    Callbacks {
        events: events::callbacks(),
        exits: ExitNatives {
            from_slot: natives::released,
            from_table: natives::released_from_table,
        },
        parks: ParkNatives {
            parks: natives::parks,
            parked: natives::parked,
            unparks: natives::unparks,
            unparked: natives::unparked,
            owner_changes: natives::owner_changes,
        },
    }
}

/// Called for `-agentpath`, before the JVM runs any byte code.
///
/// # Safety
///
/// The JVM calls it.
#[unsafe(no_mangle)]
// The symbol is what others see, not the name.
#[allow(unreachable_pub)]
pub unsafe extern "system" fn Agent_OnLoad(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    // SAFETY: as the JVM promises: its own address, and a text or null.
    let (vm, options) = unsafe { (Vm::new(vm), text(options)) };
    match commands::load(vm, options, callbacks()) {
        true => JNI_OK,
        false => JNI_ERR,
    }
}

/// Called when the agent is loaded into a running JVM, once for each command.
///
/// # Safety
///
/// The JVM calls it.
#[unsafe(no_mangle)]
// The symbol is what others see, not the name.
#[allow(unreachable_pub)]
pub unsafe extern "system" fn Agent_OnAttach(
    vm: *mut JavaVM,
    options: *const c_char,
    _reserved: *mut c_void,
) -> jint {
    // SAFETY: as the JVM promises: its own address, and a text or null.
    let (vm, options) = unsafe { (Vm::new(vm), text(options)) };
    commands::attach(vm, options, callbacks())
}

/// Called when the JVM ends.
///
/// # Safety
///
/// The JVM calls it.
#[unsafe(no_mangle)]
// The symbol is what others see, not the name.
#[allow(unreachable_pub)]
pub unsafe extern "system" fn Agent_OnUnload(_vm: *mut JavaVM) {
    commands::unload();
}
