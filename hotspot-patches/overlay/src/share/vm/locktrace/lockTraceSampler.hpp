/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACESAMPLER_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACESAMPLER_HPP

#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"
#include "utilities/exceptions.hpp"

class JavaThread;

// Owners seen at work. The stack at a release says where the owner ended, not where the time
// went. While a lock is waited for longer than a threshold, the stack of its owner is sampled
// at safepoints that are requested for that.
//
// A sample tells the truth about a hold if its time has nothing to do with the hold's begin.
// So the moments at which samples are taken come at random, as a Poisson process, whether
// there is anything to sample or not, and none at safepoints that happen anyway: threads
// cause these by what they do, as by allocating. A thread of the VM waits for the next
// moment; its mean distance follows from what a sample costs and from the budget, a share of
// the time.
class LockTraceSampler : AllStatic {
 private:
  static jlong _threshold_ns;             // 0: no samples
  static volatile jint _waits_began;      // not 0: since the sampler looked last

  static void run(JavaThread* thread, TRAPS);

 public:
  // How long others wait before an owner is sampled, as the flags say or as asked for; 0: never.
  static jlong default_threshold_ns();
  static jlong threshold_ns(jlong wanted_ns);

  // With the trace of this number.
  static bool start(uint32_t session, jlong threshold_ns, JavaThread* thread);

  // A thread has begun to wait. The cache line stays with all processors while many do.
  static void note_wait() { if (_waits_began == 0) _waits_began = 1; }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESAMPLER_HPP
