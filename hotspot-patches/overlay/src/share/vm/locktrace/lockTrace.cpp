/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/classLoaderData.hpp"
#include "classfile/javaClasses.hpp"
#include "code/nmethod.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceReturnBarriers.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceParks.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "locktrace/lockTraceSynchronizers.hpp"
#include "locktrace/lockTraceText.hpp"
#include "memory/iterator.hpp"
#include "memory/resourceArea.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/method.hpp"
#include "runtime/arguments.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/globals_extension.hpp"
#include "runtime/java.hpp"
#include "runtime/interfaceSupport.hpp"
#include "runtime/jniHandles.hpp"
#include "runtime/objectMonitor.hpp"
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/vmThread.hpp"
#include "runtime/vm_operations.hpp"
#include "runtime/vm_version.hpp"
#include "utilities/defaultStream.hpp"
#include "utilities/ostream.hpp"

LctRuntime*      LockTrace::_runtime = NULL;
LctThread*       LockTrace::_vm_thread_tracer = NULL;
volatile uint8_t LockTrace::_enabled = 0;
volatile jlong   LockTrace::_safepoint_total_ns = 0;
volatile jlong   LockTrace::_safepoint_begin_ns = 0;
bool             LockTrace::_buffers_reclaimed = false;
bool             LockTrace::_loaders_ended = false;
jlong            LockTrace::_trimmed_ns = 0;
volatile jint    LockTrace::_code_epoch = 0;

// How long the end of the VM waits for the rest of the trace to be written.
static const uint32_t StopTimeoutMillis = 10000;

// ---------------------------------------------------------------------------
// Life of the trace

// Compiled code has to know from the start that it will be traced.
void LockTrace::adjust_flags() {
  if (!TraceLockContention) return;
  // Call chains are taken in leaf calls too, where the compilers describe the
  // inlined methods only on demand.
  DebugNonSafepoints = true;
  if (!FLAG_IS_DEFAULT(LockContentionMarkFrames))  LockContentionReturnBarriers = LockContentionMarkFrames;
  if (!FLAG_IS_DEFAULT(LockContentionVerifyMarks)) LockContentionVerifyReturnBarriers = LockContentionVerifyMarks;
  NOT_AMD64(LockContentionReturnBarriers = false;)
  // An archive has the JDK's own versions of the classes that LockTraceClassLibrary replaces.
  if (RequireSharedSpaces) {
    warning("-Xshare:on makes TraceLockContention find owners of java.util.concurrent's locks less exactly");
  } else {
    UseSharedSpaces = false;
  }
#if INCLUDE_RTM_OPT
  if (UseRTMLocking) {
    warning("UseRTMLocking is turned off: transactions hide lock contention from TraceLockContention");
    UseRTMLocking = false;
  }
#endif
}

// %p and %t as in other file name flags (-Xloggc).
static void expand_file_name(char* buffer, size_t size) {
  // An empty value is NULL.
  const char* in = LockContentionTraceFile != NULL ? LockContentionTraceFile : LOCKTRACE_DEFAULT_FILE;
  char* out = buffer;
  char* const end = buffer + size - 1;
  while (*in != '\0' && out < end) {
    if (in[0] == '%' && in[1] == 'p') {
      jio_snprintf(out, end - out + 1, "%d", os::current_process_id());
      out += strlen(out);
      in += 2;
    } else if (in[0] == '%' && in[1] == 't') {
      time_t now = time(NULL);
      struct tm local;
      if (os::localtime_pd(&now, &local) != NULL) {
        out += strftime(out, end - out + 1, "%Y-%m-%d_%H-%M-%S", &local);
      }
      in += 2;
    } else {
      *out++ = *in++;
    }
  }
  *out = '\0';
}

void LockTrace::start(JavaThread* main_thread) {
  if (!TraceLockContention) return;
  char path[JVM_MAXPATHLEN];
  char jvm[256];
  char error[512];
  expand_file_name(path, sizeof(path));
  jio_snprintf(jvm, sizeof(jvm), "%s (%s), JRE %s", VM_Version::vm_name(), VM_Version::vm_release(),
               JDK_Version::runtime_version() == NULL ? "" : JDK_Version::runtime_version());

  LctConfig config;
  config.path = LockTraceText::of(path);
  config.compress = LockContentionTraceCompression;
  config.crash_safe = LockContentionCrashSafe;
  config.start_unix_ns = (uint64_t) os::javaTimeMillis() * NANOSECS_PER_MILLISEC;
  config.start_ns = os::javaTimeNanos();
  config.pid = os::current_process_id();
  config.jvm = LockTraceText::of(jvm);
  config.enabled = (uint8_t*) &_enabled;
  config.max_buffer_bytes = 0;

  {
    // To create a file may take long, on a file system of another machine.
    ThreadBlockInVM blocked(main_thread);
    _runtime = lct_start(&config, (uint8_t*) error, sizeof(error));
  }
  if (_runtime == NULL) {
    jio_fprintf(defaultStream::error_stream(),
                "locktrace: %s; tracing is off, the application goes on\n", error);
    return;
  }
  LctStack no_stack = { 0, 0 };   // the VM thread locks no objects
  _vm_thread_tracer = lct_thread_start(_runtime, 0, LockTraceText::of("VM Thread"), 0, no_stack,
                                       os::javaTimeNanos());
  LockTraceQueue::initialize_all(main_thread);
  LockTraceHolds::initialize_all(main_thread);
  LockTraceSemaphores::initialize(main_thread);
  LockTraceReturnBarriers::initialize();
  OrderAccess::release_store((volatile jubyte*) &_enabled, (jubyte) 1);
  thread_start(main_thread);
}

// A thread in a hook may have taken a sequence number for what it has not written
// yet. There is no safepoint in between, so at a safepoint all is written.
class LockTraceEnd : public VM_Operation {
 public:
  VMOp_Type type() const { return VMOp_Dummy; }
  void doit() { LockTraceReturnBarriers::remove_all(); }
};

void LockTrace::stop() {
  if (_runtime == NULL) return;
  _enabled = 0;
  LockTraceEnd end_of_hooks;
  VMThread::execute(&end_of_hooks);
  // Safepoints go on meanwhile.
  ThreadBlockInVM blocked(JavaThread::current());
  lct_stop(_runtime, StopTimeoutMillis);
}

// ---------------------------------------------------------------------------
// Threads

LctThread* LockTrace::tracer(JavaThread* thread) {
  LctThread* tracer = thread->locktrace()->_tracer;
  return tracer != NULL ? tracer : create_tracer(thread);
}

static LctStack stack_of(JavaThread* thread) {
  LctStack stack;
  stack.size = thread->stack_size();
  stack.lowest = (uint64_t) (uintptr_t) thread->stack_base() - stack.size;
  return stack;
}

LctThread* LockTrace::create_tracer(JavaThread* thread) {
  LockTraceThread* state = thread->locktrace();
  if (state->_ended) return NULL;
  oop java_thread = thread->threadObj();
  // A thread that attaches contends, if ever, before it is known to Java.
  bool known = java_thread != NULL && !thread->is_attaching_via_jni();
  ResourceMark rm(thread);
  state->_tracer = lct_thread_start(_runtime,
                                    known ? (uint64_t) java_lang_Thread::thread_id(java_thread) : 0,
                                    LockTraceText::of(known ? thread->get_thread_name() : "<attaching>"),
                                    (uint64_t) (uintptr_t) thread, stack_of(thread),
                                    os::javaTimeNanos());
  return state->_tracer;
}

void LockTrace::thread_start(JavaThread* thread) {
  if (!enabled()) return;
  LockTraceThread* state = thread->locktrace();
  if (state->_tracer != NULL) {
    lct_thread_end(state->_tracer, os::javaTimeNanos());
    state->_tracer = NULL;
  }
  create_tracer(thread);
}

void LockTrace::thread_end(JavaThread* thread) {
  LockTraceThread* state = thread->locktrace();
  state->_ended = true;
  oop java_thread = thread->threadObj();
  if (enabled() && java_thread != NULL) {
    LockTraceParker::thread_ends(thread->parker(), (uint64_t) java_lang_Thread::thread_id(java_thread));
  }
  LockTraceStackWalk::release(thread);
  if (state->_tracer == NULL) return;
  lct_thread_end(state->_tracer, os::javaTimeNanos());
  state->_tracer = NULL;
}

void LockTrace::thread_renamed(JavaThread* current, oop java_thread, jstring name) {
  if (!enabled()) return;
  LctThread* writer = tracer(current);
  if (writer == NULL) return;
  ResourceMark rm(current);
  const char* text = java_lang_String::as_utf8_string(JNIHandles::resolve_non_null(name));
  lct_thread_rename(writer, (uint64_t) java_lang_Thread::thread_id(java_thread), LockTraceText::of(text));
}

// ---------------------------------------------------------------------------
// Safepoints. All of it runs in the VM thread.

void LockTrace::safepoint_begin() {
  if (enabled()) _safepoint_begin_ns = os::javaTimeNanos();
}

// Threads are still stopped.
void LockTrace::safepoint_end() {
  if (_safepoint_begin_ns == 0) return;
  // Before anything is written about another loader at the same address.
  if (_loaders_ended) lct_submit(_vm_thread_tracer);
  _loaders_ended = false;
  _buffers_reclaimed = false;
  if (_safepoint_begin_ns - _trimmed_ns >= NANOSECS_PER_SEC) {
    _trimmed_ns = _safepoint_begin_ns;
    LockTraceStackWalk::trim_idle_threads();
  }
  // A reader between the two stores misses this safepoint. The other order
  // would count it twice, for more than the reader's own wait.
  jlong duration_ns = os::javaTimeNanos() - _safepoint_begin_ns;
  _safepoint_begin_ns = 0;
  OrderAccess::storestore();
  _safepoint_total_ns += duration_ns;
}

jlong LockTrace::safepoint_clock(jlong now_ns) {
  jlong begin_ns = _safepoint_begin_ns;
  OrderAccess::loadload();
  jlong total_ns = _safepoint_total_ns;
  return total_ns + (begin_ns == 0 ? 0 : MAX2(now_ns - begin_ns, (jlong) 0));
}

// Buffers that lie with idle threads would delay the analysis of the events
// that other threads have written since.
void LockTrace::gc_begin() {
  if (enabled()) reclaim_buffers();
}

// Once in a safepoint: no other thread writes meanwhile.
void LockTrace::reclaim_buffers() {
  if (_buffers_reclaimed) return;
  lct_reclaim_all(_runtime);
  _buffers_reclaimed = SafepointSynchronize::is_at_safepoint();
}

class LockTraceNamedClasses : public KlassClosure {
 private:
  bool _any;

 public:
  LockTraceNamedClasses() : _any(false) {}
  void do_klass(Klass* klass) { _any = _any || LockTraceMetadata::known_id(klass) != 0; }
  bool any() const            { return _any; }
};

class LockTraceUnloadedMethods : public KlassClosure {
 public:
  void do_klass(Klass* klass) {
    Array<Method*>* methods = klass->oop_is_instance() ? InstanceKlass::cast(klass)->methods() : NULL;
    for (int i = 0; methods != NULL && i < methods->length(); i++) LockTrace::method_freed(methods->at(i));
  }
};

// What was written about the loader's classes goes to the file before the event that
// ends them. Most of thousands of loaders that are unloaded at once, as those of
// VM-anonymous classes, the trace has never named.
void LockTrace::loader_unloading(ClassLoaderData* loader) {
  if (!enabled() || _vm_thread_tracer == NULL) return;
  LockTraceNamedClasses named;
  loader->classes_do(&named);
  if (!named.any()) return;
  // The boot loader's VM-anonymous classes have none.
  if (loader->class_loader() != NULL) {
    reclaim_buffers();
    lct_loader_unload(_vm_thread_tracer, (uint64_t) (uintptr_t) loader, os::javaTimeNanos());
    _loaders_ended = true;
  }
  LockTraceUnloadedMethods unloaded_methods;
  loader->classes_do(&unloaded_methods);
}

// ---------------------------------------------------------------------------
// The end of code

void LockTrace::code_flushed(nmethod* code) {
  if (!was_started()) return;
  Atomic::inc(&_code_epoch);
  if (enabled()) lct_code_flushed(_runtime, (uint32_t) code->compile_id());
}

void LockTrace::method_freed(Method* method) {
  if (!enabled()) return;
  uint32_t id = LockTraceMetadata::known_id(method);
  if (id != 0) lct_method_freed(_runtime, id);
}

// Monitors are used again for other objects: the next one to contend for this
// monitor describes a new lock.
void LockTrace::monitor_deflated(ObjectMonitor* monitor) {
  LockTraceMonitor* lock = monitor->locktrace();
  assert(monitor->locktrace_interest()->is_none(), "nobody owns the monitor or wants it");
  if (lock->id == 0) return;
  if (enabled() && _vm_thread_tracer != NULL) {
    lct_lock_retire(_vm_thread_tracer, lock);
  }
  *lock = LockTraceMonitor();
}
