//! Runs traced JVMs and checks their traces against a truth that the tracer
//! did not produce: the programs in `scenarios/`, `demo/` and `h2/` know, by
//! construction or by their own clock, who blocked whom and for how long.
//!
//! The tests need the patched JDK and the stock JDK that `make jdk` builds, and
//! fail without them. Environment:
//!
//! | variable              | default            | names                     |
//! |-----------------------|--------------------|---------------------------|
//! | `LOCKTRACE_JDK`       | `build/jdk`        | the patched JDK           |
//! | `LOCKTRACE_JDK_STOCK` | `build/jdk-stock`  | the same JDK, unpatched   |
//! | `LOCKTRACE_STOCK_JDKS` | `build/stock-jdks` | runtimes of later versions, for the agent |
//! | `LOCKTRACE_AGENT`     | built when missing | the agent's library       |
//! | `LOCKTRACE_BIN`       | built when missing | the `locktrace` program   |
//! | `LOCKTRACE_PROGRAMS`  | compiled when missing | the programs, with their native library |
//! | `LOCKTRACE_PACK`      | the repository     | an archive of `bench/pack`, in place of it |
//! | `LOCKTRACE_SCRATCH`   | below `target`     | the directory of runs     |
//! | `LOCKTRACE_NIGHTLY`   | `0`                | `1`: the long tests, too  |
//! | `LOCKTRACE_COMPILE_ALL` | `0`              | `1`: `-Xcomp` compiles all code, as it does in the long tests |
//! | `LOCKTRACE_RETURN_BARRIERS`     | `verified`         | `on`, `off`: see [`ReturnBarriers`] |
//!
//! Everything here panics when the machinery itself fails: these are helpers of
//! tests.

mod agent;
mod byte_code;
mod cases;
mod class_path;
mod compile_mode;
mod contend;
mod contention;
mod demo;
mod expectation;
mod hold_log;
mod hold_oracle;
mod jcmd;
mod jdk;
mod jvm;
mod locktrace;
mod maven;
mod meetings;
mod online;
mod owner_shares;
mod park_log;
mod paths;
mod processor;
mod programs;
mod real_programs;
mod return_barriers;
mod setting;
mod summary;
mod trace_clock;
mod turn;
mod wait_log;
pub mod what_if;

pub use agent::{agent_library, agent_option, check_shares_of_holds};
pub use byte_code::Positions;
pub use cases::check_each;
pub use class_path::{Action, ClassPath};
pub use compile_mode::CompileMode;
pub use contend::{check_compiled, check_contend, check_program, compilations, contend};
pub use contention::{Contention, Frame, ThreadRef, Wait};
pub use demo::check_demo;
pub use expectation::{Expectation, ExpectedFrame, check_chain, check_innermost, line_of};
pub use hold_log::{Blame, Bounds, Compared, HoldLog, Overlay};
pub use hold_oracle::{HeldLock, HoldRun, Holds};
pub use jcmd::{jcmd, jcmd_output};
pub use jdk::Jdk;
pub use jvm::{Jvm, NEVER_INLINED, Run, RunningJvm};
pub use locktrace::{
    Finished, Report, ReportFrame, ReportNode, Totals, TraceInfo, conclusions, contentions,
    locktrace, locktrace_program, parse_contentions, report, report_of_kinds, waits,
    waits_of_all_kinds, waits_on,
};
pub use maven::{Jar, applications_class_path, dependencies, program_class_path};
pub use meetings::{boot_class_path, check_meetings, check_with_barriers, run_with_barriers};
pub use owner_shares::check_owner_shares;
pub use park_log::{Blocker, ParkAction, ParkEvent, ParkLog, ParkingThread, Timeout};
pub use paths::{repository, scratch_directory, source_directory, target_directory};
pub use processor::alone;
pub use programs::{Programs, java_compiler, redefinition_agent, run_to_success};
pub use real_programs::{
    DATABASE_LOCK, check_bank, check_shop, database_class_path, shop_class_path,
};
pub use return_barriers::ReturnBarriers;
pub use setting::{COLLECTORS, Setting, is_nightly};
pub use summary::{analyze, check_sound, for_each_event, for_each_segment};
pub use trace_clock::TraceClock;
pub use turn::{Turn, blame};
pub use wait_log::{Notification, WaitEnding, WaitLog};
