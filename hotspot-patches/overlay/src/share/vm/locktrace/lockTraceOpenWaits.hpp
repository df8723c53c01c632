/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEOPENWAITS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEOPENWAITS_HPP

#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"
#include "utilities/exceptions.hpp"

class JavaThread;

// Waits that are older than the trace: the VM thread writes their contended enter, or the begin of their
// park, while all threads are stopped. As many as there is time for at the safepoint at which the trace
// begins; these have the time of the trace's start, which no other event has. The others follow at
// safepoints of their own, a part of the time apart, and have the time of those.
class LockTraceOpenWaits : AllStatic {
 public:
  // Of a thread: it does not wait, or the trace has its wait; the wait is written now; there was no time.
  enum Outcome { nothing, written, left };

 private:
  friend class LockTraceWriteOpenWaits;

  static bool _any_left;     // there was no time for all of them

  struct Count { int written; int left; };

  static Outcome write(JavaThread* thread, jlong at_ns, bool in_time);
  // at_ns: the time of the events; 0: now.
  static Count write_all(jlong stopped_since_ns, jlong at_ns);
  static void run(JavaThread* thread, TRAPS);

 public:
  // At the safepoint at which a trace begins, whose operation is under way since then.
  static void trace_begins(LctRuntime* runtime, jlong stopped_since_ns, jlong start_ns);
  // In the trace of this number: writes those that are left. False if there can be no thread for that.
  static bool start(uint32_t session, JavaThread* thread);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEOPENWAITS_HPP
