/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEEVENTS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEEVENTS_HPP

#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceOpenWaits.hpp"
#include "locktrace/lockTraceWait.hpp"
#include "memory/allocation.hpp"

// The monitor events: objects on the stack of the ObjectMonitor method that
// they trace. Hofer et al., "Efficient Tracing and Versatile Analysis of Lock
// Contention in Java Applications on the Virtual Machine Level" (ICPE 2016),
// section 3.2.
//
// Order comes from the per-lock sequence number. Each is taken while the
// monitor's state still proves its place: an exit's before the release, an
// entered's while owning. The events are written when they hurt least: an
// exit's after the release.

// A hold of a monitor, from when a thread acquires it until it releases it. While a
// thread contends, each acquisition is noted in the monitor, and the exit event says
// how long the hold was.
//
// An owner that finds no contender notes nothing: a thread that contends later came during the
// hold. A contender adds itself with an atomic instruction before it takes the time, and
// the owner looks for contenders after the atomic instruction that made it the owner.
// C2's code looks before: if a contender comes between the two, its next step finds the
// monitor free or just taken.
class LockTraceHold : AllStatic {
  static void note(ObjectMonitor* monitor, Thread* self, jlong acquired_ns);

 public:
  // Owning the monitor, acquired without a contended enter: now if no time is given. In
  // VM state.
  static void begin(ObjectMonitor* monitor, Thread* self, jlong acquired_ns = 0) {
    if (monitor->locktrace_interest()->has_contenders()) note(monitor, self, acquired_ns);
  }
};

// Contended enter and contended entered, of enter() and of ReenterI().
class LockTraceEnter : public StackObj {
 private:
  ObjectMonitor* _monitor;
  JavaThread*    _thread;
  LockTraceEnter* _outer;     // the thread was about to block in it when it came here
  LctThread* _tracer;         // NULL while no contended enter has been written
  uint32_t   _session;        // the trace that the tracer belongs to
  jlong      _safepoint_ns;   // safepoint clock at the contended enter
  jlong      _acquired_ns;    // 0: not acquired yet, or not noted
  bool       _untraced;       // acquired while there was no trace
  jlong      _stopped_ns;     // in safepoints, until acquired
  LockTraceCycles _cycles;    // of the contended entered

  // began_ns: the time of the event; 0: now.
  void write_enter(jlong began_ns = 0);
  void write_entered();
  void enlist();
  void delist();
  void begin_hold();
  // Otherwise the tracer is gone.
  bool is_of_this_trace() const;

 public:
  LockTraceEnter(ObjectMonitor* monitor = NULL, JavaThread* thread = NULL)
    : _monitor(monitor), _thread(thread), _outer(NULL), _tracer(NULL), _session(0), _safepoint_ns(0), _acquired_ns(0),
      _untraced(false), _stopped_ns(0) {}

  // Between contended enter and contended entered.
  bool is_open() const { return _tracer != NULL; }

  // The thread is about to block. In VM state: the stack and the object can be
  // read. The monitor cannot be deflated.
  void blocked() {
    if (_tracer != NULL) return;
    enlist();
    if (LockTrace::traces_monitors()) write_enter();
  }

  // The monitor is owned. In any state: only clocks are read.
  void acquired();

  // The thread owns the monitor and is back in VM state, past any safepoint:
  // no number is taken on one side of a safepoint and written on the other.
  void entered() {
    delist();
    if (is_open()) write_entered(); else if (LockTrace::enabled()) begin_hold();
  }

  // At a safepoint: writes the contended enter of a thread that was blocked before the trace
  // began, if there is time for it.
  static LockTraceOpenWaits::Outcome write_open(JavaThread* thread, jlong began_ns, bool in_time);

  // At a safepoint: the owner of the monitor that the thread is blocked on, and the object; NULL
  // without an owner, or if it is not blocked.
  static JavaThread* owner_of(JavaThread* thread);
  static oop object_of(JavaThread* thread);
};

// Contended exit, on every path that releases a monitor through exit().
class LockTraceExit : public StackObj {
 private:
  ObjectMonitor* const _monitor;
  JavaThread*    _thread;        // NULL: nothing to trace
  LockTraceWait* _wait;          // the wait() that releases the monitor, if any
  LctContendedExit _event;       // its sequence is 0: no contender seen, no number taken
  uint64_t       _exit_forward;  // chain of this exit is not known yet
  uint64_t       _resolved;      // earlier exits wait for this exit's chain
  LockTraceCycles _cycles;       // before the release

  bool has_event() const { return _event.sequence != 0; }
  void begin(Thread* self);
  void take_sequence();
  void write();

 public:
  // Before the release. An acquirer that gives the monitor back because it is
  // suspended (not_suspended is false) never appeared as owner.
  LockTraceExit(ObjectMonitor* monitor, Thread* self, bool not_suspended)
    : _monitor(monitor), _thread(NULL), _wait(NULL), _exit_forward(0), _resolved(0) {
    _event.sequence = 0;
    if (LockTrace::was_started() && not_suspended) begin(self);
  }

  // The monitor was released, and taken again to wake a thread that may have
  // come meanwhile.
  void reacquired() { if (_thread != NULL && !has_event()) take_sequence(); }

  // After the release, whichever way exit() returns.
  ~LockTraceExit() { if (_thread != NULL) write(); }
};

// Shows stack walks the compiled caller of a leaf routine that is called without a frame
// anchor: C2's slow path of monitor exit. The anchor itself stays untouched,
// because the rest of the VM must not take the thread for walkable.
class LockTraceLeafCaller : public StackObj {
 private:
  JavaThread* _thread;

 public:
  // leaf_frame is the leaf's own __builtin_frame_address(0).
  LockTraceLeafCaller(Thread* thread, void* leaf_frame);
  ~LockTraceLeafCaller();
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEEVENTS_HPP
