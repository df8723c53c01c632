/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/javaClasses.hpp"
#include "classfile/systemDictionary.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceParks.hpp"
#include "locktrace/lockTraceSampler.hpp"
#include "locktrace/lockTraceSites.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "locktrace/lockTraceSynchronizers.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/jniHandles.hpp"
#include "runtime/os.hpp"
#include "runtime/osThread.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/synchronizer.hpp"
#include "runtime/thread.inline.hpp"

#include <errno.h>

// ---------------------------------------------------------------------------
// What threads park on

LockTraceBlocker::LockTraceBlocker(JavaThread* thread, oop object) : _object(thread, object), _hash(0) {
  if (object != NULL) _hash = (uint32_t) ObjectSynchronizer::FastHashCode(thread, _object());
}

LockTraceBlocker::LockTraceBlocker(oop object)
    : _object(Thread::current(), object), _hash(object == NULL ? 0 : (uint32_t) LockTraceMetadata::known_hash(object)) {
  assert(SafepointSynchronize::is_at_safepoint(), "or the object's mark may change");
}

bool LockTraceBlocker::is_lock() const { return !is_null() && LockTraceQueue::of(_object()) != NULL; }

uint32_t LockTraceBlocker::class_id(LctThread* tracer) const {
  return is_null() ? 0 : LockTraceMetadata::class_id(tracer, _object()->klass());
}

LctNumber LockTraceBlocker::next_number(uint64_t parked_thread) const {
  return lct_park_number(LockTrace::runtime(), is_null() ? parked_thread : _hash);
}

bool LockTraceBlocker::knows_owner(oop blocker) {
  Klass* ownable = SystemDictionary::abstract_ownable_synchronizer_klass();
  return blocker != NULL && ownable != NULL && blocker->klass()->is_subclass_of(ownable);
}

oop LockTraceBlocker::owner_of(oop blocker) {
  if (!knows_owner(blocker)) return NULL;
  return java_util_concurrent_locks_AbstractOwnableSynchronizer::get_owner_threadObj(blocker);
}

uint64_t LockTraceBlocker::owner() const {
  oop owner = owner_of(object());
  return owner == NULL ? 0 : (uint64_t) java_lang_Thread::thread_id(owner);
}

uint32_t LockTraceBlocker::place_of(JavaThread* thread) const {
  const LockTraceQueue* queue = is_null() ? (LockTraceQueue*) NULL : LockTraceQueue::of(_object());
  oop node = queue == NULL ? (oop) NULL : queue->node_of(_object(), thread->threadObj());
  return node == NULL ? 0 : (uint32_t) ObjectSynchronizer::FastHashCode(thread, node);
}

// ---------------------------------------------------------------------------
// Park

// Thread.getId() of a thread that runs Java code.
static uint64_t java_id(JavaThread* thread) {
  return (uint64_t) java_lang_Thread::thread_id(thread->threadObj());
}

void LockTracePark::begin() {
  LockTraceThread* state = _thread->locktrace();
  LockTraceCycles cycles(state);
  cycles.begin_part();
  LockTraceBlocker blocker(_thread, _thread->current_park_blocker());
  uint32_t place = blocker.place_of(_thread);
  cycles.end_part();
  // Behind whatever may reach a safepoint: at one the trace may end.
  LctThread* tracer = LockTrace::tracer(_thread);
  if (tracer == NULL) return;
  LockTraceHook hook(tracer, LCT_HOOK_PARK_BEGIN, cycles);
  tell_begin(blocker.object());
  bool continued = place != 0 && place == state->_queue_place && blocker.hash() == state->_blocker_hash;
  write_begin(tracer, blocker, continued, 0);
}

LockTraceOpenWaits::Outcome LockTracePark::write_open(JavaThread* thread, jlong began_ns, bool in_time) {
  LockTracePark* park = thread->locktrace()->_park;
  if (park == NULL || park->is_of_this_trace()) return LockTraceOpenWaits::nothing;
  // It has been woken, or will be at once.
  if (park->_permit != 0 || park->_waited) return LockTraceOpenWaits::nothing;
  HandleMark handles;
  LockTraceBlocker blocker(thread->current_park_blocker());
  // Without a hash it parked after the objects got theirs.
  LctThread* tracer = in_time && blocker.is_known() ? LockTrace::tracer_from_start(thread) : (LctThread*) NULL;
  if (tracer == NULL) return LockTraceOpenWaits::left;
  LockTraceHook hook(tracer, LCT_HOOK_PARK_BEGIN, LockTraceCycles(thread->locktrace()));
  park->tell_begin(blocker.object());
  park->write_begin(tracer, blocker, false, began_ns);
  return LockTraceOpenWaits::written;
}

// began_ns: the time of the event; 0: now.
void LockTracePark::write_begin(LctThread* tracer, const LockTraceBlocker& blocker, bool continued, jlong began_ns) {
  LctParkBegin event;
  event.continued = continued;
  event.monitor = false;
  event.blocker_class = blocker.class_id(tracer);
  event.blocker_hash = blocker.hash();
  event.timeout_kind = _time == 0 && !_is_absolute ? LCT_TIMEOUT_NONE
                     : _is_absolute ? LCT_TIMEOUT_AT_UNIX_MS : LCT_TIMEOUT_AFTER_NS;
  event.timeout = (uint64_t) MAX2(_time, (jlong) 0);
  event.number = blocker.next_number(java_id(_thread));
  event.time_ns = began_ns != 0 ? began_ns : os::javaTimeNanos();
  event.owner = blocker.owner();
  event.chain = LockTraceStackWalk::record(_thread, tracer);
  // After the number is taken: the site is recorded before any other wait ends.
  if (blocker.is_lock()) {
    lct_tell_site(tracer, event.blocker_class, event.blocker_hash, false);
    LockTraceSites::note_contention(blocker.object()->klass());
  }
  lct_park_begin(tracer, &event);

  _safepoint_ns = LockTrace::safepoint_clock(event.time_ns);
  _no_time = _time < 0 || (_is_absolute && _time == 0);
  _tracer = tracer;
  _session = LockTrace::session();
  if (LockTraceBlocker::knows_owner(blocker.object())) {
    _thread->locktrace()->wait_begins((intptr_t) blocker.hash(), event.time_ns);
    LockTraceSampler::note_wait();
  }
}

JavaThread* LockTracePark::owner_of(JavaThread* thread) {
  oop owner = LockTraceBlocker::owner_of(thread->current_park_blocker());
  return owner == NULL ? (JavaThread*) NULL : java_lang_Thread::thread(owner);
}

// The end is of the same object, also if the thread's field says something else by then: who changes
// that by reflection must not leave a synchronizer with one waiter too many, and another with one
// too few. The handle is in the thread's own area, from which nothing is freed while it parks.
void LockTracePark::tell_begin(oop blocker) {
  tell_end();
  if (blocker == NULL) {
    _blocker = NULL;
  } else if (_blocker != NULL) {
    *_blocker = blocker;
  } else {
    _blocker = _thread->handle_area()->allocate_handle(blocker);
  }
  const LockTraceHolds* holds = LockTraceHolds::of(blocker);
  _is_counted = holds != NULL && holds->park_begins(blocker);
}

void LockTracePark::tell_end() {
  if (_is_counted) LockTraceHolds::of(blocker())->park_ends(blocker());
  _is_counted = false;
}

void LockTracePark::note_consumed(int permit) {
  if (permit <= 0) return;
  LockTracePark* park = JavaThread::current()->locktrace()->_park;
  if (park != NULL) park->_permit = LockTraceParker::permit_of(permit);
}

void LockTracePark::note_woken(int permit, int status) {
  LockTracePark* park = JavaThread::current()->locktrace()->_park;
  if (park == NULL) return;
  park->_waited = true;
  park->_permit = LockTraceParker::permit_of(permit);
  park->_timed_out = permit == 0 && (status == ETIME || status == ETIMEDOUT);
}

uint8_t LockTracePark::reason() const {
  bool woken = _permit != 0 && !LockTraceParker::is_stray(_permit);
  if (woken && LockTraceParker::is_interrupt(_permit)) return LCT_PARK_INTERRUPTED;
  if (woken) return _waited ? LCT_PARK_UNPARKED : LCT_PARK_PERMIT_AVAILABLE;
  if (_timed_out || _no_time) return LCT_PARK_TIMED_OUT;
  return _thread->osthread()->interrupted() ? LCT_PARK_INTERRUPTED : LCT_PARK_SPURIOUS;
}

void LockTracePark::end() {
  LockTraceThread* state = _thread->locktrace();
  state->wait_ends();
  tell_end();
  LockTraceCycles cycles(state);
  cycles.begin_part();
  jlong now_ns = os::javaTimeNanos();
  LockTraceBlocker blocker(_thread, this->blocker());
  uint32_t place = blocker.place_of(_thread);
  cycles.end_part();
  // The park outlasts the trace: looked at behind whatever may reach a safepoint.
  if (!LockTrace::enabled() || !is_of_this_trace()) return;
  LockTraceHook hook(_tracer, LCT_HOOK_PARK_END, cycles);

  LctParkEnd event;
  event.number = blocker.next_number(java_id(_thread));
  event.time_ns = now_ns;
  event.safepoint_ns = LockTrace::safepoint_clock(now_ns) - _safepoint_ns;
  event.owner = blocker.owner();
  event.permit = LockTraceParker::reported(_permit);
  bool is_exchanged = _thread->current_park_blocker() != blocker.object();
  event.unpark_elsewhere = event.permit != 0 && (LockTraceParker::is_unseen(_permit) || is_exchanged) && !blocker.is_null();
  event.reason = reason();
  event.monitor = false;
  lct_park_end(_tracer, &event);

  state->_blocker_hash = blocker.hash();
  state->_queue_place = place;
}

// ---------------------------------------------------------------------------
// Unpark

void LockTraceUnpark::begin_unpark(jobject target) {
  if (target != NULL) begin(Handle(_thread, JNIHandles::resolve_non_null(target)), false);
}

void LockTraceUnpark::begin_interrupt(Thread* target) {
  Thread* current = ThreadLocalStorage::thread();
  if (!current->is_Java_thread() || !target->is_Java_thread()) return;
  oop java_thread = ((JavaThread*) target)->threadObj();
  if (java_thread == NULL) return;
  _thread = (JavaThread*) current;
  begin(Handle(_thread, java_thread), true);
}

void LockTraceUnpark::begin(Handle target, bool interrupt) {
  _cycles = LockTraceCycles(_thread->locktrace());
  _cycles.begin_part();
  // An interrupt holds the Threads_lock, so nothing may reach a safepoint. It
  // releases no lock, so what the target waits for does not matter.
  LockTraceBlocker blocker(_thread, interrupt ? (oop) NULL : java_lang_Thread::park_blocker(target()));
  // Behind what may reach a safepoint: at one the trace may end.
  LctThread* tracer = LockTrace::tracer(_thread);
  if (tracer == NULL) return;
  _event.target = (uint64_t) java_lang_Thread::thread_id(target());
  _too_late = !java_lang_Thread::is_alive(target());
  _event.blocker_class = blocker.class_id(tracer);
  _event.blocker_hash = blocker.hash();
  _event.interrupt = interrupt;
  _event.waiters = 0;
  _event.never_acquired = LockTraceSemaphores::has_never_acquired(_thread, blocker.object());
  _event.permit = 0;
  _event.number = blocker.next_number(_event.target);
  _event.time_ns = os::javaTimeNanos();
  _event.owner = blocker.owner();
  _tracer = tracer;
  _thread->locktrace()->_unpark = this;
  _cycles.end_part();
}

void LockTraceUnpark::write() {
  LockTraceHook hook(_tracer, LCT_HOOK_UNPARK, _cycles);
  _thread->locktrace()->_unpark = NULL;
  _event.chain = LockTraceStackWalk::record(_thread, _tracer);
  lct_unpark(_tracer, &_event);
}

// Under the parker's mutex. A permit that is there stays what it is. But a thread
// takes it without the mutex, and must not miss what this unpark gives it: the
// exchange shows that the permit is still there, and comes after everything that
// was written before.
void LockTraceParker::give_permit(volatile int* counter, int held) {
  if (held < 1 || is_stray(held) || Atomic::cmpxchg(held, counter, held) != held) *counter = new_permit();
}

// The permit is what the parker's counter is set to, so that the thread that takes it also
// knows which one it is.
int LockTraceParker::new_permit() {
  Thread* writer = ThreadLocalStorage::thread();
  LockTraceUnpark* unpark = writer->is_Java_thread() ? ((JavaThread*) writer)->locktrace()->_unpark : NULL;
  _permits = _permits < max_permits ? _permits + 1 : 1;
  uint32_t permit = _permits << number_shift;
  if (unpark == NULL) {
    // The VM thread stops a thread, or the writer cannot be traced.
    permit |= unreported_bit | (writer->is_Java_thread() ? 0 : interrupt_bit);
    return (int) permit;
  }
  if (unpark->_event.interrupt) permit |= interrupt_bit;
  if (unpark->_event.blocker_class == 0) permit |= unseen_bit;
  if (unpark->_too_late || unpark->_event.target == _ended_thread) return (int) (permit | stray_bits);
  unpark->_event.permit = permit;
  return (int) permit;
}

// The number is of an unpark in an earlier trace. The thread of a parker holds its mutex
// at no safepoint.
void LockTraceParker::trace_begins(Parker* parker) {
  int status = pthread_mutex_lock(parker->_mutex);
  assert(status == 0, "invariant");
  if (parker->_counter > 0) parker->_counter = unreported_bit | (parker->_counter > 1 ? parker->_counter & interrupt_bit : 0);
  status = pthread_mutex_unlock(parker->_mutex);
  assert(status == 0, "invariant");
}

// A permit that the thread leaves behind stays, as it does without tracing, and
// wakes the next thread that gets the parker.
void LockTraceParker::thread_ends(Parker* parker, uint64_t thread) {
  int status = pthread_mutex_lock(parker->_mutex);
  assert(status == 0, "invariant");
  if (parker->_counter > 0) parker->_counter |= stray_bits;
  parker->_locktrace._ended_thread = thread;
  status = pthread_mutex_unlock(parker->_mutex);
  assert(status == 0, "invariant");
}
