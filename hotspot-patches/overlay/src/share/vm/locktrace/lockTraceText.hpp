/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACETEXT_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACETEXT_HPP

#include "locktrace.h"
#include "memory/allocation.hpp"
#include "oops/symbol.hpp"

// Text for the runtime, which copies it during the call.
class LockTraceText : AllStatic {
 public:
  static LctStr of(const char* text) {
    return of(text, text == NULL ? 0 : strlen(text));
  }

  // NULL stands for no text.
  static LctStr of(Symbol* symbol) {
    return symbol == NULL ? of(NULL, 0) : of((const char*) symbol->bytes(), symbol->utf8_length());
  }

 private:
  static LctStr of(const char* text, size_t length) {
    LctStr str = { (const uint8_t*) text, length };
    return str;
  }
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACETEXT_HPP
