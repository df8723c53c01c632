/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEMETADATA_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEMETADATA_HPP

#include "locktrace/lockTraceState.hpp"
#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"

class Klass;
class Method;

// Identifiers of classes and methods. The first event that needs one also
// describes the entity (paper, section 3.4); of threads that race for it, the
// one that wins the update of the identifier writes the description.
//
// Callable in VM state and in leaf routines: no handle, no VM lock, no
// safepoint. Text is copied into the trace, so the entity may be unloaded
// afterwards.
class LockTraceMetadata : AllStatic {
 private:
  static uint32_t known_id(const LockTraceId* described);
  static bool claim(LockTraceId* described, uint32_t* id);
  static void describe_class(LctThread* tracer, Klass* klass, uint32_t id, uint32_t super_id);
  static void describe_method(LctThread* tracer, Method* method, uint32_t id);

 public:
  static uint32_t class_id(LctThread* tracer, Klass* klass);
  static uint32_t method_id(LctThread* tracer, Method* method);

  // The identifier if the entity has one, else 0. A method that has one is in a class
  // that has one.
  static uint32_t known_id(Klass* klass);
  static uint32_t known_id(Method* method);

  // The class that a java.lang.Class object stands for, 0 for other objects
  // and for primitive types.
  static uint32_t mirrored_class_id(LctThread* tracer, oop object);

  // The identity hash of an object if it has one that can be read at once, else 0.
  static intptr_t known_hash(oop object);

  // At a safepoint: gives the object of a monitor that is waited for an identity hash.
  static void hash_at_safepoint(ObjectMonitor* monitor);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEMETADATA_HPP
