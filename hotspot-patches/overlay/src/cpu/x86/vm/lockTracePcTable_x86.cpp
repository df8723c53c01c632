/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#include "precompiled.hpp"
#include "lockTraceLightWalk_x86.hpp"
#include "lockTracePcTable_x86.hpp"
#include "locktrace/lockTrace.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/orderAccess.inline.hpp"

#ifdef AMD64

LockTracePcTable* volatile LockTracePcTable::_tables[max_tables];
volatile jint LockTracePcTable::_made = 0;

void LockTracePcTable::clear() {
  for (int i = 0; i < sets; i++) {
    for (int j = 0; j < places; j++) _entries[i][j].clear();
  }
}

bool LockTracePcTable::try_own(LockTracePcCache* owner) {
  return _owner == NULL && Atomic::cmpxchg_ptr(owner, &_owner, NULL) == NULL;
}

// A table that another thread has filled is of use to this one: they run the same code.
LockTracePcTable* LockTracePcTable::take(LockTracePcCache* owner, jint code_epoch) {
  int made = MIN2((int) _made, (int) max_tables);
  for (int i = 0; i < made; i++) {
    LockTracePcTable* table = (LockTracePcTable*) OrderAccess::load_ptr_acquire(&_tables[i]);
    if (table == NULL || !table->try_own(owner)) continue;
    if (table->_code_epoch != code_epoch) table->clear();
    table->_used = true;
    return table;
  }
  if (made == max_tables) return NULL;
  int place = Atomic::add(1, &_made) - 1;
  if (place >= max_tables) {
    Atomic::dec(&_made);
    return NULL;
  }
  LockTracePcTable* table = new (std::nothrow) LockTracePcTable(owner);
  if (table == NULL) return NULL;
  lct_count_thread_memory(LockTrace::runtime(), sizeof(LockTracePcTable));
  OrderAccess::release_store_ptr(&_tables[place], table);
  return table;
}

void LockTracePcTable::give_back(jint code_epoch) {
  _code_epoch = code_epoch;
  OrderAccess::release_store_ptr(&_owner, NULL);
}

void LockTracePcTable::take_from_idle_threads() {
  int made = MIN2((int) _made, (int) max_tables);
  for (int i = 0; i < made; i++) {
    LockTracePcTable* table = _tables[i];
    if (table == NULL || table->_owner == NULL) continue;
    if (table->_used) {
      table->_used = false;
    } else {
      table->_owner->give_back_table();
    }
  }
}

#endif // AMD64
