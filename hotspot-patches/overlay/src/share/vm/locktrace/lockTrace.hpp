/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACE_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACE_HPP

#include "jni.h"
#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"

class ClassLoaderData;
class JavaThread;
class ObjectMonitor;
class Method;
class Thread;
class nmethod;

// The VM's interface to lock contention tracing: its life, and the threads,
// safepoints and class loaders that it has to know of. The monitor events are
// in lockTraceEvents.hpp.
//
// Every hook costs one load and one predictable branch while tracing is off.
class LockTrace : AllStatic {
 private:
  static LctRuntime* _runtime;
  static LctThread*  _vm_thread_tracer;

  // Written by start() and stop(), and by the runtime when the trace file can
  // no longer be written.
  static volatile uint8_t _enabled;

  // Safepoint time so far, and the begin of the current one (0: none).
  // Written by the VM thread, read by anyone through safepoint_clock().
  static volatile jlong _safepoint_total_ns;
  static volatile jlong _safepoint_begin_ns;

  // How often compiled code was flushed.
  static volatile jint _code_epoch;

  static LctThread* create_tracer(JavaThread* thread);

 public:
  static bool enabled() { return _enabled != 0; }
  static LctRuntime* runtime() { return _runtime; }

  // The tracer of the current thread; NULL where none can be had.
  static LctThread* tracer(JavaThread* thread);

  // Life of the trace.
  static void adjust_flags();
  static void start(JavaThread* main_thread);
  static void stop();

  // Threads. All run in the thread itself but for thread_renamed, which runs
  // in whichever thread gives the new name.
  static void thread_start(JavaThread* thread);
  static void thread_end(JavaThread* thread);
  static void thread_renamed(JavaThread* current, oop java_thread, jstring name);

  // The VM thread's safepoint work.
  static void safepoint_begin();
  static void safepoint_end();
  static void gc_begin();
  static void loader_unloading(ClassLoaderData* loader);
  static void monitor_deflated(ObjectMonitor* monitor);

  // The end of code: no thread has a frame of it, and none will. In any thread.
  static void code_flushed(nmethod* code);
  static void method_freed(Method* method);
  static jint code_epoch() { return _code_epoch; }

  // Nanoseconds that the VM has spent in safepoints up to now_ns.
  static jlong safepoint_clock(jlong now_ns);
};

// Counts the cycles that a hook takes, the tracer's own time.
class LockTraceHook : public StackObj {
 private:
  LctThread* const _tracer;
  const uint8_t    _kind;
  const uint64_t   _begin_cycles;

 public:
  // kind: one of LCT_HOOK_...; spent_cycles: in an earlier part of the hook.
  LockTraceHook(LctThread* tracer, uint8_t kind, uint64_t spent_cycles = 0)
    : _tracer(tracer), _kind(kind), _begin_cycles(lct_cycles() - spent_cycles) {}
  ~LockTraceHook() { lct_hook_end(_tracer, _kind, _begin_cycles); }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACE_HPP
