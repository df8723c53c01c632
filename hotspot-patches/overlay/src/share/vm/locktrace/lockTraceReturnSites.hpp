/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACERETURNSITES_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACERETURNSITES_HPP

#include "memory/allocation.hpp"
#include "utilities/globalDefinitions.hpp"

class BufferBlob;
class nmethod;

// What a return barrier returns through to a call in compiled code: its stub, in a code blob with the header of
// the method that made the call and with debug information of that call alone.
//
// Profilers that walk stacks by themselves read HotSpot's code cache: async-profiler's walk in a signal handler,
// OpenTelemetry's eBPF profiler from the kernel. In the stub they find a compiled method with the caller's name,
// frame size and inlined methods, and go on. HotSpot itself asks LockTraceReturnBarriers, and takes the blob for a
// buffer, which it does not look into.
class LockTraceReturnSite VALUE_OBJ_CLASS_SPEC {
 private:
  struct Tail;                    // behind the header

  volatile address _return_address;   // of the call; NULL: of none, claimed: of none yet
  BufferBlob*      _blob;

  static const address claimed;

  Tail* tail() const;
  bool describe(address return_address);
  void set_header(nmethod* code);

 public:
  // Allocates the blob, of no call. False if the code cache is full.
  bool initialize();

  // Of its blob.
  static size_t bytes();

  bool is_free() const { return _return_address == NULL; }
  bool is_of(address return_address) const;
  // Makes this the site of the call, unless another thread was faster or the call cannot be described.
  bool try_take(address return_address);
  void give_back_if_in(nmethod* code);
  address stub() const;
};

// A set-associative table of sites, which are as many as a small share of the code cache holds. Threads look up
// and take sites without a lock; a site is free again when its code is flushed.
class LockTraceReturnSites : AllStatic {
 private:
  enum { ways = 4, max_sets = 512 };

  static LockTraceReturnSite* _sites;
  static uint _sets;              // a power of two; 0: there are no sites

  static LockTraceReturnSite* set_of(address return_address);

 public:
  // In a Java thread, once.
  static void initialize();

  // The stub of a barrier that returns to this address; NULL if there can be none. In the thread that has a frame
  // which returns there, so that the code stays.
  static address stub_for(address return_address);

  // No thread has a frame of the code.
  static void code_flushed(nmethod* code);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACERETURNSITES_HPP
