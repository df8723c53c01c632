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

class JavaThread;

// Call chains (paper, section 3.4). A chain is looked up by its physical
// frames; which methods are inlined in them is decoded only when the chain is
// new.
class LockTraceStackWalk : AllStatic {
 public:
  // Physical frames walked at most. A deeper stack is cut at its outer end.
  enum { max_frames = 1024 };

  // The identifier of the current thread's call chain; 0 if the thread has no
  // Java frame or memory is short. Callable in VM state and in leaf routines.
  // entering: the object whose monitor the thread is about to enter, or NULL.
  static uint32_t record(JavaThread* thread, LctThread* tracer, oop entering = NULL);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESTACKWALK_HPP
