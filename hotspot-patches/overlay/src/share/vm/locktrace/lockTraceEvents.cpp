/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "locktrace/lockTraceClassInit.hpp"
#include "locktrace/lockTraceEvents.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceSampler.hpp"
#include "locktrace/lockTraceSites.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/synchronizer.hpp"
#include "runtime/thread.inline.hpp"
// Needs Thread, which it does not include.
#include "runtime/objectMonitor.inline.hpp"

// ---------------------------------------------------------------------------
// The need for the next release

void LockTraceInterest::contender_comes()    { Atomic::add(+contender, &_bits); }
void LockTraceInterest::contender_leaves()   { Atomic::add(-contender, &_bits); }
void LockTraceInterest::forward_ref_comes()  { Atomic::add(+forward_ref_bit, &_bits); }
void LockTraceInterest::forward_ref_leaves() { Atomic::add(-forward_ref_bit, &_bits); }

// The number of a trace is truncated: a trace with the same mark is 65,536 traces older.
static uint16_t session_mark() { return (uint16_t) LockTrace::session(); }

// One of an earlier trace may be there.
void LockTraceMonitor::put_forward_ref(LockTraceInterest* interest, uint64_t forward_ref) {
  _forward_ref = (uint64_t) session_mark() << session_shift | forward_ref;
  if (!interest->has_forward_ref()) interest->forward_ref_comes();
}

uint64_t LockTraceMonitor::take_forward_ref(LockTraceInterest* interest) {
  if (!interest->has_forward_ref()) return 0;
  interest->forward_ref_leaves();
  bool is_of_this_trace = _forward_ref >> session_shift == session_mark();
  return is_of_this_trace ? _forward_ref & right_n_bits(session_shift) : 0;
}

void LockTraceMonitor::forget_trace() {
  if (id == 0) return;
  id = 0;
  last_sequence = 0;
  _acquired_ns = 0;
}

uint64_t LockTraceMonitor::hold_ends(jlong now_ns) {
  jlong acquired_ns = _acquired_ns;
  _acquired_ns = 0;
  return acquired_ns == 0 ? LCT_HOLD_BEFORE_CONTENTION : (uint64_t) (now_ns - acquired_ns);
}

// ---------------------------------------------------------------------------
// Contended enter and entered

// The first thread to contend for an inflated monitor describes it. The
// description counts as sequence number 0, so the analysis knows the object
// before it sees the lock's first event.
static void describe_if_new(LctThread* tracer, JavaThread* self, ObjectMonitor* monitor, LockTraceClassInit* init) {
  LockTraceMonitor* lock = monitor->locktrace();
  if (!lct_lock_claim(LockTrace::runtime(), lock)) return;
  // The monitor is inflated and pinned by its contention count, so neither a
  // bias is revoked nor a safepoint reached for the hash.
  oop object = (oop) monitor->object();
  intptr_t hash = monitor->header()->hash();
  if (hash == 0) hash = ObjectSynchronizer::FastHashCode(self, object);
  uint32_t klass = LockTraceMetadata::class_id(tracer, object->klass());
  uint32_t mirrored = init == NULL ? LockTraceMetadata::mirrored_class_id(tracer, object)
                                   : LockTraceMetadata::class_id(tracer, init->klass());
  if (init == NULL) {
    lct_tell_site(tracer, klass, (uint32_t) hash, true);
    LockTraceSites::note_contention(object->klass());
  }
  LctLockDescription description;
  description.lock = lock->id;
  description.monitor_address = (uint64_t) (uintptr_t) monitor;
  description.class_id = klass;
  description.mirrored_class = mirrored;
  description.identity_hash = (uint32_t) hash;
  lct_lock_describe(tracer, &description);
}

// A thread, or a lock on a thread's stack. The thread that has the lock of a class's
// initialization for a moment is not the one that initializes the class.
static void* owner_seen(ObjectMonitor* monitor, LockTraceClassInit* init) {
  return init != NULL && init->awaits_initializer() ? init->initializer() : monitor->owner();
}

// Returns the owner of the monitor without a lock and without stopping a thread: the owner may
// release the monitor and end at any moment, so its memory is not read. Not known
// without an owner, or if owners come and go too fast.
static LctOwner find_owner(ObjectMonitor* monitor, LockTraceClassInit* init) {
  const int max_tries = 3;
  LctOwner owner = { 0, 0 };
  for (int tries = 0; tries < max_tries; tries++) {
    void* seen = owner_seen(monitor, init);
    if (seen == NULL) break;
    uint32_t number = lct_thread_number(LockTrace::runtime(), (uint64_t) (uintptr_t) seen);
    OrderAccess::loadload();
    // Still the owner, so the number is its own and not the number of a thread that got
    // the memory of an owner that ended.
    if (owner_seen(monitor, init) != seen) continue;
    owner.thread = number;
    // A lock on the owner's stack: it had the object before a thread inflated the
    // monitor. OwnerIsThread would say so, but is set too late and not always.
    if (number == 0) owner.stack_address = (uint64_t) (uintptr_t) seen;
    break;
  }
  return owner;
}

// Compiled code tests the interest and the count of recursions in one word.
static bool is_one_word(ObjectMonitor* monitor) {
  address word = (address) monitor + ObjectMonitor::recursions_offset_in_bytes();
  return sizeof(LockTraceInterest) == sizeof(jint) && is_ptr_aligned(word, BytesPerWord) &&
         (address) monitor->locktrace_interest() == word + sizeof(jint);
}

void LockTraceEnter::enlist() {
  LockTraceThread* state = _thread->locktrace();
  if (state->_enter == this) return;
  _outer = state->_enter;
  state->_enter = this;
}

void LockTraceEnter::delist() {
  LockTraceThread* state = _thread->locktrace();
  state->wait_ends();
  if (state->_enter == this) state->_enter = _outer;
}

// The owner's tracer must exist before the enter looks for it: no thread
// has one yet.
LockTraceOpenWaits::Outcome LockTraceEnter::write_open(JavaThread* thread, jlong began_ns, bool in_time) {
  LockTraceEnter* enter = thread->locktrace()->_enter;
  if (enter == NULL || enter->_monitor->owner() == thread || enter->is_of_this_trace()) {
    return LockTraceOpenWaits::nothing;
  }
  if (!in_time) return LockTraceOpenWaits::left;
  LockTraceMetadata::hash_at_safepoint(enter->_monitor);
  JavaThread* owner = Threads::owning_thread_from_monitor_owner((address) enter->_monitor->owner(), false);
  if (owner != NULL) LockTrace::tracer_from_start(owner);
  LockTrace::tracer_from_start(thread);
  enter->write_enter(began_ns);
  return enter->is_of_this_trace() ? LockTraceOpenWaits::written : LockTraceOpenWaits::left;
}

void LockTraceEnter::write_enter(jlong began_ns) {
  LockTraceClassInit* init = LockTraceClassInit::of(_thread, _monitor);
  if (init != NULL && !init->is_new_wait()) return;
  LctThread* tracer = LockTrace::tracer(_thread);
  if (tracer == NULL) return;
  LockTraceHook hook(tracer, LCT_HOOK_ENTER, LockTraceCycles(_thread->locktrace()));
  describe_if_new(tracer, _thread, _monitor, init);
  LockTraceMonitor* lock = _monitor->locktrace();
  assert(is_one_word(_monitor), "compiled code would overlook the contender");
  // A thread that has waited since an earlier trace is counted already.
  if (_tracer == NULL) _monitor->locktrace_interest()->contender_comes();
  LctContendedEnter event;
  event.lock = lock->id;
  // Number and time come first: what the owner does while this thread walks
  // its stack is part of the wait.
  event.sequence = lct_lock_next_sequence(lock);
  event.time_ns = began_ns != 0 ? began_ns : os::javaTimeNanos();
  event.chain = LockTraceStackWalk::record(_thread, tracer, (oop) _monitor->object());
  event.after_wait = init == NULL && _thread->current_waiting_monitor() == _monitor;
  // As late as possible: an owner seen now, after the number was taken, will write an
  // event when it releases the monitor, unless it has looked for contenders already
  // and not released the monitor yet.
  event.owner = find_owner(_monitor, init);
  lct_contended_enter(tracer, &event);
  _safepoint_ns = LockTrace::safepoint_clock(event.time_ns);
  _tracer = tracer;
  _session = LockTrace::session();
  _thread->locktrace()->wait_begins((intptr_t) _monitor, event.time_ns);
  LockTraceSampler::note_wait();
}

JavaThread* LockTraceEnter::owner_of(JavaThread* thread) {
  assert(SafepointSynchronize::is_at_safepoint(), "or the owner may end");
  LockTraceEnter* enter = thread->locktrace()->_enter;
  void* owner = enter == NULL ? NULL : owner_seen(enter->_monitor, LockTraceClassInit::of(thread, enter->_monitor));
  if (owner == NULL) return NULL;
  // With a number it is a thread; otherwise likely a lock on a stack.
  bool is_thread = lct_thread_number(LockTrace::runtime(), (uint64_t) (uintptr_t) owner) != 0;
  return is_thread ? (JavaThread*) owner : Threads::owning_thread_from_monitor_owner((address) owner, false);
}

oop LockTraceEnter::object_of(JavaThread* thread) {
  LockTraceEnter* enter = thread->locktrace()->_enter;
  return enter == NULL ? (oop) NULL : (oop) enter->_monitor->object();
}

// A wait that is not in the trace ends without an event, but the hold after it
// belongs to the trace.
void LockTraceEnter::acquired() {
  if (!LockTrace::enabled()) {
    _untraced = true;
    return;
  }
  if (!is_of_this_trace()) {
    _acquired_ns = os::javaTimeNanos();
    return;
  }
  _cycles = LockTraceCycles(_thread->locktrace());
  _cycles.begin_part();
  _acquired_ns = os::javaTimeNanos();
  _stopped_ns = LockTrace::safepoint_clock(_acquired_ns) - _safepoint_ns;
  _monitor->locktrace()->hold_begins(_acquired_ns);
  _cycles.end_part();
}

void LockTraceEnter::write_entered() {
  LockTraceClassInit* init = LockTraceClassInit::of(_thread, _monitor);
  if (init != NULL && init->goes_on()) {
    _acquired_ns = 0;
    init->keep(*this);
    _tracer = NULL;
    return;
  }
  LockTraceMonitor* lock = _monitor->locktrace();
  LockTraceInterest* interest = _monitor->locktrace_interest();
  interest->contender_leaves();
  // The wait outlasts the trace.
  if (!LockTrace::enabled()) {
    _tracer = NULL;
    return;
  }
  if (!is_of_this_trace()) {
    _tracer = NULL;
    lock->forget_hold();
    begin_hold();
    return;
  }
  if (_acquired_ns == 0) acquired();
  // Compiled code releases the monitor then without looking at the note.
  if (!interest->has_contenders()) lock->forget_hold();
  LockTraceHook hook(_tracer, LCT_HOOK_ENTERED, _cycles);
  LctContendedEntered event;
  event.lock = lock->id;
  event.sequence = lct_lock_next_sequence(lock);
  event.time_ns = _acquired_ns;
  event.safepoint_ns = _stopped_ns;
  lct_contended_entered(_tracer, &event);
  _tracer = NULL;
}

// ---------------------------------------------------------------------------
// Holds

// All contenders may be of an earlier trace. Then the lock has no identifier, and a
// thread that contends from now on comes during the hold.
void LockTraceHold::note(ObjectMonitor* monitor, Thread* self, jlong acquired_ns) {
  if (!LockTrace::enabled() || !self->is_Java_thread() || monitor->locktrace()->id == 0) return;
  JavaThread* thread = (JavaThread*) self;
  LctThread* tracer = LockTrace::tracer(thread);
  if (tracer == NULL) return;
  LockTraceHook hook(tracer, LCT_HOOK_ACQUIRE, LockTraceCycles(thread->locktrace()));
  monitor->locktrace()->hold_begins(acquired_ns != 0 ? acquired_ns : os::javaTimeNanos());
}

// Without an event: acquired in the midst of waiting for a class to be initialized, in
// ReenterI without blocking, or after a wait that is not in the trace. An acquisition
// from before the trace is before all contention in it.
void LockTraceEnter::begin_hold() {
  if (!_untraced) LockTraceHold::begin(_monitor, _thread, _acquired_ns);
}

bool LockTraceEnter::is_of_this_trace() const { return _tracer != NULL && _session == LockTrace::session(); }

// ---------------------------------------------------------------------------
// Contended exit

void LockTraceExit::begin(Thread* self) {
  if (!self->is_Java_thread()) return;
  JavaThread* thread = (JavaThread*) self;
  LockTraceThread* state = thread->locktrace();
  if (state->_wait != NULL && state->_wait->_monitor == _monitor) {
    _wait = state->_wait;
    state->_wait = NULL;
    // It has the lock only to wait for the initializer.
    if (_wait->_class_init != NULL) return;
  }
  LockTraceClassInit* init = LockTraceClassInit::of(thread, _monitor);
  // The others go on waiting for it.
  if (init != NULL && init->is_initializer()) return;
  if (!LockTrace::enabled()) {
    // The reference will not be resolved, and must not send each release here.
    _monitor->locktrace()->take_forward_ref(_monitor->locktrace_interest());
    return;
  }
  _thread = thread;
  if (_wait == NULL) _resolved = _monitor->locktrace()->take_forward_ref(_monitor->locktrace_interest());
  _cycles = LockTraceCycles(state);
  take_sequence();
}

void LockTraceExit::take_sequence() {
  // No wait needs this exit. The monitor's queue may hold threads all the same:
  // notified ones, which do not wait for an owner until they have woken up.
  if (!_monitor->locktrace_interest()->has_contenders()) return;
  LockTraceMonitor* lock = _monitor->locktrace();
  // They have waited since before the trace.
  if (lock->id == 0) return;
  if (LockTrace::tracer(_thread) == NULL) {
    lock->forget_hold();
    return;
  }
  _cycles.begin_part();
  if (_wait != NULL) {
    if (_wait->_forward_ref == 0) {
      _wait->_forward_ref = lct_new_forward_ref(LockTrace::runtime());
    }
    _exit_forward = _wait->_forward_ref;
  }
  // The monitor can be deflated as soon as it is released.
  _event.lock = lock->id;
  _event.sequence = lct_lock_next_sequence(lock);
  _event.time_ns = os::javaTimeNanos();
  // The initializer of a class holds more than the lock, and since before it had that.
  _event.hold_ns = lock->hold_ends(_event.time_ns);
  if (LockTraceClassInit::of(_thread, _monitor) != NULL) _event.hold_ns = LCT_HOLD_NOT_KNOWN;
  _cycles.end_part();
}

void LockTraceExit::write() {
  if (_wait != NULL && _wait->_tracer != NULL) _wait->write_begin();
  if (!has_event() && _resolved == 0) return;
  LctThread* tracer = LockTrace::tracer(_thread);
  if (tracer == NULL) return;
  LockTraceHook hook(tracer, LCT_HOOK_EXIT, _cycles);
  if (_exit_forward != 0) {
    lct_contended_exit_forward(tracer, &_event, _exit_forward);
    return;
  }
  uint32_t chain = LockTraceStackWalk::record(_thread, tracer);
  if (has_event()) {
    lct_contended_exit(tracer, &_event, chain);
  }
  if (_resolved != 0) {
    lct_forward_resolve(tracer, _resolved, chain);
  }
}

// ---------------------------------------------------------------------------
// Leaf routines without an anchor

LockTraceLeafCaller::LockTraceLeafCaller(Thread* thread, void* leaf_frame) : _thread(NULL) {
  if (!LockTrace::enabled()) return;
  _thread = (JavaThread*) thread;
  _thread->locktrace()->_leaf_frame = leaf_frame;
}

LockTraceLeafCaller::~LockTraceLeafCaller() {
  if (_thread != NULL) _thread->locktrace()->_leaf_frame = NULL;
}
