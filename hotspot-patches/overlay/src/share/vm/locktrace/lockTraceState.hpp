/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACESTATE_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACESTATE_HPP

// What lock contention tracing keeps inside HotSpot's own data structures.
// Upstream headers include this file, so it stays small and depends on
// nothing but the runtime's C interface.

#include "locktrace.h"
#include "utilities/globalDefinitions.hpp"

class LockTraceWait;

// In ObjectMonitor: the lock's incarnation, its sequence numbers and the
// forward reference that its owner has to resolve. All zero while nobody has
// contended for the monitor since its inflation.
class LockTraceMonitor : public LctLock {
 public:
  LockTraceMonitor() { id = 0; last_sequence = 0; forward_ref = 0; }
};

// In JavaThread. Only the thread itself reads and writes it.
class LockTraceThread {
 private:
  friend class LockTrace;
  friend class LockTraceExit;
  friend class LockTraceLeafCaller;
  friend class LockTraceStackWalk;
  friend class LockTraceWait;

  LctThread*     _tracer;       // created on first use
  LockTraceWait* _wait;         // set while Object.wait releases its monitor
  void*          _leaf_frame;   // C++ frame of a leaf called without an anchor
  bool           _ended;        // no tracer any more: the thread is going away

 public:
  LockTraceThread() : _tracer(0), _wait(0), _leaf_frame(0), _ended(false) {}
};

// In Klass and Method: the identifier that the trace knows the entity by and
// the metadata epoch in which it was described last, as (epoch << 32 | id).
// Zero until the entity first appears in an event: metaspace is zeroed.
//
// Identifiers are serial numbers and never reused, unlike the address of the
// entity, so the trace stays unambiguous when classes are unloaded, methods
// redefined and their memory used again.
class LockTraceId {
 private:
  friend class LockTraceMetadata;
  volatile jlong _epoch_and_id;
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESTATE_HPP
