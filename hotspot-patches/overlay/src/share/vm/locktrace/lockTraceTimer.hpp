/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACETIMER_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACETIMER_HPP

#include "memory/allocation.hpp"
#include "runtime/thread.hpp"

// Stops a trace that was started for a certain time. A Java thread does that, since to
// stop one waits for a safepoint and for the file. It goes soon after the trace.
class LockTraceTimer : AllStatic {
 private:
  static void run(JavaThread* thread, TRAPS);

 public:
  // For the trace of this number. In a Java thread in VM state; false if no thread can be
  // created.
  static bool start(uint32_t session, JavaThread* thread);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACETIMER_HPP
