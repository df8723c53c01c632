/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#ifndef SHARE_VM_LOCKTRACE_LOCKTRACECOMMANDS_HPP
#define SHARE_VM_LOCKTRACE_LOCKTRACECOMMANDS_HPP

#include "services/diagnosticCommand.hpp"

// The diagnostic commands that start and stop a trace in a running VM: by jcmd, and by
// JMX, with the permission that the Flight Recorder's commands ask for.

class LockTraceCommands : AllStatic {
 public:
  static void register_all();
  static const JavaPermission permission() {
    JavaPermission p = { "java.lang.management.ManagementPermission", "monitor", NULL };
    return p;
  }
};

class LockTraceStartCommand : public DCmdWithParser {
 private:
  DCmdArgument<char*> _file;
  DCmdArgument<char*> _kinds;
  DCmdArgument<NanoTimeArgument> _duration;
  DCmdArgument<char*> _analysis;
  DCmdArgument<char*> _report;
  DCmdArgument<NanoTimeArgument> _owner_samples;
  DCmdArgument<bool> _lock_sites;

 public:
  LockTraceStartCommand(outputStream* output, bool heap);
  static const char* name()        { return "LockContention.start"; }
  static const char* description() { return "Start tracing which threads block which others on locks, to a new file or to be analyzed in the VM."; }
  static const char* impact() {
    return "Medium: Depends on how much threads contend. All threads are stopped once for some milliseconds.";
  }
  static const JavaPermission permission() { return LockTraceCommands::permission(); }
  static int num_arguments();
  virtual void execute(DCmdSource source, TRAPS);
};

class LockTraceStopCommand : public DCmd {
 public:
  LockTraceStopCommand(outputStream* output, bool heap) : DCmd(output, heap) {}
  static const char* name()        { return "LockContention.stop"; }
  static const char* description() { return "Stop tracing lock contention, and complete the trace file."; }
  static const char* impact()      { return "Low: All threads are stopped once for some milliseconds."; }
  static const JavaPermission permission() { return LockTraceCommands::permission(); }
  static int num_arguments() { return 0; }
  virtual void execute(DCmdSource source, TRAPS);
};

class LockTraceDumpCommand : public DCmdWithParser {
 private:
  DCmdArgument<char*> _file;

 public:
  LockTraceDumpCommand(outputStream* output, bool heap);
  static const char* name()        { return "LockContention.dump"; }
  static const char* description() { return "Copy the trace so far to a new file, and go on tracing."; }
  static const char* impact()      { return "Low: Depends on how long the trace is."; }
  static const JavaPermission permission() { return LockTraceCommands::permission(); }
  static int num_arguments();
  virtual void execute(DCmdSource source, TRAPS);
};

class LockTraceReportCommand : public DCmdWithParser {
 private:
  DCmdArgument<char*> _by;
  DCmdArgument<char*> _top;
  DCmdArgument<char*> _kind;
  DCmdArgument<char*> _from;
  DCmdArgument<char*> _format;

 public:
  LockTraceReportCommand(outputStream* output, bool heap);
  static const char* name()        { return "LockContention.report"; }
  static const char* description() { return "Show which threads were blocked where, and who held the locks, since tracing began with analysis=online or both."; }
  static const char* impact()      { return "Low: Depends on how much is traced."; }
  static const JavaPermission permission() { return LockTraceCommands::permission(); }
  static int num_arguments();
  virtual void execute(DCmdSource source, TRAPS);
};

class LockTraceStatusCommand : public DCmd {
 public:
  LockTraceStatusCommand(outputStream* output, bool heap) : DCmd(output, heap) {}
  static const char* name()        { return "LockContention.status"; }
  static const char* description() { return "Tell whether lock contention is traced, since when and to which file."; }
  static const char* impact()      { return "Low"; }
  static const JavaPermission permission() { return LockTraceCommands::permission(); }
  static int num_arguments() { return 0; }
  virtual void execute(DCmdSource source, TRAPS);
};

#endif // SHARE_VM_LOCKTRACE_LOCKTRACECOMMANDS_HPP
