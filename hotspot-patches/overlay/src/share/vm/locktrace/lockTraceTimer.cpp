/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceHelperThread.hpp"
#include "locktrace/lockTraceTimer.hpp"
#include "runtime/os.hpp"

void LockTraceTimer::run(JavaThread* thread, TRAPS) {
  // A trace may be stopped earlier, and then nobody wakes this thread.
  const jlong longest_sleep_ms = 1000;
  const uint32_t session = LockTraceHelperThread::session_of(thread);
  for (jlong left_ms; (left_ms = LockTrace::stop_when_over(session, thread)) > 0;) {
    // Interruptible: the other kind of sleep is one in the VM, for which every safepoint waits.
    os::sleep(thread, MIN2(left_ms, longest_sleep_ms), true);
  }
}

bool LockTraceTimer::start(uint32_t session, JavaThread* thread) {
  return LockTraceHelperThread::start("Lock Contention Timer", &run, session, thread);
}
