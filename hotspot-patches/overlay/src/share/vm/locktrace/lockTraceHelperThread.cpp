/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/javaClasses.hpp"
#include "classfile/systemDictionary.hpp"
#include "locktrace/lockTraceHelperThread.hpp"
#include "memory/universe.hpp"
#include "oops/instanceKlass.hpp"
#include "runtime/javaCalls.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/thread.inline.hpp"

// java.lang.Thread of the VM's own threads.
static instanceHandle new_java_thread(const char* name, TRAPS) {
  instanceHandle none;
  instanceKlassHandle klass(THREAD, SystemDictionary::Thread_klass());
  instanceHandle java_thread = klass->allocate_instance_handle(CHECK_(none));
  Handle java_name = java_lang_String::create_from_str(name, CHECK_(none));
  Handle group(THREAD, Universe::system_thread_group());
  JavaValue nothing(T_VOID);
  JavaCalls::call_special(&nothing, java_thread, klass, vmSymbols::object_initializer_name(),
                          vmSymbols::threadgroup_string_void_signature(), group, java_name, CHECK_(none));
  return java_thread;
}

bool LockTraceHelperThread::start(const char* name, ThreadFunction entry, uint32_t session, JavaThread* THREAD) {
  HandleMark handles(THREAD);
  instanceHandle java_thread = new_java_thread(name, THREAD);
  if (HAS_PENDING_EXCEPTION) {
    CLEAR_PENDING_EXCEPTION;
    return false;
  }
  MutexLocker threads(Threads_lock, THREAD);
  LockTraceHelperThread* helper = new LockTraceHelperThread(entry, session);
  if (helper->osthread() == NULL) {
    delete helper;
    return false;
  }
  helper->locktrace()->stay_untraced();
  java_lang_Thread::set_thread(java_thread(), helper);
  java_lang_Thread::set_daemon(java_thread());
  helper->set_threadObj(java_thread());
  Threads::add(helper);
  Thread::start(helper);
  return true;
}
