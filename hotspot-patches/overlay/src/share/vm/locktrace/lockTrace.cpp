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
#include "locktrace/lockTraceCommands.hpp"
#include "locktrace/lockTraceEvents.hpp"
#include "locktrace/lockTraceReturnBarriers.hpp"
#include "locktrace/lockTraceReturnSites.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceOpenWaits.hpp"
#include "locktrace/lockTraceParks.hpp"
#include "locktrace/lockTraceSampler.hpp"
#include "locktrace/lockTraceSites.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "locktrace/lockTraceStop.hpp"
#include "locktrace/lockTraceSynchronizers.hpp"
#include "locktrace/lockTraceText.hpp"
#include "locktrace/lockTraceTimer.hpp"
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
#include "runtime/orderAccess.hpp"
#include "runtime/os.hpp"
#include "runtime/osThread.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/synchronizer.hpp"
#include "runtime/thread.inline.hpp"
#include "runtime/vmThread.hpp"
#include "runtime/vm_operations.hpp"
#include "runtime/vm_version.hpp"
#include "utilities/defaultStream.hpp"
#include "utilities/ostream.hpp"
// Needs Thread, which it does not include.
#include "runtime/objectMonitor.inline.hpp"

LctRuntime*      LockTrace::_runtime = NULL;
LctThread*       LockTrace::_vm_thread_tracer = NULL;
volatile uint8_t LockTrace::_enabled = 0;
volatile jlong   LockTrace::_safepoint_total_ns = 0;
volatile jlong   LockTrace::_safepoint_begin_ns = 0;
jlong            LockTrace::_safepoint_reached_ns = 0;
bool             LockTrace::_buffers_reclaimed = false;
bool             LockTrace::_loaders_ended = false;
jlong            LockTrace::_trimmed_ns = 0;
volatile uint32_t LockTrace::_session = 0;
jlong            LockTrace::_started_ns = 0;
jlong            LockTrace::_ends_ns = 0;
uint8_t          LockTrace::_kinds = 0;
volatile jint    LockTrace::_is_changing = 0;
uint32_t         LockTrace::_last_metadata_epoch = 0;
uint32_t         LockTrace::_last_id = 0;
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
static void expand_file_name(const char* name, char* buffer, size_t size) {
  const char* in = name;
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

// Two threads may be asked at the same time. The second one gives up: it could not say
// what it has started or stopped.
bool LockTrace::try_change() { return Atomic::cmpxchg(1, &_is_changing, 0) == 0; }
void LockTrace::changed()    { OrderAccess::release_store(&_is_changing, 0); }

class LockTraceForgetMonitors : public MonitorClosure {
 public:
  void do_monitor(ObjectMonitor* monitor) { monitor->locktrace()->forget_trace(); }
};

// There may be a million of them, so safepoints go on meanwhile. Besides this, only deflation
// writes what the last trace has left in them, and clears it, too; and they are never freed.
static void forget_last_trace_in_monitors(JavaThread* thread) {
  ThreadBlockInVM blocked(thread);
  LockTraceForgetMonitors forget;
  ObjectSynchronizer::monitors_iterate(&forget);
}

// State that an earlier trace has left in threads, or that arose without a trace, would be
// taken for state of this one.
class LockTraceBegin : public VM_Operation {
 private:
  LctRuntime* const _runtime;
  const jlong _start_ns;
  const bool _lock_sites;

 public:
  LockTraceBegin(LctRuntime* runtime, jlong start_ns, bool lock_sites)
    : _runtime(runtime), _start_ns(start_ns), _lock_sites(lock_sites) {}
  VMOp_Type type() const { return VMOp_Dummy; }
  void doit() {
    const jlong begin_ns = os::javaTimeNanos();
    for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) LockTrace::begin_in(thread);
    LctThreadStart vm_thread = { };   // it has no Java thread, and locks no objects
    vm_thread.name = LockTraceText::of("VM Thread");
    vm_thread.time_ns = os::javaTimeNanos();
    LockTrace::_vm_thread_tracer = lct_thread_start(_runtime, &vm_thread);
    LockTrace::_runtime = _runtime;
    LockTrace::_session++;
    LockTraceSites::trace_begins(_lock_sites);
    LockTraceOpenWaits::trace_begins(_runtime, begin_ns, _start_ns);
    OrderAccess::release_store((volatile jubyte*) &LockTrace::_enabled, (jubyte) 1);
  }
};

// The objects that threads are already parked for are known by identity hashes, and to give them
// one may need a safepoint.
static void hash_park_blockers(JavaThread* thread) {
  ResourceMark rm(thread);
  HandleMark handles(thread);
  GrowableArray<Handle> blockers;
  {
    MutexLocker threads(Threads_lock, thread);
    for (JavaThread* other = Threads::first(); other != NULL; other = other->next()) {
      oop blocker = other->current_park_blocker();
      if (blocker != NULL) blockers.append(Handle(thread, blocker));
    }
  }
  for (int i = 0; i < blockers.length(); i++) ObjectSynchronizer::FastHashCode(thread, blockers.at(i)());
}

// What a trace of this VM lacks, LCT_WITHOUT_...
static uint16_t what_is_missing(uint8_t kinds) {
  uint16_t missing = 0;
  if ((kinds & LCT_KIND_MONITOR) == 0) missing |= LCT_WITHOUT_MONITORS;
  if ((kinds & LCT_KIND_PARK) == 0)    missing |= LCT_WITHOUT_PARKS;
  if (!LockTraceHolds::are_recorded())     missing |= LCT_WITHOUT_SYNCHRONIZERS;
  if (!DebugNonSafepoints)             missing |= LCT_WITHOUT_POSITIONS;
  return missing;
}

void LockTrace::begin_in(JavaThread* thread) {
  LockTraceThread* state = thread->locktrace();
  state->_blocker_hash = 0;
  state->_queue_place = 0;
  LockTraceParker::trace_begins(thread->parker());
}

bool LockTrace::begin(const LockTraceRequest& request, JavaThread* thread, char* error, size_t error_size) {
  char path[JVM_MAXPATHLEN];
  char jvm[256];
  expand_file_name(request.file, path, sizeof(path));
  if (_session == 0) {
    HandleMark handles(thread);
    LockTraceQueue::initialize_all(thread);
    LockTraceHolds::initialize_all(thread);
    LockTraceSemaphores::initialize(thread);
  }
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
  config.last_metadata_epoch = _last_metadata_epoch;
  config.last_id = _last_id;
  config.missing = what_is_missing(request.kinds);
  config.analysis = request.analysis;
  config.owner_samples = request.sample_after_ns != 0;
  config.lock_sites = request.lock_sites;
  config.analysis_bytes = LockContentionAnalysisMemory;
  char report[JVM_MAXPATHLEN];
  expand_file_name(request.report == NULL ? "" : request.report, report, sizeof(report));
  config.report = LockTraceText::of(report);

  LctRuntime* runtime;
  {
    // Creating a file may take long, on a network file system.
    ThreadBlockInVM blocked(thread);
    runtime = lct_start(&config, (uint8_t*) error, error_size);
  }
  if (runtime == NULL) return false;
  if (_session == 0) LockTraceReturnBarriers::initialize();
  _started_ns = config.start_ns;
  _ends_ns = request.duration_ns == 0 ? 0 : _started_ns + request.duration_ns;
  _kinds = request.kinds;
  if (_session != 0) forget_last_trace_in_monitors(thread);
  hash_park_blockers(thread);
  LockTraceBegin begin(runtime, _started_ns, request.lock_sites);
  VMThread::execute(&begin);
  if (!LockTraceOpenWaits::start(_session, thread)) {
    warning("locktrace: not all waits from before the trace are in it: no thread can be created for that");
  }
  if (!LockTraceSampler::start(_session, request.sample_after_ns, thread)) {
    warning("locktrace: owners of locks are not sampled: no thread can be created for that");
  }
  if (!LockTraceSites::start(_session, thread)) {
    warning("locktrace: where locks are allocated is not recorded: no thread can be created for that");
  }
  return true;
}

bool LockTraceRequest::analysis_of(const char* name, uint8_t* analysis) {
  if (name == NULL || strcmp(name, "file") == 0) {
    *analysis = LCT_ANALYSIS_FILE;
  } else if (strcmp(name, "online") == 0) {
    *analysis = LCT_ANALYSIS_ONLINE;
  } else if (strcmp(name, "both") == 0) {
    *analysis = LCT_ANALYSIS_BOTH;
  } else {
    return false;
  }
  return true;
}

void LockTrace::start(JavaThread* main_thread) {
  LockTraceCommands::register_all();
  if (!TraceLockContention) return;
  char error[512];
  // An empty value is NULL.
  const char* file = LockContentionTraceFile != NULL ? LockContentionTraceFile : LOCKTRACE_DEFAULT_FILE;
  LockTraceRequest request = { file, LCT_KIND_MONITOR | LCT_KIND_PARK, 0, LCT_ANALYSIS_FILE, LockContentionReportFile,
                               LockTraceSampler::default_threshold_ns(), LockTraceSites::wanted(LockContentionLockSites) };
  if (!LockTraceRequest::analysis_of(LockContentionAnalysis, &request.analysis)) {
    jio_fprintf(defaultStream::error_stream(),
                "locktrace: LockContentionAnalysis: expected file, online or both, found %s; tracing is off, "
                "the application goes on\n", LockContentionAnalysis);
    return;
  }
  if (!try_change()) return;
  if (begin(request, main_thread, error, sizeof(error))) {
    thread_start(main_thread);
  } else {
    jio_fprintf(defaultStream::error_stream(),
                "locktrace: %s; tracing is off, the application goes on\n", error);
  }
  changed();
}

// A thread in a hook may have taken a sequence number for an event that it has not written
// yet. No safepoint comes in between, so at a safepoint everything is written. After it no
// thread uses the tracers or the runtime.
class LockTraceEnd : public VM_Operation {
 public:
  VMOp_Type type() const { return VMOp_Dummy; }
  void doit() {
    LockTraceReturnBarriers::remove_all();
    LockTraceSites::trace_ends();
    for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) LockTrace::end_in(thread);
    lct_thread_leave(LockTrace::_vm_thread_tracer);
    LockTrace::_vm_thread_tracer = NULL;
    LockTrace::_loaders_ended = false;
    LockTrace::_last_metadata_epoch = lct_metadata_epoch(LockTrace::_runtime);
    LockTrace::_last_id = lct_new_id(LockTrace::_runtime);
    LockTrace::_runtime = NULL;
  }
};

void LockTrace::end_in(JavaThread* thread) {
  LockTraceThread* state = thread->locktrace();
  LockTraceStackWalk::release(thread);
  lct_thread_leave(state->_tracer);
  state->_tracer = NULL;
}

// The runtime still has to write the end of the trace.
LctRuntime* LockTrace::end() {
  LctRuntime* runtime = _runtime;
  _enabled = 0;
  LockTraceEnd end_of_hooks;
  VMThread::execute(&end_of_hooks);
  return runtime;
}

// The VM exits.
void LockTrace::stop() {
  if (_session == 0) return;
  JavaThread* thread = JavaThread::current();
  const int patience = StopTimeoutMillis / 10;
  for (int i = 0; i < patience && !try_change(); i++) {
    // A thread that starts or stops a trace waits for a safepoint, which does not wait for this thread.
    ThreadBlockInVM blocked(thread);
    os::sleep(thread, 10, false);
  }
  // No thread starts or stops a trace any more. A trace that another thread has stopped is
  // written, or that takes too long.
  if (_runtime == NULL) return;
  LctRuntime* runtime = end();
  // Safepoints go on meanwhile.
  ThreadBlockInVM blocked(thread);
  lct_stop(runtime, StopTimeoutMillis);
}

// ---------------------------------------------------------------------------
// On request

bool LockTrace::start_on_request(const LockTraceRequest& request, JavaThread* thread, outputStream* out) {
  if (!try_change()) {
    out->print_cr("Another request to start or stop lock contention tracing is under way.");
    return false;
  }
  bool started = false;
  char text[JVM_MAXPATHLEN];
  if (enabled()) {
    lct_file_name(_runtime, (uint8_t*) text, sizeof(text));
    out->print_cr("Lock contention is traced already, to %s.", text);
  } else {
    // One that has ended by itself, because its file could not be written.
    if (_runtime != NULL) finish(thread);
    started = begin(request, thread, text, sizeof(text));
    if (started) {
      lct_file_name(_runtime, (uint8_t*) text, sizeof(text));
      out->print_cr("Started tracing lock contention to %s.", text);
      if (_ends_ns != 0 && !LockTraceTimer::start(_session, thread)) {
        _ends_ns = 0;
        out->print_cr("It will not stop by itself: no thread can be created for that.");
      }
    } else {
      out->print_cr("Lock contention is not traced: %s.", text);
    }
  }
  changed();
  return started;
}

// Ends the current trace, and frees its memory. False if its end could not be
// written: the drainer is stuck, and its memory stays.
bool LockTrace::finish(JavaThread* thread) {
  LctRuntime* runtime = end();
  // Safepoints go on meanwhile.
  ThreadBlockInVM blocked(thread);
  lct_stop(runtime, StopTimeoutMillis);
  return lct_end(runtime);
}

bool LockTrace::stop_on_request(JavaThread* thread, outputStream* out) {
  if (!try_change()) {
    out->print_cr("Another request to start or stop lock contention tracing is under way.");
    return false;
  }
  bool stopped = false;
  if (_runtime == NULL) {
    out->print_cr("Lock contention is not traced.");
  } else {
    char name[JVM_MAXPATHLEN];
    lct_file_name(_runtime, (uint8_t*) name, sizeof(name));
    const char* outcome = enabled() ? "Stopped tracing lock contention to %s."
                                    : "Tracing lock contention to %s had ended by itself.";
    stopped = finish(thread);
    out->print_cr(stopped ? outcome : "The end of %s is missing: writing takes too long.", name);
  }
  changed();
  return stopped;
}

bool LockTrace::dump_on_request(const char* file, JavaThread* thread, outputStream* out) {
  if (!try_change()) {
    out->print_cr("Another request to start or stop lock contention tracing is under way.");
    return false;
  }
  bool dumped = false;
  if (_runtime == NULL) {
    out->print_cr("Lock contention is not traced.");
  } else {
    char path[JVM_MAXPATHLEN];
    char text[JVM_MAXPATHLEN];
    expand_file_name(file, path, sizeof(path));
    LctRuntime* runtime = _runtime;
    // Copying a long file takes long.
    ThreadBlockInVM blocked(thread);
    dumped = lct_dump(runtime, LockTraceText::of(path), (uint8_t*) text, sizeof(text));
    out->print_cr(dumped ? "Copied the trace so far to %s." : "The trace is not copied: %s.", text);
  }
  changed();
  return dumped;
}

bool LockTrace::report_on_request(const LctQuestion& question, JavaThread* thread, outputStream* out) {
  if (!try_change()) {
    out->print_cr("Another request to start or stop lock contention tracing is under way.");
    return false;
  }
  bool reported = false;
  if (_runtime == NULL) {
    out->print_cr("Lock contention is not traced.");
  } else {
    LctRuntime* runtime = _runtime;
    LctText text;
    {
      // The analysis may lag.
      ThreadBlockInVM blocked(thread);
      reported = lct_report(runtime, &question, &text);
    }
    if (!reported) out->print("There is no report: ");
    out->write((const char*) text.ptr, text.len);
    if (!reported) out->print_cr(".");
    lct_text_free(text);
  }
  changed();
  return reported;
}

jlong LockTrace::stop_when_over(uint32_t session, JavaThread* thread) {
  const jlong soon_ms = 10;
  if (!try_change()) return soon_ms;
  jlong left_ns = 0;
  if (_session == session && _runtime != NULL && _ends_ns != 0) {
    left_ns = _ends_ns - os::javaTimeNanos();
    if (left_ns <= 0) finish(thread);
  }
  changed();
  return left_ns <= 0 ? 0 : MAX2(left_ns / NANOSECS_PER_MILLISEC, (jlong) 1);
}

void LockTrace::print_status(JavaThread* thread, outputStream* out) {
  if (!try_change()) {
    out->print_cr("A request to start or stop lock contention tracing is under way.");
    return;
  }
  if (_runtime == NULL) {
    out->print_cr("Lock contention is not traced.");
  } else {
    char name[JVM_MAXPATHLEN];
    lct_file_name(_runtime, (uint8_t*) name, sizeof(name));
    jlong seconds = (os::javaTimeNanos() - _started_ns) / NANOSECS_PER_SEC;
    out->print_cr(enabled() ? "Lock contention is traced to %s, for " JLONG_FORMAT " s."
                            : "Tracing lock contention to %s ended by itself; it began " JLONG_FORMAT " s ago.",
                  name, seconds);
    if (_ends_ns != 0 && enabled()) {
      out->print_cr("It ends in " JLONG_FORMAT " s.", MAX2(_ends_ns - os::javaTimeNanos(), (jlong) 0) / NANOSECS_PER_SEC);
    }
  }
  changed();
}

// ---------------------------------------------------------------------------
// Threads

LctThread* LockTrace::tracer(JavaThread* thread) {
  LctThread* tracer = thread->locktrace()->_tracer;
  return tracer != NULL ? tracer : create_tracer(thread, os::javaTimeNanos());
}

LctThread* LockTrace::tracer_from_start(JavaThread* thread) {
  LctThread* tracer = thread->locktrace()->_tracer;
  return tracer != NULL ? tracer : create_tracer(thread, _started_ns);
}

static LctStack stack_of(JavaThread* thread) {
  LctStack stack;
  stack.size = thread->stack_size();
  stack.lowest = (uint64_t) (uintptr_t) thread->stack_base() - stack.size;
  return stack;
}

LctThread* LockTrace::create_tracer(JavaThread* thread, jlong time_ns) {
  LockTraceThread* state = thread->locktrace();
  // The trace may have ended since the hook began.
  if (state->_ended || _runtime == NULL) return NULL;
  oop java_thread = thread->threadObj();
  // A thread that attaches contends, if ever, before it is known to Java.
  bool known = java_thread != NULL && !thread->is_attaching_via_jni();
  oop name = known ? java_lang_Thread::name(java_thread) : (oop) NULL;
  ResourceMark rm;   // the VM thread's own if that is the caller
  LctThreadStart start;
  start.java_id = known ? (uint64_t) java_lang_Thread::thread_id(java_thread) : 0;
  start.name = LockTraceText::of(known ? thread->get_thread_name() : "<attaching>");
  start.vm_thread = (uint64_t) (uintptr_t) thread;
  start.stack = stack_of(thread);
  start.time_ns = time_ns;
  state->_tracer = lct_thread_start(_runtime, &start);
  lct_thread_os_id(state->_tracer, (uint32_t) thread->osthread()->thread_id());
  // With the fence in thread_renamed: a thread that does not find the tracer has set the name before.
  OrderAccess::fence();
  if (known && java_lang_Thread::name(java_thread) != name) {
    tell_name(thread, java_thread, thread->get_thread_name());
  }
  return state->_tracer;
}

void LockTrace::thread_start(JavaThread* thread) {
  if (!enabled()) return;
  LockTraceThread* state = thread->locktrace();
  if (state->_tracer != NULL) {
    lct_thread_end(state->_tracer, os::javaTimeNanos());
    state->_tracer = NULL;
  }
  create_tracer(thread, os::javaTimeNanos());
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

// The thread may be ending: its address says which one it is, and nothing is read there.
void LockTrace::tell_name(JavaThread* thread, oop java_thread, const char* name) {
  lct_thread_rename(_runtime, (uint64_t) (uintptr_t) thread, (uint64_t) java_lang_Thread::thread_id(java_thread),
                    LockTraceText::of(name));
}

void LockTrace::thread_renamed(JavaThread* current, oop java_thread, jstring name) {
  if (!enabled()) return;
  OrderAccess::fence();   // see create_tracer
  ResourceMark rm(current);
  const char* text = java_lang_String::as_utf8_string(JNIHandles::resolve_non_null(name));
  tell_name(java_lang_Thread::thread(java_thread), java_thread, text);
}

// ---------------------------------------------------------------------------
// Safepoints. All of it runs in the VM thread.

void LockTrace::safepoint_begin() {
  if (!enabled()) return;
  _safepoint_begin_ns = os::javaTimeNanos();
  LockTraceStop::safepoint_begins();
}

// All threads that run Java code are stopped.
void LockTrace::safepoint_reached() {
  if (_safepoint_begin_ns != 0) _safepoint_reached_ns = os::javaTimeNanos();
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
  jlong end_ns = os::javaTimeNanos();
  jlong duration_ns = end_ns - _safepoint_begin_ns;
  LockTraceStop::release_begins(end_ns);
  // The trace may have ended in this safepoint.
  if (enabled() && _runtime != NULL) lct_safepoint(_runtime, _safepoint_begin_ns, _safepoint_reached_ns, end_ns);
  _safepoint_begin_ns = 0;
  OrderAccess::storestore();
  _safepoint_total_ns += duration_ns;
}

// The last thread may go on.
void LockTrace::safepoint_left() {
  if (was_started()) LockTraceStop::released();
}

jlong LockTrace::safepoint_clock(jlong now_ns) {
  jlong begin_ns = _safepoint_begin_ns;
  OrderAccess::loadload();
  jlong total_ns = _safepoint_total_ns;
  return total_ns + (begin_ns == 0 ? 0 : MAX2(now_ns - begin_ns, (jlong) 0));
}

// Buffers that idle threads keep would delay the analysis of the events
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

// Everything written about the loader's classes goes to the file before the event that
// ends them. Of thousands of loaders that are unloaded at once, as those of
// VM-anonymous classes are, the trace has never named most.
void LockTrace::loader_unloading(ClassLoaderData* loader) {
  LockTraceSites::loader_unloading(loader);
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
  LockTraceReturnSites::code_flushed(code);
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
  if (lock->id != 0 && enabled() && _vm_thread_tracer != NULL) {
    lct_lock_retire(_vm_thread_tracer, lock);
  }
  *lock = LockTraceMonitor();
}
