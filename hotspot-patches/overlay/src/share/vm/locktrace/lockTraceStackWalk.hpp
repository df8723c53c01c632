/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#ifndef SHARE_VM_LOCKTRACE_LOCKTRACESTACKWALK_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACESTACKWALK_HPP

#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#ifdef AMD64
#include "lockTraceRecentChains_x86.hpp"
#endif

class JavaThread;

// The call chain that a thread recorded last (paper, section 3.4). A chain is
// looked up by its physical frames; which methods are inlined in them is decoded
// only when the chain is new. Where the walk of the stack meets the thread's
// barrier, the frames outside of it are still those of the chain before. Without a
// barrier they mostly are, too, and the walk finds out how many. Where nothing has
// changed up to the barrier since one of the last chains, there is no walk.
class LockTraceCallChain : public CHeapObj<mtInternal> {
 public:
  // Physical frames walked at most. A deeper stack is cut at its outer end.
  enum { max_frames = 1024 };

 private:
  // A barrier costs about as much as walking a frame or two.
  enum { min_frames_outside = 2 };
  // The frame whose return address the barrier replaces, counted from the innermost one, which is 0. A frame
  // that has returned before its barrier was of much use was too near.
  enum { min_barrier_index = 1, max_barrier_index = 12, min_uses = 4 };
  // A barrier that is farther away than where it was set is moved.
  enum { max_further_frames = 3 };
  // After this many uses of barriers a nearer frame is tried again: the fewer frames are
  // inside of the barrier, and the fewer of them interpreted, the less a walk costs.
  enum { uses_until_nearer = 256 };
  // The frames that fit at first.
  enum { min_capacity = 32 };

  uint64_t* _frames;               // keys, outermost first
  int      _capacity;
  int      _length;
  uint64_t _hash;                  // of these frames
  int      _visited_frames;        // in the last walk, that are not as they were
  int      _outer_frames;          // that are as they were
  intptr_t* _slot;                 // where the next return barrier goes, if there can be one
  bool     _truncated;
  int      _barrier_index;
  int      _barrier_uses;             // since it was set; min_uses once it has been judged
  int      _uses;                  // of barriers, since a nearer frame was tried
  int      _frames_outside;         // outside of the thread's barrier
#ifdef AMD64
  LockTracePcCache  _pcs;
  LockTraceLastWalk _last_walk;
  LockTraceRecentChains _recent;

  void verify_recent(JavaThread* thread, LctThread* tracer, oop entering, uint64_t hash, int length) const;
#endif

  // The frames that a walk visits. On the stack: a thread walks seldom, but keeps the
  // chain all the time.
  struct Visited : public StackObj {
    uint64_t keys[max_frames];   // innermost first
#ifdef AMD64
    LockTraceVisitedCode codes;
#endif
  };

  uint32_t find_recent(JavaThread* thread, LctThread* tracer, oop entering);
  void remember(JavaThread* thread, uint32_t chain, uint32_t epoch, const Visited& visited);
  uint32_t walk_and_find(JavaThread* thread, LctThread* tracer, oop entering);
  bool walk(JavaThread* thread, LctThread* tracer, oop entering, Visited* visited);
  static size_t bytes_of(int capacity);
  bool reserve(int frames);
  int choose_barrier_frame(JavaThread* thread);
  void count_use_of_barrier();
  void replace_inner_frames(const Visited& visited);
  void set_barrier(JavaThread* thread);
  void verify(JavaThread* thread, LctThread* tracer, oop entering) const;
  LctChainKey key() const;
  uint32_t add(JavaThread* thread, LctThread* tracer, oop entering) const;

 public:
  LockTraceCallChain();
  ~LockTraceCallChain();

  uint32_t record(JavaThread* thread, LctThread* tracer, oop entering);
};

class LockTraceStackWalk : AllStatic {
 public:
  // The identifier of the current thread's call chain; 0 if the thread has no
  // Java frame, memory is short, or chains are not wanted. Callable in VM state and in leaf routines.
  // entering: the object whose monitor the thread is about to enter, or NULL.
  static uint32_t record(JavaThread* thread, LctThread* tracer, oop entering = NULL);

  // The identifier of the call chain of another thread, at a safepoint; 0 as above. Changes
  // nothing in the thread.
  static uint32_t sample(JavaThread* thread, LctThread* tracer, oop entering);

  // The identifier of the call chain of the current thread, which has just allocated an object; 0
  // as above.
  static uint32_t allocation(JavaThread* thread, LctThread* tracer);

  // The thread ends.
  static void release(JavaThread* thread);

  // Takes back what idle threads do not need. At a safepoint, about once a second.
  static void trim_idle_threads();
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESTACKWALK_HPP
