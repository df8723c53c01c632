/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceCommands.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/thread.hpp"
#include "services/diagnosticArgument.hpp"
#include "services/diagnosticFramework.hpp"
#include "utilities/debug.hpp"

void LockTraceCommands::register_all() {
  uint32_t exports = DCmd_Source_Internal | DCmd_Source_AttachAPI | DCmd_Source_MBean;
  DCmdFactory::register_DCmdFactory(new DCmdFactoryImpl<LockTraceStartCommand>(exports, true, false));
  DCmdFactory::register_DCmdFactory(new DCmdFactoryImpl<LockTraceStopCommand>(exports, true, false));
  DCmdFactory::register_DCmdFactory(new DCmdFactoryImpl<LockTraceDumpCommand>(exports, true, false));
  DCmdFactory::register_DCmdFactory(new DCmdFactoryImpl<LockTraceStatusCommand>(exports, true, false));
}

#define FILE_DESCRIPTION \
  "%p stands for the process id, %t for the time. A file that is there is not overwritten"

LockTraceStartCommand::LockTraceStartCommand(outputStream* output, bool heap)
  : DCmdWithParser(output, heap),
    _file("file", "The trace file; " FILE_DESCRIPTION, "STRING", false, LOCKTRACE_DEFAULT_FILE),
    _kinds("kinds", "What to trace: monitor, park (java.util.concurrent), or both with a comma between them",
           "STRING", false, "monitor,park"),
    _duration("duration", "After how long the trace stops by itself, for example 30s, 5m or 1h; 0: when it is stopped",
              "NANOTIME", false, "0") {
  _dcmdparser.add_dcmd_option(&_file);
  _dcmdparser.add_dcmd_option(&_kinds);
  _dcmdparser.add_dcmd_option(&_duration);
}

int LockTraceStartCommand::num_arguments() {
  ResourceMark rm;
  LockTraceStartCommand* command = new LockTraceStartCommand(NULL, false);
  DCmdMark mark(command);
  return command->_dcmdparser.num_arguments();
}

// LCT_KIND_... of a list of names; 0 if there is another one in it, or none.
static uint8_t kinds_of(const char* names) {
  uint8_t kinds = 0;
  for (const char* name = names; name != NULL;) {
    const char* comma = strchr(name, ',');
    size_t length = comma == NULL ? strlen(name) : (size_t) (comma - name);
    if (length == strlen("monitor") && strncmp(name, "monitor", length) == 0) {
      kinds |= LCT_KIND_MONITOR;
    } else if (length == strlen("park") && strncmp(name, "park", length) == 0) {
      kinds |= LCT_KIND_PARK;
    } else {
      return 0;
    }
    name = comma == NULL ? (const char*) NULL : comma + 1;
  }
  return kinds;
}

void LockTraceStartCommand::execute(DCmdSource source, TRAPS) {
  LockTraceRequest request = { _file.value(), kinds_of(_kinds.value()), _duration.value()._nanotime };
  if (request.kinds == 0) {
    THROW_MSG(vmSymbols::java_lang_IllegalArgumentException(),
              err_msg("kinds: expected monitor, park or monitor,park, found: %s", _kinds.value()));
  }
  LockTrace::start_on_request(request, (JavaThread*) THREAD, output());
}

LockTraceDumpCommand::LockTraceDumpCommand(outputStream* output, bool heap)
  : DCmdWithParser(output, heap),
    _file("file", "The copy; " FILE_DESCRIPTION, "STRING", true) {
  _dcmdparser.add_dcmd_option(&_file);
}

int LockTraceDumpCommand::num_arguments() {
  ResourceMark rm;
  LockTraceDumpCommand* command = new LockTraceDumpCommand(NULL, false);
  DCmdMark mark(command);
  return command->_dcmdparser.num_arguments();
}

void LockTraceDumpCommand::execute(DCmdSource source, TRAPS) {
  LockTrace::dump_on_request(_file.value(), (JavaThread*) THREAD, output());
}

void LockTraceStopCommand::execute(DCmdSource source, TRAPS) {
  LockTrace::stop_on_request((JavaThread*) THREAD, output());
}

void LockTraceStatusCommand::execute(DCmdSource source, TRAPS) {
  LockTrace::print_status((JavaThread*) THREAD, output());
}
