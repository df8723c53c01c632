/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/javaClasses.hpp"
#include "classfile/symbolTable.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceClassLibrary.hpp"
#include "locktrace/lockTraceParks.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "locktrace/lockTraceSynchronizers.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/interfaceSupport.hpp"
#include "runtime/jniHandles.hpp"
#include "runtime/orderAccess.inline.hpp"
#include "runtime/os.hpp"
#include "runtime/thread.inline.hpp"

#define OWNABLE "java/util/concurrent/locks/AbstractOwnableSynchronizer"
#define SYNCHRONIZER "java/util/concurrent/locks/AbstractQueuedSynchronizer"
#define LONG_SYNCHRONIZER "java/util/concurrent/locks/AbstractQueuedLongSynchronizer"
#define STAMPED_LOCK "java/util/concurrent/locks/StampedLock"
#define SEMAPHORE "java/util/concurrent/Semaphore$Sync"

// ---------------------------------------------------------------------------
// Queues of threads

LockTraceQueue LockTraceQueue::_queues[kinds];

void LockTraceQueue::initialize_all(JavaThread* thread) {
  _queues[0].initialize(SYNCHRONIZER, SYNCHRONIZER "$Node", "head", "tail", thread);
  _queues[1].initialize(LONG_SYNCHRONIZER, LONG_SYNCHRONIZER "$Node", "head", "tail", thread);
  _queues[2].initialize(STAMPED_LOCK, STAMPED_LOCK "$WNode", "whead", "wtail", thread);
}

void LockTraceQueue::initialize(const char* class_name, const char* node_class_name, const char* head, const char* tail,
                                JavaThread* thread) {
  ResourceMark rm(thread);
  InstanceKlass* klass = LockTraceClassLibrary::find_class(class_name, thread);
  InstanceKlass* node = LockTraceClassLibrary::find_class(node_class_name, thread);
  stringStream node_type;
  node_type.print("L%s;", node_class_name);
  const char* type = node_type.as_string();
  bool found = LockTraceClassLibrary::find_field(klass, head, type, &_head_offset, thread)
            && LockTraceClassLibrary::find_field(klass, tail, type, &_tail_offset, thread)
            && LockTraceClassLibrary::find_field(node, "prev", type, &_previous_offset, thread)
            && LockTraceClassLibrary::find_field(node, "next", type, &_next_offset, thread)
            && LockTraceClassLibrary::find_field(node, "thread", "Ljava/lang/Thread;", &_thread_offset, thread);
  _klass = found ? klass : (InstanceKlass*) NULL;
}

const LockTraceQueue* LockTraceQueue::of(oop synchronizer) {
  for (int kind = 0; kind < kinds; kind++) {
    if (_queues[kind].is_of(synchronizer)) return &_queues[kind];
  }
  return NULL;
}

bool LockTraceQueue::is_of(oop synchronizer) const {
  return _klass != NULL && synchronizer->klass()->is_subclass_of(_klass);
}

oop LockTraceQueue::head(oop synchronizer) const { return synchronizer->obj_field(_head_offset); }
oop LockTraceQueue::tail(oop synchronizer) const { return synchronizer->obj_field(_tail_offset); }
oop LockTraceQueue::previous(oop node) const     { return node->obj_field(_previous_offset); }
oop LockTraceQueue::next(oop node) const         { return node->obj_field(_next_offset); }
oop LockTraceQueue::waiter(oop node) const       { return node->obj_field(_thread_offset); }

oop LockTraceQueue::node_of(oop synchronizer, oop java_thread) const {
  const int max_steps = 64;
  oop first = head(synchronizer);
  if (first == NULL) return NULL;
  // A thread that is woken is nearly always the first.
  oop node = next(first);
  if (node != NULL && waiter(node) == java_thread) return node;
  node = tail(synchronizer);
  for (int steps = 0; node != NULL && steps < max_steps; steps++) {
    if (waiter(node) == java_thread) return node;
    node = previous(node);
  }
  return NULL;
}

// ---------------------------------------------------------------------------
// Holds

LockTraceHolds LockTraceHolds::_of_ownable;
LockTraceHolds LockTraceHolds::_of_stamped_lock;

JVM_ENTRY(void, LockTraceOwnerChanges(JNIEnv* env, jobject synchronizer, jobject new_owner))
  LockTraceHolds::owner_changes(thread, JNIHandles::resolve_non_null(synchronizer), JNIHandles::resolve(new_owner));
JVM_END

JVM_ENTRY(void, LockTraceWriterChanges(JNIEnv* env, jobject lock, jboolean is_acquired))
  LockTraceHolds::writer_changes(thread, JNIHandles::resolve_non_null(lock), is_acquired != JNI_FALSE);
JVM_END

// Without the fields, or the method that calls, a release that wakes nobody stays unseen.
void LockTraceHolds::initialize_all(JavaThread* THREAD) {
  java_util_concurrent_locks_AbstractOwnableSynchronizer::initialize(THREAD);
  CLEAR_PENDING_EXCEPTION;
  InstanceKlass* ownable = LockTraceClassLibrary::find_class(OWNABLE, THREAD);
  if (_of_ownable.find_fields(ownable, THREAD) &&
      LockTraceClassLibrary::find_field(ownable, "traceParked", "I", &_of_ownable._parked_offset, THREAD)) {
    _of_ownable.bind(ownable, "traceOwner", "(Ljava/lang/Thread;)V",
                     CAST_FROM_FN_PTR(address, LockTraceOwnerChanges), THREAD);
  }
  InstanceKlass* stamped_lock = LockTraceClassLibrary::find_class(STAMPED_LOCK, THREAD);
  if (_of_stamped_lock.find_fields(stamped_lock, THREAD) &&
      LockTraceClassLibrary::find_field(stamped_lock, "traceWriter", "J", &_of_stamped_lock._writer_offset, THREAD)) {
    _of_stamped_lock.bind(stamped_lock, "traceWriter", "(Z)V",
                          CAST_FROM_FN_PTR(address, LockTraceWriterChanges), THREAD);
  }
}

bool LockTraceHolds::find_fields(InstanceKlass* klass, JavaThread* thread) {
  return LockTraceClassLibrary::find_field(klass, "traceInterest", "I", &_interest_offset, thread)
      && LockTraceClassLibrary::find_field(klass, "traceAcquired", "J", &_acquired_offset, thread);
}

// From here on the class calls.
void LockTraceHolds::bind(InstanceKlass* klass, const char* name, const char* signature, address function,
                          JavaThread* THREAD) {
  // To link a class resets its native methods.
  klass->link_class(THREAD);
  if (HAS_PENDING_EXCEPTION) {
    CLEAR_PENDING_EXCEPTION;
    return;
  }
  TempNewSymbol name_symbol = SymbolTable::new_symbol(name, THREAD);
  TempNewSymbol signature_symbol = SymbolTable::new_symbol(signature, THREAD);
  Method* method = klass->find_method(name_symbol, signature_symbol);
  if (method == NULL || !method->is_native()) return;
  method->set_native_function(function, Method::native_bind_event_is_interesting);
  _klass = klass;
}

const LockTraceHolds* LockTraceHolds::of(oop lock) {
  if (lock == NULL) return NULL;
  Klass* klass = lock->klass();
  if (_of_ownable._klass != NULL && klass->is_subclass_of(_of_ownable._klass)) return &_of_ownable;
  if (_of_stamped_lock._klass != NULL && klass->is_subclass_of(_of_stamped_lock._klass)) return &_of_stamped_lock;
  return NULL;
}

bool LockTraceHolds::is_waited_for(oop lock) const {
  const LockTraceQueue* queue = LockTraceQueue::of(lock);
  return queue != NULL ? queue->is_waited_for(lock) : lock->int_field(_parked_offset) > 0;
}

void LockTraceHolds::set_interest(oop lock, bool interest) const {
  lock->release_int_field_put(_interest_offset, interest ? 1 : 0);
}

bool LockTraceHolds::park_begins(oop lock) const {
  bool is_queued = LockTraceQueue::of(lock) != NULL;
  if (!is_queued) Atomic::inc((volatile jint*) lock->obj_field_addr<jint>(_parked_offset));
  if (lock->int_field_acquire(_interest_offset) == 0) set_interest(lock, true);
  // The number is taken with an atomic instruction, behind which the interest is seen.
  return !is_queued;
}

void LockTraceHolds::park_ends(oop lock) const {
  Atomic::dec((volatile jint*) lock->obj_field_addr<jint>(_parked_offset));
}

void LockTraceHolds::owner_changes(JavaThread* thread, oop synchronizer, oop new_owner) {
  oop old_owner = java_util_concurrent_locks_AbstractOwnableSynchronizer::get_owner_threadObj(synchronizer);
  if (old_owner == new_owner) return;
  const LockTraceHolds& holds = _of_ownable;
  Handle lock(thread, synchronizer);
  bool is_acquired = new_owner != NULL;
  if (old_owner != NULL) holds.released(thread, lock, old_owner == thread->threadObj());
  if (is_acquired) holds.acquired(lock());
}

void LockTraceHolds::writer_changes(JavaThread* thread, oop lock, bool is_acquired) {
  const LockTraceHolds& holds = _of_stamped_lock;
  jlong writer = java_lang_Thread::thread_id(thread->threadObj());
  if (is_acquired) {
    lock->long_field_put(holds._writer_offset, writer);
    holds.acquired(lock);
  } else {
    // The writer is noted when the acquisition is.
    bool by_owner = lock->long_field(holds._acquired_offset) == 0 || lock->long_field(holds._writer_offset) == writer;
    holds.released(thread, Handle(thread, lock), by_owner);
  }
}

void LockTraceHolds::acquired(oop lock) const {
  lock->long_field_put(_acquired_offset, os::javaTimeNanos());
}

void LockTraceHolds::released(JavaThread* thread, Handle lock, bool by_owner) const {
  jlong now_ns = os::javaTimeNanos();
  jlong acquired_ns = lock->long_field(_acquired_offset);
  lock->long_field_put(_acquired_offset, 0);
  // When the trace has ended no thread needs to know any more.
  bool enabled = LockTrace::enabled();
  if (!enabled || !is_waited_for(lock())) {
    // A thread that comes now sets the interest behind this. One that came before was
    // in the queue already.
    set_interest(lock(), false);
    OrderAccess::fence();
    if (!enabled || !is_waited_for(lock())) return;
    set_interest(lock(), true);
  }
  LockTraceCycles cycles(thread->locktrace());
  cycles.begin_part();
  LockTraceBlocker blocker(thread, lock());
  cycles.end_part();
  // Behind what may reach a safepoint: at one the trace may end.
  LctThread* tracer = LockTrace::tracer(thread);
  if (tracer == NULL) return;
  LockTraceHook hook(tracer, LCT_HOOK_EXIT, cycles);

  LctExclusiveRelease event;
  event.blocker_class = blocker.class_id(tracer);
  event.blocker_hash = blocker.hash();
  event.number = blocker.next_number(0);
  event.time_ns = now_ns;
  event.hold_ns = !by_owner ? LCT_HOLD_NOT_KNOWN
                : acquired_ns == 0 ? LCT_HOLD_BEFORE_CONTENTION
                : (uint64_t) MAX2(now_ns - acquired_ns, (jlong) 0);
  event.chain = LockTraceStackWalk::record(thread, tracer);
  lct_exclusive_release(tracer, &event);
}

// ---------------------------------------------------------------------------
// Semaphores

InstanceKlass* LockTraceSemaphores::_klass = NULL;
int LockTraceSemaphores::_acquirers_offset = 0;

void LockTraceSemaphores::initialize(JavaThread* THREAD) {
  InstanceKlass* klass = LockTraceClassLibrary::find_class(SEMAPHORE, THREAD);
  if (!LockTraceClassLibrary::find_field(klass, "traceAcquirers", "J", &_acquirers_offset, THREAD)) return;
  // Now, and not where the program has hardly any stack left.
  klass->initialize(THREAD);
  CLEAR_PENDING_EXCEPTION;
  if (klass->is_initialized()) _klass = klass;
}

bool LockTraceSemaphores::has_never_acquired(JavaThread* thread, oop synchronizer) {
  if (_klass == NULL || synchronizer == NULL || !synchronizer->klass()->is_subclass_of(_klass)) return false;
  int bit = (int) (java_lang_Thread::thread_id(thread->threadObj()) & (BitsPerLong - 1));
  return ((synchronizer->long_field(_acquirers_offset) >> bit) & 1) == 0;
}
