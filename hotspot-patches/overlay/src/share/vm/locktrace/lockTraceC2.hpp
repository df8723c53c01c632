/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */
#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEC2_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEC2_HPP

#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

#ifdef COMPILER2

class Compile;
class Node;
class Node_Notes;
class Unique_Node_List;

// Where C2's code releases monitors. That is a leaf call, which C2 describes by
// the notes that it keeps of each node's position: not made for call chains, so
// every phase that loses or mixes them is corrected here.
class LockTraceC2 : AllStatic {
 public:
  // Is it the call of a monitor exit in code that will be traced?
  static bool is_monitor_exit(Node* node);

  // Describes the position of a monitor exit's call, whose code ends at end_offset.
  // Does nothing for other nodes.
  static void describe_monitor_exit(Compile* C, Node* node, int end_offset);

  // The nodes are about to be numbered in the order of the list. Their notes follow.
  static void renumber_notes(Compile* C, Unique_Node_List* nodes);
};

// Puts the notes for new nodes back to what they were.
class LockTraceDefaultNotes : public StackObj {
 private:
  Compile*    const _compile;
  Node_Notes* const _notes;

 public:
  LockTraceDefaultNotes(Compile* C);
  ~LockTraceDefaultNotes();
};

#endif // COMPILER2

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEC2_HPP
