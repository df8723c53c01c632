//! The command line.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::builder::{
    EnumValueParser, NonEmptyStringValueParser, PossibleValue, PossibleValuesParser,
    TypedValueParser,
};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use trace_analysis::{
    Aspect, LockChange, PLACEHOLDERS, Pattern, RowLimits, Selection, TraceError, TraceInput,
    WaitKind,
};

use trace_report::Form;

use crate::metrics::Label;
use crate::redaction::{KeyError, Redaction, Rule};
use crate::selection::{FilterArguments, PATTERNS, RangeArguments, Time, parse_time};
use crate::view::{IndexUse, UsageError};

/// Shows who blocks whom on which lock in a Java application.
///
/// Reads traces that a JVM writes with -XX:+TraceLockContention.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  done, but a trace is incomplete: its end or other parts are missing, the tracer
     dropped events, or events do not fit together; standard error says which
  2  wrong usage
  3  a trace cannot be read, or is none
  4  the output cannot be written
  5  diff found more waiting than --fail-above allows

The exit code is the same if the output goes to a program that does not read all of it.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show where threads were blocked and who held the locks
    Report(ReportArguments),
    /// List every contention: who waited when, for how long, and who held the lock
    Contentions(ContentionsArguments),
    /// List the locks: how often and how long threads waited for each, and how many
    Locks(LocksArguments),
    /// List the threads: how often and how long each waited, and made others wait
    Threads(ThreadsArguments),
    /// Show which locks are nested in which order, and orders that may deadlock
    LockOrder(LockOrderArguments),
    /// Show locks whose queue does not drain, and threads that were woken for nothing
    Convoys(ConvoysArguments),
    /// Predict how long threads would wait if a lock were removed, split, or held for a shorter time
    WhatIf(WhatIfArguments),
    /// Show what a trace consists of and what it lacks
    Stat(StatArguments),
    /// List the events of a trace in the order of the file
    Dump(DumpArguments),
    /// Say what to fix first: the code that made threads wait most, and what usually helps
    Summary(SummaryArguments),
    /// Compare lock contention before and after a change, and say how sure the difference is
    Diff(DiffArguments),
    /// Show traces in the browser: what to fix first, timelines, flame graphs
    #[command(visible_alias = "serve")]
    View(ViewArguments),
    /// Answer one question about traces as JSON, as the viewer's page asks it
    Query(QueryArguments),
    /// Show while a program runs who is blocked by whom, and what is blocked most
    Top(TopArguments),
    /// Print sums for monitoring systems, as text of OpenMetrics or Prometheus
    Metrics(MetricsArguments),
    /// Trace a JVM of any vendor that runs already, by an agent
    Attach(AttachArguments),
    /// End the trace of such an agent
    Detach(DetachArguments),
    /// Write lock contention in the format of another tool: pprof, flame graphs, tables
    Export(ExportArguments),
    /// Move the traces of a folder that have ended into tables, as on every host once an hour
    Collect(CollectArguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages, one for each command, into a folder
    Man {
        /// The folder
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
}

const REPORT_COLUMNS: &str = "\
Columns:
  Share    of the time that all threads together were blocked
  Blocked  the time itself
  Waits    how many waits had a part in it
  Longest  the longest that one wait had

A wait is blamed on the threads that held the lock meanwhile, each for its part. Where nobody held
it, <lock was free>: woken threads were not running yet. A barging hold is that of a thread that
acquired the lock without waiting while others waited. While the process was stopped or frozen,
<process did not run>. No owner is known
  hand-off         from a release until the next thread is seen to have the lock, where the trace
                   does not tell since when locks are held
  no exit seen     if a thread released the lock before it could see anyone queued
  events lost      where the trace lacks events
  too many owners  in a wait with so many owners that they were not all kept
  readers          readers shared the lock; only the last of them writes an event
  not woken        of waits that are no contention: no thread ended it
which is shown as <owner unknown: ...>.

Of conditional waiting, the thread that ended it takes the owner's place. Where threads waited
longer for a condition than for locks, the longest such waits come in a table of their own, unless
--kind says what to show. That of idle workers never does.

Methods are those that use a lock, not those inside of a lock of java.util.concurrent. caller and
owner-caller are the first methods outside of the JDK and of what --library names. Who initializes
a class does so wherever it was first used: the thread is shown instead of the method.

In the place of a name:";

/// What is to say about a report beside its options.
fn report_notes() -> String {
    let mut notes = format!("{PATTERNS}\n\n{REPORT_COLUMNS}");
    for (placeholder, meaning) in PLACEHOLDERS {
        let _ = write!(notes, "\n  {placeholder}\n      {meaning}");
    }
    notes
}

#[derive(Args, Debug)]
#[command(after_long_help = report_notes())]
pub(crate) struct ReportArguments {
    /// Trace files, pipes, or - for standard input; same names in several are added up
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// How to tell contentions apart: aspects from the outermost to the innermost
    #[arg(
        long,
        value_name = "ASPECT,...",
        value_delimiter = ',',
        default_value = trace_report::DEFAULT_BY,
        value_parser = aspect_parser(),
    )]
    pub(crate) by: Vec<Aspect>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Show at most N rows beside each other, 0 for all [default: 10 in a table, else 0]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// Add up rows with less than P percent of the blocked time [default: 0.1 in a table, unless
    /// all rows beside each other are that small; else 0]
    #[arg(long, value_name = "P", value_parser = parse_percent)]
    pub(crate) min_share: Option<f64>,

    /// Show all rows
    #[arg(long, conflicts_with_all = ["top", "min_share"])]
    pub(crate) all: bool,

    /// Packages and classes that are no caller, nor what is in them
    #[arg(long, value_name = "PREFIX,...", value_delimiter = ',')]
    pub(crate) library: Vec<String>,

    /// Show all frames of call chains, not only those that fit on the line
    #[arg(long)]
    pub(crate) full_chains: bool,

    /// Say above the table what owners did while others waited: ran, had no processor, waited
    /// themselves, were stopped at safepoints; takes longer
    #[arg(long)]
    pub(crate) activity: bool,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    pub(crate) format: ReportFormat,
}

impl ReportArguments {
    /// The rows wanted.
    pub(crate) fn limits(&self) -> RowLimits {
        self.form().limits(self.top, self.min_share)
    }

    /// The rows wanted of what nobody asked for.
    pub(crate) fn limits_beside(&self) -> RowLimits {
        self.form().limits_beside(self.top, self.min_share)
    }

    fn form(&self) -> Form {
        if self.format == ReportFormat::Table && !self.all {
            Form::ForPeople
        } else {
            Form::Whole
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// A tree for people
    Table,
    /// One JSON object
    Json,
    /// The innermost rows, a column for each aspect
    Csv,
}

/// How many threads to use.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct ThreadArguments {
    /// Analyze with so many threads [default: as many as there are processors, but at most 8, and
    /// one for a short trace]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl ThreadArguments {
    /// More than share the work of one trace.
    const MAX: usize = 8;
    /// Shorter traces are done before more threads would be of use.
    const MIN_BYTES: u64 = 1 << 20;

    /// How many to use for a trace of that length, if it is known.
    pub(crate) fn count(self, byte_len: Option<u64>) -> NonZeroUsize {
        let is_short = byte_len.is_some_and(|byte_len| byte_len < Self::MIN_BYTES);
        match self.threads {
            Some(threads) => threads,
            None if is_short => NonZeroUsize::MIN,
            None => {
                let available = thread::available_parallelism().map_or(1, NonZeroUsize::get);
                NonZeroUsize::new(available.min(Self::MAX)).unwrap_or(NonZeroUsize::MIN)
            }
        }
    }
}

/// Which waits to consider, and which parts of them.
#[derive(Args, Debug)]
pub(crate) struct WaitArguments {
    #[command(flatten)]
    pub(crate) kinds: KindArguments,

    #[command(flatten)]
    pub(crate) range: RangeArguments,

    #[command(flatten)]
    pub(crate) filter: FilterArguments,
}

impl WaitArguments {
    /// What of the waits of a trace to consider: contention, if nobody says which kinds.
    pub(crate) fn selection(&self, trace: &TraceInput) -> Result<Selection, TraceError> {
        let range = self.range.of(trace)?;
        let kinds = self.kinds.or_contention().kinds();
        Ok(self.filter.selection(range, &[]).of_kinds(kinds))
    }
}

/// Which kinds of waits to consider.
#[derive(Args, Clone, Debug)]
pub(crate) struct KindArguments {
    /// What threads waited for: contention (a lock that another thread held),
    /// conditional (another thread to do something), idle (work), sleep (time)
    /// [default: contention]
    #[arg(
        long,
        value_name = "KIND,...",
        value_delimiter = ',',
        value_parser = kind_parser(),
    )]
    kind: Vec<KindArgument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KindArgument {
    One(WaitKind),
    All,
}

impl KindArguments {
    /// As if the user had asked for waits of this kind.
    pub(crate) fn only(kind: WaitKind) -> Self {
        Self {
            kind: vec![KindArgument::One(kind)],
        }
    }

    /// What the user asks for, who has perhaps not said anything.
    pub(crate) fn or_contention(&self) -> Self {
        if self.is_default() {
            Self::only(WaitKind::Contention)
        } else {
            self.clone()
        }
    }

    /// The user has not said anything.
    pub(crate) fn is_default(&self) -> bool {
        self.kind.is_empty()
    }

    /// The kinds wanted.
    pub(crate) fn kinds(&self) -> Vec<WaitKind> {
        let kinds = WaitKind::ALL.into_iter();
        kinds.filter(|&kind| self.contains(kind)).collect()
    }

    /// Waits of this kind are wanted.
    pub(crate) fn contains(&self, waiting: WaitKind) -> bool {
        let wanted = [KindArgument::All, KindArgument::One(waiting)];
        self.kind.iter().any(|kind| wanted.contains(kind))
    }
}

#[derive(Args, Debug)]
#[command(after_long_help = PATTERNS)]
pub(crate) struct ContentionsArguments {
    /// Trace files, pipes, or - for standard input
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    /// Show so many of the longest waits in a table
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) top: u32,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = ContentionsFormat::Jsonl)]
    pub(crate) format: ContentionsFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ContentionsFormat {
    /// The longest waits for people, each with those who made it last
    Table,
    /// A JSON object a line for each part of a wait
    Jsonl,
    /// Comma-separated values
    Csv,
}

/// What `locks` and `threads` have in common.
#[derive(Args, Debug)]
pub(crate) struct FiguresArguments {
    /// Trace files, pipes, or - for standard input; same names in several are added up
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Show at most N rows, 0 for all [default: 20 in a table, else 0]
    #[arg(long, value_name = "N")]
    pub(crate) top: Option<usize>,

    /// Show all columns in a table
    #[arg(long)]
    pub(crate) wide: bool,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = FiguresFormat::Table)]
    pub(crate) format: FiguresFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FiguresFormat {
    /// A table for people
    Table,
    /// One JSON object
    Json,
    /// Comma-separated values
    Csv,
}

const FIGURES_COLUMNS: &str = "\
Columns:
  Blocked    how long threads waited, all waits together
  Waits      how many waits that were; Shortest, Mean, Deviation (standard), Median, 95 % and 99 %
             (so many waits were at most as long, to 3 percent) and Longest are of these
  Free       how much of the time nobody held the lock: woken threads were not running yet
  Unknown    how much of the time the owner is not known
  Holds      how often the lock was released (of a thread: how often it released one) while others
             waited for it, whichever waits are selected; Mean hold, Longest hold and so on are of
             these, from the acquisition on, but for the Untimed ones: the trace does not tell when
             they began, mostly because nobody waited then. Of the Averaged ones it has means only
A wait of which --from, --to or a filter leaves a part counts as long as that.";

const LOCKS_COLUMNS: &str = "\
  Waiting    how many threads waited for the lock
  Owning     how many owned it meanwhile (of --kind conditional: how many ended the waits)";

const THREADS_COLUMNS: &str = "\
  Locks      how many locks the thread waited for
  Owners     how many threads owned them meanwhile
  Caused     how long others waited while the thread owned the lock: Parts of so many waits; Mean
             part and Longest part are of these
  Blocking   how many threads these were";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{FIGURES_COLUMNS}\n{LOCKS_COLUMNS}"))]
pub(crate) struct LocksArguments {
    #[command(flatten)]
    pub(crate) figures: FiguresArguments,

    /// The column to sort by, as JSON calls it: most first
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = "blocked_ns",
        value_parser = PossibleValuesParser::new(crate::figures::lock_keys()),
    )]
    pub(crate) sort: String,
}

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{FIGURES_COLUMNS}\n{THREADS_COLUMNS}"))]
pub(crate) struct ThreadsArguments {
    #[command(flatten)]
    pub(crate) figures: FiguresArguments,

    /// The column to sort by, as JSON calls it: most first
    #[arg(
        long,
        value_name = "COLUMN",
        default_value = "blocked_ns",
        value_parser = PossibleValuesParser::new(crate::figures::thread_keys()),
    )]
    pub(crate) sort: String,
}

const LOCK_ORDER_NOTES: &str = "\
A thread that owns one lock and waits for another one has nested them. The trace tells of
those nestings that held others up: while somebody waited for the outer lock and its owner for
the inner one. Where locks were nested in both orders, or in a longer circle, threads can
deadlock, unless they all own yet another lock meanwhile: that is an inversion, and how close
in time the orders were says how near the program came to it.";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{LOCK_ORDER_NOTES}"))]
pub(crate) struct LockOrderArguments {
    #[command(flatten)]
    pub(crate) common: StructureArguments,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,
}

/// What `lock-order`, `convoys` and `what-if` have in common.
#[derive(Args, Debug)]
pub(crate) struct StructureArguments {
    /// Trace file, pipe, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// Show at most N rows in a table, 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = StructureFormat::Table)]
    pub(crate) format: StructureFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StructureFormat {
    /// A text for people
    Table,
    /// One JSON object
    Json,
}

const CONVOYS_NOTES: &str = "\
A convoy: threads acquire a lock one after the other, and there is no moment at which nobody waits
for it, while so many waits end; Largest is the most waits in one of them, of so many Threads. Most of the time goes into waking threads, so shorter holds
help less than fewer of them.

A thread is woken for nothing if it waits again at once: in await of a condition of
java.util.concurrent it releases the lock and so wakes the next one. Several of them, one woken by
the other, are a stampede, as signalAll causes where signal would do. The last one of each wakes
nobody and is not counted, and a thread that leaves the lock and soon comes back to wait may be.
Of Object.wait the trace has neither the call nor the notification: After wait says how
long threads that came back from it were blocked.";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{CONVOYS_NOTES}"))]
pub(crate) struct ConvoysArguments {
    #[command(flatten)]
    pub(crate) common: StructureArguments,

    /// A queue that drains after fewer waits is no convoy
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) min_waits: u64,

    #[command(flatten)]
    pub(crate) range: RangeArguments,

    #[command(flatten)]
    pub(crate) filter: FilterArguments,
}

const WHAT_IF_NOTES: &str = "\
Changes:
  removed     the lock is not needed any more; what it guarded runs in parallel
  holds=F     what is done while it is held takes F times as long: 0.5 half of it
  split=N     N locks in its place, one for each part of its keys; keys are used equally often
  fair        who came first gets it first
  unfair      who comes while it is free takes it, whoever waits
  read-write  code that only reads (--readers) shares it

A replay keeps each thread's own work and its order, and changes the lock. It is done several times,
each with other assumptions about what a trace does not tell; the prediction lies between them. Of
other locks the trace has only the holds for which somebody waited: that they are held each time a
thread goes on by itself is one of the assumptions. A lock that nobody waited for is not
in the trace: where threads meet at one once they do not wait any more, more is left than
predicted, and at most what is said in the note.";

#[derive(Args, Debug)]
#[command(
    after_long_help = format!("{PATTERNS}\n\n{WHAT_IF_NOTES}"),
    group = clap::ArgGroup::new("changed").required(true).multiple(true).args(["lock_class", "lock"])
)]
pub(crate) struct WhatIfArguments {
    #[command(flatten)]
    pub(crate) common: StructureArguments,

    /// What to change
    #[arg(long, value_name = "CHANGE")]
    pub(crate) change: LockChange,

    /// Change all locks of this class
    #[arg(long, value_name = "PATTERN")]
    pub(crate) lock_class: Vec<Pattern>,

    /// Change this lock, as reports name it: demo.Ledger@1f32
    #[arg(long, value_name = "PATTERN")]
    pub(crate) lock: Vec<Pattern>,

    /// Change only the holds of such a method: class and name as in a report
    #[arg(long, value_name = "PATTERN")]
    pub(crate) owner_method: Vec<Pattern>,

    /// Code that acquires the lock only to read: class and name of a method on the call chain
    #[arg(long, value_name = "PATTERN", required_if_eq("change", "read-write"))]
    pub(crate) readers: Vec<Pattern>,

    /// How many processors the program had, where the trace does not tell
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) processors: Option<u64>,

    #[command(flatten)]
    pub(crate) range: RangeArguments,
}

#[derive(Args, Debug)]
pub(crate) struct ModelArguments {
    /// Trace files, or processes that write one; several are shown as one
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Packages and classes that are no caller, nor what is in them
    #[arg(long, value_name = "PREFIX,...", value_delimiter = ',')]
    pub(crate) library: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct IndexArguments {
    /// Keep an index of a trace of less than 64 MB, too
    #[arg(long)]
    index: bool,

    /// Neither read nor write TRACE.idx, which has what was read of a trace from 64 MB on
    #[arg(long, conflicts_with = "index")]
    no_index: bool,
}

impl IndexArguments {
    /// Which traces have an index.
    pub(crate) fn use_of(&self) -> IndexUse {
        match (self.index, self.no_index) {
            (_, true) => IndexUse::Never,
            (true, _) => IndexUse::Always,
            _ => IndexUse::OfLarge,
        }
    }
}

#[derive(Args, Debug)]
#[command(after_long_help = SUMMARY_NOTES)]
pub(crate) struct SummaryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = SummaryFormat::Text)]
    pub(crate) format: SummaryFormat,
}

const SUMMARY_NOTES: &str = "\
At most five findings, deadlocks first, then those that would save most. Each is of a pattern:
  deadlock                 threads block each other for good
  long-hold                a lock is held for long
  many-short-holds         it is held for short times, but so often that others have to queue
  convoy                   the same, and most of the time goes into waking the next thread
  one-global-lock          one lock object serializes many methods
  many-locks-of-one-class  the lock is divided already
  notify-storm             threads woken from Object.wait queue up for the lock again
  writer-behind-readers    readers hold the lock together while a writer waits
  taking-turns             threads park until others like them, which park too, unpark them
  pool-too-small           threads wait until others like them give something back
  class-initialization     threads wait for a static initializer

What a finding saves is by how much threads would wait less for all locks if its code held the lock
for no time, by replays of the trace (see what-if): at most, on average and at least of them. It is
not told of what is no lock, and of several traces.

The wall time of a finding is that in which anybody waited in one of its waits, times the share that
its code had of them.

Waiting for another thread or for a pool counts where it is more than that for locks. Idle workers do not.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SummaryFormat {
    /// Sentences for people
    Text,
    /// One JSON object
    Json,
}

const DIFF_NOTES: &str = "\
Blocked time is compared per second of the run, which is how many threads were blocked on average, or
per unit of work. A row is the same on both sides if its classes and methods are called alike.

The interval says where the difference lies with a probability of 95 %, by how much the runs
themselves vary from one moment to the next. With one run on a side, what runs differ by from start
to start is not in it: give several, if you can. A row is marked (more, less) only if so large a
difference is beyond chance among all rows compared.

In a build, where two more runs of each side stand behind the first:

  locktrace diff before-1.lct after-1.lct --before before-2.lct --before before-3.lct \\
    --after after-2.lct --after after-3.lct --from 10s --fail-above 20%";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{PATTERNS}\n\n{DIFF_NOTES}"))]
pub(crate) struct DiffArguments {
    /// Trace from before the change
    #[arg(value_name = "BEFORE")]
    pub(crate) first_before: PathBuf,

    /// Trace from after the change
    #[arg(value_name = "AFTER")]
    pub(crate) first_after: PathBuf,

    /// One more run from before the change
    #[arg(long = "before", value_name = "TRACE")]
    pub(crate) more_before: Vec<PathBuf>,

    /// One more run from after the change
    #[arg(long = "after", value_name = "TRACE")]
    pub(crate) more_after: Vec<PathBuf>,

    /// How to tell contentions apart: what has the same aspects is one row
    #[arg(
        long,
        value_name = "ASPECT,...",
        value_delimiter = ',',
        default_value = "lock-class,owner-method",
        value_parser = direct_aspect_parser(),
    )]
    pub(crate) by: Vec<Aspect>,

    /// Divide by the number of waits of methods that match PATTERN, such as those of a worker for
    /// its next task, in place of seconds. These are of any kind, and not filtered
    #[arg(long, value_name = "waits-of=PATTERN", value_parser = parse_unit)]
    pub(crate) per: Option<Pattern>,

    /// Divide by so many units of work, done in all runs of a side: one number for both sides, or
    /// BEFORE,AFTER
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        num_args = 1,
        conflicts_with = "per",
        value_parser = parse_work,
    )]
    pub(crate) work: Vec<f64>,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Compare the N rows that differ most, 0 for all
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,

    /// Exit with code 5 if the blocked time grew by more than P percent, or a row by more than P
    /// percent of all blocked time before, beyond what chance explains
    #[arg(long, value_name = "P", value_parser = parse_growth)]
    pub(crate) fail_above: Option<f64>,

    /// Packages and classes that are no caller, nor what is in them
    #[arg(long, value_name = "PREFIX,...", value_delimiter = ',')]
    pub(crate) library: Vec<String>,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    pub(crate) format: DiffFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// A table for people
    Text,
    /// A table for a pull request
    Markdown,
    /// One JSON object
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct ViewArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    #[command(flatten)]
    pub(crate) index: IndexArguments,

    /// Compare the first trace with the others
    #[arg(long)]
    pub(crate) compare: bool,

    /// Write one HTML file that needs no server, and end
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "no_open", "source", "no_follow"])]
    pub(crate) export: Option<PathBuf>,

    /// Of a trace that a JVM is writing, show what there is now; else the page grows with it
    #[arg(long)]
    pub(crate) no_follow: bool,

    /// Show source code that is below this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,

    /// Port on 127.0.0.1; 0 for any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) port: u16,

    /// Only print the address
    #[arg(long)]
    pub(crate) no_open: bool,
}

#[derive(Args, Debug)]
#[command(after_long_help = "\
Questions and answers are described in docs/viewer-api.md. For example, who held which locks in
the second second of the trace:

  locktrace query trace.lct \\
    --json '{\"selection\": {\"from_ns\": 1e9, \"to_ns\": 2e9}, \"by\": [\"lock-class\", \"owner-method\"]}'")]
pub(crate) struct QueryArguments {
    #[command(flatten)]
    pub(crate) model: ModelArguments,

    #[command(flatten)]
    pub(crate) index: IndexArguments,

    /// What to ask for
    #[arg(long, value_enum, default_value_t = Topic::Query, value_name = "TOPIC")]
    pub(crate) ask: Topic,

    /// The question as JSON; - reads it from standard input
    #[arg(long, value_name = "QUESTION", default_value = "{}")]
    pub(crate) json: String,

    /// Fold the shortest waits until ROWS waits and owners of waits are left, and answer as an
    /// exported file of that size does
    #[arg(long, value_name = "ROWS")]
    pub(crate) fold_to: Option<usize>,
}

/// What a question is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub(crate) enum Topic {
    /// Groups by aspects
    Query,
    /// Traces, totals, findings and deadlocks
    Model,
    /// How long waits are
    Histogram,
    /// Single waits
    Waits,
    /// One wait, as {"id": N}
    Wait,
    /// A timeline by lock or by thread
    Lanes,
    /// The whole model, as in an exported file
    Embedded,
}

#[derive(Args, Debug)]
#[command(after_help = "\
Options of the agent, separated by commas or spaces:
  file=PATH        the trace; %p is the process id, %t the time; default locktrace-%p.lct, here
  duration=TIME    end the trace after 30 (seconds), 30s, 5m or 2h
  chains=FRAMES    record at most so many frames of a call chain
  sample=PERCENT   record only a sample of the call chains as a whole while the agent takes more of
                   a processor's time than this
  include=PACKAGE  change code of this package or class only, to tell of its releases
  exclude=PACKAGE  leave the code of this package or class as it is

Examples:
  locktrace attach 4711 -- file=app.lct duration=1m
  locktrace top 4711
  locktrace detach 4711")]
pub(crate) struct AttachArguments {
    #[command(flatten)]
    pub(crate) agent: AgentArguments,

    /// Options of the agent
    #[arg(last = true, value_name = "OPTION")]
    pub(crate) options: Vec<String>,
}

#[derive(Args, Debug)]
pub(crate) struct DetachArguments {
    #[command(flatten)]
    pub(crate) agent: AgentArguments,
}

/// Which agent, and where.
#[derive(Args, Debug)]
pub(crate) struct AgentArguments {
    /// The process id of the JVM
    #[arg(value_name = "PID")]
    pub(crate) pid: u32,

    /// The agent's library; otherwise it is looked for beside this program
    #[arg(long, value_name = "LIBRARY")]
    pub(crate) agent: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct StatArguments {
    /// Trace files, pipes, or - for standard input
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = StatFormat::Table)]
    pub(crate) format: StatFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatFormat {
    /// Tables for people
    Table,
    /// One JSON object
    Json,
}

#[derive(Args, Debug)]
pub(crate) struct DumpArguments {
    /// Trace file, pipe, or - for standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,

    /// Events without a time are left out where a part of the time is wanted
    #[command(flatten)]
    pub(crate) range: RangeArguments,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    /// Form of the output
    #[arg(long, value_enum, default_value_t = DumpFormat::Text)]
    pub(crate) format: DumpFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DumpFormat {
    /// A line for each event
    Text,
    /// A JSON object a line
    Jsonl,
}

const TOP_NOTES: &str = "\
Upper table: the threads that wait for a lock, with the owner, the owner that this one waits for,
and so on to the last one. It is as of the moment until which the trace is complete, less than about
a second ago. Lower table: the time that threads were blocked lately, by the class of the lock and
the method that held it; of a wait that is not over, that is told when it ends.

Of a trace that has ended, the upper table has the threads that were still blocked, and the lower
one the last seconds, or all of it.

Keys: ? shows them. NO_COLOR in the environment leaves colours out.";

#[derive(Args, Debug)]
#[command(after_long_help = TOP_NOTES)]
pub(crate) struct TopArguments {
    /// JVM, trace that is being written or has ended, pipe, or - for standard input
    #[arg(value_name = "PID|TRACE")]
    pub(crate) target: PathBuf,

    #[command(flatten)]
    pub(crate) kinds: KindArguments,

    /// Where the trace goes if the JVM has to be told to start one [default: a temporary file]
    #[arg(long, value_name = "FILE")]
    pub(crate) trace_file: Option<PathBuf>,

    /// Show something new once in so many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    pub(crate) interval: Duration,

    /// Print plain tables, and end when the trace does
    #[arg(long)]
    pub(crate) batch: bool,

    /// End after so many tables
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        requires = "batch",
        value_parser = clap::value_parser!(u64).range(1..),
    )]
    pub(crate) number: Option<u64>,
}

const METRICS_NOTES: &str = "\
Families, all since tracing began:
  locktrace_blocked_seconds_total      by kind, lock_class and owner_method; the sum is the report's
  locktrace_owner_waits_total          the same; a wait with several owners counts for each
  locktrace_waits_total                by kind and lock_class, each wait once
  locktrace_longest_wait_seconds       by kind and lock_class
  locktrace_threads_blocked            when the trace ended, or as far as it is written
  locktrace_deadlocks                  the same
  locktrace_trace_duration_seconds, locktrace_trace_complete, locktrace_lost_events_total,
  locktrace_trace_start_time_seconds   about the trace

What has no series of its own is called other; sums over all series are those over everything. Every
series has the label pid, so that those of several applications can be in one folder. As
node_exporter's textfile collector reads it:

  locktrace metrics app.lct --format prometheus -o /var/lib/node_exporter/textfile/app.prom";

/// So many series of a family of metrics, unless somebody says how many.
pub(crate) const DEFAULT_SERIES: usize = 100;

#[derive(Args, Debug)]
#[command(after_long_help = METRICS_NOTES)]
pub(crate) struct MetricsArguments {
    /// JVM that writes a trace, trace file, pipe, or - for standard input
    #[arg(value_name = "PID|TRACE")]
    pub(crate) target: PathBuf,

    #[command(flatten)]
    pub(crate) waits: WaitArguments,

    /// Format of the output
    #[arg(long, value_enum, default_value_t = MetricsFormat::Openmetrics)]
    pub(crate) format: MetricsFormat,

    /// Put a label on every series, as often as given. There is one already, pid, the process; --label pid=VALUE
    /// takes its place, and --label pid= leaves it out
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(crate) labels: Vec<Label>,

    /// At most so many series of a family, those with the longest times, beside the others
    #[arg(long, value_name = "N", default_value_t = DEFAULT_SERIES)]
    pub(crate) series: usize,

    /// Write to a file, in one step: whoever reads it never sees half of it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricsFormat {
    /// OpenMetrics text, as Prometheus asks for
    Openmetrics,
    /// The older text format, for node_exporter's textfile collector and promtool
    Prometheus,
}

const EXPORT_NOTES: &str = "\
Formats:
  collapsed  a line for each call chain, outermost frame first, and the nanoseconds that threads
             waited: for inferno, speedscope and other tools for flame graphs
  pprof      a profile, compressed: go tool pprof, speedscope. Each sample counts contentions and
             has their delay; its labels are thread.name, lock.class, lock.owner_thread,
             lock.waiting_thread and lock.wait_kind
  parquet    tables for DuckDB, Spark, pandas: waits, blame (what each owner had of each wait),
             threads, locks, chains, methods, runs. -o is a directory, for the runs of many hosts
  perfetto   a trace for Perfetto's page and trace processor: the waits on tracks of threads, who
             had the locks on tracks of locks, and arrows from owners to those who waited
  firefox    a profile for the Firefox Profiler, as JSON: of each thread its waits as markers, and
             as samples the code with which it made others wait, for so many microseconds
  jfr        a recording for JDK Mission Control and jfr: waits as jdk.JavaMonitorEnter and
             jdk.ThreadPark, and locktrace.Blame for each part of a wait, with the owner's stack
  otlp       profiles for OpenTelemetry, as the message ProfilesData of v1development: of each trace
             one of delays and one of contentions
  openmetrics
             the families of locktrace metrics, over all traces together, as text for Prometheus
  prometheus
             the same in the older text format, for node_exporter's textfile collector

  locktrace export --to collapsed trace.lct | inferno-flamegraph --countname ns > owners.svg
  locktrace export --to pprof trace.lct -o owners.pb.gz && go tool pprof -top owners.pb.gz
  locktrace export --to parquet --kind all trace.lct -o runs
  locktrace export --to perfetto --from 10s --to 20s trace.lct -o trace.pftrace
  duckdb -c \"select owner_method, sum(duration_ns) from 'runs/blame/*/*/*/*.parquet' group by all\"

Of owners, the call chain is the one at the release of the lock, and the sum is what report calls
Blocked. Where no owner is known, a frame in angle brackets says why. In Go's terms, owners are a
profile of mutexes, waiters one of blocking.";

#[derive(Args, Debug)]
#[command(after_long_help = format!("{EXPORT_NOTES}\n\n{PATTERNS}"))]
pub(crate) struct ExportArguments {
    /// Trace files, pipes, or - for standard input; several are added up, or a run each in tables
    #[arg(required = true, value_name = "TRACE")]
    pub(crate) traces: Vec<PathBuf>,

    /// Format of the output. Given once more, the time until which to export, as that of other
    /// commands: --to pprof --from 10s --to 20s
    #[arg(
        long,
        required = true,
        allow_hyphen_values = true,
        value_name = "FORMAT|TIME",
        value_parser = ExportToParser,
    )]
    to: Vec<ExportTo>,

    /// Leave out what happened before: a time since the trace's start (10s, 1m30s), before
    /// its end (-5s), or of the clock in UTC (2026-11-22 17:00:00)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = parse_time)]
    from: Option<Time>,

    /// Whose call chains, for collapsed, pprof and otlp [default: owners]
    #[arg(long, value_enum)]
    pub(crate) stacks: Option<ExportStacks>,

    /// Tell apart the lines of a method in collapsed call chains; pprof and otlp always do
    #[arg(long)]
    pub(crate) lines: bool,

    #[command(flatten)]
    pub(crate) origin: OriginArguments,

    /// At most so many series of a family in openmetrics and prometheus, those with the longest times,
    /// beside the others [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) series: Option<usize>,

    /// Put a label on every series of openmetrics and prometheus, as often as given. There is one already, pid, the
    /// processes; --label pid=VALUE takes its place, and --label pid= leaves it out
    #[arg(long = "label", value_name = "NAME=VALUE")]
    pub(crate) labels: Vec<Label>,

    #[command(flatten)]
    pub(crate) kinds: KindArguments,

    #[command(flatten)]
    pub(crate) filter: FilterArguments,

    #[command(flatten)]
    pub(crate) redact: RedactArguments,

    /// Write to a file, in one step, instead of to standard output; tables to a directory, or to an
    /// object store: s3://BUCKET/PREFIX, with the environment's credentials (AWS_ACCESS_KEY_ID, ...)
    #[arg(short, long, value_name = "FILE|DIRECTORY|URL")]
    pub(crate) output: Option<PathBuf>,

    /// Read on while the file grows, until the trace ends or the JVM does
    #[arg(long)]
    pub(crate) follow: bool,

    #[command(flatten)]
    pub(crate) threads: ThreadArguments,
}

impl ExportArguments {
    /// The format, and which waits to export.
    pub(crate) fn format_and_waits(&self) -> Result<(ExportFormat, WaitArguments), UsageError> {
        let (mut format, mut until) = (None, None);
        for to in &self.to {
            let is_first = match *to {
                ExportTo::Format(given) => format.replace(given).is_none(),
                ExportTo::Time(given) => until.replace(given).is_none(),
            };
            if !is_first {
                return Err(UsageError("--to takes one format and at most one time"));
            }
        }
        let format = format.ok_or(UsageError("--to FORMAT is missing: --to TIME is the end"))?;
        let waits = WaitArguments {
            kinds: self.kinds.clone(),
            range: RangeArguments::new(self.from, until),
            filter: self.filter.clone(),
        };
        Ok((format, waits))
    }
}

/// Which names not to tell.
#[derive(Args, Debug)]
pub(crate) struct RedactArguments {
    /// Tell hashes instead of names: of threads; of the packages of classes; of whole classes. All but
    /// the JDK's, or those that begin with PREFIX
    #[arg(
        long = "redact",
        value_name = "threads|packages[=PREFIX]|classes[=PREFIX]",
        value_parser = Rule::parse,
    )]
    pub(crate) rules: Vec<Rule>,

    /// A file with the key of the hashes, 16 bytes at least: with the same key, the same names have the
    /// same hashes [default: a random key that is not kept]
    #[arg(long, value_name = "FILE", requires = "rules", value_hint = ValueHint::FilePath)]
    pub(crate) redact_key: Option<PathBuf>,
}

impl RedactArguments {
    /// What to do with names.
    pub(crate) fn redaction(&self) -> Result<Redaction, KeyError> {
        Redaction::new(&self.rules, self.redact_key.as_deref())
    }
}

const COLLECT_NOTES: &str = "\
A trace has ended if it says so; one whose JVM was killed, if it has not changed for ten minutes and
no process has it open for writing. Others are left alone, as are copies that a JVM made of a trace
that went on. All tables are written before the first trace is deleted; those of the same trace take
the place of the old ones, unless these have more of it: a part of a trace, as a copy that was torn,
does not replace the whole.

Such a part, and a file that holds no trace (it is empty, or cut in its header, or something else),
is set aside: FILE.lct is called FILE.lct.aside then, and is not looked at again.

Prints one line, and writes a file for each folder into OUT/watermarks/host=HOST, whose
complete_until says that all traces of the folder that began before are in the tables. It stays
where it is while a trace cannot be read. If another one collects the folder already, there is
nothing to do. What one that was killed has left in OUT is removed.

  */10 * * * *  locktrace collect --kind all /var/log/traces -o /mnt/runs";

/// Where traces come from, for tables over many hosts.
#[derive(Clone, Debug, Args)]
pub(crate) struct OriginArguments {
    /// Name of the host in tables [default: that of this machine]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    host: Option<String>,

    /// Version of the application in tables
    #[arg(long, value_name = "VERSION", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) release: Option<String>,

    /// Also the table nestings: which locks were owned while others were waited for. Takes
    /// several times as long
    #[arg(long)]
    pub(crate) nestings: bool,
}

impl OriginArguments {
    /// One of the options was given.
    pub(crate) fn is_told(&self) -> bool {
        self.host.is_some() || self.release.is_some() || self.nestings
    }

    /// What the machine is called.
    pub(crate) fn host(&self) -> String {
        let this_host = || {
            let name = rustix::system::uname();
            name.nodename().to_string_lossy().into_owned()
        };
        self.host.clone().unwrap_or_else(this_host)
    }
}

#[derive(Args, Debug)]
#[command(after_long_help = COLLECT_NOTES)]
pub(crate) struct CollectArguments {
    /// The folder; traces are its files that are called *.lct
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,

    /// The directory of the tables, for the runs of many hosts, or an object store:
    /// s3://BUCKET/PREFIX, with the environment's credentials (AWS_ACCESS_KEY_ID, ...)
    #[arg(short, long, value_name = "OUT|URL", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,

    /// Leave the traces where they are
    #[arg(long)]
    pub(crate) keep: bool,

    #[command(flatten)]
    pub(crate) redact: RedactArguments,

    #[command(flatten)]
    pub(crate) origin: OriginArguments,

    #[command(flatten)]
    pub(crate) kinds: KindArguments,
}

/// What `--to` means in an export. No format is called like a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExportTo {
    Format(ExportFormat),
    Time(Time),
}

/// Reads [`ExportTo`], and tells completion scripts the formats.
#[derive(Clone, Debug)]
struct ExportToParser;

impl TypedValueParser for ExportToParser {
    type Value = ExportTo;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<ExportTo, clap::Error> {
        let text = value.to_string_lossy();
        if let Ok(time) = parse_time(&text) {
            return Ok(ExportTo::Time(time));
        }
        let format = EnumValueParser::new().parse_ref(command, argument, value)?;
        Ok(ExportTo::Format(format))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let formats = ExportFormat::value_variants().iter();
        Some(Box::new(formats.filter_map(ValueEnum::to_possible_value)))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Text for flame graphs
    Collapsed,
    /// A profile for Go's pprof
    Pprof,
    /// Tables for DuckDB, Spark, pandas
    Parquet,
    /// A trace for Perfetto
    Perfetto,
    /// A profile for the Firefox Profiler
    Firefox,
    /// A recording for JDK Mission Control and jfr
    Jfr,
    /// Sums for Prometheus, as text
    Openmetrics,
    /// The same in the older format, for node_exporter
    Prometheus,
    /// Profiles for OpenTelemetry
    Otlp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportStacks {
    /// Of the code that held the locks
    Owners,
    /// Of the code that waited
    Waiters,
    /// The owner's, the lock, and on it the waiter's upside down
    ChainGraph,
}

/// All but those of root owners.
fn direct_aspect_parser() -> impl TypedValueParser<Value = Aspect> {
    let names = Aspect::DIRECT.map(Aspect::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Aspect>())
}

fn aspect_parser() -> impl TypedValueParser<Value = Aspect> {
    PossibleValuesParser::new(Aspect::ALL.map(Aspect::name)).try_map(|name| name.parse::<Aspect>())
}

fn kind_parser() -> impl TypedValueParser<Value = KindArgument> {
    let names = WaitKind::ALL.map(WaitKind::name).into_iter().chain(["all"]);
    PossibleValuesParser::new(names).map(|name| {
        let kind = WaitKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.map_or(KindArgument::All, KindArgument::One)
    })
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.parse() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("expected a number from 0 to 100".to_owned()),
    }
}

/// A growth as a share; it may be beyond all that there was.
fn parse_growth(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text);
    match number.trim_end().parse::<f64>() {
        Ok(percent) if percent >= 0.0 && percent.is_finite() => Ok(percent / 100.0),
        _ => Err("expected a percentage, as 20%".to_owned()),
    }
}

fn parse_unit(text: &str) -> Result<Pattern, String> {
    let Some(pattern) = text.strip_prefix("waits-of=") else {
        return Err("expected waits-of=PATTERN".to_owned());
    };
    pattern
        .parse()
        .map_err(|error: trace_analysis::InvalidPattern| error.to_string())
}

fn parse_work(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(units) if units > 0.0 && units.is_finite() => Ok(units),
        _ => Err("expected a number above 0".to_owned()),
    }
}

fn parse_interval(text: &str) -> Result<Duration, String> {
    const SECONDS: std::ops::RangeInclusive<f64> = 0.1..=3600.0;
    match text.parse() {
        Ok(seconds) if SECONDS.contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err("expected a number of seconds from 0.1 to 3600".to_owned()),
    }
}
