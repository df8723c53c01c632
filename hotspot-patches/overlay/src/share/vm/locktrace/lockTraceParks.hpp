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
#include "memory/allocation.hpp"
#include "runtime/handles.hpp"

class Klass;

// The park events (paper, section 3.3): objects on the stack of the method that
// they trace.

// The queue of an AbstractQueuedSynchronizer: a list of nodes, from the head,
// which no thread waits in, to the tail.
//
// A release unparks the first thread in the queue only if the head's status is
// SIGNAL, and clears it. Until that thread runs and sets it again, others can
// acquire and release the lock without a trace. So the status is set again before
// the thread is unparked, which the class allows for: each release then unparks
// it, and is recorded. See docs/design/0007-told-releases.md.
class LockTraceQueue : AllStatic {
 private:
  enum { signal = -1 };   // Node.SIGNAL

  static Klass* _synchronizer;
  static int _head_offset, _tail_offset;
  static int _status_offset, _previous_offset, _next_offset, _thread_offset, _mode_offset;

  static oop  first_waiter(oop synchronizer, oop head);
  static void unpark_first_waiter(JavaThread* thread, oop synchronizer, oop head);

 public:
  // Finds the class and its fields; false if this JDK's are others.
  static bool initialize(JavaThread* THREAD);

  static bool is_queue(oop object);
  static oop  head(oop synchronizer);

  // The thread is about to unpark the first one in the queue, because it has
  // released the lock: sees to it that the next release tells, too. True if it
  // does.
  static bool tell_next_release(JavaThread* thread, Handle synchronizer, Handle unparked);
};

// What a thread parks on, and what the locks of java.util.concurrent tell about
// themselves: the owner, and who heads the queue.
class LockTraceBlocker : public StackObj {
 private:
  Handle   _object;   // may be null
  uint32_t _hash;

  static int _long_head_offset, _stamped_head_offset;
  static Klass* _long_synchronizer;   // AbstractQueuedLongSynchronizer
  static Klass* _stamped_lock;        // StampedLock

 public:
  // May reach a safepoint, to give the object an identity hash.
  LockTraceBlocker(JavaThread* thread, oop object);

  // Finds the classes and their fields. Those that are missing are not used.
  static void initialize(JavaThread* thread);

  bool     is_null() const { return _object.is_null(); }
  Handle   object() const  { return _object; }
  uint32_t hash() const    { return _hash; }
  uint32_t class_id(LctThread* tracer) const;

  // The place in the order of the blocker's events; without a blocker, of those
  // of the thread that parks.
  LctNumber next_number(uint64_t parked_thread) const;

  // Thread.getId() of the thread that owns the lock at this moment; 0 if there
  // is none, or the blocker does not know. A snapshot: nobody is stopped.
  uint64_t owner() const;

  // Identity hash of the queue's head node, which is that of the thread that
  // acquired last; 0 if there is no such queue. As long as a thread stays in the
  // front of the queue, the head cannot change.
  uint32_t queue_head(JavaThread* thread) const;
};

// Park begin and park end, around Parker::park.
class LockTracePark : public StackObj {
 private:
  JavaThread* _thread;   // NULL: nothing to trace
  LctThread*  _tracer;
  uint32_t    _permit;         // consumed, 0: none
  bool        _waited;         // on the condition variable
  bool        _timed_out;
  bool        _no_time;        // the deadline was over before
  jlong       _safepoint_ns;   // safepoint clock at the begin

  void begin(bool is_absolute, jlong time);
  void end();
  uint8_t reason() const;

 public:
  LockTracePark(JavaThread* thread, bool is_absolute, jlong time)
    : _thread(thread), _tracer(NULL), _permit(0), _waited(false), _timed_out(false),
      _no_time(false), _safepoint_ns(0) {
    if (LockTrace::enabled()) begin(is_absolute, time);
  }
  ~LockTracePark() { if (_tracer != NULL) end(); }

  // In Parker::park, where it takes the permit: passes on the parker's counter.
  static int consumed(int permit);
  // The same, after waiting with the given outcome.
  static void woken(int permit, int status);
};

// Unpark, around Parker::unpark.
class LockTraceUnpark : public StackObj {
 private:
  friend class LockTraceParker;
  JavaThread* _thread;   // the writer, NULL: nothing to trace
  LctThread*  _tracer;
  LctUnpark   _event;

  void begin(Handle target, bool interrupt);
  void write();

 public:
  // By LockSupport.unpark.
  LockTraceUnpark(JavaThread* thread, jobject target);
  // By Thread.interrupt, or by a VM thread that stops the target. The caller
  // holds the Threads_lock, or is the target.
  explicit LockTraceUnpark(Thread* target);
  ~LockTraceUnpark() { if (_tracer != NULL) write(); }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEPARKS_HPP
