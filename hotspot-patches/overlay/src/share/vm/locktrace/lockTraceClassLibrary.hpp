/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACECLASSLIBRARY_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACECLASSLIBRARY_HPP

#include "memory/allocation.hpp"
#include "oops/oopsHierarchy.hpp"
#include "runtime/globals.hpp"

class ClassFileStream;
class InstanceKlass;
class JavaThread;
class Symbol;

// The class library as the tracer sees it: classes that tell the VM more than those of
// the JDK do, and fields that it reads. What a class library does not have is not used.
//
// A traced VM loads some classes of rt.jar as hotspot-patches/class-library has patched
// them; they were compiled when the VM was built, and are part of it. Without tracing
// the class library is the JDK's own.
class LockTraceClassLibrary : AllStatic {
 private:
  static ClassFileStream* find(Symbol* name, ClassFileStream* stock);

 public:
  // What to parse in place of the class file, NULL if that stays. The stream is allocated
  // in the resource area.
  static ClassFileStream* traced(Symbol* name, oop loader, ClassFileStream* stock) {
    return TraceLockContention && loader == NULL && name != NULL ? find(name, stock) : (ClassFileStream*) NULL;
  }

  // The class of the boot loader, NULL if it has no such class.
  static InstanceKlass* find_class(const char* name, JavaThread* thread);

  // Where the class, which may be NULL, keeps a field; false if it has no such field.
  static bool find_field(InstanceKlass* klass, const char* name, const char* type, int* offset, JavaThread* thread);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACECLASSLIBRARY_HPP
