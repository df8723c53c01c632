//! Puts calls of a helper before each release of a monitor into class files.
//!
//! [`instrument_exits`] takes the bytes of a class and returns a class that behaves the same, and
//! calls static methods ([`Hooks`]) with the object and the number of a [`Site`]:
//!
//! - right before each `monitorexit`, while the monitor is still owned, and if asked for right
//!   after it;
//! - before each return from a synchronized method, and where an exception leaves it.
//!
//! [`instrument_parks`] makes classes of the JDK call others in place of `Unsafe.park` and
//! `Unsafe.unpark`, and when a synchronizer gets another owner.
//!
//! No stack map frame is computed: a call that branches inside the helper needs none, so all that
//! changes are offsets. The one thing appended are exception handlers, whose frames are known.
//! `docs/design/agent.md` has the shapes of the code, and why.
//!
//! ```
//! use bytecode_instrumentation::{Hooks, instrument_exits};
//! # fn define(_: &[u8]) {}
//! # fn on_load(class: &[u8]) -> Result<(), bytecode_instrumentation::Malformed> {
//! let hooks = Hooks {
//!     class: "java/lang/LockTrace",
//!     block_exit: "blockExit",
//!     after_block_exit: None,
//!     method_exit: "methodExit",
//! };
//! let mut next_site = 0;
//! let result = instrument_exits(class, &hooks, |count| {
//!     let first = next_site;
//!     next_site += count;
//!     Some(first)
//! })?;
//! for method in &result.methods {
//!     for site in &method.sites {
//!         println!("{}: {:?} at bci {:?}", site.number, site.kind, site.bci);
//!     }
//! }
//! if let Some(class) = result.class {
//!     define(&class);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A class file may be damaged or made to do harm: nothing here panics or recurses, and time and
//! memory are in proportion to the bytes that come in.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::expect_used,
        clippy::indexing_slicing,
        clippy::panic,
        clippy::todo,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

mod bytes;
mod class_file;
mod code;
mod constant_pool;
mod emit;
mod flow;
mod frames;
mod hooks;
mod instruction;
mod layout;
mod outcome;
mod parks;
mod plan;
mod splice;
mod tables;

use class_file::ClassFile;
use constant_pool::NewConstants;
use emit::{Emitted, emit};
use plan::Plan;
use splice::{NewCode, splice};

pub use hooks::Hooks;
pub use outcome::{
    Instrumentation, InstrumentedMethod, LeftAlone, Malformed, Position, Positions, Reason, Site,
    SiteKind,
};
pub use parks::{ParkHooks, instrument_parks, may_park};

/// Puts calls of `hooks` before the releases of monitors in the class file `class`.
///
/// `allot_sites` is called at most once, with the number of sites in the class, and returns the
/// first of as many consecutive numbers, none above [`i32::MAX`]; or `None`, and the class is left
/// alone. Numbers of sites that cannot be instrumented after all stay unused.
///
/// # Errors
///
/// If `class` does not have the structure of a class file. A defect inside a method's code is no
/// error: that method is [left alone](LeftAlone).
pub fn instrument_exits<'a>(
    class: &'a [u8],
    hooks: &Hooks<'a>,
    allot_sites: impl FnOnce(u32) -> Option<u32>,
) -> Result<Instrumentation<'a>, Malformed> {
    let class = ClassFile::read(class)?;
    let mut result = Instrumentation::default();
    if class.name() == Some(hooks.class.as_bytes()) {
        return Ok(result);
    }
    let methods = class.methods.iter();
    let plans = methods.filter_map(|&method| Plan::of(&class, method, &mut result.left_alone));
    let plans: Vec<_> = plans.collect();
    if plans.is_empty() {
        return Ok(result);
    }
    let Some(mut next_site) = first_site(&plans, allot_sites) else {
        let left_alone = plans.iter().map(|plan| plan.left_alone(Reason::NoSites));
        result.left_alone.extend(left_alone);
        return Ok(result);
    };

    let mut constants = NewConstants::new(&class.pool, hooks.class);
    let mut changed = Vec::new();
    for plan in &plans {
        let emitted = emit(&class, plan, hooks, next_site, &mut constants);
        next_site = next_site.saturating_add(plan.site_count() as u32);
        match emitted {
            Ok(Emitted {
                attribute,
                sites,
                positions,
            }) => {
                if let Some(original) = plan.method.code {
                    changed.push(NewCode {
                        attribute: original,
                        bytes: attribute,
                    });
                }
                result.methods.push(InstrumentedMethod {
                    name: plan.method.name,
                    descriptor: plan.method.descriptor,
                    sites,
                    positions,
                });
            }
            Err(reason) => result.left_alone.push(plan.left_alone(reason)),
        }
    }
    if !changed.is_empty() {
        result.class = Some(splice(&class, &constants, &changed));
    }
    Ok(result)
}

/// Allots sites for all plans.
fn first_site(plans: &[Plan<'_>], allot_sites: impl FnOnce(u32) -> Option<u32>) -> Option<u32> {
    let count = plans.iter().map(Plan::site_count).sum::<usize>();
    let count = u32::try_from(count).ok()?;
    let first = allot_sites(count)?;
    let end = first.checked_add(count)?;
    (end <= i32::MAX.unsigned_abs() + 1).then_some(first)
}
