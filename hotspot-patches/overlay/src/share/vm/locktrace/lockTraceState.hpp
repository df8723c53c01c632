/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACESTATE_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACESTATE_HPP

// What lock contention tracing keeps inside HotSpot's own data structures.
// Upstream headers include this file, so it stays small and depends on
// nothing but the runtime's C interface.

#include "locktrace.h"
#include "utilities/globalDefinitions.hpp"

class LockTraceCallChain;
class LockTraceClassInit;
class LockTraceEnter;
class LockTracePark;
class LockTraceUnpark;
class LockTraceWait;
class Parker;

// In ObjectMonitor, in one word with the count of recursions, behind it: whom the next
// release must not pass by. That is threads between contended enter and entered, and a
// forward reference, which the owner has to resolve.
//
// C2's inline release tests the word to see that the monitor is not owned recursively,
// and its inline acquisition to see that nobody contends for it: where anything is set,
// both leave it to the VM.
class LockTraceInterest {
 private:
  enum { forward_ref_bit = 1, contender = 2 };
  volatile jint _bits;

 public:
  LockTraceInterest() : _bits(0) {}

  // Before the contended enter takes its number: an owner that released the
  // monitor without seeing the contender comes before it.
  void contender_comes();
  // While the contender owns the monitor.
  void contender_leaves();
  bool has_contenders() const { return _bits >= contender; }

  // By the owner.
  void forward_ref_comes();
  void forward_ref_leaves();
  bool has_forward_ref() const { return (_bits & forward_ref_bit) != 0; }

  bool is_none() const { return _bits == 0; }
};

// In ObjectMonitor: the lock's incarnation, its sequence numbers, and what belongs to
// its owner. All zero while nobody has contended for the monitor since its inflation.
class LockTraceMonitor : public LctLock {
 private:
  enum { session_shift = 48 };
  uint64_t _forward_ref;   // the owner has to resolve it; above it the number of its trace
  // When the owner acquired the monitor; 0: before anybody contended for it, or there
  // is no owner. Only owners read and write it.
  jlong    _acquired_ns;
  // In the wait set. Guarded by its lock, and kept without a trace too.
  uint32_t _waiters;

 public:
  LockTraceMonitor() : _forward_ref(0), _acquired_ns(0), _waiters(0) { id = 0; last_sequence = 0; }

  void waiter_comes()            { _waiters++; }
  void waiter_leaves()           { _waiters--; }
  uint32_t waiters() const       { return _waiters; }

  // By the owner.
  void hold_begins(jlong now_ns) { _acquired_ns = now_ns; }
  // The duration of the hold, in nanoseconds or as LCT_HOLD_...
  uint64_t hold_ends(jlong now_ns);
  void forget_hold()             { _acquired_ns = 0; }
  void put_forward_ref(LockTraceInterest* interest, uint64_t forward_ref);
  // 0: this trace has none.
  uint64_t take_forward_ref(LockTraceInterest* interest);

  // Forgets what the last trace has left, while nothing is traced. Contenders of that trace
  // stay in the interest until they own the monitor: they take themselves back. So does
  // a forward reference: its owner takes it out.
  void forget_trace();
};

// The return barrier of a thread, see lockTraceReturnBarriers.hpp. Generated code knows
// the layout.
class LockTraceReturnBarrier {
 private:
  friend class LockTraceReturnBarriers;
  address* volatile _slot;       // where the return address was replaced; NULL: nowhere
  address  volatile _original;
  address  volatile _stub;       // what replaced it

 public:
  LockTraceReturnBarrier() : _slot(0), _original(0), _stub(0) {}
  bool is_set() const           { return _slot != 0; }
  intptr_t* slot() const        { return (intptr_t*) _slot; }
  // The truth is in the stack: what the record says of a frame that is gone does not count.
  bool is_at(intptr_t* slot) const { return (address*) slot == _slot && *(address*) slot == _stub; }
  static int slot_offset()      { return offset_of(LockTraceReturnBarrier, _slot); }
  static int original_offset()  { return offset_of(LockTraceReturnBarrier, _original); }
  static int stub_offset()      { return offset_of(LockTraceReturnBarrier, _stub); }
};

// In JavaThread. Only the thread itself reads and writes it, but for the barrier, which who
// looks at the stack of a stopped thread reads too, and for what the thread waits for, which
// LockTraceSampler reads at any time.
class LockTraceThread {
 private:
  friend class LockTrace;
  friend class LockTraceClassInit;
  friend class LockTraceEnter;
  friend class LockTraceExit;
  friend class LockTraceLeafCaller;
  friend class LockTraceNotify;
  friend class LockTracePark;
  friend class LockTraceParker;
  friend class LockTraceStackWalk;
  friend class LockTraceUnpark;
  friend class LockTraceWait;

  LctThread*       _tracer;        // created on first use
  LockTraceEnter*  _enter;         // the innermost one that the thread blocks in
  LockTraceWait*   _wait;          // set while Object.wait releases its monitor
  LockTraceWait*   _object_wait;   // the innermost Object.wait, with a trace or without
  LockTraceClassInit* _class_init; // the innermost class that the thread links or initializes
  LockTracePark*   _park;          // set while the thread parks, with a trace or without
  LockTraceUnpark* _unpark;        // set while the thread unparks another one
  void*            _leaf_frame;    // C++ frame of a leaf called without an anchor
  uint32_t         _blocker_hash;  // what the thread parked on last, and ...
  uint32_t         _queue_place;   // ... where in its queue it was when it stopped
  bool             _ended;         // no tracer any more: the thread is going away
  uint32_t         _hooks;         // run so far
  LockTraceCallChain* _chain;      // recorded last; created on first use
  LockTraceReturnBarrier    _return_barrier;
  volatile jlong    _waits_since_ns; // for a lock; 0: it does not
  volatile intptr_t _waits_for;      // the same value for the same lock

  void wait_begins(intptr_t lock, jlong now_ns) {
    _waits_for = lock;
    _waits_since_ns = now_ns;
  }
  void wait_ends() { _waits_since_ns = 0; }

 public:
  LockTraceThread()
    : _tracer(0), _enter(0), _wait(0), _object_wait(0), _class_init(0), _park(0), _unpark(0), _leaf_frame(0), _blocker_hash(0),
      _queue_place(0), _ended(false), _hooks(0), _chain(0), _waits_since_ns(0), _waits_for(0) {}

  // Before it runs: a thread that works for the trace is not in it.
  void stay_untraced()           { _ended = true; }
  jlong waits_since_ns() const   { return _waits_since_ns; }
  intptr_t waits_for() const     { return _waits_for; }

  LockTraceReturnBarrier* return_barrier()    { return &_return_barrier; }
  uint32_t next_hook_weight();
  void* leaf_frame() const { return _leaf_frame; }
};

// For how many hooks the next one stands if its cycles are counted, 0 if they are not.
// To read the counter takes longer than much of what is counted: so of a thread's many
// hooks few are, once those with cold caches are over. A program repeats its hooks in
// twos and threes, but hardly in seventeens.
inline uint32_t LockTraceThread::next_hook_weight() {
  const uint32_t first_hooks = 256;
  const uint32_t period = 17;
  uint32_t hook = _hooks++;
  return hook < first_hooks ? 1 : hook % period == 0 ? period : 0;
}

// In Parker. Numbers the permits: while tracing, the parker's counter holds the
// permit's number where it is 1 otherwise. The lower bits tell how it was given.
// Guarded by the parker's mutex. Parkers outlive their threads, so the numbers
// of a thread need not start at 1, and a permit for one thread may wake the next.
class LockTraceParker {
 private:
  enum {
    interrupt_bit = 1, unseen_bit = 2, unreported_bit = 4, number_shift = 3, max_permits = (1 << 28) - 1,
    stray_bits = unseen_bit | unreported_bit   // only ever together
  };
  uint32_t _permits;
  uint64_t _ended_thread;   // Thread.getId() of the last one that ended; 0: none

  int new_permit();

 public:
  LockTraceParker() : _permits(0), _ended_thread(0) {}

  // Gives the counter, which was held, a permit.
  void give_permit(volatile int* counter, int held);
  // The thread that the parker belongs to ends.
  static void thread_ends(Parker* parker, uint64_t thread);
  // At a safepoint: no event of the trace tells about a permit that is there already.
  static void trace_begins(Parker* parker);

  // The permit that a parker's counter stands for. While nobody traces, the counter of
  // a parker with a permit is 1, which is the number of none.
  static uint32_t permit_of(int counter) { return counter == 1 ? (uint32_t) unreported_bit : (uint32_t) counter; }

  static bool is_interrupt(uint32_t permit) { return (permit & interrupt_bit) != 0; }
  // The unpark did not see what the target waited for.
  static bool is_unseen(uint32_t permit) { return (permit & unseen_bit) != 0; }
  // The permit was meant for a thread that used the parker before.
  static bool is_stray(uint32_t permit) { return (permit & stray_bits) == stray_bits; }
  // The number by which the event of the unpark knows the permit; 0 if no event
  // has it.
  static uint32_t reported(uint32_t permit) { return (permit & unreported_bit) == 0 ? permit : 0; }
};

// In Klass and Method: the identifier that the trace knows the entity by and
// the metadata epoch in which it was described last, as (epoch << 32 | id).
// Zero until the entity first appears in an event: metaspace is zeroed.
//
// Identifiers are serial numbers and never reused, unlike the address of the
// entity, so the trace stays unambiguous when classes are unloaded, methods
// redefined and their memory used again.
class LockTraceId {
 private:
  friend class LockTraceMetadata;
  volatile jlong _epoch_and_id;
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESTATE_HPP
