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
#include "locktrace/lockTraceSampler.hpp"
#include "locktrace/lockTraceSites.hpp"
#include "locktrace/lockTraceText.hpp"
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
  DCmdFactory::register_DCmdFactory(new DCmdFactoryImpl<LockTraceReportCommand>(exports, true, false));
}

#define FILE_DESCRIPTION \
  "%p stands for the process id, %t for the time. A file that is there is not overwritten"

LockTraceStartCommand::LockTraceStartCommand(outputStream* output, bool heap)
  : DCmdWithParser(output, heap),
    _file("file", "The trace file; " FILE_DESCRIPTION, "STRING", false, LOCKTRACE_DEFAULT_FILE),
    _kinds("kinds", "What to trace: monitor, park (java.util.concurrent), or both with a comma between them",
           "STRING", false, "monitor,park"),
    _duration("duration", "After how long the trace stops by itself, for example 30s, 5m or 1h; 0: when it is stopped",
              "NANOTIME", false, "0"),
    _analysis("analysis", "What becomes of events: file, online (they are analyzed in the VM; there is no trace file), or both",
              "STRING", false, "file"),
    _report("report", "The file for the report of that analysis when the trace stops: JSON if its name ends with .json, "
            "else text. Without one, ten lines go to the standard error of the VM", "STRING", false),
    _owner_samples("owner_samples", "How long threads wait for a lock before the stack of its owner is sampled; 0: never. "
                   "5ms, or what -XX:LockContentionOwnerSampleThreshold says", "NANOTIME", false),
    _lock_sites("lock_sites", "Whether it is recorded where locks are allocated, of classes that have had a contended instance "
                "before. As -XX:LockContentionLockSites says", "BOOLEAN", false) {
  _dcmdparser.add_dcmd_option(&_file);
  _dcmdparser.add_dcmd_option(&_kinds);
  _dcmdparser.add_dcmd_option(&_duration);
  _dcmdparser.add_dcmd_option(&_analysis);
  _dcmdparser.add_dcmd_option(&_report);
  _dcmdparser.add_dcmd_option(&_owner_samples);
  _dcmdparser.add_dcmd_option(&_lock_sites);
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
  LockTraceRequest request = { _file.value(), kinds_of(_kinds.value()), _duration.value()._nanotime,
                               LCT_ANALYSIS_FILE, _report.value(), LockTraceSampler::default_threshold_ns(),
                               LockTraceSites::wanted(_lock_sites.is_set() ? _lock_sites.value() : LockContentionLockSites) };
  if (_owner_samples.is_set()) {
    request.sample_after_ns = LockTraceSampler::threshold_ns(_owner_samples.value()._nanotime);
  }
  if (request.kinds == 0) {
    THROW_MSG(vmSymbols::java_lang_IllegalArgumentException(),
              err_msg("kinds: expected monitor, park or monitor,park, found: %s", _kinds.value()));
  }
  if (!LockTraceRequest::analysis_of(_analysis.value(), &request.analysis)) {
    THROW_MSG(vmSymbols::java_lang_IllegalArgumentException(),
              err_msg("analysis: expected file, online or both, found: %s", _analysis.value()));
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

LockTraceReportCommand::LockTraceReportCommand(outputStream* output, bool heap)
  : DCmdWithParser(output, heap),
    _by("by", "How to tell waits apart: aspects from the outermost to the innermost, as of locktrace report: mechanism, "
        "kind, lock-class, lock, thread, method, caller, chain, owner-thread, owner-method, owner-caller, owner-chain. "
        "Other than the default ones are about the last waits, as many as fit into memory",
        "STRING", false, "lock-class,owner-method,method"),
    _top("top", "The most rows of a group, 0 for all", "STRING", false, "10, or 0 for JSON"),
    _kind("kind", "What threads waited for: contention, conditional, idle, sleep, or all", "STRING", false, "contention"),
    _from("from", "Only waits that ended since: 10s after the start of the trace, or -10s before now", "STRING", false),
    _format("format", "text or json", "STRING", false, "text") {
  _dcmdparser.add_dcmd_option(&_by);
  _dcmdparser.add_dcmd_option(&_top);
  _dcmdparser.add_dcmd_option(&_kind);
  _dcmdparser.add_dcmd_option(&_from);
  _dcmdparser.add_dcmd_option(&_format);
}

int LockTraceReportCommand::num_arguments() {
  ResourceMark rm;
  LockTraceReportCommand* command = new LockTraceReportCommand(NULL, false);
  DCmdMark mark(command);
  return command->_dcmdparser.num_arguments();
}

// What the user has given; the defaults are the runtime's own.
static LctStr given(DCmdArgument<char*>& option) {
  return LockTraceText::of(option.is_set() ? option.value() : NULL);
}

void LockTraceReportCommand::execute(DCmdSource source, TRAPS) {
  LctQuestion question = { given(_by), given(_top), given(_kind), given(_from), given(_format) };
  LockTrace::report_on_request(question, (JavaThread*) THREAD, output());
}

void LockTraceStopCommand::execute(DCmdSource source, TRAPS) {
  LockTrace::stop_on_request((JavaThread*) THREAD, output());
}

void LockTraceStatusCommand::execute(DCmdSource source, TRAPS) {
  LockTrace::print_status((JavaThread*) THREAD, output());
}
