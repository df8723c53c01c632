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
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceFrames.hpp"
#include "locktrace/lockTraceReturnBarriers.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "memory/resourceArea.hpp"
#include "oops/method.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/thread.inline.hpp"
#include "utilities/growableArray.hpp"

// ---------------------------------------------------------------------------
// Physical frames

LockTraceCallChain::LockTraceCallChain()
    : _frames(NULL), _capacity(0), _length(0), _hash(0), _visited_frames(0), _outer_frames(0), _slot(NULL),
      _truncated(false), _barrier_index(min_barrier_index), _barrier_uses(min_uses), _uses(0), _frames_outside(0) {
  lct_count_thread_memory(LockTrace::runtime(), sizeof(LockTraceCallChain));
}

LockTraceCallChain::~LockTraceCallChain() {
  lct_count_thread_memory(LockTrace::runtime(), -(jlong) (sizeof(LockTraceCallChain) + bytes_of(_capacity)));
  os::free(_frames, mtInternal);
}

// What the frames take, and the code of as many of them as a walk expects.
size_t LockTraceCallChain::bytes_of(int capacity) {
  return capacity * sizeof(uint64_t)
         AMD64_ONLY(+ MIN2(capacity, (int) LockTraceVisitedCode::max_codes) * sizeof(LockTraceCode));
}

// Makes the buffer large enough for a chain. False when memory is short.
bool LockTraceCallChain::reserve(int frames) {
  if (frames <= _capacity) return true;
  int capacity = min_capacity;
  while (capacity < frames) capacity *= 2;
  uint64_t* larger = (uint64_t*) os::malloc(bytes_of(capacity), mtInternal);
  if (larger == NULL) return false;
  for (int i = 0; i < _length; i++) larger[i] = _frames[i];
#ifdef AMD64
  _last_walk.move_to((LockTraceCode*) (larger + capacity), MIN2(capacity, (int) LockTraceVisitedCode::max_codes));
#endif
  lct_count_thread_memory(LockTrace::runtime(), bytes_of(capacity) - bytes_of(_capacity));
  os::free(_frames, mtInternal);
  _frames = larger;
  _capacity = capacity;
  return true;
}

#ifdef AMD64

// Visits the frames up to the return barrier. True if the walk met it.
bool LockTraceCallChain::walk(JavaThread* thread, LctThread* tracer, oop entering, Visited* visited) {
  _pcs.prepare_walk();
  LockTraceFollower follower(_frames, _length, &_last_walk);
  LockTraceLightWalk walk(thread, LockTraceStackTop(thread), tracer, entering, &_pcs, &_last_walk, follower,
                          &visited->codes);
  int frames = walk.visit(tracer, visited->keys, max_frames, _barrier_index, &_slot);
  _outer_frames = walk.at_barrier() ? _frames_outside : walk.common_frames();
  _visited_frames = frames - walk.common_frames();
  reserve(MIN2(_outer_frames + _visited_frames, (int) max_frames));
  _last_walk.keep(_outer_frames + _visited_frames, _visited_frames, visited->codes);
  _truncated = !walk.at_end() && !walk.at_barrier();
  return walk.at_barrier();
}

// The chain, if it is a recent one up to the barrier; else 0.
uint32_t LockTraceCallChain::find_recent(JavaThread* thread, LctThread* tracer, oop entering) {
  const LockTraceRecentChains::Chain* recent = _recent.find(LockTraceStackTop(thread));
  if (recent == NULL) return 0;
  if (LockContentionVerifyReturnBarriers) {
    verify_recent(thread, tracer, entering, recent->hash(), recent->length());
    return 0;
  }
  uint32_t chain = lct_chain_again(tracer, recent->id(), recent->epoch(), recent->length(), _frames_outside);
  if (chain != 0) count_use_of_barrier();
  return chain;
}

// Remembers the identifier of the chain that was walked last.
void LockTraceCallChain::remember(JavaThread* thread, uint32_t chain, uint32_t epoch, const Visited& visited) {
  LockTraceReturnBarrier* barrier = thread->locktrace()->return_barrier();
  if (!barrier->is_set()) return;
  LockTraceStackTop top(thread);
  LockTracePath* path = _recent.add(chain, epoch, key());
  path->follow(top, _pcs.find_stub(top.pc), visited.codes, _length - _frames_outside, barrier);
}

// Compares the frames to those that HotSpot itself finds.
void LockTraceCallChain::verify_recent(JavaThread* thread, LctThread* tracer, oop entering, uint64_t hash,
                                       int length) const {
  uint64_t found_hash = 0;
  LockTraceFrames walk(thread, entering);
  for (; length > 0 && !walk.at_end(); walk.next()) {
    uint64_t key = walk.key(tracer);
    found_hash += lct_chain_hash(--length, &key, 1);
  }
  guarantee(length == 0 && walk.at_end() && found_hash == hash, "locktrace: a recent chain differs from the stack");
}

#else

uint32_t LockTraceCallChain::find_recent(JavaThread* thread, LctThread* tracer, oop entering) { return 0; }

void LockTraceCallChain::remember(JavaThread* thread, uint32_t chain, uint32_t epoch, const Visited& visited) {}

bool LockTraceCallChain::walk(JavaThread* thread, LctThread* tracer, oop entering, Visited* visited) {
  int frames = 0;
  LockTraceFrames walk(thread, entering);
  for (; !walk.at_end() && frames < max_frames; walk.next()) visited->keys[frames++] = walk.key(tracer);
  _visited_frames = frames;
  _outer_frames = 0;
  reserve(frames);
  _truncated = !walk.at_end();
  return false;
}

#endif // AMD64

uint32_t LockTraceCallChain::record(JavaThread* thread, LctThread* tracer, oop entering) {
  uint32_t chain = find_recent(thread, tracer, entering);
  return chain != 0 ? chain : walk_and_find(thread, tracer, entering);
}

uint32_t LockTraceCallChain::walk_and_find(JavaThread* thread, LctThread* tracer, oop entering) {
  int further_frames = choose_barrier_frame(thread);
  Visited visited;
  bool at_barrier = walk(thread, tracer, entering, &visited);
  if (at_barrier && _outer_frames + _visited_frames > max_frames) {
    // To be cut at the outer end, so the barrier does not help.
    LockTraceReturnBarriers::remove(thread);
    at_barrier = walk(thread, tracer, entering, &visited);
  }
  int length = _outer_frames + _visited_frames;
  if (length == 0 || length > _capacity) return 0;
  if (!at_barrier) {
    guarantee(!LockContentionVerifyReturnBarriers || _truncated || !thread->locktrace()->return_barrier()->is_set(),
              "locktrace: a return barrier was left behind");
    LockTraceReturnBarriers::remove(thread);
  } else {
    count_use_of_barrier();
  }
  int saved_frames = at_barrier ? _outer_frames : 0;
  replace_inner_frames(visited);

  bool is_far = !at_barrier || _visited_frames > _barrier_index + 1 + further_frames;
  bool is_useful = is_far && _length - (_barrier_index + 1) >= min_frames_outside;
  if (is_useful && _slot != NULL && !_truncated) set_barrier(thread);
  if (LockContentionVerifyReturnBarriers) verify(thread, tracer, entering);

  // Before the chain is found to be described in it.
  uint32_t epoch = lct_metadata_epoch(LockTrace::runtime());
  uint32_t chain = lct_chain_find(tracer, key(), saved_frames);
  if (chain == 0) chain = add(thread, tracer, entering);
  if (chain != 0) remember(thread, chain, epoch, visited);
  return chain;
}

LctChainKey LockTraceCallChain::key() const {
  LctChainKey key;
  key.frames = _frames;
  key.len = _length;
  key.hash = _hash;
  return key;
}

// The frame for the next return barrier. The paper takes the one below the top; how
// soon that returns depends on the program. Verification wants all of them. Returns
// how much farther away a barrier that is set may stay.
int LockTraceCallChain::choose_barrier_frame(JavaThread* thread) {
  int further_frames = max_further_frames;
  if (LockContentionVerifyReturnBarriers) {
    _barrier_index = _barrier_index < max_barrier_index ? _barrier_index + 1 : (int) min_barrier_index;
  } else if (_barrier_uses < min_uses && !thread->locktrace()->return_barrier()->is_set()) {
    _barrier_uses = min_uses;
    if (_barrier_index < max_barrier_index) _barrier_index++;
  } else if (_uses >= uses_until_nearer) {
    _uses = 0;
    further_frames = 0;
    if (_barrier_index > min_barrier_index) _barrier_index--;
  }
  // The stack is probably about as deep as it was.
  int outermost_index = _length - 1 - min_frames_outside;
  _barrier_index = MAX2(MIN2(_barrier_index, outermost_index), (int) min_barrier_index);
  return further_frames;
}

void LockTraceCallChain::count_use_of_barrier() {
  _barrier_uses++;
  _uses++;
}

// Makes the chain before, whose outer frames are still the same, this one.
void LockTraceCallChain::replace_inner_frames(const Visited& visited) {
  uint64_t* inner = _frames + _outer_frames;
  _hash -= lct_chain_hash(_outer_frames, inner, _length - _outer_frames);
  for (int i = 0; i < _visited_frames; i++) inner[i] = visited.keys[_visited_frames - 1 - i];
  _hash += lct_chain_hash(_outer_frames, inner, _visited_frames);
  _length = _outer_frames + _visited_frames;
}

// Moves the return barrier to _slot.
void LockTraceCallChain::set_barrier(JavaThread* thread) {
  LockTraceReturnBarriers::remove(thread);
#ifdef AMD64
  _recent.forget();
#endif
  if (!LockTraceReturnBarriers::set(thread, _slot)) return;
  _barrier_uses = 0;
  _frames_outside = _length - (_barrier_index + 1);
}

// Compares the frames to those that HotSpot itself finds.
void LockTraceCallChain::verify(JavaThread* thread, LctThread* tracer, oop entering) const {
  int i = _length;
  LockTraceFrames walk(thread, entering);
  for (; i > 0 && !walk.at_end(); walk.next()) {
    uint64_t expected = walk.key(tracer);
    uint64_t found = _frames[--i];
    if (found != expected) {
      fatal(err_msg("locktrace: frame %d of %d is " UINT64_FORMAT_X ", not " UINT64_FORMAT_X, _length - i, _length,
                    expected, found));
    }
  }
  guarantee(i == 0 && (_truncated || walk.at_end()), "locktrace: the stack is deeper or less deep than the chain");
}

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
// itself. While tracing, the compilers describe the position of every call, those
// of the leaf calls that release monitors included. The description of another
// position, however near, proves nothing: without one for pc itself nothing is
// known but the compiled method.
static void append_compiled(GrowableArray<LctFrame>* frames, LctThread* tracer, nmethod* code, address pc) {
  PcDesc* desc = code->is_native_method() ? (PcDesc*) NULL : code->pc_desc_at(pc);
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

// Adds the chain of the thread's innermost `length` frames.
static uint32_t add_chain(JavaThread* thread, LctThread* tracer, oop entering, LctChainKey key, int length,
                          bool truncated) {
  ResourceMark rm;   // the VM thread asks as well
  GrowableArray<LctFrame> frames(2 * length);
  int count = 0;
  for (LockTraceFrames walk(thread, entering); count < length && !walk.at_end(); walk.next(), count++) {
    nmethod* code = walk.code();
    if (code != NULL) {
      append_compiled(&frames, tracer, code, walk.described_pc());
    } else {
      append(&frames, tracer, walk.interpreted_method(), walk.interpreted_bci());
    }
  }
  if (frames.is_empty()) return 0;
  return lct_chain_add(tracer, key, frames.adr_at(0), frames.length(), truncated);
}

uint32_t LockTraceCallChain::add(JavaThread* thread, LctThread* tracer, oop entering) const {
  return add_chain(thread, tracer, entering, key(), _length, _truncated);
}

// ---------------------------------------------------------------------------
// Threads

uint32_t LockTraceStackWalk::record(JavaThread* thread, LctThread* tracer, oop entering) {
  if (!LockContentionCallChains) return 0;
  LockTraceThread* state = thread->locktrace();
  if (state->_chain == NULL) state->_chain = new (std::nothrow) LockTraceCallChain();
  return state->_chain == NULL ? 0 : state->_chain->record(thread, tracer, entering);
}

uint32_t LockTraceStackWalk::sample(JavaThread* thread, LctThread* tracer, oop entering) {
  assert(SafepointSynchronize::is_at_safepoint(), "the thread is stopped");
  if (!LockContentionCallChains) return 0;
  uint64_t frames[LockTraceCallChain::max_frames];   // filled from the end: outermost first
  uint64_t* const end = frames + LockTraceCallChain::max_frames;
  uint64_t* outermost = end;
  LockTraceFrames walk(thread, entering);
  for (; !walk.at_end() && outermost > frames; walk.next()) *--outermost = walk.key(tracer);
  if (outermost == end) return 0;
  end[-1] = LockTraceFrameKey::stopped(end[-1]);
  LctChainKey key;
  key.frames = outermost;
  key.len = end - outermost;
  key.hash = lct_chain_hash(0, outermost, key.len);
  uint32_t chain = lct_chain_find(tracer, key, 0);
  return chain != 0 ? chain : add_chain(thread, tracer, entering, key, (int) key.len, !walk.at_end());
}

// Known by its innermost frames only: they tell where, and deep stacks cost no more.
uint32_t LockTraceStackWalk::allocation(JavaThread* thread, LctThread* tracer) {
  if (!LockContentionCallChains) return 0;
  const int max_frames = 32;
  uint64_t frames[1 + max_frames];   // filled from the end: outermost first
  uint64_t* const end = frames + 1 + max_frames;
  uint64_t* outermost = end;
  LockTraceFrames walk(thread, NULL);
  for (; !walk.at_end() && outermost > frames + 1; walk.next()) *--outermost = walk.key(tracer);
  const int length = (int) (end - outermost);
  if (length == 0) return 0;
  *--outermost = LCT_SITE_FRAME;
  LctChainKey key;
  key.frames = outermost;
  key.len = 1 + length;
  key.hash = lct_chain_hash(0, outermost, key.len);
  uint32_t chain = lct_chain_find(tracer, key, 0);
  return chain != 0 ? chain : add_chain(thread, tracer, NULL, key, length, !walk.at_end());
}

void LockTraceStackWalk::release(JavaThread* thread) {
  LockTraceThread* state = thread->locktrace();
  guarantee(!LockContentionVerifyReturnBarriers || !state->_return_barrier.is_set(), "locktrace: a thread ends with a return barrier");
  delete state->_chain;
  state->_chain = NULL;
}

void LockTraceStackWalk::trim_idle_threads() {
  AMD64_ONLY(LockTracePcTable::take_from_idle_threads();)
}
