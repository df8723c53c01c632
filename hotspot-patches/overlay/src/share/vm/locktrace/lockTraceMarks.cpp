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
#include "locktrace/lockTraceMarks.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/thread.inline.hpp"

address LockTraceMarks::_stub = NULL;

void LockTraceMarks::initialize() {
#ifdef AMD64
  if (LockContentionMarkFrames) _stub = generate_stub();
#endif
}

// A slot that is not the thread's mark is no return address: a signal handler
// that looks for frames has read something else.
address LockTraceMarks::original(JavaThread* thread, intptr_t* slot) {
  if (thread == NULL) return _stub;
  const LockTraceMark* mark = thread->locktrace()->mark();
  return (intptr_t*) mark->_slot == slot ? mark->_original : _stub;
}

// A signal handler may interrupt between any two of these stores: first the
// record, then the slot; and back in the other order.
void LockTraceMarks::mark(JavaThread* thread, intptr_t* slot) {
  LockTraceMark* mark = thread->locktrace()->mark();
  mark->_original = *(address*) slot;
  mark->_slot = (address*) slot;
  *(address volatile*) slot = _stub;
}

void LockTraceMarks::unmark(JavaThread* thread) {
  LockTraceMark* mark = thread->locktrace()->mark();
  address* slot = mark->_slot;
  if (slot == NULL) return;
  if (*slot == _stub) *(address volatile*) slot = mark->_original;
  mark->_slot = NULL;
}

void LockTraceMarks::unmark(Thread* thread, address* slot) {
  if (*slot == _stub && thread->is_Java_thread()) unmark((JavaThread*) thread);
}

address LockTraceMarks::unmarked(JavaThread* thread, address pc) {
  if (!is_mark(pc)) return pc;
  address original = thread->locktrace()->mark()->_original;
  unmark(thread);
  return original;
}

// Not while a deoptimization rebuilds frames, and not any more once the trace has
// ended.
bool LockTraceMarks::can_mark(JavaThread* thread) {
  return _stub != NULL && thread->vframe_array_head() == NULL && LockTrace::enabled();
}

void LockTraceMarks::unmark_all() {
  for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) {
    unmark(thread);
  }
}
