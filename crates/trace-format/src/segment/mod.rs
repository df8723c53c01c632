//! Layout of a segment: the events that one thread wrote into one buffer.
//!
//! A segment is a sequence of events without padding. Each begins with a type
//! byte: the *kind* in the lower four bits, an argument in the upper four.
//!
//! # Events of a lock
//!
//! The argument is a slot of the table of recent locks. Slots 0 to 14 hold a
//! lock; 15 announces a lock outside the table, whose id follows and which then
//! replaces the table's oldest entry (slots fill from 0 to 14 and again from 0).
//! Then comes the sequence number, as the difference to the last one of that
//! slot (0 for a new lock).
//!
//! | kind | event | then |
//! |---|---|---|
//! | 1 | `ContendedEnter` | lock, sequence, time, chain, owner |
//! | 2 | `ContendedEnter`, chain as in the slot's last 1 or 2 | lock, sequence, time, owner |
//! | 3 | `ContendedEnter` after wait | lock, sequence, time, chain, owner |
//! | 4 | `ContendedEntered` without safepoint | lock, sequence, time |
//! | 5 | `ContendedEntered` | lock, sequence, time, safepoint ns |
//! | 6 | `ContendedExit` | lock, sequence, time, chain, hold |
//! | 7 | `ContendedExit`, chain as in the slot's last 6 or 7 | lock, sequence, time, hold |
//! | 8 | `ContendedExit` with a forward reference | lock, sequence, time, reference, hold |
//! | 9 | `LostNumbers` | lock, first number, how many follow it |
//! | 10 | `ParkBegin` | domain, sequence, time, flags; blocker, chain, owner, timeout |
//! | 11 | `ParkEnd` | domain, sequence, time, flags; permit, safepoint ns, owner |
//! | 12 | `Unpark` | domain, sequence, time, flags, target, permit or waiters; blocker, chain, owner |
//! | 12 | `ExclusiveRelease` (flag 16) | domain, sequence, time, flags, hold; blocker, chain |
//! | 13 | `ParkBegin` or `ParkEnd` as usual | domain, sequence, time |
//! | 14 | `Unpark` as usual | domain, sequence, time |
//!
//! An owner is 0 if it is not known, the thread + 1, or 1 and then an address on
//! the owner's stack. A hold is 0 if it is not known, 1 if it began before anybody
//! contended, or 3 more than its duration in ns; 2 for several, of which number - 2, sum
//! and span in ns follow. In versions 1 to 3 there is neither, and `LostNumbers` is of one
//! number, without a count.
//!
//! A domain takes the place of a lock. The values after the semicolon are present only if the flags
//! say so. A blocker is its class and its identity hash.
//!
//! | flag | begin, unpark and release | end |
//! |---|---|---|
//! | 1 | no blocker: as in the slot's last 10 or 12 | permit |
//! | 2 | no chain: as in the slot's last begin, unpark or release, whichever it is | safepoint ns |
//! | 4 | begin and unpark: owner | owner |
//! | 8 | begin: continued; unpark: interrupt | the unpark is in the writer's own domain |
//! | 16 | begin: timeout, in nanoseconds; 12: it is a release | in `Object.wait` |
//! | 32 | begin: timeout, wall clock in milliseconds; unpark: never acquired | reason, 32 × 0 to 4 |
//! | 64 | begin: in `Object.wait`; unpark: a notification, with waiters instead of a permit | |
//!
//! In `Object.wait` the permit of an end is the distance of its number from the number of the
//! notification, modulo 2³². The flags for it exist since version 7.
//!
//! **As usual** means the values that mostly follow from the events before:
//!
//! - Kind 13 is an end if the segment's last 10, 11 or 13 was a begin, else a begin.
//! - A begin has the blocker and the chain of a 10 with the flags 1 and 2, and nothing
//!   else; if the slot's last begin was in `Object.wait`, the flag 64 and the same timeout.
//! - An end is an unpark's (reason 0), and its permit is 8 more than the permit of the
//!   segment's last end of a park that had one (than 0 if there was none). If the begin was in
//!   `Object.wait`, the end has the flag 16, and the notification is the number before its own.
//! - An unpark has the blocker and the chain of a 12 with the flags 1 and 2, the target
//!   of the slot's last unpark, and 8 more than the permit of the last that was no notification.
//!   If the slot's last unpark was a notification, so is it, with the same number of waiters.
//!
//! # Other events
//!
//! They have kind 15, and the argument distinguishes them.
//!
//! | argument | event | then |
//! |---|---|---|
//! | 0 | `LockDescription` | lock, class, mirrored class, identity hash, monitor address |
//! | 1 | `LockRetired` | lock, sequence |
//! | 2 | `ForwardResolved` | reference, chain |
//! | 3 | `ThreadStart` | time, Java id, name; from version 4 on, lowest address and size of the stack |
//! | 4 | `ThreadRename` | Java id, name |
//! | 5 | `ThreadEnd` | time |
//! | 6 | `Class` without superclass | class, loader, name, source file, loader class |
//! | 7 | `Method` | method, class, name, signature |
//! | 8 | `Chain` | chain, 2 × frames (+ 1 if truncated), frames |
//! | 9 | `LoaderUnload` | loader, time |
//! | 10 | `LostEvents` | events |
//! | 11 | `Class` | superclass, then as 6 |
//! | 12 | `ChainRetired` | chain |
//! | 13 | `MethodRetired` | method |
//! | 14 | `OwnerSample` | time, owner, chain, time - since, interval |
//! | 15 | `LockSite` | class, identity hash, chain |
//!
//! A frame is method, bci + 1, line + 1 (modulo 2³²).
//!
//! # Values
//!
//! Every number is a [`varint`](crate::varint). Times and forward references
//! are differences to the previous time and reference in the segment, sequence
//! numbers to the previous one in the slot, all modulo 2⁶⁴ and 0 at the start:
//! they grow nearly always, and a step back costs ten bytes instead of a sign
//! bit in each. `LockDescription` and `LockRetired` leave the table alone. Text
//! is its length in bytes, then UTF-8.
//!
//! Kind 0 does not exist, so that zeroed memory is never an event. A change of
//! this layout is a new [version](crate::file::VERSION).

mod codes;
mod decode;
mod encode;
mod hold;
mod lock_table;
mod park;
mod take_event;

pub use decode::SegmentDecoder;
pub use encode::{GrownTail, SegmentEncoder};
pub use take_event::TakeEvent;
