/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/classLoaderData.hpp"
#include "classfile/javaClasses.hpp"
#include "classfile/systemDictionary.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceMetadata.hpp"
#include "locktrace/lockTraceText.hpp"
#include "memory/resourceArea.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/method.hpp"
#include "oops/oop.inline.hpp"
#include "runtime/atomic.inline.hpp"
#include "runtime/thread.inline.hpp"
#include "utilities/ostream.hpp"
// Needs Thread, which it does not include.
#include "runtime/objectMonitor.inline.hpp"

// True if the caller has to describe the entity: no thread has in this epoch, and
// the caller won the race for it.
bool LockTraceMetadata::claim(LockTraceId* described, uint32_t* id) {
  uint32_t epoch = lct_metadata_epoch(LockTrace::runtime());
  jlong seen = described->_epoch_and_id;
  *id = (uint32_t) seen;
  if ((uint32_t) (seen >> 32) == epoch) return false;
  if (*id == 0) *id = lct_new_id(LockTrace::runtime());
  jlong claimed = ((jlong) epoch << 32) | *id;
  jlong found = Atomic::cmpxchg(claimed, &described->_epoch_and_id, seen);
  if (found == seen) return true;
  *id = (uint32_t) found;
  return false;
}

// Describes the superclasses too, up to one that has been. Not recursively: the
// leaf routines' stack may be nearly full.
uint32_t LockTraceMetadata::class_id(LctThread* tracer, Klass* klass) {
  uint32_t id;
  bool to_describe = claim(klass->locktrace_id(), &id);
  uint32_t result = id;
  while (to_describe) {
    Klass* super = klass->super();
    uint32_t super_id = 0;
    // Every other class is an Object, and that is never asked.
    to_describe = super != NULL && super != SystemDictionary::Object_klass() && claim(super->locktrace_id(), &super_id);
    describe_class(tracer, klass, id, super_id);
    klass = super;
    id = super_id;
  }
  return result;
}

uint32_t LockTraceMetadata::method_id(LctThread* tracer, Method* method) {
  uint32_t id;
  if (claim(method->locktrace_id(), &id)) describe_method(tracer, method, id);
  return id;
}

// An earlier trace may have known the entity.
uint32_t LockTraceMetadata::known_id(const LockTraceId* described) {
  jlong seen = described->_epoch_and_id;
  bool is_of_this_trace = (uint32_t) (seen >> 32) > LockTrace::metadata_epochs_before();
  return is_of_this_trace ? (uint32_t) seen : 0;
}

uint32_t LockTraceMetadata::known_id(Klass* klass) { return known_id(klass->locktrace_id()); }
uint32_t LockTraceMetadata::known_id(Method* method) { return known_id(method->locktrace_id()); }

uint32_t LockTraceMetadata::mirrored_class_id(LctThread* tracer, oop object) {
  if (!java_lang_Class::is_instance(object)) return 0;
  Klass* mirrored = java_lang_Class::as_Klass(object);
  return mirrored == NULL ? 0 : class_id(tracer, mirrored);
}

intptr_t LockTraceMetadata::known_hash(oop object) {
  markOop mark = object->mark();
  // Not deflated meanwhile: that needs a safepoint.
  if (mark->has_monitor()) mark = mark->monitor()->header();
  return mark->is_neutral() ? mark->hash() : 0;
}

// As external_name(). That appends the identity hash of the mirror to the name of a
// VM-anonymous class, and computing a hash may revoke a bias at a safepoint or inflate a
// monitor. The JVM has computed it when it defined the class, so it is missing here only
// while a thread locks the mirror without a monitor.
static const char* name_of(Klass* klass) {
  if (!klass->oop_is_instance() || !InstanceKlass::cast(klass)->is_anonymous()) return klass->external_name();
  const char* name = klass->name()->as_klass_external_name();
  intptr_t hash = LockTraceMetadata::known_hash(klass->java_mirror());
  if (hash == 0) return name;
  stringStream numbered;
  numbered.print("%s/" UINTX_FORMAT, name, (uintx) hash);
  return numbered.as_string();
}

void LockTraceMetadata::describe_class(LctThread* tracer, Klass* klass, uint32_t id, uint32_t super_id) {
  ResourceMark rm;
  Symbol* source_file = klass->oop_is_instance() ? InstanceKlass::cast(klass)->source_file_name() : NULL;
  ClassLoaderData* data = klass->class_loader_data();
  oop loader = data == NULL ? (oop) NULL : data->class_loader();
  LctClass description;
  description.class_id = id;
  description.super_class = super_id;
  description.loader = loader == NULL ? 0 : (uint64_t) (uintptr_t) data;
  description.name = LockTraceText::of(name_of(klass));
  description.source_file = LockTraceText::of(source_file);
  description.loader_class = LockTraceText::of(loader == NULL ? "" : name_of(loader->klass()));
  lct_class(tracer, &description);
}

void LockTraceMetadata::describe_method(LctThread* tracer, Method* method, uint32_t id) {
  LctMethod description;
  description.method_id = id;
  description.class_id = class_id(tracer, method->method_holder());
  description.name = LockTraceText::of(method->name());
  description.signature = LockTraceText::of(method->signature());
  lct_method(tracer, &description);
}

// At a safepoint, where neither ObjectSynchronizer::FastHashCode may be called by the VM
// thread nor another thread is about to hash the object. A monitor that is waited for stays
// inflated, so its header has the hash.
void LockTraceMetadata::hash_at_safepoint(ObjectMonitor* monitor) {
  assert(SafepointSynchronize::is_at_safepoint(), "another thread may hash the object");
  markOop header = monitor->header();
  if (header->hash() != 0) return;
  intptr_t hash = os::random() & markOopDesc::hash_mask;
  monitor->set_header(header->copy_set_hash(hash == markOopDesc::no_hash ? 1 : hash));
}
