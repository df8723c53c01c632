/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEWAIT_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEWAIT_HPP

#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceOpenWaits.hpp"
#include "memory/allocation.hpp"

class LockTraceClassInit;
class ObjectWaiter;

// Object.wait: objects on the stack of the ObjectMonitor method that they trace.
//
// The events are those of a park on the object, ordered by its park domain. Begins and
// notifications take their numbers while the thread owns the monitor, so a wait's begin, its
// notification and its end have ascending numbers.

// Object.wait, from before it releases the monitor until it owns it again.
//
// It releases a monitor that another method acquired. The exit event refers to the call chain
// of that method, which is known when that method releases the monitor for good.
class LockTraceWait : public StackObj {
 private:
  friend class LockTraceExit;
  friend class LockTraceNotify;
  ObjectMonitor* const _monitor;
  JavaThread* const _thread;
  LockTraceWait* const _outer;   // an agent's code waits in the midst of another wait
  const jlong _millis;
  uint64_t _forward_ref;   // 0: no contended exit refers to the chain yet
  uint32_t _session;       // the trace that the reference and the tracer belong to
  LockTraceClassInit* _class_init;   // NULL: the wait is not for another thread to initialize a class
  LctThread* _tracer;      // NULL: the begin has no number, or is of an earlier trace
  LctNumber _number;       // of the begin
  jlong _began_ns;
  jlong _safepoint_ns;     // safepoint clock at the begin
  bool _woken;
  // The number of the notification, 0: none, and its trace. Written by the notifier while this
  // thread is in the monitor's wait set.
  volatile uint64_t _notification;
  volatile uint32_t _notified_in;
  LockTraceCycles _cycles; // of the begin

  void begin();
  void take_number(jlong now_ns);
  // After the release.
  void write_begin();
  void end(bool notified, bool timed_out);
  void restore();
  uint8_t reason(bool notified, bool timed_out) const;
  // Otherwise the tracer is gone.
  bool is_of_this_trace() const { return _tracer != NULL && _session == LockTrace::session(); }

 public:
  // Owning the monitor, just before exit().
  LockTraceWait(ObjectMonitor* monitor, JavaThread* thread, jlong millis);
  ~LockTraceWait();

  // Awake and out of the wait set, before the monitor is acquired again. In VM state.
  void woken(bool notified, bool timed_out) {
    _woken = true;
    if (_tracer != NULL) end(notified, timed_out);
  }

  // Owning the monitor again: its owners must not have consumed the
  // reference meanwhile.
  void reacquired() { if (_forward_ref != 0 || _class_init != NULL) restore(); }

  // At a safepoint: writes the begin of a wait that is older than the trace, if there is time
  // for it.
  static LockTraceOpenWaits::Outcome write_open(JavaThread* thread, jlong began_ns, bool in_time);
};

// Object.notify and Object.notifyAll, with an event if a thread waits.
class LockTraceNotify : public StackObj {
 private:
  ObjectMonitor* const _monitor;
  JavaThread* _thread;
  const bool _all;
  LctThread* _tracer;    // NULL: nothing to trace
  LctUnpark  _event;     // its number is 0: nobody was taken
  LockTraceCycles _cycles;

  void begin(Thread* self);
  void note(ObjectWaiter* waiter);
  void write();

 public:
  // Owning the monitor.
  LockTraceNotify(ObjectMonitor* monitor, Thread* self, bool all)
    : _monitor(monitor), _thread(NULL), _all(all), _tracer(NULL) {
    if (LockTrace::traces_monitors()) begin(self);
  }
  ~LockTraceNotify() { if (_tracer != NULL) write(); }

  // The waiter is out of the wait set, whose lock is held, and not notified yet.
  void takes(ObjectWaiter* waiter) { if (_tracer != NULL) note(waiter); }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEWAIT_HPP
