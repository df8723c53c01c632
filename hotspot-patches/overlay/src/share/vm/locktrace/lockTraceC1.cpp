/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#ifdef COMPILER1
#include "c1/c1_Compilation.hpp"
#include "c1/c1_Instruction.hpp"
#include "c1/c1_LIRAssembler.hpp"

// C1 keeps no debug information for its slow path of monitor exit, because the
// runtime routine is a leaf. Tracing walks the stack from there, so the call
// gets a position like any other instruction that is no safepoint: the one of
// the monitorexit that the stub belongs to. Where a synchronized method is
// unwound by an exception, there is no such instruction, and the position is
// the one of the method's own monitor operations. Records nothing unless
// DebugNonSafepoints is on, which tracing turns on.
void LIR_Assembler::record_leaf_call_here(Instruction* source) {
  DebugInformationRecorder* recorder = compilation()->debug_info_recorder();
  if (!recorder->recording_non_safepoints()) return;
  int pc_offset = code_offset();
  flush_debug_info(pc_offset);
  StateSplit* split = source == NULL ? (StateSplit*) NULL : source->as_StateSplit();
  if (split != NULL && split->state() != NULL) {
    _pending_non_safepoint = source;
    _pending_non_safepoint_offset = pc_offset;
    record_non_safepoint_debug_info();
    _pending_non_safepoint = NULL;
  } else {
    recorder->add_non_safepoint(pc_offset);
    recorder->describe_scope(pc_offset, method(), SynchronizationEntryBCI, false);
    recorder->end_non_safepoint(pc_offset);
  }
}

#endif // COMPILER1
