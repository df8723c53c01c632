/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACESYNCHRONIZERS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACESYNCHRONIZERS_HPP

#include "jni.h"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/handles.hpp"
#include "utilities/globalDefinitions.hpp"

class InstanceKlass;
class JavaThread;
class Klass;

// The locks of java.util.concurrent: who waits for them, and who has them alone.

// Where a synchronizer of java.util.concurrent keeps the threads that wait for it:
// a list of nodes, from the head, which no thread waits in, to the tail. Nodes have
// a thread, and links in both directions, of which those to the next are only hints.
class LockTraceQueue VALUE_OBJ_CLASS_SPEC {
 private:
  Klass* _klass;   // of the synchronizer; NULL if this JDK's is another
  int    _head_offset, _tail_offset;
  int    _previous_offset, _next_offset, _thread_offset;

  enum { kinds = 3 };
  static LockTraceQueue _queues[kinds];

  void initialize(const char* klass, const char* node_klass, const char* head, const char* tail, JavaThread* thread);
  bool is_of(oop synchronizer) const;
  oop  head(oop synchronizer) const;
  oop  tail(oop synchronizer) const;
  oop  previous(oop node) const;
  oop  next(oop node) const;
  oop  waiter(oop node) const;

 public:
  // Finds the classes and their fields. Those that are missing are not used.
  static void initialize_all(JavaThread* thread);

  // What the synchronizer has; NULL if it has none, or another one.
  static const LockTraceQueue* of(oop synchronizer);

  // Some thread is queued, or about to be.
  bool is_waited_for(oop synchronizer) const { return head(synchronizer) != tail(synchronizer); }

  // The node that the thread waits in. NULL if it has none, or many threads came
  // after it.
  oop node_of(oop synchronizer, oop java_thread) const;
};

// Holds of locks that one thread can have alone: of each AbstractOwnableSynchronizer, and
// of StampedLock for its writers.
//
// Once a thread has parked on a lock, each acquisition and each release calls the VM, until
// a release finds that nobody waits any more. Only owners reset the interest and write the
// note of the acquisition.
//
// An owner looks for the interest after it has acquired the lock and before it releases it,
// and a thread that parks sets it before it takes its number and the time. So an owner that
// saw none when it acquired the lock had it before that thread's park began; and one that
// sees none when it releases it comes, for the analysis, before the park, which an unpark
// then ends if it is not in vain.
class LockTraceHolds VALUE_OBJ_CLASS_SPEC {
 private:
  InstanceKlass* _klass;   // NULL: the class of this class library does not call
  int _interest_offset;    // int: acquisitions and releases are of interest
  int _acquired_offset;    // long: time of the owner's acquisition, 0: not noted
  int _parked_offset;      // int: threads that are parked and in no queue that is known
  int _writer_offset;      // long: Thread.getId() of the thread that acquired it

  static LockTraceHolds _of_ownable;
  static LockTraceHolds _of_stamped_lock;

  bool find_fields(InstanceKlass* klass, JavaThread* thread);
  void bind(InstanceKlass* klass, const char* method, const char* signature, address function, JavaThread* thread);

  bool is_waited_for(oop lock) const;
  void set_interest(oop lock, bool interest) const;
  void acquired(oop lock) const;
  void released(JavaThread* thread, Handle lock, bool by_owner) const;

 public:
  static void initialize_all(JavaThread* thread);

  // This class library's locks call.
  static bool are_recorded() { return _of_ownable._klass != NULL; }
  // Of the objects of its class; NULL if they do not call.
  static const LockTraceHolds* of(oop lock);

  // Before the park takes its number. True if the end is to be recorded.
  bool park_begins(oop lock) const;
  void park_ends(oop lock) const;

  // By AbstractOwnableSynchronizer.setExclusiveOwnerThread, before it sets the field.
  static void owner_changes(JavaThread* thread, oop synchronizer, oop new_owner);
  // By StampedLock, after the write lock was acquired and before it is released.
  static void writer_changes(JavaThread* thread, oop lock, bool is_acquired);
};

// Semaphores, which know of each thread whether it has ever acquired a permit.
class LockTraceSemaphores : AllStatic {
 private:
  static InstanceKlass* _klass;   // NULL: this class library's do not know
  static int _acquirers_offset;   // long: a bit for each thread, by the lowest bits of Thread.getId()

 public:
  static void initialize(JavaThread* thread);

  // False also where that is not known, as the bit may be another thread's.
  static bool has_never_acquired(JavaThread* thread, oop synchronizer);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESYNCHRONIZERS_HPP
