/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "code/debugInfo.hpp"
#include "code/debugInfoRec.hpp"
#include "code/nmethod.hpp"
#include "code/pcDesc.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "memory/resourceArea.hpp"
#include "oops/method.hpp"
#include "runtime/frame.inline.hpp"
#include "runtime/registerMap.hpp"
#include "runtime/thread.inline.hpp"
#include "utilities/growableArray.hpp"

// ---------------------------------------------------------------------------
// Physical frames

// Walks the Java frames of the current thread, innermost first.
class LockTraceFrames : public StackObj {
 private:
  frame       _frame;
  RegisterMap _map;
  oop         _entering;  // until the innermost frame is passed
  bool        _at_end;

  bool is_java_frame() const { return _frame.is_interpreted_frame() || nm() != NULL; }

  void skip_other_frames() {
    while (!is_java_frame()) {
      if (_frame.is_first_frame()) { _at_end = true; return; }
      _frame = _frame.sender(&_map);
    }
  }

  // Is the frame at a monitorenter of the object? The interpreter has chosen
  // the lock's slot in the frame by then. Other locks that a byte code takes,
  // in class initialization for example, have none.
  bool is_entering() const {
    if (_entering == NULL) return false;
    for (BasicObjectLock* slot = _frame.interpreter_frame_monitor_end();
         slot < _frame.interpreter_frame_monitor_begin();
         slot = _frame.next_monitor_in_interpreter_frame(slot)) {
      if (slot->obj() == _entering) return true;
    }
    return false;
  }

 public:
  // leaf_frame: the C++ frame that a leaf routine without an anchor was
  // called from, see LockTraceLeafCaller.
  // entering: the object whose monitor the thread is about to enter, or NULL.
  LockTraceFrames(JavaThread* thread, void* leaf_frame, oop entering)
      : _map(thread, false), _entering(entering), _at_end(false) {
    if (thread->has_last_Java_frame()) {
      _frame = thread->last_frame();
    } else if (leaf_frame != NULL) {
      // The C calling convention: saved frame pointer, return address, and
      // from there on the caller's own frame.
      intptr_t* fp = (intptr_t*) leaf_frame;
      _frame = frame(fp + 2, (intptr_t*) fp[0], (address) fp[1]);
    } else {
      _at_end = true;
      return;
    }
    skip_other_frames();
  }

  bool at_end() const { return _at_end; }

  void next() {
    _entering = NULL;
    if (_frame.is_first_frame()) { _at_end = true; return; }
    _frame = _frame.sender(&_map);
    skip_other_frames();
  }

  // The compiled method of this frame, NULL if it is interpreted.
  nmethod* nm() const {
    CodeBlob* blob = _frame.cb();
    return blob != NULL && blob->is_nmethod() ? (nmethod*) blob : NULL;
  }

  address pc() const                { return _frame.pc(); }
  Method* interpreted_method() const { return _frame.interpreter_frame_method(); }

  // The interpreter steps past a monitorenter, which is one byte long, before
  // it locks. At index 0 a synchronized method locks.
  int interpreted_bci() const {
    int bci = _frame.interpreter_frame_bci();
    return bci > 0 && is_entering() ? bci - 1 : bci;
  }

  // Identifies the frame's code position in 64 bits that never mean anything
  // else: a compiled method by its compile id and the pc offset, an
  // interpreted one by its identifier in the trace and the bci.
  uint64_t key(LctThread* tracer) const {
    nmethod* code = nm();
    if (code != NULL) {
      uint64_t offset = (uint32_t) (pc() - code->code_begin());
      return (uint64_t) 1 << 63 | (uint64_t) code->compile_id() << 32 | offset;
    }
    uint64_t method = LockTraceMetadata::method_id(tracer, interpreted_method());
    return method << 16 | (uint16_t) interpreted_bci();
  }
};

// ---------------------------------------------------------------------------
// Java frames

// Appends a method, unless Java's own stack traces hide it too. A negative bci
// stands for a position that is not known.
static void append(GrowableArray<LctFrame>* frames, LctThread* tracer, Method* method, int bci) {
  if (method->is_hidden() && !ShowHiddenFrames) return;
  LctFrame result;
  result.method = LockTraceMetadata::method_id(tracer, method);
  result.bci = method->is_native() ? -1 : bci;
  result.line = result.bci < 0 ? -1 : method->line_number_from_bci(bci);
  frames->append(result);
}

// Appends the methods inlined at pc, innermost first, and the compiled method
// itself. While tracing, the compilers describe the position of every call,
// leaf calls included (DebugNonSafepoints). Positions of leaf calls that follow
// each other in the same scope share the last one's description: hence "near".
static void append_compiled(GrowableArray<LctFrame>* frames, LctThread* tracer, nmethod* code, address pc) {
  PcDesc* desc = code->is_native_method() ? (PcDesc*) NULL : code->pc_desc_near(pc);
  int offset = desc == NULL ? (int) DebugInformationRecorder::serialized_null : desc->scope_decode_offset();
  if (offset == DebugInformationRecorder::serialized_null) {
    append(frames, tracer, code->method(), -1);
    return;
  }
  while (offset != DebugInformationRecorder::serialized_null) {
    DebugInfoReadStream scope(code, offset);
    offset = scope.read_int();
    Method* method = scope.read_method();
    // The monitor operations of a synchronized method itself stand at
    // SynchronizationEntryBCI, before its first byte code.
    int bci = MAX2(scope.read_bci(), 0);
    append(frames, tracer, method, bci);
  }
}

static uint32_t add_chain(JavaThread* thread, LctThread* tracer, void* leaf_frame, oop entering,
                          const uint64_t* keys, int length, bool truncated) {
  ResourceMark rm(thread);
  GrowableArray<LctFrame> frames(2 * length);
  int count = 0;
  for (LockTraceFrames walk(thread, leaf_frame, entering); count < length && !walk.at_end(); walk.next(), count++) {
    nmethod* code = walk.nm();
    if (code != NULL) {
      append_compiled(&frames, tracer, code, walk.pc());
    } else {
      append(&frames, tracer, walk.interpreted_method(), walk.interpreted_bci());
    }
  }
  if (frames.is_empty()) return 0;
  return lct_chain_add(tracer, keys, length, frames.adr_at(0), frames.length(), truncated);
}

uint32_t LockTraceStackWalk::record(JavaThread* thread, LctThread* tracer, oop entering) {
  void* leaf_frame = thread->locktrace()->_leaf_frame;
  uint64_t keys[max_frames];
  int length = 0;
  LockTraceFrames walk(thread, leaf_frame, entering);
  for (; !walk.at_end() && length < max_frames; walk.next()) {
    keys[length++] = walk.key(tracer);
  }
  if (length == 0) return 0;
  uint32_t chain = lct_chain_find(tracer, keys, length);
  if (chain != 0) return chain;
  return add_chain(thread, tracer, leaf_frame, entering, keys, length, !walk.at_end());
}
