/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "locktrace/lockTraceClassInit.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/thread.inline.hpp"
// Needs Thread, which it does not include.
#include "runtime/objectMonitor.inline.hpp"

void LockTraceClassInit::begin(InstanceKlass* klass, Thread* thread) {
  // An initialized class has none any more.
  oop lock = klass->init_lock();
  if (lock == NULL || !thread->is_Java_thread()) return;
  _thread = (JavaThread*) thread;
  _klass = klass;
  _lock = Handle(thread, lock);
  LockTraceThread* state = _thread->locktrace();
  _outer = state->_class_init;
  state->_class_init = this;
}

void LockTraceClassInit::end() {
  assert(!_wait.is_open(), "entered before the lock is released");
  _thread->locktrace()->_class_init = _outer;
}

LockTraceClassInit* LockTraceClassInit::of(JavaThread* thread, ObjectMonitor* monitor) {
  LockTraceClassInit* init = thread->locktrace()->_class_init;
  bool is_lock = init != NULL && init->_lock() == (oop) monitor->object();
  return is_lock ? init : NULL;
}

// Only the initializing thread itself can find this to be true, so it needs no lock.
bool LockTraceClassInit::is_initializer() const {
  return awaits_initializer() && initializer() == _thread;
}

bool LockTraceClassInit::awaits_initializer() const {
  return _purpose == initializing && _klass->is_being_initialized();
}

void* LockTraceClassInit::initializer() const {
  return *(Thread* volatile*) ((address) _klass + in_bytes(InstanceKlass::init_thread_offset()));
}

bool LockTraceClassInit::is_new_wait() const {
  return !_wait.is_open() && !is_initializer();
}

// The condition of the loop in initialize_impl. The state changes only
// under the lock, which the thread owns.
bool LockTraceClassInit::goes_on() const {
  return awaits_initializer() && !is_initializer() && !_thread->has_pending_exception();
}

void LockTraceClassInit::keep(const LockTraceEnter& wait) {
  _wait = wait;
}

void LockTraceClassInit::release(ObjectMonitor* monitor) {
  if (_wait.is_open()) return;
  _wait = LockTraceEnter(monitor, _thread);
  _wait.blocked();
}

void LockTraceClassInit::reacquired() {
  if (!goes_on()) _wait.entered();
}
