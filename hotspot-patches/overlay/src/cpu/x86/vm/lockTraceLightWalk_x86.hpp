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

#include "lockTracePcTable_x86.hpp"
#include "locktrace/lockTraceFrames.hpp"

#ifdef AMD64

// What a thread's walks have to know of return addresses in compiled code, so that they
// need not look for the method in the code cache again: a table that the thread borrows
// while it walks its stack often.
class LockTracePcCache VALUE_OBJ_CLASS_SPEC {
 private:
  // A thread that records little gets no table. One that finds none left asks again
  // after some walks.
  enum { walks_without_table = 4, walks_until_next_try = 64 };
  LockTracePcTable*       _table;        // NULL: none
  int                     _walks_left;   // before the thread asks for one
  LockTracePcTable::Entry _stub;         // the runtime stub that was left for the VM last
  jint _code_epoch;   // code that was flushed since may have left its place to other code

  void take_table();

 public:
  LockTracePcCache();
  ~LockTracePcCache() { give_back_table(); }

  // Also at a safepoint, by the VM thread.
  void give_back_table();

  void prepare_walk() {
    if (_table != NULL) {
      _table->note_use();
    } else if (--_walks_left < 0) {
      take_table();
    }
  }
  bool clear_if_code_was_flushed();

  const LockTracePcTable::Entry* find(address pc) const {
    return _table == NULL ? (const LockTracePcTable::Entry*) NULL : _table->find(pc);
  }
  void add(address pc, uint64_t key, int frame_words) {
    if (_table != NULL) _table->add(pc, key, frame_words);
  }

  // Runtime stubs live as long as the VM.
  const LockTracePcTable::Entry* find_stub(address pc) const {
    return _stub.is_of(pc) ? &_stub : (const LockTracePcTable::Entry*) NULL;
  }
  void add_stub(address pc, int frame_words) { _stub.set(pc, 0, frame_words); }
};

// Where the current thread's stack of Java frames, or of a runtime stub and these, begins.
struct LockTraceStackTop : public StackObj {
  intptr_t* sp;   // NULL: there are none
  address   pc;

  LockTraceStackTop(JavaThread* thread);
};

// The compiled code that a walk has visited, innermost first. On the stack, so nothing
// is written to it that was not visited.
class LockTraceVisitedCode : public StackObj {
 public:
  enum { max_codes = 256 };

 private:
  uint64_t _codes[max_codes];

 public:
  void set(int index, LockTraceCode code)  { if (index < max_codes) _codes[index] = code.bits(); }
  LockTraceCode at(int index) const        { return index < max_codes ? LockTraceCode(_codes[index]) : LockTraceCode(); }
};

// The compiled code of the thread's last chain, whose outer frames the next chain
// mostly shares. To expect a return address and see it confirmed is much faster
// than to look it up: the place of the next one need not wait for that.
class LockTraceLastWalk VALUE_OBJ_CLASS_SPEC {
 private:
  LockTraceCode* _codes;      // outermost first, as the chain's frames
  int            _capacity;
  int            _length;     // 0: too many frames

 public:
  LockTraceLastWalk() : _codes(NULL), _capacity(0), _length(0) {}

  // Copies to memory with more room, which stays the caller's.
  void move_to(LockTraceCode* codes, int capacity);

  void forget()                                  { _length = 0; }
  LockTraceCode code(int index) const            { return index < _length ? _codes[index] : LockTraceCode(); }
  void learn(int index, LockTraceCode code)      { if (index < _length) _codes[index] = code; }

  // Keeps a chain of length frames, the inner ones of which were visited; the others
  // are those of the chain before.
  void keep(int length, int visited_frames, const LockTraceVisitedCode& visited);
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
  LockTraceFollower  _follower;
  LockTraceVisitedCode* _visited;
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
                     LockTracePcCache* pcs, LockTraceLastWalk* last, LockTraceFollower follower,
                     LockTraceVisitedCode* visited);

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
