/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACESTOP_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACESTOP_HPP

#include "runtime/vm_operations.hpp"

// An operation for which the tracer stops all threads, and how long that took as the application
// sees it: from the request that they stop until the last one may go on. Most of it may be neither
// the way to the safepoint nor the operation, but HotSpot's cleanup, which walks every monitor ever inflated
// (SafepointSynchronize::do_cleanup_tasks).
class LockTraceStop : public VM_Operation {
 private:
  // Of the safepoint that is under way, or was last: why there is one, and how long it took
  // threads to be released at its end. The VM thread's own until execute() has returned.
  static VM_Operation*  _reason;
  static jlong          _release_began_ns;
  static volatile jlong _release_ns;

  bool  _is_reason;
  jlong _stopped_ns;

 protected:
  LockTraceStop() : _is_reason(false), _stopped_ns(0) {}
  virtual void run() = 0;

 public:
  VMOp_Type type() const { return VMOp_Dummy; }
  void doit();

  // Executes it in the VM thread. Returns for how many nanoseconds all threads were stopped on
  // account of it: a safepoint that there is anyway costs what it is longer.
  jlong execute();

  // In the VM thread, at each safepoint of a traced JVM.
  static void safepoint_begins();
  static void release_begins(jlong now_ns);
  static void released();
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESTOP_HPP
