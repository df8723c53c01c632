/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACERETURNBARRIERS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACERETURNBARRIERS_HPP

#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"

class JavaThread;
class Thread;

// Return barriers (paper, section 3.4, "Call chains"): the return address of one
// Java frame of a thread is replaced by the address of a stub, which removes the barrier
// and goes on at the original address. As long as a walk of the stack meets the
// barrier, the frames outside of it are those that the thread recorded before.
//
// A thread has one barrier at most. It is set by the thread itself, on the return
// address of a Java frame whose caller is a Java frame too. Other code that reads
// return addresses asks here for the original one; code that moves them removes
// the barrier first. The callers are listed in hooks/return-barriers.patch.
//
// Profilers that read stacks without HotSpot's help find a stub that belongs to the code which it
// returns to: for an interpreted caller code of the interpreter, for a compiled one a
// LockTraceReturnSite.
class LockTraceReturnBarriers : AllStatic {
 private:
  static address _interpreter_stub;   // NULL: there are no barriers

  static address stub_for(address original);

 public:
  // In a Java thread, once.
  static void initialize();

  // What a barrier returns through to interpreted code, a part of the interpreter.
  static void set_interpreter_stub(address stub) { _interpreter_stub = stub; }

  // The return address that was read from slot, as it was before the barrier.
  // Callable in a signal handler of the thread, or while it is stopped.
  static address resolve(JavaThread* thread, intptr_t* slot, address pc);

  // The same for a return address of the current thread, whose barrier is removed
  // if this is it.
  static address resolve_and_remove(JavaThread* thread, address pc);

  // Removes the thread's barrier, or only if it is at slot. In the thread itself,
  // or while it is stopped.
  static void remove(JavaThread* thread);
  static void remove(Thread* thread, address* slot);

  // Removes the barriers of all threads. At a safepoint.
  static void remove_all();

  // Puts a barrier at slot. The thread has none. False if it cannot have one now, or not there.
  static bool set(JavaThread* thread, intptr_t* slot);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACERETURNBARRIERS_HPP
