/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACEGLOBALS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACEGLOBALS_HPP

// Where the trace goes if the flag names no file, also as an empty name: an unset
// variable of a shell.
#define LOCKTRACE_DEFAULT_FILE "locktrace-%p.lct"

// The flags of lock contention tracing. RUNTIME_FLAGS (globals.hpp) expands
// this list once for each of its purposes.
#define LOCKTRACE_FLAGS(product, diagnostic)                                \
  product(bool, TraceLockContention, false,                                 \
          "Record which threads blocked which other threads on monitors, "  \
          "with the call chains of both, in a trace file")                  \
                                                                            \
  product(ccstr, LockContentionTraceFile, LOCKTRACE_DEFAULT_FILE,           \
          "File to write the lock contention trace to; %p stands for the "  \
          "process id, %t for the start time")                              \
                                                                            \
  product(bool, LockContentionTraceCompression, true,                       \
          "Compress the lock contention trace (snappy)")                    \
                                                                            \
  product(bool, LockContentionCrashSafe, false,                             \
          "Keep lock contention events that are not in the trace yet in a " \
          "file beside it, where they outlive a JVM that is killed")        \
                                                                            \
  product(ccstr, LockContentionAnalysis, "file",                            \
          "What becomes of lock contention events: file (they go to the "   \
          "trace file), online (they are analyzed in the JVM), or both")    \
                                                                            \
  product(uintx, LockContentionAnalysisMemory, 64*M,                        \
          "Memory that the analysis of lock contention in the JVM may "     \
          "take, in bytes")                                                 \
                                                                            \
  product(ccstr, LockContentionReportFile, NULL,                            \
          "File for the report of the analysis in the JVM at its end: JSON "\
          "if its name ends with .json, else text; ten lines on standard "  \
          "error if no file is given")                                      \
                                                                            \
  product(uintx, LockContentionOwnerSampleThreshold, 5,                     \
          "How long threads wait for a lock before the stack of its owner " \
          "is sampled at safepoints, in milliseconds; 0: never")            \
                                                                            \
  product(uintx, LockContentionOwnerSampleBudget, 10,                       \
          "For how much of the time all threads may be stopped to sample "  \
          "owners of locks, in thousandths; 0: not at all")                 \
                                                                            \
  product(bool, LockContentionLockSites, false,                             \
          "Record where locks are allocated, of classes that have had a "   \
          "contended instance before")                                      \
                                                                            \
  product(uintx, LockContentionLockSiteBudget, 10,                          \
          "For how much of the time of one processor threads may be busy "  \
          "with recording where locks are allocated, in thousandths")       \
                                                                            \
  product(bool, LockContentionReturnBarriers, true,                          \
          "Set return barriers on the stack to record the call chains of "  \
          "lock contention faster (x86_64)")                                \
                                                                            \
  product(bool, LockContentionMarkFrames, true,                             \
          "An older name of LockContentionReturnBarriers")                  \
                                                                            \
  diagnostic(bool, LockContentionCallChains, true,                          \
          "Record the call chains of lock contention; without them it can " \
          "be seen what they cost")                                         \
                                                                            \
  diagnostic(bool, LockContentionVerifyReturnBarriers, false,                \
          "Walk the whole stack for each call chain of lock contention and "\
          "compare it to the chain that barriers and caches give")          \
                                                                            \
  diagnostic(bool, LockContentionVerifyMarks, false,                        \
          "An older name of LockContentionVerifyReturnBarriers")            \

#endif // SHARE_VM_LOCKTRACE_LOCKTRACEGLOBALS_HPP
