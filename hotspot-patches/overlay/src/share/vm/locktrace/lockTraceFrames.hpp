/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEFRAMES_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEFRAMES_HPP

#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/frame.hpp"
#include "runtime/registerMap.hpp"

class Method;
class nmethod;

// Identifies the code position of a physical frame in 64 bits that never mean
// anything else: a compiled method by its compile id and the pc's offset, an
// interpreted one by its identifier in the trace and the byte code index.
class LockTraceFrameKey : AllStatic {
 public:
  static uint64_t compiled(nmethod* code, address pc);
  static uint64_t interpreted(LctThread* tracer, Method* method, int bci);
  // Of the same frame, if it is the innermost one of a stopped thread: at a safepoint poll it
  // may stand where compiled code returns from a leaf call, which has another description.
  static uint64_t stopped(uint64_t key);
};

// The Java frame that has called a leaf routine without an anchor, which has noted
// its C++ frame, see LockTraceLeafCaller. By the C calling convention that begins
// with the saved frame pointer and the return address.
struct LockTraceCallerOfLeaf : public StackObj {
  // The position of the call is described this many bytes before its end, and not at
  // the return address, where a safepoint poll that follows is described.
  enum { description_distance = 1 };

  intptr_t* const sp;
  intptr_t* const fp;
  const address   pc;

  LockTraceCallerOfLeaf(void* leaf_frame)
    : sp((intptr_t*) leaf_frame + 2), fp(((intptr_t**) leaf_frame)[0]), pc(((address*) leaf_frame)[1]) {}
};

// Walks the physical Java frames of the current thread, innermost first, with
// HotSpot's own means.
class LockTraceFrames : public StackObj {
 private:
  frame       _frame;
  RegisterMap _map;
  oop         _entering;  // until the innermost frame is passed
  bool        _at_leaf_call;
  bool        _at_end;

  void skip_other_frames();
  bool is_entering() const;

 public:
  // entering: the object whose monitor the thread is about to enter, or NULL.
  LockTraceFrames(JavaThread* thread, oop entering);

  bool at_end() const { return _at_end; }
  void next();

  // Where a compiled frame's position is described.
  address described_pc() const {
    return _at_leaf_call ? _frame.pc() - LockTraceCallerOfLeaf::description_distance : _frame.pc();
  }

  const frame& current() const { return _frame; }

  // The compiled method of a frame, NULL if it has none.
  static nmethod* nmethod_of(const frame& frame);
  nmethod* code() const { return nmethod_of(_frame); }

  Method* interpreted_method() const;
  int interpreted_bci() const;

  uint64_t key(LctThread* tracer) const;
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEFRAMES_HPP
