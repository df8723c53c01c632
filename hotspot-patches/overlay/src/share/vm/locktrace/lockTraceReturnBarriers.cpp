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
#include "locktrace/lockTraceReturnBarriers.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/thread.inline.hpp"

address LockTraceReturnBarriers::_stub = NULL;

void LockTraceReturnBarriers::initialize() {
#ifdef AMD64
  if (LockContentionReturnBarriers) _stub = generate_stub();
#endif
}

// A slot that is not the thread's barrier is no return address: a signal handler
// that looks for frames has read something else.
address LockTraceReturnBarriers::original(JavaThread* thread, intptr_t* slot) {
  if (thread == NULL) return _stub;
  const LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  return (intptr_t*) barrier->_slot == slot ? barrier->_original : _stub;
}

// A signal handler may interrupt between any two of these stores: first the
// record, then the slot; and back in the other order.
void LockTraceReturnBarriers::set(JavaThread* thread, intptr_t* slot) {
  LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  barrier->_original = *(address*) slot;
  barrier->_slot = (address*) slot;
  *(address volatile*) slot = _stub;
}

void LockTraceReturnBarriers::remove(JavaThread* thread) {
  LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  address* slot = barrier->_slot;
  if (slot == NULL) return;
  if (*slot == _stub) *(address volatile*) slot = barrier->_original;
  barrier->_slot = NULL;
}

void LockTraceReturnBarriers::remove(Thread* thread, address* slot) {
  if (*slot == _stub && thread->is_Java_thread()) remove((JavaThread*) thread);
}

address LockTraceReturnBarriers::resolve_and_remove(JavaThread* thread, address pc) {
  if (!is_return_barrier(pc)) return pc;
  address original = thread->locktrace()->return_barrier()->_original;
  remove(thread);
  return original;
}

// Not while a deoptimization rebuilds frames, and not any more once the trace has
// ended.
bool LockTraceReturnBarriers::can_set(JavaThread* thread) {
  return _stub != NULL && thread->vframe_array_head() == NULL && LockTrace::enabled();
}

void LockTraceReturnBarriers::remove_all() {
  for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) {
    remove(thread);
  }
}
