/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACESITES_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACESITES_HPP

#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "utilities/exceptions.hpp"
#include "utilities/globalDefinitions.hpp"

class ClassLoaderData;
class InstanceKlass;
class JavaThread;
class Klass;
class Thread;

// A class of which the allocations are of interest: an instance was a contended lock.
class LockTraceSiteClass VALUE_OBJ_CLASS_SPEC {
 private:
  InstanceKlass* _klass;
  bool _is_watched;          // else it was given up
  bool _was_slow;            // the VM allocates its instances in any case
  // Since the last look. Threads that count at the same time may count too little.
  volatile jint _allocations;

 public:
  InstanceKlass* klass() const { return _klass; }
  bool is_watched() const      { return _is_watched; }

  // At a safepoint. Whether compiled code has to change is returned.
  bool watch(InstanceKlass* klass);
  bool unwatch();

  void count_allocation()      { _allocations++; }
  void forget_allocations()    { _allocations = 0; }
  jint allocations() const     { return _allocations; }
};

// Where locks were allocated. That is known of objects whose class had a contended instance
// when they were allocated: from then on the VM allocates the instances of the class, as it does
// where there is a finalizer, and not the interpreter and compiled code by themselves. Compiled
// code that does is discarded.
//
// To record a site costs some microseconds. Threads may spend a share of one processor on that,
// LockContentionLockSiteBudget; if it is used up, the class with most allocations is given
// up. All of this is decided by a thread of the VM, and done at a safepoint.
class LockTraceSites : AllStatic {
 private:
  friend class LockTraceChangeSites;

  enum { max_classes = 64, max_candidates = 8 };

  static LockTraceSiteClass _classes[max_classes];   // changes at safepoints only
  static int _count;                                 // of classes
  static int _watched;                               // of them
  static Klass* volatile _candidates[max_candidates];
  static bool _is_on;                                // in this trace

  // What threads may still spend, in nanoseconds, and what they have done since the last look.
  static volatile intptr_t _credit_ns;
  static volatile intptr_t _spent_ns;
  static volatile jint _recorded;
  static volatile jint _skipped;

  static void run(JavaThread* thread, TRAPS);
  static void record(JavaThread* thread, oop object);
  static LockTraceSiteClass* find(Klass* klass);
  static void note_candidate(Klass* klass);
  static bool has_candidates();
  static bool settle_costs(jlong elapsed_ns);

 public:
  // Whether that is to be recorded. It changes compiled code of x86_64.
  static bool wanted(bool is_asked_for);

  // At the safepoint at which a trace begins.
  static void trace_begins(bool is_wanted);
  // In the trace of this number.
  static bool start(uint32_t session, JavaThread* thread);
  // At the safepoint at which it ends.
  static void trace_ends();

  // The thread waits for a lock of this class. In VM state or at a safepoint.
  static void note_contention(Klass* klass) {
    if (_is_on && _count < max_classes) note_candidate(klass);
  }

  // By the VM, when it has allocated the object, which may move. Returns the object.
  static instanceOop allocated(instanceOop object, Thread* thread) {
    return _watched == 0 ? object : allocated_watched(object, thread);
  }
  static instanceOop allocated_watched(instanceOop object, Thread* thread);

  // Before the loader's classes go.
  static void loader_unloading(ClassLoaderData* loader);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACESITES_HPP
