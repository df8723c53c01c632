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

// Where a synchronizer of java.util.concurrent keeps the threads that wait for it:
// a list of nodes, from the head, which no thread waits in, to the tail. Nodes have
// a thread, and links in both directions, of which those to the next are only hints.
class LockTraceQueue VALUE_OBJ_CLASS_SPEC {
 private:
  Klass* _klass;   // of the synchronizer; NULL if this JDK's is another
  int    _head_offset, _tail_offset;
  int    _previous_offset, _next_offset, _thread_offset;

 public:
  void initialize(const char* klass, const char* node_klass, const char* head, const char* tail, JavaThread* THREAD);

  bool is_of(oop object) const;
  oop  head(oop synchronizer) const      { return synchronizer->obj_field(_head_offset); }
  oop  tail(oop synchronizer) const      { return synchronizer->obj_field(_tail_offset); }
  oop  previous(oop node) const          { return node->obj_field(_previous_offset); }
  oop  next(oop node) const              { return node->obj_field(_next_offset); }
  oop  waiter(oop node) const            { return node->obj_field(_thread_offset); }

  // The node that the thread waits in. NULL if it has none, or many threads came
  // after it.
  oop node_of(oop synchronizer, oop java_thread) const;
};

// What a thread parks on, and what the locks of java.util.concurrent tell about
// themselves: the owner, and who waits.
class LockTraceBlocker : public StackObj {
 private:
  Handle   _object;   // may be null
  uint32_t _hash;

  enum { queue_kinds = 3 };
  static LockTraceQueue _queues[queue_kinds];

 public:
  // May reach a safepoint, to give the object an identity hash.
  LockTraceBlocker(JavaThread* thread, oop object);

  // Finds the classes and their fields. Those that are missing are not used.
  static void initialize(JavaThread* thread);

  bool     is_null() const { return _object.is_null(); }
  uint32_t hash() const    { return _hash; }
  uint32_t class_id(LctThread* tracer) const;

  // The place in the order of the blocker's events; without a blocker, of those
  // of the thread that parks.
  LctNumber next_number(uint64_t parked_thread) const;

  // Thread.getId() of the thread that owns the lock at this moment; 0 if there
  // is none, or the blocker does not know. A snapshot: nobody is stopped.
  uint64_t owner() const;

  // Identity hash of the node that the thread waits in: it has the same one as
  // long as it waits in one call, and another one in each. 0 if it is not found.
  uint32_t place_of(JavaThread* thread) const;
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
  jlong       _safepoint_ns;   // safepoint clock when the park began

  static void note_consumed(int permit);
  static void note_woken(int permit, int status);
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
  static int consumed(int permit) {
    if (LockTrace::enabled()) note_consumed(permit);
    return permit;
  }
  // The same, after waiting with the given outcome.
  static void woken(int permit, int status) {
    if (LockTrace::enabled()) note_woken(permit, status);
  }
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
    if (LockTrace::enabled()) begin_unpark(target);
  }
  // By Thread.interrupt, or by a VM thread that stops the target. The caller
  // holds the Threads_lock, or is the target.
  explicit LockTraceUnpark(Thread* target) : _thread(NULL), _tracer(NULL) {
    if (LockTrace::enabled()) begin_interrupt(target);
  }
  ~LockTraceUnpark() { if (_tracer != NULL) write(); }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEPARKS_HPP
