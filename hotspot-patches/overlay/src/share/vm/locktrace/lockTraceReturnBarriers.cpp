/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "interpreter/interpreter.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceReturnBarriers.hpp"
#include "locktrace/lockTraceReturnSites.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/thread.inline.hpp"

address LockTraceReturnBarriers::_interpreter_stub = NULL;

void LockTraceReturnBarriers::initialize() {
  if (_interpreter_stub != NULL) LockTraceReturnSites::initialize();
}

address LockTraceReturnBarriers::stub_for(address original) {
  return Interpreter::contains(original) ? _interpreter_stub : LockTraceReturnSites::stub_for(original);
}

// A slot that is not the thread's barrier is no return address: a signal handler
// that looks for frames has read something else.
address LockTraceReturnBarriers::resolve(JavaThread* thread, intptr_t* slot, address pc) {
  if (thread == NULL) return pc;
  const LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  return barrier->slot() == slot && pc == barrier->_stub ? barrier->_original : pc;
}

// Not while a deoptimization rebuilds frames, and not any more once the trace has
// ended. A signal handler may interrupt between any two of these stores: first the
// record, then the slot; and back in the other order.
bool LockTraceReturnBarriers::set(JavaThread* thread, intptr_t* slot) {
  if (_interpreter_stub == NULL || thread->vframe_array_head() != NULL || !LockTrace::enabled()) return false;
  address original = *(address*) slot;
  address stub = stub_for(original);
  if (stub == NULL) return false;
  LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  barrier->_original = original;
  barrier->_stub = stub;
  barrier->_slot = (address*) slot;
  *(address volatile*) slot = stub;
  return true;
}

void LockTraceReturnBarriers::remove(JavaThread* thread) {
  LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  address* slot = barrier->_slot;
  if (slot == NULL) return;
  if (*slot == barrier->_stub) *(address volatile*) slot = barrier->_original;
  barrier->_slot = NULL;
}

void LockTraceReturnBarriers::remove(Thread* thread, address* slot) {
  if (!thread->is_Java_thread()) return;
  if (((JavaThread*) thread)->locktrace()->return_barrier()->is_at((intptr_t*) slot)) remove((JavaThread*) thread);
}

address LockTraceReturnBarriers::resolve_and_remove(JavaThread* thread, address pc) {
  LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  if (!barrier->is_set() || pc != barrier->_stub) return pc;
  address original = barrier->_original;
  remove(thread);
  return original;
}

void LockTraceReturnBarriers::remove_all() {
  for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) {
    remove(thread);
  }
}
