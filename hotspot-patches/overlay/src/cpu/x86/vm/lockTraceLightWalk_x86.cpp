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
#include "interpreter/interpreter.hpp"
#include "lockTraceLightWalk_x86.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceReturnBarriers.hpp"
#include "oops/method.hpp"
#include "runtime/frame.inline.hpp"
#include "runtime/thread.inline.hpp"

#ifdef AMD64

// ---------------------------------------------------------------------------
// Known code

LockTracePcCache::LockTracePcCache()
    : _table(NULL), _walks_left(walks_without_table), _code_epoch(LockTrace::code_epoch()) {
  _stub.clear();
}

void LockTracePcCache::take_table() {
  _table = LockTracePcTable::take(this, _code_epoch);
  _walks_left = _table == NULL ? (int) walks_until_next_try : 0;
  guarantee(!LockContentionVerifyReturnBarriers || (find(NULL) == NULL && find_stub(NULL) == NULL),
            "locktrace: an empty place is taken for code at NULL");
}

void LockTracePcCache::give_back_table() {
  if (_table == NULL) return;
  _table->give_back(_code_epoch);
  _table = NULL;
}

// What the thread runs was installed after the code that was in its place had
// been flushed, and reached the thread later than the new epoch: x86 keeps the
// order of stores.
bool LockTracePcCache::clear_if_code_was_flushed() {
  jint epoch = LockTrace::code_epoch();
  if (_code_epoch == epoch) return false;
  _code_epoch = epoch;
  _stub.clear();
  if (_table != NULL) _table->clear();
  return true;
}

void LockTraceLastWalk::move_to(LockTraceCode* codes, int capacity) {
  for (int i = 0; i < _length; i++) codes[i] = _codes[i];
  _codes = codes;
  _capacity = capacity;
}

void LockTraceLastWalk::keep(int length, int visited_frames, const LockTraceVisitedCode& visited) {
  int outer_frames = length - visited_frames;
  if (length > _capacity) {
    _length = 0;
    return;
  }
  for (int i = _length; i < outer_frames; i++) _codes[i] = LockTraceCode();
  for (int i = 0; i < visited_frames; i++) _codes[length - 1 - i] = visited.at(i);
  _length = length;
}

// ---------------------------------------------------------------------------
// The walk

// The interpreter and most stubs set no pc in the anchor: it is the return address of
// their call into the VM. make_walkable() would read it, but only since JDK-8161598.
LockTraceStackTop::LockTraceStackTop(JavaThread* thread) : sp(NULL), pc(NULL) {
  if (thread->has_last_Java_frame()) {
    sp = thread->last_Java_sp();
    pc = thread->last_Java_pc();
    if (pc == NULL) pc = (address) sp[-1];
    assert(pc != NULL, "the call into the VM has left its return address");
  } else if (thread->locktrace()->leaf_frame() != NULL) {
    LockTraceCallerOfLeaf caller(thread->locktrace()->leaf_frame());
    sp = caller.sp;
    pc = caller.pc;
  }
}

LockTraceLightWalk::LockTraceLightWalk(JavaThread* thread, LockTraceStackTop top, LctThread* tracer, oop entering,
                                       LockTracePcCache* pcs, LockTraceLastWalk* last, LockTraceFollower follower,
                                       LockTraceVisitedCode* visited)
    : _thread(thread), _pcs(pcs), _follower(follower), _visited(visited), _interpreted(false), _at_end(top.sp == NULL),
      _at_barrier(false), _fp(NULL), _sp(NULL), _frame_words(0), _key(0), _return_slot(NULL) {
  if (pcs->clear_if_code_was_flushed()) last->forget();
  if (!_at_end) start(top, tracer, entering);
}

// Starts at the innermost Java frame.
void LockTraceLightWalk::start(LockTraceStackTop top, LctThread* tracer, oop entering) {
  LockTraceStackTop java = top;
  const LockTracePcTable::Entry* stub = _pcs->find_stub(top.pc);
  if (stub != NULL) {
    java.sp += stub->code().frame_words();
    java.pc = (address) java.sp[-1];
  }
  const LockTracePcTable::Entry* known = _pcs->find(java.pc);
  if (known != NULL) {
    set_known(java.sp, known->code(), known->key());
    return;
  }
  LockTraceFrames first(_thread, entering);
  if (first.at_end()) {
    _at_end = true;
    return;
  }
  start(first.current());
  _key = first.key(tracer);
  remember(first.current(), java.pc, java.sp);
  CodeBlob* blob = CodeCache::find_blob(java.pc);
  if (blob != NULL && blob->is_runtime_stub()) _pcs->add_stub(java.pc, blob->frame_size());
}

void LockTraceLightWalk::set_compiled(intptr_t* sp, uint64_t key, intptr_t frame_words) {
  _interpreted = false;
  _sp = sp;
  _key = key;
  _frame_words = frame_words;
  _code = LockTraceCode();
}

void LockTraceLightWalk::set_known(intptr_t* sp, LockTraceCode code, uint64_t key) {
  set_compiled(sp, key, code.frame_words());
  _code = code;
}

void LockTraceLightWalk::set_interpreted(intptr_t* fp) {
  _interpreted = true;
  _fp = fp;
  _key = 0;
  _code = LockTraceCode();
}

// Goes on at a frame that HotSpot has found, or at the next Java frame outside
// of it.
void LockTraceLightWalk::start(const frame& found) {
  frame frame = found;
  RegisterMap map(_thread, false);
  while (!frame.is_interpreted_frame()) {
    nmethod* code = LockTraceFrames::nmethod_of(frame);
    if (code != NULL) {
      set_compiled(frame.unextended_sp(), LockTraceFrameKey::compiled(code, frame.pc()), code->frame_size());
      return;
    }
    if (frame.is_first_frame()) {
      _at_end = true;
      return;
    }
    _return_slot = NULL;
    frame = frame.sender(&map);
  }
  set_interpreted(frame.fp());
}

int LockTraceLightWalk::visit(LctThread* tracer, uint64_t* keys, int max_frames, int slot_index, intptr_t** slot) {
  int visited = 0;
  *slot = NULL;
  if (!_at_end) _follower.follow(key(tracer), _code);
  while (!_at_end && !_at_barrier && visited < max_frames) {
    if (!_interpreted) visited = visit_known_code(keys, visited, max_frames, slot_index, slot);
    if (visited == max_frames) break;
    _visited->set(visited, _code);
    keys[visited++] = key(tracer);
    next();
    if (!_at_end && !_at_barrier) _follower.follow(key(tracer), _code);
    if (visited == slot_index + 1 && !_at_end) *slot = _return_slot;
  }
  return visited;
}

// Visits this compiled frame and those outside of it as long as the next one is known.
// This is where the time goes, so nothing is kept in memory.
int LockTraceLightWalk::visit_known_code(uint64_t* keys, int visited, int max_frames, int slot_index,
                                         intptr_t** slot) {
  LockTraceFollower follower = _follower;
  intptr_t* sp = _sp;
  intptr_t frame_words = _frame_words;
  LockTraceCode code = _code;
  uint64_t key = _key;
  while (visited < max_frames) {
    intptr_t* sender_sp = sp + frame_words;
    address pc = (address) sender_sp[-1];
    LockTraceCode caller_code;
    uint64_t caller_key;
    if (!follower.expects(pc, &caller_code, &caller_key)) {
      const LockTracePcTable::Entry* caller = _pcs->find(pc);
      if (caller == NULL) break;
      caller_code = caller->code();
      caller_key = caller->key();
      follower.follow(caller_key, caller_code);
    }
    _visited->set(visited, code);
    keys[visited++] = key;
    if (visited == slot_index + 1) *slot = sender_sp - 1;
    sp = sender_sp;
    frame_words = caller_code.frame_words();
    code = caller_code;
    key = caller_key;
  }
  set_compiled(sp, key, frame_words);
  _code = code;
  _follower = follower;
  return visited;
}

// As frame::sender_for_interpreter_frame and sender_for_compiled_frame
// (frame_x86.cpp).
void LockTraceLightWalk::next() {
  if (_interpreted) {
    set_caller(_fp + frame::return_addr_offset, (intptr_t*) _fp[frame::interpreter_frame_sender_sp_offset],
               (intptr_t*) _fp[frame::link_offset]);
  } else {
    intptr_t* sender_sp = _sp + _frame_words;
    set_caller(sender_sp - 1, sender_sp, (intptr_t*) sender_sp[-frame::sender_sp_offset]);
  }
}

void LockTraceLightWalk::set_caller(intptr_t* slot, intptr_t* unextended_sp, intptr_t* fp) {
  address pc = (address) *slot;
  _return_slot = slot;
  const LockTracePcTable::Entry* known = _pcs->find(pc);
  if (known != NULL) {
    set_known(unextended_sp, known->code(), known->key());
  } else if (_thread->locktrace()->return_barrier()->is_at(slot)) {
    _at_barrier = true;
    _return_slot = NULL;
  } else if (Interpreter::contains(pc)) {
    set_interpreted(fp);
  } else {
    // A deoptimized frame's original pc, and the stack pointer of one that
    // calls a method handle (8u45), are HotSpot's to find.
    frame caller(slot + 1, unextended_sp, fp, pc);
    start(caller);
    remember(caller, pc, unextended_sp);
  }
}

// Remembers the frame's code if the frame was found as frames of known code are.
void LockTraceLightWalk::remember(const frame& found, address pc, intptr_t* unextended_sp) {
  nmethod* code = LockTraceFrames::nmethod_of(found);
  if (code != NULL && found.pc() == pc && found.unextended_sp() == unextended_sp &&
      !code->has_method_handle_invokes() && code->frame_size() <= LockTraceCode::max_frame_words) {
    _pcs->add(pc, LockTraceFrameKey::compiled(code, pc), code->frame_size());
  }
}

uint64_t LockTraceLightWalk::key(LctThread* tracer) {
  if (_key == 0) _key = interpreted_key(tracer);
  return _key;
}

uint64_t LockTraceLightWalk::interpreted_key(LctThread* tracer) const {
  Method* method = (Method*) _fp[frame::interpreter_frame_method_offset];
  // Native methods have no byte code; their frames say 0.
  intptr_t bcx = _fp[frame::interpreter_frame_bcx_offset];
  int bci = frame::is_bci(bcx) ? (int) bcx : method->bci_from((address) bcx);
  return LockTraceFrameKey::interpreted(tracer, method, bci);
}

#endif // AMD64
