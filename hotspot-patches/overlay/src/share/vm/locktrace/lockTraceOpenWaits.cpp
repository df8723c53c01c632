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
#include "locktrace/lockTraceEvents.hpp"
#include "locktrace/lockTraceHelperThread.hpp"
#include "locktrace/lockTraceOpenWaits.hpp"
#include "locktrace/lockTraceParks.hpp"
#include "locktrace/lockTraceStop.hpp"
#include "locktrace/lockTraceWait.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/os.hpp"
#include "runtime/thread.inline.hpp"

bool LockTraceOpenWaits::_any_left = false;

// For how long all threads are stopped at once, and how long they run in between.
static const jlong MaxStopMillis = 20;
static const jlong PauseMillis = 250;

// Written in any case: it takes a few milliseconds at most, unless the VM thread
// loses its processor, and then no time would be enough.
static const int MinWritten = 64;

LockTraceOpenWaits::Outcome LockTraceOpenWaits::write(JavaThread* thread, jlong at_ns, bool in_time) {
  Outcome outcome = nothing;
  if (LockTrace::is_asked_for(LCT_KIND_MONITOR)) outcome = LockTraceEnter::write_open(thread, at_ns, in_time);
  if (outcome == nothing && LockTrace::is_asked_for(LCT_KIND_MONITOR)) outcome = LockTraceWait::write_open(thread, at_ns, in_time);
  if (outcome == nothing && LockTrace::is_asked_for(LCT_KIND_PARK)) outcome = LockTracePark::write_open(thread, at_ns, in_time);
  return outcome;
}

LockTraceOpenWaits::Count LockTraceOpenWaits::write_all(jlong stopped_since_ns, jlong at_ns) {
  ResourceMark rm;
  const jlong deadline_ns = stopped_since_ns + MaxStopMillis * NANOSECS_PER_MILLISEC;
  Count count = { 0, 0 };
  _any_left = false;
  for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) {
    bool in_time = count.written < MinWritten || os::javaTimeNanos() < deadline_ns;
    Outcome outcome = write(thread, at_ns, in_time);
    if (outcome == written) count.written++;
    if (outcome == left) count.left++;
    _any_left = _any_left || (outcome == left && !in_time);
  }
  return count;
}

void LockTraceOpenWaits::trace_begins(LctRuntime* runtime, jlong stopped_since_ns, jlong start_ns) {
  lct_count_untold_waits(runtime, write_all(stopped_since_ns, start_ns).left);
}

// ---------------------------------------------------------------------------
// What was left

class LockTraceWriteOpenWaits : public LockTraceStop {
 private:
  const uint32_t _session;

  void run() {
    if (!LockTrace::is_going_on(_session)) return;
    LockTraceOpenWaits::Count count = LockTraceOpenWaits::write_all(os::javaTimeNanos(), 0);
    lct_count_untold_waits(LockTrace::runtime(), -count.written);
  }

 public:
  explicit LockTraceWriteOpenWaits(uint32_t session) : _session(session) {}
};

void LockTraceOpenWaits::run(JavaThread* thread, TRAPS) {
  const uint32_t session = LockTraceHelperThread::session_of(thread);
  while (_any_left) {
    // Interruptible: the other kind of sleep is one in the VM, for which every safepoint waits.
    os::sleep(thread, PauseMillis, true);
    if (!LockTrace::is_going_on(session)) return;
    LockTraceWriteOpenWaits write(session);
    write.execute();
  }
}

bool LockTraceOpenWaits::start(uint32_t session, JavaThread* thread) {
  return !_any_left || LockTraceHelperThread::start("Lock Contention Open Waits", &run, session, thread);
}
