/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#include "precompiled.hpp"
#include "locktrace/lockTraceC2.hpp"

#ifdef COMPILER2

#include "ci/ciMethod.hpp"
#include "code/debugInfoRec.hpp"
#include "interpreter/bytecodes.hpp"
#include "locktrace/lockTraceFrames.hpp"
#include "opto/callnode.hpp"
#include "opto/compile.hpp"
#include "opto/machnode.hpp"
#include "opto/node.hpp"
#include "opto/phaseX.hpp"
#include "runtime/sharedRuntime.hpp"

// ---------------------------------------------------------------------------
// The position of a monitor exit

bool LockTraceC2::is_monitor_exit(Node* node) {
  return DebugNonSafepoints && node->is_MachCallLeaf() &&
         node->as_MachCallLeaf()->entry_point() == CAST_FROM_FN_PTR(address, SharedRuntime::complete_monitor_unlocking_C);
}

// Can a monitor be released there?
static bool releases_monitor(JVMState* position) {
  if (!position->has_method()) return false;
  ciMethod* method = position->method();
  if (method->is_synchronized()) return true;
  int bci = position->bci();
  return bci >= 0 && method->java_code_at_bci(bci) == Bytecodes::_monitorexit;
}

// A note that cannot be right describes nothing: the position is unknown then.
void LockTraceC2::describe_monitor_exit(Compile* C, Node* node, int end_offset) {
  if (!is_monitor_exit(node)) return;
  Node_Notes* notes = C->node_notes_at(node->_idx);
  JVMState* position = notes == NULL ? (JVMState*) NULL : notes->jvms();
  bool is_known = position != NULL && releases_monitor(position);
  assert(is_known, "locktrace: no position of a monitor exit");
  if (!is_known) return;

  int offset = end_offset - LockTraceCallerOfLeaf::description_distance;
  DebugInformationRecorder* recorder = C->debug_info();
  recorder->add_non_safepoint(offset);
  for (int depth = 1; depth <= position->depth(); depth++) {
    JVMState* scope = position->of_depth(depth);
    ciMethod* method = scope->has_method() ? scope->method() : (ciMethod*) NULL;
    recorder->describe_scope(offset, method, scope->bci(), scope->should_reexecute());
  }
  recorder->end_non_safepoint(offset);
}

// ---------------------------------------------------------------------------
// Notes

// The array is indexed by the nodes' numbers. What is not copied is of dead nodes,
// and of no use to the nodes that get their numbers.
void LockTraceC2::renumber_notes(Compile* C, Unique_Node_List* nodes) {
  GrowableArray<Node_Notes*>* old_notes = C->node_note_array();
  if (old_notes == NULL) return;
  C->set_node_note_array(new (C->comp_arena()) GrowableArray<Node_Notes*>(C->comp_arena(), 8, 0, NULL));
  for (uint i = 0; i < nodes->size(); i++) {
    C->set_node_notes_at(i, C->locate_node_notes(old_notes, nodes->at(i)->_idx));
  }
}

LockTraceDefaultNotes::LockTraceDefaultNotes(Compile* C) : _compile(C), _notes(C->default_node_notes()) {}

LockTraceDefaultNotes::~LockTraceDefaultNotes() { _compile->set_default_node_notes(_notes); }

#endif // COMPILER2
