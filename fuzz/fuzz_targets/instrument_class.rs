//! Any bytes as a class file, after a byte of options: the result is a class file again,
//! and time and memory are in proportion to what comes in.

#![no_main]

mod cost;

use std::time::Duration;

use bytecode_instrumentation::{Hooks, Instrumentation, Reason, SiteKind, instrument_exits};
use cost::Budget;
use libfuzzer_sys::fuzz_target;

/// A byte can be an instruction, whose new position is kept, or a local variable in the frames of
/// several handlers.
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
    let hooks = Hooks {
        class: "java/lang/LockTrace",
        block_exit: "blockExit",
        after_block_exit: (options & 1 != 0).then_some("afterBlockExit"),
        method_exit: "methodExit",
    };
    // Below and above what `sipush` can have.
    let first = if options & 2 != 0 { 32_760 } else { 1 };
    let Ok(result) = instrument_exits(class, &hooks, |_| Some(first)) else {
        return;
    };
    let sites = result.methods.iter().flat_map(|method| &method.sites);
    let mut last = 0;
    for site in sites {
        assert!(site.number >= first && site.number > last);
        assert_eq!(site.bci.is_none(), site.kind == SiteKind::MethodUnwind);
        last = site.number;
    }
    assert_eq!(result.class.is_some(), !result.methods.is_empty());
    let Some(changed) = &result.class else { return };
    let again = instrument_exits(changed, &hooks, |_| Some(first));
    let again = again.expect("what was written can be read");
    assert_eq!(malformed(&again), malformed(&result));
}

fn malformed(result: &Instrumentation<'_>) -> usize {
    let left_alone = result.left_alone.iter();
    left_alone
        .filter(|left| left.reason == Reason::MalformedCode)
        .count()
}
