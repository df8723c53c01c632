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

  // Safepoint time so far, and the start of the current one (0: not in a safepoint).
  // Written by the VM thread, read by anyone through safepoint_clock().
  static volatile jlong _safepoint_total_ns;
  static volatile jlong _safepoint_begin_ns;

  // What was done in the current safepoint, and when idle threads were trimmed.
  static bool  _buffers_reclaimed;
  static bool  _loaders_ended;
  static jlong _trimmed_ns;

  // How often compiled code was flushed since the trace began. Hooks that were
  // under way when it ended still rely on it.
  static volatile jint _code_epoch;

  static LctThread* create_tracer(JavaThread* thread);
  static void reclaim_buffers();

 public:
  static bool enabled() { return _enabled != 0; }
  // Also after the trace has ended by itself, when releases still find what it has
  // left in monitors.
  static bool was_started() { return _runtime != NULL; }
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

// The cycles of a hook, the tracer's own time, which is counted in its parts.
class LockTraceCycles VALUE_OBJ_CLASS_SPEC {
 private:
  uint32_t _weight;   // 0: they are not counted
  uint64_t _cycles;   // when counting would have begun without a break, or those counted

 public:
  LockTraceCycles() : _weight(0), _cycles(0) {}
  explicit LockTraceCycles(LockTraceThread* thread) : _weight(thread->next_hook_weight()), _cycles(0) {}

  void begin_part() { if (_weight != 0) _cycles = lct_cycles() - _cycles; }
  void end_part()   { if (_weight != 0) _cycles = lct_cycles_since(_cycles); }
  void end(LctThread* tracer, uint8_t kind) { lct_hook_end(tracer, kind, _cycles, _weight); }
};

// The last part of a hook, mostly the only one.
class LockTraceHook : public StackObj {
 private:
  LctThread* const _tracer;
  const uint8_t    _kind;
  LockTraceCycles  _cycles;

 public:
  // kind: one of LCT_HOOK_...
  LockTraceHook(LctThread* tracer, uint8_t kind, LockTraceCycles cycles)
    : _tracer(tracer), _kind(kind), _cycles(cycles) { _cycles.begin_part(); }
  ~LockTraceHook() { _cycles.end(_tracer, _kind); }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACE_HPP
