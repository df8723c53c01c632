/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEHELPERTHREAD_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEHELPERTHREAD_HPP

#include "runtime/thread.hpp"

// A thread of the VM that works for one trace. It is a Java thread, so that it may wait for
// safepoints and look at objects, but neither agents nor the trace see it.
class LockTraceHelperThread : public JavaThread {
 private:
  const uint32_t _session;

  LockTraceHelperThread(ThreadFunction entry, uint32_t session) : JavaThread(entry), _session(session) {}

 public:
  // Starts one that runs entry. False if there can be no more threads.
  static bool start(const char* name, ThreadFunction entry, uint32_t session, JavaThread* thread);

  // Of such a thread, the number of the trace.
  static uint32_t session_of(JavaThread* thread) { return ((LockTraceHelperThread*) thread)->_session; }

  bool is_hidden_from_external_view() const { return true; }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEHELPERTHREAD_HPP
