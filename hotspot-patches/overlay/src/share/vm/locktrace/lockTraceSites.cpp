/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/systemDictionary.hpp"
#include "code/codeCache.hpp"
#include "code/nmethod.hpp"
#include "compiler/compileBroker.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceHelperThread.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceSites.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "locktrace/lockTraceStop.hpp"
#include "memory/resourceArea.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/deoptimization.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/synchronizer.hpp"
#include "runtime/thread.inline.hpp"

LockTraceSiteClass LockTraceSites::_classes[max_classes];
int                LockTraceSites::_count = 0;
int                LockTraceSites::_watched = 0;
Klass* volatile    LockTraceSites::_candidates[max_candidates];
bool               LockTraceSites::_is_on = false;
volatile intptr_t  LockTraceSites::_credit_ns = 0;
volatile intptr_t  LockTraceSites::_spent_ns = 0;
volatile jint      LockTraceSites::_recorded = 0;
volatile jint      LockTraceSites::_skipped = 0;

// The budget is in thousandths of a processor.
static const jlong WholeBudget = 1000;

// How often costs are looked at, and how often at most compiled code is discarded for another
// class. Stops keep to the budget in any case.
static const jlong LookMillis = 100;
static const jlong ChangeMillis = 1000;

// So much of the budget may be saved up, for a program that allocates many locks at once.
static const jlong SavedSeconds = 10;

// A thread that takes longer to record an allocation has waited for a processor or a safepoint.
static const jlong LongestRecordingNanos = 100 * 1000;

static jlong of_budget(jlong ns) {
  return ns / WholeBudget * (jlong) MIN2(LockContentionLockSiteBudget, (uintx) WholeBudget);
}

// How long it takes until the budget has as much.
static jlong time_for(jlong ns) {
  return ns * WholeBudget / (jlong) MIN2(LockContentionLockSiteBudget, (uintx) WholeBudget);
}

// ---------------------------------------------------------------------------
// Classes

bool LockTraceSiteClass::watch(InstanceKlass* klass) {
  jint layout = klass->layout_helper();
  _klass = klass;
  _is_watched = true;
  _was_slow = Klass::layout_helper_needs_slow_path(layout);
  _allocations = 0;
  if (!_was_slow) klass->set_layout_helper(layout | Klass::_lh_instance_slow_path_bit);
  return !_was_slow;
}

bool LockTraceSiteClass::unwatch() {
  bool is_change = _is_watched && !_was_slow;
  if (is_change) _klass->set_layout_helper(_klass->layout_helper() & ~Klass::_lh_instance_slow_path_bit);
  _is_watched = false;
  return is_change;
}

LockTraceSiteClass* LockTraceSites::find(Klass* klass) {
  for (int i = 0; i < _count; i++) {
    if (_classes[i].klass() == klass) return &_classes[i];
  }
  return NULL;
}

// Arrays have no constructor to tell about, and the objects that stand for classes none at all.
static bool can_be_watched(Klass* klass) {
  return klass->oop_is_instance() && klass != SystemDictionary::Class_klass();
}

void LockTraceSites::note_candidate(Klass* klass) {
  if (!can_be_watched(klass) || find(klass) != NULL) return;
  for (int i = 0; i < max_candidates; i++) {
    if (_candidates[i] == klass) return;
    if (_candidates[i] == NULL && Atomic::cmpxchg_ptr(klass, &_candidates[i], NULL) == NULL) return;
  }
}

bool LockTraceSites::has_candidates() {
  for (int i = 0; i < max_candidates; i++) {
    if (_candidates[i] != NULL) return true;
  }
  return false;
}

void LockTraceSites::loader_unloading(ClassLoaderData* loader) {
  for (int i = 0; i < max_candidates; i++) {
    Klass* klass = _candidates[i];
    if (klass != NULL && klass->class_loader_data() == loader) _candidates[i] = NULL;
  }
  for (int i = _count - 1; i >= 0; i--) {
    if (_classes[i].klass()->class_loader_data() != loader) continue;
    if (_classes[i].is_watched()) _watched--;
    _classes[i] = _classes[--_count];
  }
}

// ---------------------------------------------------------------------------
// Allocations

// A thread that leaves compiled code makes up for allocations that the compiler has left out,
// where it stands then. The program has come by the allocation before.
static bool is_made_up_for(JavaThread* thread) {
  CodeBlob* innermost = thread->has_last_Java_frame() ? thread->last_frame().cb() : (CodeBlob*) NULL;
  return innermost != NULL && (innermost->is_deoptimization_stub() || innermost->is_uncommon_trap_stub());
}

instanceOop LockTraceSites::allocated_watched(instanceOop object, Thread* thread) {
  if (!LockTrace::enabled() || !thread->is_Java_thread()) return object;
  LockTraceSiteClass* of_object = find(object->klass());
  if (of_object == NULL || !of_object->is_watched()) return object;
  JavaThread* java_thread = (JavaThread*) thread;
  if (is_made_up_for(java_thread)) return object;
  of_object->count_allocation();
  if (_credit_ns <= 0) {
    Atomic::inc(&_skipped);
    return object;
  }
  jlong begin_ns = os::javaTimeNanos();
  instanceHandle handle(java_thread, object);
  record(java_thread, handle());
  intptr_t duration_ns = (intptr_t) MIN2(os::javaTimeNanos() - begin_ns, LongestRecordingNanos);
  Atomic::add_ptr(-duration_ns, &_credit_ns);
  Atomic::add_ptr(duration_ns, &_spent_ns);
  Atomic::inc(&_recorded);
  return handle();
}

// Nobody else knows the object. Its hash revokes a bias to nobody, for which there need be no
// safepoint.
void LockTraceSites::record(JavaThread* thread, oop object) {
  Klass* klass = object->klass();
  uint32_t hash = (uint32_t) ObjectSynchronizer::FastHashCode(thread, object);
  LctThread* tracer = LockTrace::tracer(thread);
  if (tracer == NULL) return;
  uint32_t chain = LockTraceStackWalk::allocation(thread, tracer);
  if (chain != 0) lct_allocated(tracer, LockTraceMetadata::class_id(tracer, klass), hash, chain);
}

// ---------------------------------------------------------------------------
// Changes

// At a safepoint: begins with classes, gives up one or all of them, and discards the compiled code
// that allocates their instances as before.
class LockTraceChangeSites : public LockTraceStop {
 private:
  enum { max_compiles = 64 };

  // Those that may not have seen the last change.
  static int _compiles[max_compiles];
  static int _compile_count;

  // Of this operation.
  static Klass* _changed[LockTraceSites::max_classes];
  static int _changed_count;
  static int _ended[max_compiles];     // of the compiles before
  static int _ended_count;
  static int _discarded;
  static bool _is_late;                // of the code that is looked at
  static bool _is_affected;

  const uint32_t _session;
  const bool _gives_up;
  const bool _begins;
  int _classes;
  int _given_up;

  static void note_change(Klass* klass) { _changed[_changed_count++] = klass; }
  static bool is_compiled(int compile);
  static void note_compiles();
  static void take_ended_compiles();
  static bool is_changed(Klass* klass);
  static bool is_late(nmethod* code);
  static void look_at(Metadata* metadata);
  static void mark_if_affected(nmethod* code);
  static void discard_affected_code();
  void run();
  void begin_with_candidates();
  void give_up_one();

 public:
  LockTraceChangeSites(uint32_t session, bool gives_up, bool begins)
    : _session(session), _gives_up(gives_up), _begins(begins), _classes(0), _given_up(0) {}

  // Executes it, and counts it. Returns for how many nanoseconds all threads were stopped.
  jlong make();

  static void give_up_all();
  static bool awaits_compiles() { return _compile_count > 0; }
  static void forget_compiles() { _compile_count = 0; }
};

int    LockTraceChangeSites::_compiles[max_compiles];
int    LockTraceChangeSites::_compile_count = 0;
Klass* LockTraceChangeSites::_changed[LockTraceSites::max_classes];
int    LockTraceChangeSites::_changed_count = 0;
int    LockTraceChangeSites::_ended[max_compiles];
int    LockTraceChangeSites::_ended_count = 0;
int    LockTraceChangeSites::_discarded = 0;
bool   LockTraceChangeSites::_is_late = false;
bool   LockTraceChangeSites::_is_affected = false;

// What a compiler compiles at this moment.
static CompileTask* task_of(JavaThread* thread) {
  return thread->is_Compiler_thread() ? ((CompilerThread*) thread)->task() : (CompileTask*) NULL;
}

bool LockTraceChangeSites::is_compiled(int compile) {
  for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) {
    CompileTask* task = task_of(thread);
    if (task != NULL && task->compile_id() == compile) return true;
  }
  return false;
}

// Compilers go on at safepoints: what they compile now may be as the classes were before. Who has
// not taken its task yet will see the change.
void LockTraceChangeSites::note_compiles() {
  for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) {
    CompileTask* task = task_of(thread);
    if (task != NULL && _compile_count < max_compiles) _compiles[_compile_count++] = task->compile_id();
  }
}

void LockTraceChangeSites::take_ended_compiles() {
  int left = 0;
  _ended_count = 0;
  for (int i = 0; i < _compile_count; i++) {
    int compile = _compiles[i];
    if (is_compiled(compile)) _compiles[left++] = compile;
    else _ended[_ended_count++] = compile;
  }
  _compile_count = left;
}

bool LockTraceChangeSites::is_changed(Klass* klass) {
  for (int i = 0; i < _changed_count; i++) {
    if (_changed[i] == klass) return true;
  }
  return false;
}

bool LockTraceChangeSites::is_late(nmethod* code) {
  for (int i = 0; i < _ended_count; i++) {
    if (_ended[i] == code->compile_id()) return true;
  }
  return false;
}

// Most metadata is no class, and equals none.
void LockTraceChangeSites::look_at(Metadata* metadata) {
  Klass* klass = (Klass*) metadata;
  _is_affected = _is_affected || is_changed(klass) || (_is_late && LockTraceSites::find(klass) != NULL);
}

// The class of an object that code allocates is among its metadata.
void LockTraceChangeSites::mark_if_affected(nmethod* code) {
  _is_late = is_late(code);
  _is_affected = false;
  code->metadata_do(&look_at);
  if (!_is_affected) return;
  if (code->is_in_use()) _discarded++;
  code->mark_for_deoptimization();
}

// As VM_Deoptimize.
void LockTraceChangeSites::discard_affected_code() {
  _discarded = 0;
  if (_changed_count == 0 && _ended_count == 0) return;
  ResourceMark rm;
  DeoptimizationMarker dm;
  CodeCache::alive_nmethods_do(&mark_if_affected);
  Deoptimization::deoptimize_dependents();
  CodeCache::make_marked_nmethods_not_entrant();
}

void LockTraceChangeSites::begin_with_candidates() {
  for (int i = 0; i < LockTraceSites::max_candidates; i++) {
    Klass* klass = LockTraceSites::_candidates[i];
    LockTraceSites::_candidates[i] = NULL;
    if (klass == NULL || LockTraceSites::_count == LockTraceSites::max_classes || LockTraceSites::find(klass) != NULL) continue;
    LockTraceSiteClass* added = &LockTraceSites::_classes[LockTraceSites::_count++];
    if (added->watch(InstanceKlass::cast(klass))) note_change(klass);
    LockTraceSites::_watched++;
    _classes++;
  }
}

// The one with most allocations of late. It is not tried again in this trace.
void LockTraceChangeSites::give_up_one() {
  LockTraceSiteClass* most = NULL;
  for (int i = 0; i < LockTraceSites::_count; i++) {
    LockTraceSiteClass* one = &LockTraceSites::_classes[i];
    if (one->is_watched() && (most == NULL || one->allocations() > most->allocations())) most = one;
  }
  if (most == NULL || most->allocations() == 0) return;
  if (most->unwatch()) note_change(most->klass());
  LockTraceSites::_watched--;
  _given_up++;
}

void LockTraceChangeSites::run() {
  _discarded = 0;
  if (!LockTrace::is_going_on(_session)) return;
  _changed_count = 0;
  take_ended_compiles();
  if (_gives_up) give_up_one();
  if (_begins) begin_with_candidates();
  discard_affected_code();
  if (_changed_count > 0) note_compiles();
}

jlong LockTraceChangeSites::make() {
  jlong stopped_ns = execute();
  // Safepoints have passed, and with them perhaps the trace.
  if (LockTrace::is_going_on(_session)) lct_count_site_stop(LockTrace::runtime(), _classes, _given_up, _discarded, stopped_ns);
  return stopped_ns;
}

// What is compiled at this moment may go on to call the VM to allocate.
void LockTraceChangeSites::give_up_all() {
  _changed_count = 0;
  _ended_count = 0;
  forget_compiles();
  for (int i = 0; i < LockTraceSites::_count; i++) {
    LockTraceSiteClass* one = &LockTraceSites::_classes[i];
    if (one->unwatch()) note_change(one->klass());
  }
  LockTraceSites::_count = 0;
  LockTraceSites::_watched = 0;
  discard_affected_code();
}

// ---------------------------------------------------------------------------
// Costs

// Counts what threads have done. True if they have spent more than they may.
bool LockTraceSites::settle_costs(jlong elapsed_ns) {
  jint recorded = Atomic::xchg(0, &_recorded);
  jint skipped = Atomic::xchg(0, &_skipped);
  intptr_t spent_ns = Atomic::xchg_ptr(0, &_spent_ns);
  lct_count_allocated(LockTrace::runtime(), recorded, skipped, spent_ns);

  bool is_used_up = _credit_ns <= 0;
  jlong earned_ns = MIN2(of_budget(elapsed_ns), of_budget(SavedSeconds * NANOSECS_PER_SEC) - _credit_ns);
  Atomic::add_ptr((intptr_t) earned_ns, &_credit_ns);
  return is_used_up;
}

void LockTraceSites::run(JavaThread* thread, TRAPS) {
  const uint32_t session = LockTraceHelperThread::session_of(thread);
  jlong looked_ns = os::javaTimeNanos();
  jlong next_stop_ns = looked_ns;
  jlong next_change_ns = looked_ns + ChangeMillis * NANOSECS_PER_MILLISEC;
  while (true) {
    // Interruptible: the other kind of sleep is one in the VM, for which every safepoint waits.
    os::sleep(thread, LookMillis, true);
    if (!LockTrace::is_going_on(session)) return;
    jlong now_ns = os::javaTimeNanos();
    bool gives_up = settle_costs(now_ns - looked_ns) && now_ns >= next_stop_ns;
    looked_ns = now_ns;
    bool is_time = now_ns >= next_change_ns;
    bool begins = is_time && has_candidates();
    if (gives_up || begins || (is_time && LockTraceChangeSites::awaits_compiles())) {
      LockTraceChangeSites change(session, gives_up, begins);
      jlong stopped_ns = change.make();
      if (!LockTrace::is_going_on(session)) return;
      next_stop_ns = os::javaTimeNanos() + time_for(stopped_ns);
      next_change_ns = MAX2(next_stop_ns, now_ns + ChangeMillis * NANOSECS_PER_MILLISEC);
    }
    for (int i = 0; i < _count; i++) _classes[i].forget_allocations();
  }
}

bool LockTraceSites::wanted(bool is_asked_for) {
  return is_asked_for && LockContentionLockSiteBudget != 0 NOT_AMD64(&& false);
}

void LockTraceSites::trace_begins(bool is_wanted) {
  _is_on = is_wanted;
  _credit_ns = (intptr_t) of_budget(SavedSeconds * NANOSECS_PER_SEC);
  _spent_ns = 0;
  _recorded = 0;
  _skipped = 0;
  for (int i = 0; i < max_candidates; i++) _candidates[i] = NULL;
}

bool LockTraceSites::start(uint32_t session, JavaThread* thread) {
  return !_is_on || LockTraceHelperThread::start("Lock Contention Sites", &run, session, thread);
}

void LockTraceSites::trace_ends() {
  _is_on = false;
  LockTraceChangeSites::give_up_all();
}
