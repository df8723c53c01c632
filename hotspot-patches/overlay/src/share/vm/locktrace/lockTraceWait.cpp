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
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "locktrace/lockTraceWait.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/os.hpp"
#include "runtime/osThread.hpp"
#include "runtime/synchronizer.hpp"
#include "runtime/thread.inline.hpp"
// Needs Thread, which it does not include.
#include "runtime/objectMonitor.inline.hpp"

// The place in the order of the object's events.
static LctNumber next_number(uint32_t hash) { return lct_park_number(LockTrace::runtime(), hash); }

// A monitor with an owner or a waiter stays inflated, so its header has the hash.
static uint32_t hash_of(JavaThread* self, ObjectMonitor* monitor) {
  intptr_t hash = monitor->header()->hash();
  if (hash == 0) hash = ObjectSynchronizer::FastHashCode(self, (oop) monitor->object());
  return (uint32_t) hash;
}

// ---------------------------------------------------------------------------
// Object.wait

LockTraceWait::LockTraceWait(ObjectMonitor* monitor, JavaThread* thread, jlong millis)
    : _monitor(monitor), _thread(thread), _outer(thread->locktrace()->_object_wait), _millis(millis), _forward_ref(0),
      _session(LockTrace::session()), _class_init(NULL), _tracer(NULL), _woken(false), _notification(0), _notified_in(0) {
  thread->locktrace()->_object_wait = this;
  if (LockTrace::enabled()) begin();
}

LockTraceWait::~LockTraceWait() { _thread->locktrace()->_object_wait = _outer; }

void LockTraceWait::begin() {
  LockTraceThread* state = _thread->locktrace();
  _class_init = LockTraceClassInit::of(_thread, _monitor);
  if (_class_init != NULL) _class_init->release(_monitor);
  _forward_ref = _monitor->locktrace()->take_forward_ref(_monitor->locktrace_interest());
  state->_wait = this;
  // Others wait for a class in LockTraceClassInit.
  if (_class_init != NULL || !LockTrace::traces_monitors()) return;
  LctThread* tracer = LockTrace::tracer(_thread);
  if (tracer == NULL) return;
  _cycles = LockTraceCycles(state);
  _cycles.begin_part();
  hash_of(_thread, _monitor);
  _tracer = tracer;
  take_number(os::javaTimeNanos());
  _cycles.end_part();
}

void LockTraceWait::take_number(jlong now_ns) {
  _began_ns = now_ns;
  _safepoint_ns = LockTrace::safepoint_clock(now_ns);
  _number = next_number((uint32_t) _monitor->header()->hash());
}

void LockTraceWait::write_begin() {
  LockTraceHook hook(_tracer, LCT_HOOK_WAIT_BEGIN, _cycles);
  LctParkBegin event;
  event.number = _number;
  event.time_ns = _began_ns;
  event.timeout = _millis > 0 ? (uint64_t) MIN2(_millis, max_jlong / NANOSECS_PER_MILLISEC) * NANOSECS_PER_MILLISEC : 0;
  event.owner = 0;
  event.blocker_class = LockTraceMetadata::class_id(_tracer, ((oop) _monitor->object())->klass());
  event.blocker_hash = (uint32_t) _monitor->header()->hash();
  event.chain = LockTraceStackWalk::record(_thread, _tracer);
  event.timeout_kind = _millis > 0 ? LCT_TIMEOUT_AFTER_NS : LCT_TIMEOUT_NONE;
  event.continued = false;
  event.monitor = true;
  lct_park_begin(_tracer, &event);
}

LockTraceOpenWaits::Outcome LockTraceWait::write_open(JavaThread* thread, jlong began_ns, bool in_time) {
  LockTraceWait* wait = thread->locktrace()->_object_wait;
  if (wait == NULL || wait->_woken || wait->_class_init != NULL || wait->is_of_this_trace()) return LockTraceOpenWaits::nothing;
  // It has been notified, and will wake up at once.
  if (wait->_notification != 0) return LockTraceOpenWaits::nothing;
  LctThread* tracer = in_time ? LockTrace::tracer_from_start(thread) : (LctThread*) NULL;
  if (tracer == NULL) return LockTraceOpenWaits::left;
  LockTraceMetadata::hash_at_safepoint(wait->_monitor);
  wait->_tracer = tracer;
  wait->_session = LockTrace::session();
  wait->_cycles = LockTraceCycles(thread->locktrace());
  wait->take_number(began_ns != 0 ? began_ns : os::javaTimeNanos());
  wait->write_begin();
  return LockTraceOpenWaits::written;
}

// As wait() decides it: a notification comes first.
uint8_t LockTraceWait::reason(bool notified, bool timed_out) const {
  if (notified) return LCT_PARK_UNPARKED;
  if (_thread->osthread()->interrupted()) return LCT_PARK_INTERRUPTED;
  return timed_out ? LCT_PARK_TIMED_OUT : LCT_PARK_SPURIOUS;
}

void LockTraceWait::end(bool notified, bool timed_out) {
  // The wait outlasts the trace.
  if (!LockTrace::enabled() || !is_of_this_trace()) return;
  LockTraceHook hook(_tracer, LCT_HOOK_WAIT_END, LockTraceCycles(_thread->locktrace()));
  LctParkEnd event;
  event.time_ns = os::javaTimeNanos();
  event.number = next_number((uint32_t) _monitor->header()->hash());
  event.safepoint_ns = LockTrace::safepoint_clock(event.time_ns) - _safepoint_ns;
  event.owner = 0;
  event.permit = notified && _notified_in == _session ? lct_notification_permit(_notification) : 0;
  event.reason = reason(notified, timed_out);
  event.unpark_elsewhere = false;
  event.monitor = true;
  lct_park_end(_tracer, &event);
}

void LockTraceWait::restore() {
  if (_class_init != NULL) _class_init->reacquired();
  // The trace may have ended meanwhile.
  if (_forward_ref == 0 || !LockTrace::enabled() || _session != LockTrace::session()) return;
  _monitor->locktrace()->put_forward_ref(_monitor->locktrace_interest(), _forward_ref);
}

// ---------------------------------------------------------------------------
// Object.notify and Object.notifyAll

void LockTraceNotify::begin(Thread* self) {
  if (!self->is_Java_thread()) return;
  _thread = (JavaThread*) self;
  if (LockTraceClassInit::of(_thread, _monitor) != NULL) return;
  _tracer = LockTrace::tracer(_thread);
  _event.number.sequence = 0;
}

void LockTraceNotify::note(ObjectWaiter* waiter) {
  JavaThread* target = (JavaThread*) waiter->_thread;
  if (_event.number.sequence == 0) {
    _cycles = LockTraceCycles(_thread->locktrace());
    _cycles.begin_part();
    _event.blocker_hash = hash_of(_thread, _monitor);
    _event.waiters = _monitor->locktrace()->waiters() + 1;
    _event.target = _all ? 0 : (uint64_t) java_lang_Thread::thread_id(target->threadObj());
    _event.number = next_number(_event.blocker_hash);
    _event.time_ns = os::javaTimeNanos();
    _cycles.end_part();
  }
  // Alive: it is asleep in wait(), or wants the lock of the wait set.
  LockTraceWait* wait = target->locktrace()->_object_wait;
  assert(wait != NULL && wait->_monitor == _monitor, "the innermost wait is in the wait set");
  wait->_notified_in = LockTrace::session();
  wait->_notification = _event.number.sequence;
}

void LockTraceNotify::write() {
  if (_event.number.sequence == 0) return;
  LockTraceHook hook(_tracer, LCT_HOOK_NOTIFY, _cycles);
  _event.owner = 0;
  _event.permit = 0;
  _event.blocker_class = LockTraceMetadata::class_id(_tracer, ((oop) _monitor->object())->klass());
  _event.chain = LockTraceStackWalk::record(_thread, _tracer);
  _event.interrupt = false;
  _event.never_acquired = false;
  lct_unpark(_tracer, &_event);
}
