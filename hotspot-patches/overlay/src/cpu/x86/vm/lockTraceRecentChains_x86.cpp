/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#include "precompiled.hpp"
#include "lockTraceRecentChains_x86.hpp"
#include "locktrace/lockTrace.hpp"

#ifdef AMD64

void LockTracePath::follow(LockTraceStackTop top, const LockTracePcTable::Entry* stub, const LockTraceVisitedCode& visited,
                           int frames, const LockTraceReturnBarrier* barrier) {
  int stubs = stub == NULL ? 0 : 1;
  _length = 0;
  if (stubs + frames > max_codes) return;
  if (stub != NULL) _codes[0] = stub->code();
  for (int i = 0; i < frames; i++) _codes[stubs + i] = visited.at(i);
  _length = stubs + frames;
  _top = top.sp;
  _barrier = barrier;
  // Not if code on the way is not known.
  if (!is_there(top)) forget();
}

bool LockTracePath::is_there(LockTraceStackTop top) const {
  if (_length == 0 || _top != top.sp || !_codes[0].is_at(top.pc)) return false;
  intptr_t* sp = _top;
  for (int i = 1; i < _length; i++) {
    sp += _codes[i - 1].frame_words();
    if (!_codes[i].is_at((address) sp[-1])) return false;
  }
  sp += _codes[_length - 1].frame_words();
  return _barrier->is_at(sp - 1);
}

void LockTraceRecentChains::forget() {
  for (int i = 0; i < places; i++) _chains[i]._path.forget();
}

const LockTraceRecentChains::Chain* LockTraceRecentChains::find(LockTraceStackTop top) {
  jint code_epoch = LockTrace::code_epoch();
  if (_code_epoch != code_epoch) {
    forget();
    _code_epoch = code_epoch;
  }
  for (int i = 0; i < places; i++) {
    if (_chains[i]._path.is_there(top)) return &_chains[i];
  }
  return NULL;
}

LockTracePath* LockTraceRecentChains::add(uint32_t id, uint32_t epoch, LctChainKey key) {
  Chain& chain = _chains[_oldest];
  _oldest = (_oldest + 1) % places;
  chain._id = id;
  chain._epoch = epoch;
  chain._hash = key.hash;
  chain._length = (int) key.len;
  return &chain._path;
}

#endif // AMD64
