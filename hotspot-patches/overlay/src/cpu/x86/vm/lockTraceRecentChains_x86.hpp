/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#ifndef CPU_X86_VM_LOCKTRACERECENTCHAINS_X86_HPP
#define CPU_X86_VM_LOCKTRACERECENTCHAINS_X86_HPP

#include "lockTraceLightWalk_x86.hpp"
#include "locktrace/lockTraceReturnBarriers.hpp"

#ifdef AMD64

// The way from the top of the stack to the thread's barrier through compiled code.
// Where the stack begins as it did, and has the same return addresses up to the same
// barrier, all frames are the same: the sizes of code that is known tell where the next
// return address is.
class LockTracePath VALUE_OBJ_CLASS_SPEC {
 private:
  // The farthest barrier, and a runtime stub.
  enum { max_codes = 18 };
  LockTraceCode _codes[max_codes];   // from the top
  int           _length;             // 0: no path
  intptr_t*     _top;
  const LockTraceReturnBarrier* _barrier;

 public:
  LockTracePath() : _length(0), _top(NULL), _barrier(NULL) {}

  // Makes this the path of the last walk, of as many frames; none if it did not visit
  // all of them as known code. stub: the entry of a runtime stub's frame on top of them, if
  // there is one.
  void follow(LockTraceStackTop top, const LockTracePcTable::Entry* stub, const LockTraceVisitedCode& visited,
              int frames, const LockTraceReturnBarrier* barrier);
  void forget() { _length = 0; }

  // The stack is as it was. It has this top.
  bool is_there(LockTraceStackTop top) const;
};

// The chains that a thread recorded last. It mostly goes back and forth between few of
// them, so that this answers before any frame is visited.
class LockTraceRecentChains VALUE_OBJ_CLASS_SPEC {
 public:
  class Chain VALUE_OBJ_CLASS_SPEC {
   private:
    friend class LockTraceRecentChains;
    LockTracePath _path;
    uint32_t _id;
    uint32_t _epoch;    // of metadata, in which the chain was described
    uint64_t _hash;
    int      _length;

   public:
    uint32_t id() const    { return _id; }
    uint32_t epoch() const { return _epoch; }
    uint64_t hash() const  { return _hash; }
    int length() const     { return _length; }
  };

 private:
  enum { places = 4 };
  Chain _chains[places];
  int   _oldest;
  jint  _code_epoch;   // a path through code that was flushed since may lead through other code

 public:
  LockTraceRecentChains() : _oldest(0), _code_epoch(0) {}

  // Another barrier, with other frames outside of it.
  void forget();

  // The chain of a stack with this top, NULL if it must be walked.
  const Chain* find(LockTraceStackTop top);
  // Returns the place for the path of a chain.
  LockTracePath* add(uint32_t id, uint32_t epoch, LctChainKey key);
};

#endif // AMD64

#endif // CPU_X86_VM_LOCKTRACERECENTCHAINS_X86_HPP
