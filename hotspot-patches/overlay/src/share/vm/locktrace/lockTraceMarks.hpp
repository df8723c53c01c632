/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEMARKS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEMARKS_HPP

#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"

class JavaThread;
class Thread;

// Marks on frames (paper, section 3.4, "Call chains"): the return address of one
// Java frame of a thread is replaced by that of a stub, which removes the mark
// and goes on at the original address. As long as a walk of the stack meets the
// mark, the frames outside of it are those that the thread recorded before.
//
// A thread has one mark at most. It is set by the thread itself, on the return
// address of a Java frame whose caller is a Java frame too. Whoever else reads
// return addresses asks here for the original one; whoever moves them removes
// the mark first. The callers are listed in hooks/frame-marks.patch.
class LockTraceMarks : AllStatic {
 private:
  static address _stub;   // NULL: there are no marks

  static address original(JavaThread* thread, intptr_t* slot);
#ifdef AMD64
  static address generate_stub();
#endif

 public:
  // In a Java thread.
  static void initialize();

  // Where the stub begins, for generated code.
  static address* stub_addr() { return &_stub; }
  static bool is_mark(address pc) { return pc == _stub; }

  // The return address that was read from slot, as it was before it was marked.
  // Callable in a signal handler of the thread, or while it is stopped.
  static address resolve(JavaThread* thread, intptr_t* slot, address pc) {
    return is_mark(pc) ? original(thread, slot) : pc;
  }

  // The same for a return address of the current thread, whose mark is removed
  // if this is it.
  static address unmarked(JavaThread* thread, address pc);

  // Removes the thread's mark, or only if it is at slot. In the thread itself,
  // or while it is stopped.
  static void unmark(JavaThread* thread);
  static void unmark(Thread* thread, address* slot);

  // Removes the marks of all threads. At a safepoint.
  static void unmark_all();

  // Marks the return address at slot, if the thread can have a mark now. It has
  // none.
  static bool can_mark(JavaThread* thread);
  static void mark(JavaThread* thread, intptr_t* slot);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEMARKS_HPP
