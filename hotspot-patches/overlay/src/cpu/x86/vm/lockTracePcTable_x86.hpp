/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#ifndef CPU_X86_VM_LOCKTRACEPCTABLE_X86_HPP
#define CPU_X86_VM_LOCKTRACEPCTABLE_X86_HPP

#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

#ifdef AMD64

class LockTracePcCache;

// A return address in compiled code, and the size of the frame that it leads to; or
// nothing, which is at no address, not at NULL either.
class LockTraceCode VALUE_OBJ_CLASS_SPEC {
 private:
  enum { frame_bits = 16 };
  uint64_t _pc_and_frame_words;   // addresses have 47 bits, so that none has all of 48 set

 public:
  enum { max_frame_words = (1 << frame_bits) - 1 };

  LockTraceCode() : _pc_and_frame_words(~UCONST64(0)) {}
  explicit LockTraceCode(uint64_t bits) : _pc_and_frame_words(bits) {}
  LockTraceCode(address pc, int frame_words)
    : _pc_and_frame_words((uint64_t) (uintptr_t) pc << frame_bits | (uint16_t) frame_words) {}

  bool is_at(address pc) const { return _pc_and_frame_words >> frame_bits == (uint64_t) (uintptr_t) pc; }
  uint64_t bits() const        { return _pc_and_frame_words; }
  intptr_t frame_words() const { return (uint16_t) _pc_and_frame_words; }
};

// What return addresses in compiled code lead to: some places for each of some hundred
// hash values of addresses, so that a stack of some hundred frames finds a place for
// nearly all of them. Two places were not enough: where three frames share them, none is
// found again.
//
// One thread at a time owns a table. There are few of them, however many threads there
// are: idle threads give theirs up.
class LockTracePcTable : public CHeapObj<mtInternal> {
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
  // 4 MiB.
  enum { max_tables = 256 };

  static LockTracePcTable* volatile _tables[max_tables];
  static volatile jint _made;

  Entry _entries[sets][places];
  LockTracePcCache* volatile _owner;   // NULL: nobody
  jint _code_epoch;                    // of the entries, while nobody owns the table
  bool _used;                          // since idle threads were looked for last

  LockTracePcTable(LockTracePcCache* owner) : _owner(owner), _used(true) { clear(); }
  bool try_own(LockTracePcCache* owner);

  static uint64_t set_of(address pc) {
    return ((uint64_t) (uintptr_t) pc * UCONST64(0x9e3779b97f4a7c15)) >> (64 - set_bits);
  }

 public:
  // A table whose entries are as old as code_epoch; NULL if all are owned or memory is
  // short.
  static LockTracePcTable* take(LockTracePcCache* owner, jint code_epoch);
  void give_back(jint code_epoch);

  // Takes the tables of threads that have not used theirs since the last time. At a
  // safepoint.
  static void take_from_idle_threads();

  void note_use() { _used = true; }
  void clear();

  const Entry* find(address pc) const {
    const Entry* set = _entries[set_of(pc)];
    for (int i = 0; i < places; i++) {
      if (set[i].is_of(pc)) return &set[i];
    }
    return NULL;
  }

  // Takes the place of what was added first.
  void add(address pc, uint64_t key, int frame_words) {
    Entry* set = _entries[set_of(pc)];
    for (int i = places - 1; i > 0; i--) set[i] = set[i - 1];
    set[0].set(pc, key, frame_words);
  }
};

#endif // AMD64

#endif // CPU_X86_VM_LOCKTRACEPCTABLE_X86_HPP
