/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACECLASSINIT_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACECLASSINIT_HPP

#include "locktrace/lockTraceEvents.hpp"
#include "memory/allocation.hpp"
#include "runtime/handles.hpp"

class InstanceKlass;

// A thread that links or initializes a class: an object on the stack of the
// InstanceKlass method, made just before it locks the class's initialization lock.
// That lock is an int[0] which no program sees, so only this knows its class.
//
// While one thread runs a static initializer it does not hold that lock. Others
// that need the class lock it, see that it is being initialized, and wait on it as
// in Object.wait, in turn. What they wait for is the initializer. So all of that is
// one wait of a thread, from when it first blocks or waits until it has the lock of
// an initialized class; what it does to the lock in between is no event. The
// initializing thread's exits are, and so it is blamed. When it has to wait for the
// lock itself, for a thread that is just about to wait, that is no event either: an
// acquisition in the midst of the initialization would seem to be a change of owner. Nor
// is its release of the lock when the initialization has begun.
class LockTraceClassInit : public StackObj {
 public:
  enum Purpose { linking, initializing };

 private:
  JavaThread*         _thread;   // NULL: nothing to trace
  InstanceKlass*      _klass;
  Handle              _lock;
  Purpose             _purpose;
  LockTraceClassInit* _outer;    // linking runs Java code of class loaders
  LockTraceEnter      _wait;     // that goes on although the thread has had the lock

  void begin(InstanceKlass* klass, Thread* thread);
  void end();

 public:
  LockTraceClassInit(InstanceKlass* klass, Purpose purpose, Thread* thread)
    : _thread(NULL), _klass(NULL), _purpose(purpose), _outer(NULL) {
    if (LockTrace::enabled()) begin(klass, thread);
  }
  ~LockTraceClassInit() { if (_thread != NULL) end(); }

  // What the thread does with the class whose initialization lock the monitor is of;
  // NULL if it is no such lock. In VM state.
  static LockTraceClassInit* of(JavaThread* thread, ObjectMonitor* monitor);

  InstanceKlass* klass() const { return _klass; }

  // Whether the thread itself runs the static initializer.
  bool is_initializer() const;

  // Whether it is not only for the lock that the thread waits, but for the thread that
  // runs the static initializer, and which one that is: an address that may be stale.
  // In any state, owning the lock or not; exact for who owns it.
  bool awaits_initializer() const;
  void* initializer() const;

  // Whether a contended enter is to be written when the thread blocks on the lock.
  bool is_new_wait() const;

  // Whether the wait goes on although the thread owns the lock: it will wait for the
  // thread that initializes the class.
  bool goes_on() const;
  void keep(const LockTraceEnter& wait);

  // Owning the lock, before Object.wait releases it, and when the thread owns it again.
  void release(ObjectMonitor* monitor);
  void reacquired();
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACECLASSINIT_HPP
