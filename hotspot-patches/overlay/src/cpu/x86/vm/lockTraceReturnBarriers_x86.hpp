/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef CPU_X86_VM_LOCKTRACERETURNBARRIERS_X86_HPP
#define CPU_X86_VM_LOCKTRACERETURNBARRIERS_X86_HPP

#include "asm/macroAssembler.hpp"

#ifdef AMD64

// Return barriers in generated code.
class LockTraceReturnBarrierCode : AllStatic {
 public:
  // Code that a barrier returns through: removes the barrier, and goes on at the original address.
  static void generate_stub(MacroAssembler* masm);

  // Code that replaces a return address, popped from the stack into pc already,
  // by the original one, and removes the barrier. In the interpreter, once.
  static void resolve_popped(MacroAssembler* masm, Register pc);
};

#endif // AMD64

#endif // CPU_X86_VM_LOCKTRACERETURNBARRIERS_X86_HPP
