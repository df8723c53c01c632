//! Hooks of parks and unparks, and of synchronizers that change their owners.

use rust_tracer::cycles::{self, HookCycles};
use rust_tracer::monotonic_ns;
use trace_format::{
    Blocker, ChainId, ExclusiveRelease, Hold, Hook, JavaThreadId, ParkBegin, ParkEnd,
    ParkEndReason, ParkTimeout, Permit, Unpark,
};

use crate::ffi::{Env, Environment, Object, ParkFields};
use crate::hooks::chains::{self, Skip};
use crate::parks::Parks;
use crate::parks::synchronizers::Synchronizer;
use crate::parks::thread_state::Park;
use crate::session::{self, Session};
use crate::threads::Thread;

/// Runs `hook`, whose time counts for hooks of this `kind`, with the state of the current thread, which
/// is `current` in Java. `env` returns the thread's interface.
fn with_thread(
    env: impl Fn(&Environment) -> Env<'_>,
    current: Object<'_>,
    kind: Option<Hook>,
    hook: impl FnOnce(&Session, &Parks, Env<'_>, &mut Thread) -> Option<()>,
) {
    session::with(|session| {
        let env = env(&session.environment);
        let parks = session.parks.as_ref()?;
        if parks.is_hidden(env, current) {
            // The state would be the one of the virtual thread, which is parking itself.
            session.runtime().agent_counts.scheduler_calls.add(1);
            return None;
        }
        session.with_thread(env, kind, |thread| hook(session, parks, env, thread))
    });
}

/// The blocker of a thread at this moment.
struct SeenBlocker<'a> {
    object: Option<Object<'a>>,
    blocker: Blocker,
    is_ownable: bool,
}

impl<'a> SeenBlocker<'a> {
    fn of(
        session: &Session,
        fields: &ParkFields,
        env: Env<'a>,
        writer: &mut Thread,
        parked: Object<'_>,
    ) -> Self {
        let object = fields.blocker(env, parked);
        let blocker = object.map_or(Blocker::NONE, |object| {
            blocker(session, env, writer, object)
        });
        Self {
            object,
            blocker,
            is_ownable: object.is_some_and(|object| fields.is_ownable(env, object)),
        }
    }

    /// Returns `Thread.getId()` of the thread that owns the synchronizer at this moment; 0 if none
    /// does, or the blocker has no owners.
    fn owner(&self, session: &Session, fields: &ParkFields, env: Env<'_>) -> JavaThreadId {
        let synchronizer = self.object.filter(|_| self.is_ownable);
        let owner = synchronizer.and_then(|synchronizer| fields.owner(env, synchronizer));
        let id = owner.map_or(0, |owner| session.threads.java_id(env, owner));
        owner.inspect(|&owner| env.delete(owner));
        JavaThreadId(id)
    }

    /// Returns the identity hash of the node in which the current thread waits in the blocker's
    /// queue; 0 if it does not, or the queue is not known.
    fn place(&self, fields: &ParkFields, env: Env<'_>, current: Object<'_>) -> u32 {
        self.object
            .map_or(0, |object| fields.place(env, object, current))
    }

    /// Returns the key that chooses the domain of its events.
    fn key(&self, parked: u64) -> u64 {
        match self.object {
            Some(_) => self.blocker.identity_hash.into(),
            None => parked,
        }
    }

    fn delete(self, env: Env<'_>) {
        self.object.inspect(|&object| env.delete(object));
    }
}

fn blocker(session: &Session, env: Env<'_>, writer: &mut Thread, object: Object<'_>) -> Blocker {
    let Some(class) = env.class_of(object) else {
        return Blocker::NONE;
    };
    let tracer = &mut writer.tracer;
    let class_id = session.methods.class(env, session.runtime(), tracer, class);
    env.delete(class);
    Blocker {
        class: class_id,
        identity_hash: env.hash(object).unwrap_or_default(),
    }
}

/// Handles the begin of a park of the current thread.
pub(crate) fn park_begin(
    env: impl Fn(&Environment) -> Env<'_>,
    current: Object<'_>,
    is_absolute: bool,
    time: i64,
) {
    let timeout = match (is_absolute, u64::try_from(time).unwrap_or_default()) {
        (false, 0) if time == 0 => ParkTimeout::None,
        (false, nanos) => ParkTimeout::After(nanos),
        (true, millis) => ParkTimeout::At(millis),
    };
    with_thread(
        env,
        current,
        Some(Hook::ParkBegin),
        |session, parks, env, thread| {
            thread.parks.leave();
            let runtime = session.runtime();
            let fields = &parks.fields;
            let java_id = thread.java_id.0;
            let seen = SeenBlocker::of(session, fields, env, thread, current);
            let hash = seen.blocker.identity_hash;
            let place = seen.place(fields, env, current);
            // Shown before the number is taken: see `Parks.slotsInUse`.
            let has_owner = seen.owner(session, fields, env) != JavaThreadId(0);
            let class = seen.blocker.class;
            let is_owned = seen.is_ownable && parks.synchronizers.is_owned_class(class, has_owner);
            let owned = seen.object.filter(|_| is_owned);
            let synchronizer = owned.and_then(|object| {
                let counts = &runtime.agent_counts;
                parks.synchronizers.park_begins(env, object, hash, counts)
            });
            let permit_available = parks.permits.is_given(java_id);
            let (domain, sequence) = runtime.park_number(seen.key(java_id));
            let time_ns = monotonic_ns();
            let owner = seen.owner(session, fields, env);
            let recorded = chains::record(env, session, thread, Skip::Parks);
            thread.tracer.park_begin(ParkBegin {
                domain,
                sequence,
                time_ns,
                blocker: seen.blocker,
                owner,
                continued: place != 0 && thread.parks.last_place == (place, hash),
                chain: recorded.chain,
                timeout,
                monitor: false,
            });
            seen.delete(env);
            thread.parks.park = Some(Park {
                began_ns: time_ns,
                timeout,
                permit_available,
                synchronizer,
            });
            thread.blocks();
            Some(())
        },
    );
}

/// Handles the end of a park of the current thread.
pub(crate) fn park_end(env: impl Fn(&Environment) -> Env<'_>, current: Object<'_>) {
    let time_ns = monotonic_ns();
    with_thread(
        env,
        current,
        Some(Hook::ParkEnd),
        |session, parks, env, thread| {
            let park = thread.parks.leave()?;
            let fields = &parks.fields;
            let java_id = thread.java_id.0;
            let seen = SeenBlocker::of(session, fields, env, thread, current);
            let place = seen.place(fields, env, current);
            let taken = parks.permits.take(java_id);
            let reason = match taken {
                Some(_) if park.permit_available => ParkEndReason::PermitAvailable,
                Some(_) => ParkEndReason::Unparked,
                None if env.is_interrupted(current) => ParkEndReason::Interrupted,
                None if is_over(park.timeout, time_ns.saturating_sub(park.began_ns)) => {
                    ParkEndReason::TimedOut
                }
                None => ParkEndReason::Spurious,
            };
            let (domain, sequence) = session.runtime().park_number(seen.key(java_id));
            thread.tracer.park_end(ParkEnd {
                domain,
                sequence,
                time_ns,
                reason,
                permit: taken.map_or(Permit::NONE, |taken| taken.permit),
                unpark_elsewhere: taken.is_some_and(|taken| taken.unseen) && seen.object.is_some(),
                owner: seen.owner(session, fields, env),
                safepoint_ns: 0,
                monitor: false,
            });
            thread.parks.last_place = (place, seen.blocker.identity_hash);
            seen.delete(env);
            Some(())
        },
    );
}

/// Returns whether a park of this duration may have timed out.
fn is_over(timeout: ParkTimeout, duration_ns: u64) -> bool {
    match timeout {
        ParkTimeout::None => false,
        ParkTimeout::After(nanos) => duration_ns >= nanos,
        // Nothing else has ended it.
        ParkTimeout::At(_) => true,
    }
}

/// Handles the begin of an unpark by the current thread.
pub(crate) fn unpark_begin(
    env: impl Fn(&Environment) -> Env<'_>,
    current: Object<'_>,
    target: Object<'_>,
) {
    let begin_cycles = cycles::now();
    with_thread(env, current, None, |session, parks, env, thread| {
        thread.parks.unparks.try_reserve(1).ok()?;
        let fields = &parks.fields;
        let java_id = session.threads.java_id(env, target);
        let counts = &session.runtime().agent_counts;
        let seen = SeenBlocker::of(session, fields, env, thread, target);
        let (domain, sequence) = session.runtime().park_number(seen.key(java_id));
        let unpark = Unpark {
            domain,
            sequence,
            time_ns: monotonic_ns(),
            target: JavaThreadId(java_id),
            permit: parks.permits.give(java_id, seen.object.is_none(), counts),
            blocker: seen.blocker,
            owner: seen.owner(session, fields, env),
            interrupt: false,
            never_acquired: false,
            waiters: 0,
            chain: ChainId::NONE,
        };
        seen.delete(env);
        thread
            .parks
            .unparks
            .push((unpark, (begin_cycles, cycles::now())));
        Some(())
    });
}

/// Handles the end of an unpark. The stack is walked only now that the lock is released and the other
/// thread runs.
pub(crate) fn unpark_end(env: impl Fn(&Environment) -> Env<'_>, current: Object<'_>) {
    let begin_cycles = cycles::now();
    with_thread(env, current, None, |session, _, env, thread| {
        let (unpark, before_break) = thread.parks.unparks.pop()?;
        let chain = chains::record(env, session, thread, Skip::Parks).chain;
        thread.tracer.unpark(Unpark { chain, ..unpark });
        let cycles = HookCycles {
            begin: begin_cycles,
            before_break,
        };
        thread.tracer.end_hook(Hook::Unpark, cycles, 1);
        Some(())
    });
}

/// Handles a synchronizer, found in a slot, that has a new owner or is about to be released.
pub(crate) fn owner_changes(
    env: impl Fn(&Environment) -> Env<'_>,
    current: Object<'_>,
    object: Object<'_>,
    new_owner: Option<Object<'_>>,
    slot: usize,
) {
    let time_ns = monotonic_ns();
    with_thread(env, current, None, |session, parks, env, thread| {
        let (fields, synchronizers) = (&parks.fields, &parks.synchronizers);
        let synchronizer = synchronizers.slots.get(slot)?;
        // The slot may have been given to another synchronizer.
        if env.hash(object)? != synchronizer.hash() {
            return None;
        }
        let old_owner = fields.owner(env, object);
        let is_same = match (old_owner, new_owner) {
            (Some(old), Some(new)) => env.are_same(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        if is_same {
            return None;
        }
        if let Some(old_owner) = old_owner {
            let by_owner = env.are_same(old_owner, current);
            env.delete(old_owner);
            release(session, parks, env, thread, object, &synchronizer, by_owner);
        }
        if new_owner.is_some() {
            synchronizer.acquired(time_ns);
        }
        Some(())
    });
}

/// Ends the hold of a synchronizer that is about to be released, `by_owner` or by another thread.
fn release(
    session: &Session,
    parks: &Parks,
    env: Env<'_>,
    thread: &mut Thread,
    object: Object<'_>,
    synchronizer: &Synchronizer,
    by_owner: bool,
) {
    let synchronizers = &parks.synchronizers;
    let is_event = synchronizers.is_waited_for(env, &parks.fields, object, synchronizer);
    let event = is_event.then(|| {
        let blocker = blocker(session, env, thread, object);
        let number = session.runtime().park_number(blocker.identity_hash.into());
        let recorded = chains::record(env, session, thread, Skip::Synchronizer);
        (blocker, number, recorded.chain)
    });
    // The stack walk is part of the hold.
    let time_ns = monotonic_ns();
    let hold = synchronizer.hold_ends(time_ns);
    if let Some((blocker, (domain, sequence), chain)) = event {
        thread.tracer.exclusive_release(ExclusiveRelease {
            domain,
            sequence,
            time_ns,
            blocker,
            hold: if by_owner { hold } else { Hold::NotKnown },
            chain,
        });
    }
}
