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
#include "locktrace/lockTraceStop.hpp"
#include "runtime/os.hpp"
#include "runtime/vmThread.hpp"

VM_Operation*  LockTraceStop::_reason = NULL;
jlong          LockTraceStop::_release_began_ns = 0;
volatile jlong LockTraceStop::_release_ns = 0;

void LockTraceStop::doit() {
  // 0 where the trace begins or has ended: then the operation alone counts.
  jlong safepoint_ns = LockTrace::_safepoint_begin_ns;
  _is_reason = _reason == this && safepoint_ns != 0;
  jlong begin_ns = _is_reason ? safepoint_ns : os::javaTimeNanos();
  run();
  _stopped_ns = os::javaTimeNanos() - begin_ns;
}

jlong LockTraceStop::execute() {
  VMThread::execute(this);
  return _stopped_ns + (_is_reason ? _release_ns : 0);
}

void LockTraceStop::safepoint_begins() {
  _reason = VMThread::vm_operation();
  _release_began_ns = 0;
}

void LockTraceStop::release_begins(jlong now_ns) { _release_began_ns = now_ns; }

void LockTraceStop::released() {
  if (_release_began_ns != 0) _release_ns = os::javaTimeNanos() - _release_began_ns;
}
