//! Any bytes as a class file of the JDK, after a byte of options: the result is a class file
//! again in which nobody parks any more but by the hooks, and time and memory are in proportion to
//! what comes in.

#![no_main]

mod cost;

use std::time::Duration;

use bytecode_instrumentation::{ParkHooks, instrument_parks};
use cost::Budget;
use libfuzzer_sys::fuzz_target;

const BUDGET: Budget = Budget {
    bytes: 4 << 20,
    bytes_of_each: 1024,
    time_of_each: Duration::from_micros(2),
};

fuzz_target!(|input: &[u8]| {
    if let Some((&options, class)) = input.split_first() {
        BUDGET.check(class.len(), || instrument(options, class));
    }
});

fn instrument(options: u8, class: &[u8]) {
    let hooks = ParkHooks {
        class: "java/locktrace/Parks",
        park: "park",
        unpark: "unpark",
        owner: "owner",
        virtual_class: (options & 1 != 0).then_some("java/locktrace/VirtualParks"),
    };
    let Ok(result) = instrument_parks(class, &hooks) else {
        return;
    };
    let Some(changed) = &result.class else {
        assert!(result.methods.is_empty());
        return;
    };
    assert!(changed.len() > class.len());
    let again = instrument_parks(changed, &hooks).expect("what was written can be read");
    // Owners are then reported twice, if the code is still the JDK's own.
    assert!(again.class.is_none() || !again.methods.is_empty());
    assert!(again.left_alone.len() >= result.left_alone.len());
}
