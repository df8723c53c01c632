/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#include "precompiled.hpp"
#include "code/nmethod.hpp"
#include "locktrace/lockTraceFrames.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "oops/method.hpp"
#include "runtime/frame.inline.hpp"
#include "runtime/thread.inline.hpp"

uint64_t LockTraceFrameKey::compiled(nmethod* code, address pc) {
  uint64_t offset = (uint32_t) (pc - code->code_begin());
  return (uint64_t) 1 << 63 | (uint64_t) code->compile_id() << 32 | offset;
}

uint64_t LockTraceFrameKey::interpreted(LctThread* tracer, Method* method, int bci) {
  return (uint64_t) LockTraceMetadata::method_id(tracer, method) << 16 | (uint16_t) bci;
}

uint64_t LockTraceFrameKey::stopped(uint64_t key) {
  bool is_compiled = key >> 63 != 0;
  return key | (uint64_t) 1 << (is_compiled ? 31 : 62);
}

LockTraceFrames::LockTraceFrames(JavaThread* thread, oop entering)
    : _map(thread, false), _entering(entering), _at_leaf_call(false), _at_end(false) {
  void* leaf_frame = thread->locktrace()->leaf_frame();
  if (thread->has_last_Java_frame()) {
    _frame = thread->last_frame();
  } else if (leaf_frame != NULL) {
    LockTraceCallerOfLeaf caller(leaf_frame);
    _frame = frame(caller.sp, caller.fp, caller.pc);
    _at_leaf_call = true;
  } else {
    _at_end = true;
    return;
  }
  skip_other_frames();
}

void LockTraceFrames::next() {
  _entering = NULL;
  _at_leaf_call = false;
  if (_frame.is_first_frame()) { _at_end = true; return; }
  _frame = _frame.sender(&_map);
  skip_other_frames();
}

void LockTraceFrames::skip_other_frames() {
  while (!_frame.is_interpreted_frame() && code() == NULL) {
    if (_frame.is_first_frame()) { _at_end = true; return; }
    _frame = _frame.sender(&_map);
  }
}

nmethod* LockTraceFrames::nmethod_of(const frame& frame) {
  CodeBlob* blob = frame.cb();
  return blob != NULL && blob->is_nmethod() ? (nmethod*) blob : NULL;
}

Method* LockTraceFrames::interpreted_method() const {
  return _frame.interpreter_frame_method();
}

// Is the frame at a monitorenter of the object? The interpreter has chosen the
// lock's slot in the frame by then. Other locks that a byte code takes, in class
// initialization for example, have none.
bool LockTraceFrames::is_entering() const {
  if (_entering == NULL) return false;
  for (BasicObjectLock* slot = _frame.interpreter_frame_monitor_end();
       slot < _frame.interpreter_frame_monitor_begin();
       slot = _frame.next_monitor_in_interpreter_frame(slot)) {
    if (slot->obj() == _entering) return true;
  }
  return false;
}

// The interpreter steps past a monitorenter, which is one byte long, before it
// locks. At index 0 a synchronized method locks.
int LockTraceFrames::interpreted_bci() const {
  int bci = _frame.interpreter_frame_bci();
  return bci > 0 && is_entering() ? bci - 1 : bci;
}

uint64_t LockTraceFrames::key(LctThread* tracer) const {
  nmethod* code = this->code();
  return code != NULL ? LockTraceFrameKey::compiled(code, _frame.pc())
                      : LockTraceFrameKey::interpreted(tracer, interpreted_method(), interpreted_bci());
}
