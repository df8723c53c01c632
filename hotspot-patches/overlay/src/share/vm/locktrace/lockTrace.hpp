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
class outputStream;

// What is to be traced, and where to.
struct LockTraceRequest {
  const char* file;
  uint8_t     kinds;         // LCT_KIND_...
  jlong       duration_ns;   // 0: until it is stopped
  uint8_t     analysis;      // LCT_ANALYSIS_...
  const char* report;        // NULL: its first lines go to standard error
  jlong       sample_after_ns;   // how long others wait before an owner is sampled; 0: never
  bool        lock_sites;        // record where locks are allocated

  // LCT_ANALYSIS_... of file, online or both; NULL stands for file. False for another name.
  static bool analysis_of(const char* name, uint8_t* analysis);
};

// The VM's interface to lock contention tracing: its life, and the threads,
// safepoints and class loaders that it has to know of. The monitor events are
// in lockTraceEvents.hpp.
//
// Every hook costs one load and one predictable branch while tracing is off.
class LockTrace : AllStatic {
 private:
  static LctRuntime* _runtime;
  static LctThread*  _vm_thread_tracer;

  // The number of the trace, the first one 1. It stands beside each pointer to a tracer
  // that outlives a safepoint, since the tracer does not outlive its trace. Changes at
  // safepoints only.
  static volatile uint32_t _session;

  static jlong _started_ns;          // when it began
  static jlong _ends_ns;             // when it is to end by itself; 0: never
  static uint8_t _kinds;             // what is traced, LCT_KIND_...
  static volatile jint _is_changing; // 1 while a thread starts or stops a trace

  // What the last trace has used up of the numbers in classes and methods.
  static uint32_t _last_metadata_epoch;
  static uint32_t _last_id;

  // Written by start() and stop(), and by the runtime when the trace file can
  // no longer be written.
  static volatile uint8_t _enabled;

  // Safepoint time so far, and the start of the current one (0: not in a safepoint).
  // Written by the VM thread, read by anyone through safepoint_clock().
  static volatile jlong _safepoint_total_ns;
  static volatile jlong _safepoint_begin_ns;
  static jlong _safepoint_reached_ns;   // when all threads had stopped; the VM thread's own

  // What was done in the current safepoint, and when idle threads were trimmed.
  static bool  _buffers_reclaimed;
  static bool  _loaders_ended;
  static jlong _trimmed_ns;

  // How often compiled code was flushed since the trace began. Hooks that were
  // under way when it ended still rely on it.
  static volatile jint _code_epoch;

  friend class LockTraceBegin;
  friend class LockTraceEnd;
  friend class LockTraceSampleOwners;
  friend class LockTraceStop;

  static LctThread* create_tracer(JavaThread* thread, jlong time_ns);
  static void tell_name(JavaThread* thread, oop java_thread, const char* name);
  static bool try_change();
  static void changed();
  static bool begin(const LockTraceRequest& request, JavaThread* thread, char* error, size_t error_size);
  static void begin_in(JavaThread* thread);
  static LctRuntime* end();
  static bool finish(JavaThread* thread);
  static void end_in(JavaThread* thread);
  static void reclaim_buffers();

 public:
  static bool enabled() { return _enabled != 0; }
  static bool traces_monitors() { return enabled() && is_asked_for(LCT_KIND_MONITOR); }
  static bool traces_parks()    { return enabled() && is_asked_for(LCT_KIND_PARK); }
  // By who began the trace.
  static bool is_asked_for(uint8_t kind) { return (_kinds & kind) != 0; }
  // Also after the trace has ended by itself, when releases still find what it has
  // left in monitors.
  static bool was_started() { return _session != 0; }
  // There is one while enabled() is true, and as long as it was seen to be true, until
  // the next safepoint.
  static LctRuntime* runtime() { return _runtime; }
  static uint32_t session() { return _session; }
  // The trace of this number.
  static bool is_going_on(uint32_t session) { return enabled() && _session == session; }

  // The tracer of the current thread; NULL where none can be had. Valid until the next
  // safepoint.
  static LctThread* tracer(JavaThread* thread);
  // Of a thread that already exists when the trace begins, at that safepoint.
  static LctThread* tracer_from_start(JavaThread* thread);

  // Life of the trace.
  static void adjust_flags();
  static void start(JavaThread* main_thread);
  static void stop();

  // The same on request, in a Java thread in VM state, and what is going on. The lines
  // for people say also why nothing was done.
  static bool start_on_request(const LockTraceRequest& request, JavaThread* thread, outputStream* out);
  static bool stop_on_request(JavaThread* thread, outputStream* out);
  static bool dump_on_request(const char* file, JavaThread* thread, outputStream* out);
  static bool report_on_request(const LctQuestion& question, JavaThread* thread, outputStream* out);
  static void print_status(JavaThread* thread, outputStream* out);

  // Stops the trace of this number if its time is over. Returns how long it still has, in
  // milliseconds; 0 if it has ended.
  static jlong stop_when_over(uint32_t session, JavaThread* thread);

  // The first identifiers of classes and methods in this trace are of this epoch.
  static uint32_t metadata_epochs_before() { return _last_metadata_epoch; }

  // Threads. All run in the thread itself but for thread_renamed, which runs
  // in whichever thread gives the new name.
  static void thread_start(JavaThread* thread);
  static void thread_end(JavaThread* thread);
  static void thread_renamed(JavaThread* current, oop java_thread, jstring name);

  // The VM thread's safepoint work.
  static void safepoint_begin();
  static void safepoint_reached();
  static void safepoint_end();
  static void safepoint_left();
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

// The cycles of a hook, the tracer's own time: in one part, or in two with a break between.
class LockTraceCycles VALUE_OBJ_CLASS_SPEC {
 private:
  uint32_t _weight;        // 0: they are not counted
  uint64_t _begin;         // of the part that is under way
  uint64_t _first_begin;   // of the part before the break, as if that had been one without breaks
  uint64_t _first_end;

 public:
  LockTraceCycles() : _weight(0), _begin(0), _first_begin(0), _first_end(0) {}
  explicit LockTraceCycles(LockTraceThread* thread)
    : _weight(thread->next_hook_weight()), _begin(0), _first_begin(0), _first_end(0) {}

  void begin_part() { if (_weight != 0) _begin = lct_cycles(); }
  void end_part() {
    if (_weight == 0) return;
    _first_begin = _begin - (_first_end - _first_begin);
    _first_end = lct_cycles();
  }
  void end(LctThread* tracer, uint8_t kind) {
    lct_hook_end(tracer, kind, _weight, _begin, _first_begin, _first_end);
  }
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
