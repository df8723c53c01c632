/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEPARKS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEPARKS_HPP

#include "jni.h"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceOpenWaits.hpp"
#include "memory/allocation.hpp"
#include "runtime/handles.hpp"

// The park events (paper, section 3.3): objects on the stack of the method that
// they trace.

// What a thread parks on, and what the locks of java.util.concurrent tell about
// themselves: the owner, and who waits.
class LockTraceBlocker : public StackObj {
 private:
  Handle   _object;   // may be null
  uint32_t _hash;

 public:
  // May reach a safepoint, to give the object an identity hash.
  LockTraceBlocker(JavaThread* thread, oop object);
  // At a safepoint.
  explicit LockTraceBlocker(oop object);

  oop      object() const  { return _object(); }
  bool     is_null() const { return _object.is_null(); }
  // A synchronizer, and not what threads use to wait for each other.
  bool     is_lock() const;
  uint32_t hash() const    { return _hash; }
  // False at a safepoint if the object has no hash yet.
  bool is_known() const    { return is_null() || _hash != 0; }
  uint32_t class_id(LctThread* tracer) const;

  // The place in the order of the blocker's events; without a blocker, of those
  // of the thread that parks.
  LctNumber next_number(uint64_t parked_thread) const;

  // Thread.getId() of the thread that owns the lock at this moment; 0 if no
  // thread does, or the blocker does not know. A snapshot: nobody is stopped.
  uint64_t owner() const;
  // Whether it does, and the java.lang.Thread.
  static bool knows_owner(oop blocker);
  static oop owner_of(oop blocker);

  // Identity hash of the node that the thread waits in: it has the same one as
  // long as it waits in one call, and another one in each. 0 if it is not found.
  uint32_t place_of(JavaThread* thread) const;
};

// Park begin and park end, around Parker::park.
class LockTracePark : public StackObj {
 private:
  JavaThread* _thread;
  const bool  _is_absolute;
  const jlong _time;
  LctThread*  _tracer;         // NULL while no begin has been written
  uint32_t    _session;        // the trace that the tracer belongs to
  uint32_t    _permit;         // consumed, 0: none
  bool        _waited;         // on the condition variable
  bool        _timed_out;
  bool        _no_time;        // the deadline was over before
  jlong       _safepoint_ns;   // safepoint clock when the park began
  oop*        _blocker;        // handle of what the begin was about; NULL: nothing
  bool        _is_counted;     // the blocker has to hear of the end

  static void note_consumed(int permit);
  static void note_woken(int permit, int status);
  void begin();
  void write_begin(LctThread* tracer, const LockTraceBlocker& blocker, bool continued, jlong began_ns);
  void end();
  // Before the park takes its number. In the thread, or at a safepoint while it is parked.
  void tell_begin(oop blocker);
  void tell_end();
  oop blocker() const { return _blocker == NULL ? (oop) NULL : *_blocker; }
  uint8_t reason() const;
  // Otherwise the tracer is gone.
  bool is_of_this_trace() const { return _tracer != NULL && _session == LockTrace::session(); }

 public:
  LockTracePark(JavaThread* thread, bool is_absolute, jlong time)
    : _thread(thread), _is_absolute(is_absolute), _time(time), _tracer(NULL), _session(0), _permit(0),
      _waited(false), _timed_out(false), _no_time(false), _safepoint_ns(0), _blocker(NULL), _is_counted(false) {
    if (LockTrace::traces_parks()) begin();
    thread->locktrace()->_park = this;
  }
  ~LockTracePark() {
    _thread->locktrace()->_park = NULL;
    if (_tracer != NULL) end();
  }

  // At a safepoint: writes the begin of a park that is older than the trace, if there is time
  // for it.
  static LockTraceOpenWaits::Outcome write_open(JavaThread* thread, jlong began_ns, bool in_time);

  static bool is_parked(JavaThread* thread) { return thread->locktrace()->_park != NULL; }
  // Who owns what the thread is parked on; NULL if there is nobody, or that is not known. The
  // owner may end as soon as there can be a safepoint.
  static JavaThread* owner_of(JavaThread* thread);

  // In Parker::park, where it takes the permit: passes on the parker's counter.
  static int consumed(int permit) {
    if (LockTrace::enabled()) note_consumed(permit);
    return permit;
  }
  // The same, after waiting with the given outcome.
  static void woken(int permit, int status) { note_woken(permit, status); }
};

// Unpark, around Parker::unpark.
class LockTraceUnpark : public StackObj {
 private:
  friend class LockTraceParker;
  JavaThread* _thread;   // the writer, NULL: nothing to trace
  LctThread*  _tracer;
  LctUnpark   _event;
  bool        _too_late;   // the target had ended before
  LockTraceCycles _cycles;   // before the unpark

  void begin_unpark(jobject target);
  void begin_interrupt(Thread* target);
  void begin(Handle target, bool interrupt);
  void write();

 public:
  // By LockSupport.unpark.
  LockTraceUnpark(JavaThread* thread, jobject target) : _thread(thread), _tracer(NULL) {
    if (LockTrace::traces_parks()) begin_unpark(target);
  }
  // By Thread.interrupt, or by a VM thread that stops the target. The caller
  // holds the Threads_lock, or is the target.
  explicit LockTraceUnpark(Thread* target) : _thread(NULL), _tracer(NULL) {
    if (LockTrace::traces_parks()) begin_interrupt(target);
  }
  ~LockTraceUnpark() { if (_tracer != NULL) write(); }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEPARKS_HPP
