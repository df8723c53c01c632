/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/classFileStream.hpp"
#include "classfile/symbolTable.hpp"
#include "classfile/systemDictionary.hpp"
#include "locktrace/lockTraceClassLibrary.hpp"
#include "oops/instanceKlass.hpp"
#include "oops/symbol.hpp"
#include "runtime/arguments.hpp"
#include "runtime/fieldDescriptor.hpp"
#include "runtime/thread.hpp"

// ---------------------------------------------------------------------------
// Classes of the tracer's own

struct LockTraceClassFile {
  const char*          name;
  const unsigned char* bytes;
  int                  length;
};

// The build makes it of the patched classes: LockTraceClassFile locktrace_classes[].
#include "locktrace_classes.inc"

// A class that the user put before the JDK's own stays what it is. So does one that an
// agent redefines.
static bool is_of_this_jdk(ClassFileStream* stock) {
  char path[JVM_MAXPATHLEN];
  jio_snprintf(path, sizeof(path), "%s/lib/rt.jar", Arguments::get_java_home());
  return stock->source() != NULL && strcmp(stock->source(), path) == 0;
}

ClassFileStream* LockTraceClassLibrary::find(Symbol* name, ClassFileStream* stock) {
  // An archive of shared classes is for VMs without tracing as well.
  if (DumpSharedSpaces) return NULL;
  const int count = sizeof(locktrace_classes) / sizeof(locktrace_classes[0]);
  for (int i = 0; i < count; i++) {
    const LockTraceClassFile& file = locktrace_classes[i];
    if (!name->equals(file.name) || !is_of_this_jdk(stock)) continue;
    // The parser only reads.
    return new ClassFileStream((u1*) file.bytes, file.length, stock->source());
  }
  return NULL;
}

// ---------------------------------------------------------------------------
// Classes and fields

InstanceKlass* LockTraceClassLibrary::find_class(const char* class_name, JavaThread* THREAD) {
  TempNewSymbol name = SymbolTable::new_symbol(class_name, THREAD);
  Klass* klass = HAS_PENDING_EXCEPTION ? (Klass*) NULL : SystemDictionary::resolve_or_null(name, THREAD);
  CLEAR_PENDING_EXCEPTION;
  return klass != NULL && klass->oop_is_instance() ? InstanceKlass::cast(klass) : (InstanceKlass*) NULL;
}

bool LockTraceClassLibrary::find_field(InstanceKlass* klass, const char* field, const char* type, int* offset,
                                       JavaThread* THREAD) {
  if (klass == NULL) return false;
  TempNewSymbol name = SymbolTable::new_symbol(field, THREAD);
  TempNewSymbol signature = SymbolTable::new_symbol(type, THREAD);
  fieldDescriptor found;
  if (!klass->find_local_field(name, signature, &found)) return false;
  *offset = found.offset();
  return true;
}
