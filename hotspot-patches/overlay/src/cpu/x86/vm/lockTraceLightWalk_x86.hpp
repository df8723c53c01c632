/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#ifndef CPU_X86_VM_LOCKTRACELIGHTWALK_X86_HPP
#define CPU_X86_VM_LOCKTRACELIGHTWALK_X86_HPP

#include "locktrace/lockTraceFrames.hpp"

#ifdef AMD64

// A return address in compiled code, and the size of the frame that it leads to; or
// nothing, which is at no address, not at NULL either.
class LockTraceCode VALUE_OBJ_CLASS_SPEC {
 private:
  enum { frame_bits = 16 };
  uint64_t _pc_and_frame_words;   // addresses have 47 bits, so that none has all of 48 set

 public:
  enum { max_frame_words = (1 << frame_bits) - 1 };

  LockTraceCode() : _pc_and_frame_words(~UCONST64(0)) {}
  LockTraceCode(address pc, int frame_words)
    : _pc_and_frame_words((uint64_t) (uintptr_t) pc << frame_bits | (uint16_t) frame_words) {}

  bool is_at(address pc) const { return _pc_and_frame_words >> frame_bits == (uint64_t) (uintptr_t) pc; }
  intptr_t frame_words() const { return (uint16_t) _pc_and_frame_words; }
};

// What a walk has to know of a return address in compiled code, so that it need
// not look for the method in the code cache again. One for each thread: some places
// for each of some hundred hash values of addresses, so that a stack of some hundred
// frames finds a place for nearly all of them. Two places were not enough: where three
// frames share them, none is found again.
class LockTracePcCache VALUE_OBJ_CLASS_SPEC {
 public:
  class Entry VALUE_OBJ_CLASS_SPEC {
   private:
    LockTraceCode _code;
    uint64_t      _key;

   public:
    void clear() { _code = LockTraceCode(); }
    void set(address pc, uint64_t key, int frame_words) {
      _code = LockTraceCode(pc, frame_words);
      _key = key;
    }
    bool is_of(address pc) const  { return _code.is_at(pc); }
    LockTraceCode code() const    { return _code; }
    uint64_t key() const          { return _key; }
  };

 private:
  enum { set_bits = 8, sets = 1 << set_bits, places = 4 };
  Entry _entries[sets][places];
  Entry _stub;         // the runtime stub that was left for the VM last
  jint  _code_epoch;   // code that was flushed since may have left its place to other code

  Entry* set_of(address pc) {
    return _entries[((uint64_t) (uintptr_t) pc * UCONST64(0x9e3779b97f4a7c15)) >> (64 - set_bits)];
  }

 public:
  void clear(jint code_epoch);
  bool clear_if_code_was_flushed();

  const Entry* find(address pc) {
    const Entry* set = set_of(pc);
    for (int i = 0; i < places; i++) {
      if (set[i].is_of(pc)) return &set[i];
    }
    return NULL;
  }

  // Takes the place of what was added first.
  void add(address pc, uint64_t key, int frame_words) {
    Entry* set = set_of(pc);
    for (int i = places - 1; i > 0; i--) set[i] = set[i - 1];
    set[0].set(pc, key, frame_words);
  }

  // Runtime stubs live as long as the VM.
  const Entry* find_stub(address pc) const      { return _stub.is_of(pc) ? &_stub : (const Entry*) NULL; }
  void add_stub(address pc, int frame_words)    { _stub.set(pc, 0, frame_words); }
};

// Where the current thread's stack of Java frames, or of a runtime stub and these, begins.
struct LockTraceStackTop : public StackObj {
  intptr_t* sp;   // NULL: there are none
  address   pc;

  LockTraceStackTop(JavaThread* thread);
};

// The compiled code of the thread's last chain, whose outer frames the next chain
// mostly shares. To expect a return address and see it confirmed is much faster
// than to look it up: the place of the next one need not wait for that.
class LockTraceLastWalk VALUE_OBJ_CLASS_SPEC {
 private:
  enum { max_codes = 256 };
  LockTraceCode _codes[max_codes];     // outermost first, as the chain's frames
  LockTraceCode _visited[max_codes];   // innermost first
  int           _length;               // 0: too many frames

 public:
  LockTraceLastWalk() : _length(0) {}

  void forget()                                  { _length = 0; }
  LockTraceCode code(int index) const            { return index < _length ? _codes[index] : LockTraceCode(); }
  void learn(int index, LockTraceCode code)      { if (index < _length) _codes[index] = code; }
  void visit(int visited, LockTraceCode code)    { if (visited < max_codes) _visited[visited] = code; }
  LockTraceCode visited(int index) const         { return index < max_codes ? _visited[index] : LockTraceCode(); }

  // Keeps a chain of length frames, the inner ones of which were visited; the others
  // are those of the chain before.
  void keep(int length, int visited_frames);
};

// The frames of the chain recorded last, followed during a walk: is the chain's
// outer part still the same?
class LockTraceFollower VALUE_OBJ_CLASS_SPEC {
 private:
  // The most frames of the last chain to skip in search of a common one.
  enum { max_skipped = 3 };

  const uint64_t*    _frames;   // outermost first
  LockTraceLastWalk* _last;
  int _next;     // the frame expected next
  int _common;   // outermost frames that are expected to be the same

 public:
  LockTraceFollower(const uint64_t* frames, int length, LockTraceLastWalk* last)
    : _frames(frames), _last(last), _next(length - 1), _common(0) {}

  // Is the frame at pc the expected one? Then it has this code and this key.
  bool expects(address pc, LockTraceCode* code, uint64_t* key) {
    if (_common == 0 || _next < 0) return false;
    LockTraceCode expected = _last->code(_next);
    if (!expected.is_at(pc)) return false;
    *code = expected;
    *key = _frames[_next--];
    return true;
  }

  // The walk has come to a frame that was not expected by its pc.
  void follow(uint64_t key, LockTraceCode code) {
    int skipped = _common != 0 ? 0 : (int) max_skipped;
    for (int i = _next; i >= 0 && i >= _next - skipped; i--) {
      if (_frames[i] != key) continue;
      if (_common == 0) _common = i + 1;
      _last->learn(i, code);
      _next = i - 1;
      return;
    }
    _common = 0;
  }

  // The number of outermost frames that are the same, once the walk is at its end.
  int common_frames() const { return _next < 0 ? _common : 0; }
};

// Walks the physical Java frames of the current thread up to the thread's barrier,
// straight from frame pointers and frame sizes (paper, section 3.4). What is
// neither an interpreted frame nor compiled code that is known is left to
// HotSpot.
class LockTraceLightWalk : public StackObj {
 private:
  JavaThread*        _thread;
  LockTracePcCache*  _pcs;
  LockTraceLastWalk* _last;
  LockTraceFollower  _follower;
  bool      _interpreted;
  bool      _at_end;
  bool      _at_barrier;
  intptr_t* _fp;             // of an interpreted frame
  intptr_t* _sp;             // of a compiled frame: where its caller's frame is found from
  intptr_t  _frame_words;
  LockTraceCode _code;       // if it is known
  uint64_t  _key;            // 0: interpreted, and not asked for yet
  intptr_t* _return_slot;    // what the frame's own pc was read from, if that was a Java frame's

  void start(LockTraceStackTop top, LctThread* tracer, oop entering);
  void start(const frame& found);
  void remember(const frame& found, address pc, intptr_t* unextended_sp);
  void set_compiled(intptr_t* sp, uint64_t key, intptr_t frame_words);
  void set_known(intptr_t* sp, LockTraceCode code, uint64_t key);
  void set_interpreted(intptr_t* fp);
  void set_caller(intptr_t* slot, intptr_t* unextended_sp, intptr_t* fp);
  uint64_t key(LctThread* tracer);
  uint64_t interpreted_key(LctThread* tracer) const;
  void next();
  int visit_known_code(uint64_t* keys, int visited, int max_frames, int slot_index, intptr_t** slot);

 public:
  LockTraceLightWalk(JavaThread* thread, LockTraceStackTop top, LctThread* tracer, oop entering,
                     LockTracePcCache* pcs, LockTraceLastWalk* last, LockTraceFollower follower);

  bool at_end() const  { return _at_end; }
  bool at_barrier() const { return _at_barrier; }

  // How many of the outermost frames visited are as in the last chain.
  int common_frames() const { return _at_end ? _follower.common_frames() : 0; }

  // Visits as many frames as there are, up to the barrier. Returns how many that are,
  // and in slot the place of the return address of the frame at slot_index (0 is
  // the innermost); NULL if it does not lead directly to a Java frame.
  int visit(LctThread* tracer, uint64_t* keys, int max_frames, int slot_index, intptr_t** slot);
};

#endif // AMD64

#endif // CPU_X86_VM_LOCKTRACELIGHTWALK_X86_HPP
