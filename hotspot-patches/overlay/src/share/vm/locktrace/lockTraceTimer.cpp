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
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceTimer.hpp"
#include "memory/universe.hpp"
#include "oops/instanceKlass.hpp"
#include "runtime/javaCalls.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"
#include "runtime/thread.inline.hpp"

class LockTraceTimerThread : public JavaThread {
 public:
  const uint32_t session;

  LockTraceTimerThread(ThreadFunction entry, uint32_t session) : JavaThread(entry), session(session) {}
};

void LockTraceTimer::run(JavaThread* thread, TRAPS) {
  // A trace may be stopped earlier, and then nobody wakes this thread.
  const jlong longest_sleep_ms = 1000;
  const uint32_t session = ((LockTraceTimerThread*) thread)->session;
  for (jlong left_ms; (left_ms = LockTrace::stop_when_over(session, thread)) > 0;) {
    // Interruptible: the other kind of sleep is one in the VM, for which every safepoint waits.
    os::sleep(thread, MIN2(left_ms, longest_sleep_ms), true);
  }
}

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

bool LockTraceTimer::start(uint32_t session, JavaThread* THREAD) {
  HandleMark handles(THREAD);
  instanceHandle java_thread = new_java_thread("Lock Contention Timer", THREAD);
  if (HAS_PENDING_EXCEPTION) {
    CLEAR_PENDING_EXCEPTION;
    return false;
  }
  MutexLocker threads(Threads_lock, THREAD);
  LockTraceTimerThread* timer = new LockTraceTimerThread(&run, session);
  if (timer->osthread() == NULL) {
    delete timer;
    return false;
  }
  java_lang_Thread::set_thread(java_thread(), timer);
  java_lang_Thread::set_daemon(java_thread());
  timer->set_threadObj(java_thread());
  Threads::add(timer);
  Thread::start(timer);
  return true;
}
