/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "lockTraceReturnBarriers_x86.hpp"
#include "locktrace/lockTraceReturnBarriers.hpp"
#include "runtime/thread.inline.hpp"

#ifdef AMD64

#define __ masm->

// Where the current thread keeps a field of its barrier.
static Address field_of_barrier(int offset) {
  JavaThread* thread = JavaThread::current();
  int barrier_offset = (int) ((address) thread->locktrace()->return_barrier() - (address) thread);
  return Address(r15_thread, barrier_offset + offset);
}

// Java code returns with r15 as the thread and its results in rax, rdx and xmm0.
// It expects nothing in r11.
void LockTraceReturnBarrierCode::generate_stub(MacroAssembler* masm) {
  __ movptr(r11, field_of_barrier(LockTraceReturnBarrier::original_offset()));
  __ movptr(field_of_barrier(LockTraceReturnBarrier::slot_offset()), (int32_t) NULL_WORD);
  __ jmp(r11);
}

// The stub of an earlier barrier is in no return address. What a barrier returns through to interpreted
// code has to be a part of the interpreter, and stands here, beside the way.
void LockTraceReturnBarrierCode::resolve_popped(MacroAssembler* masm, Register pc) {
  // Tracing may begin at any time.
  if (!LockContentionReturnBarriers) return;
  Label no_barrier;
  __ cmpptr(pc, field_of_barrier(LockTraceReturnBarrier::stub_offset()));
  __ jcc(Assembler::notEqual, no_barrier);
  __ movptr(pc, field_of_barrier(LockTraceReturnBarrier::original_offset()));
  __ movptr(field_of_barrier(LockTraceReturnBarrier::slot_offset()), (int32_t) NULL_WORD);
  __ jmp(no_barrier);
  LockTraceReturnBarriers::set_interpreter_stub(__ pc());
  generate_stub(masm);
  __ bind(no_barrier);
}

#endif // AMD64
