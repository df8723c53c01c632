//! What the hooks themselves cost.

use trace_format::Hook;

use crate::cycles::{self, HookCycles};
use crate::tracer::ThreadTracer;

/// A kind of hook: writes a contended enter.
pub const LCT_HOOK_ENTER: u8 = 0;
/// A kind of hook: writes a contended entered.
pub const LCT_HOOK_ENTERED: u8 = 1;
/// A kind of hook: writes a contended exit.
pub const LCT_HOOK_EXIT: u8 = 2;
/// A kind of hook: writes the begin of a park.
pub const LCT_HOOK_PARK_BEGIN: u8 = 3;
/// A kind of hook: writes the end of a park.
pub const LCT_HOOK_PARK_END: u8 = 4;
/// A kind of hook: writes an unpark.
pub const LCT_HOOK_UNPARK: u8 = 5;
/// A kind of hook: notes an acquisition without a contended enter, while others
/// contend.
pub const LCT_HOOK_ACQUIRE: u8 = 6;
/// A kind of hook: writes the begin of a wait in `Object.wait`.
pub const LCT_HOOK_WAIT_BEGIN: u8 = 7;
/// A kind of hook: writes the end of a wait in `Object.wait`.
pub const LCT_HOOK_WAIT_END: u8 = 8;
/// A kind of hook: writes a notification.
pub const LCT_HOOK_NOTIFY: u8 = 9;

const _: () = {
    assert!(Hook::Enter as u8 == LCT_HOOK_ENTER);
    assert!(Hook::Entered as u8 == LCT_HOOK_ENTERED);
    assert!(Hook::Exit as u8 == LCT_HOOK_EXIT);
    assert!(Hook::ParkBegin as u8 == LCT_HOOK_PARK_BEGIN);
    assert!(Hook::ParkEnd as u8 == LCT_HOOK_PARK_END);
    assert!(Hook::Unpark as u8 == LCT_HOOK_UNPARK);
    assert!(Hook::Acquire as u8 == LCT_HOOK_ACQUIRE);
    assert!(Hook::WaitBegin as u8 == LCT_HOOK_WAIT_BEGIN);
    assert!(Hook::WaitEnd as u8 == LCT_HOOK_WAIT_END);
    assert!(Hook::Notify as u8 == LCT_HOOK_NOTIFY);
};

/// Returns the processor's cycle counter, to be read when a hook begins.
#[unsafe(no_mangle)]
pub extern "C" fn lct_cycles() -> u64 {
    cycles::now()
}

/// Counts a hook of a kind (`LCT_HOOK_…`) that ends with this call. It began at
/// `begin_cycles`, or went on then after a break; `first_begin_cycles` and
/// `first_end_cycles` are those of the part before the break, and equal without one. Its
/// cycles count for `weight` hooks; 0 if they were not measured.
///
/// # Safety
///
/// `thread` is null or comes from `lct_thread_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_hook_end(
    thread: Option<&mut ThreadTracer>,
    kind: u8,
    weight: u32,
    begin_cycles: u64,
    first_begin_cycles: u64,
    first_end_cycles: u64,
) {
    // All arguments travel in registers, as no struct would: this ends every hook.
    let (Some(thread), Some(&kind)) = (thread, Hook::ALL.get(usize::from(kind))) else {
        return;
    };
    let cycles = HookCycles {
        begin: begin_cycles,
        before_break: (first_begin_cycles, first_end_cycles),
    };
    thread.end_hook(kind, cycles, weight);
}
