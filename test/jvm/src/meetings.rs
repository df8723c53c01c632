//! The expected trace of a thread that meets its contender: see `scenarios/Contender.java` and
//! `scenarios/Waiters.java`.

use std::cell::OnceCell;
use std::fmt;
use std::fs;

use trace_analysis::{ChainIndex, Entities, Owner, TraceSummary};
use trace_format::Counter;

use crate::cases::check_each;
use crate::compile_mode::CompileMode;
use crate::expectation::line_of;
use crate::jvm::{Jvm, Run};
use crate::programs::Programs;
use crate::return_barriers::ReturnBarriers;
use crate::setting::{Setting, is_nightly};
use crate::summary::{analyze, check_sound};

/// Flags for programs that decide themselves how which method is executed.
const FLAGS: [&str; 7] = [
    "-XX:CompileCommand=quiet",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:+WhiteBoxAPI",
    // However often code is thrown away, it is compiled again.
    "-XX:PerMethodRecompilationCutoff=1000000",
    // Every exception has a stack trace, in compiled code, too.
    "-XX:-OmitStackTraceInFastThrow",
    // Reflection calls through native code however often.
    "-Dsun.reflect.inflationThreshold=2147483647",
    "-Xmx64m",
];

/// Runs a program on stacks that are has_barriers and verified, in every setting, and
/// once each on stacks without verification, and without return barriers. The lines that begin with one of `same`
/// must always be the same.
pub fn check_with_barriers(
    program: &[&str],
    flags: &[&str],
    same: &[&str],
    check: impl Fn(CompileMode, &Run),
) {
    assert!(
        !ReturnBarriers::Verified.flags().is_empty(),
        "the JVM has no flags LockContentionReturnBarriers and LockContentionVerifyReturnBarriers"
    );
    let mut settings = Setting::rotated(&program.join(" "));
    // Compiling before the first call takes longer here than all the rest.
    settings.retain(|setting| is_nightly() || setting.mode != CompileMode::Eager);
    let usual = settings[settings.len() / 2];
    let others = [(ReturnBarriers::Off, usual), (ReturnBarriers::On, usual)];
    let verified = settings
        .into_iter()
        .map(|setting| (ReturnBarriers::Verified, setting));
    let expected = OnceCell::new();
    check_each(
        others.into_iter().chain(verified),
        |&(barriers, setting)| {
            let (run, _) = run_with_barriers(program, flags, barriers, setting);
            check(setting.mode, &run);
            let results = lines_with(same, &run);
            assert!(!results.is_empty(), "{}", run.describe());
            assert_eq!(expected.get_or_init(|| results.clone()), &results);
        },
    );
}

/// Runs a program in one setting, and returns what its sound trace says. Panics unless waits are where the program
/// says, and stacks had return barriers or not as demanded.
pub fn run_with_barriers(
    program: &[&str],
    flags: &[&str],
    barriers: ReturnBarriers,
    setting: Setting,
) -> (Run, TraceSummary) {
    let run = Jvm::traced(program)
        .flags(barriers.flags())
        .flags(setting.flags())
        .flags(FLAGS)
        .flags([boot_class_path()])
        .flags(flags)
        .run();
    let summary = check_meetings(&run);
    check_barriers(barriers, &run, &summary);
    (run, summary)
}

/// The flag that adds the classes for `Compilation.java`.
pub fn boot_class_path() -> String {
    let classes = Programs::compiled().boot_classes();
    format!("-Xbootclasspath/a:{}", classes.display())
}

fn lines_with(words: &[&str], run: &Run) -> Vec<String> {
    let lines = run.stdout.lines();
    let wanted = lines.filter(|line| words.contains(&line.split(' ').next().unwrap_or_default()));
    wanted.map(str::to_owned).collect()
}

/// Stacks were has_barriers, or not, and the JVM did not crash on its way out.
fn check_barriers(barriers: ReturnBarriers, run: &Run, summary: &TraceSummary) {
    let saved = summary.tracer_value(Counter::FramesSaved).unwrap_or(0);
    let has_barriers = barriers != ReturnBarriers::Off;
    assert_eq!(
        saved > 0,
        has_barriers,
        "{saved} frames saved by {barriers:?}"
    );

    let entries = fs::read_dir(run.directory()).expect("the run had a directory");
    for entry in entries {
        let name = entry.expect("the directory is readable").file_name();
        let is_error_log = name.to_string_lossy().starts_with("hs_err");
        assert!(!is_error_log, "{name:?}: {}", run.describe());
    }
}

/// The waits at the meetings of a program are where it says. Returns what the
/// sound trace says besides.
pub fn check_meetings(run: &Run) -> TraceSummary {
    let mut at_meetings = Vec::new();
    let mut of_waiters = Vec::new();
    // Not through JSON: of stacks a thousand frames deep that are gigabytes.
    let summary = analyze(&run.trace(), |wait, entities| {
        let class = entities
            .lock_class(wait.lock)
            .map(|class| entities.class_name(class));
        let seen = || SeenWait::of(wait, entities);
        if class == Some("scenarios.Contender$Point") {
            at_meetings.push(seen());
        } else if entities.thread(wait.thread).name.starts_with("waiter-") {
            of_waiters.push(seen());
        }
    });
    let summary = summary.unwrap_or_else(|error| panic!("{error}"));
    check_sound(&summary);
    at_meetings.sort_by_key(|wait| wait.start_ns);
    check_rival(run, &at_meetings);
    check_waiters(run, &of_waiters);
    summary
}

fn check_rival(run: &Run, waits: &[SeenWait]) {
    let meet = ["wanted", "left"].map(|name| line_of("scenarios.Contender", name));
    let mut met: Vec<_> = run.lines_of("met").collect();
    let (of_rival, of_partner): (Vec<_>, Vec<_>) =
        waits.iter().partition(|wait| wait.thread == "contender");
    assert_eq!(of_partner.len(), met.len(), "one wait for each meeting");
    for (wait, expected) in of_partner.iter().zip(&met) {
        check_stack(
            "scenarios.Contender.meet",
            &meet[..1],
            expected,
            &wait.chain,
        );
    }
    // The owner is unknown where the partner left before the contender was in the
    // queue, so the order is all there is to compare with.
    met.reverse();
    for owner in of_rival.iter().flat_map(|wait| &wait.owners) {
        let expected = std::iter::from_fn(|| met.pop())
            .find(|expected| stack_matches(expected, owner.get(1..).unwrap_or_default()));
        let expected = expected.unwrap_or_else(|| panic!("no meeting was in {owner:?}"));
        check_stack("scenarios.Contender.meet", &meet, &expected, owner);
    }
}

/// The owners that the waiters waited for were where the program says.
fn check_waiters(run: &Run, waits: &[SeenWait]) {
    for left in run.lines_of("left") {
        let (waiter, expected) = left.split_first().expect("a thread and frames");
        let wait = waits.iter().find(|wait| wait.thread == *waiter);
        let wait = wait.unwrap_or_else(|| panic!("no wait of {waiter}"));
        let releasing = format!("{}.call", wait.lock_class);
        for owner in &wait.owners {
            check_stack(&releasing, &[], expected, owner);
        }
    }
}

/// A wait as far as it matters here.
struct SeenWait {
    start_ns: u64,
    thread: String,
    lock_class: String,
    chain: Vec<Place>,
    owners: Vec<Vec<Place>>,
}

impl SeenWait {
    fn of(wait: &trace_analysis::Wait, entities: &Entities) -> Self {
        let owners = wait.contentions.iter().filter_map(|part| match part.owner {
            Owner::Thread { chain, .. } => Some(Place::of_chain(chain, entities)),
            Owner::Free | Owner::Frozen | Owner::Unknown(_) => None,
        });
        let class = entities.lock_class(wait.lock);
        Self {
            start_ns: wait.start_ns,
            thread: entities.thread(wait.thread).name.to_string(),
            lock_class: class
                .map_or("", |class| entities.class_name(class))
                .to_owned(),
            chain: Place::of_chain(wait.chain, entities),
            owners: owners.collect(),
        }
    }
}

/// A frame of a call chain.
struct Place {
    /// Class and method.
    name: String,
    line: i32,
}

impl Place {
    fn of_chain(chain: ChainIndex, entities: &Entities) -> Vec<Place> {
        let frames = entities.chain(chain).frames().iter();
        let places = frames.map(|frame| {
            let method = entities.method(frame.method);
            let class = method.class.map_or("?", |class| entities.class_name(class));
            Place {
                name: format!("{class}.{}", method.name),
                line: frame.line,
            }
        });
        places.collect()
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.line)
    }
}

/// A call chain is one of the method `innermost`, at one of some lines unless
/// there are none, called by `expected`.
fn check_stack(innermost: &str, lines: &[i32], expected: &[&str], chain: &[Place]) {
    let (first, callers) = chain.split_first().expect("the call chain is known");
    let first_matches =
        first.name == innermost && (lines.is_empty() || lines.contains(&first.line));
    assert!(
        first_matches && stack_matches(expected, callers),
        "expected {innermost} at {lines:?} below\n  {expected:#?}\nfound {chain:#?}",
    );
}

/// Compares frames with those that a program wrote as `CLASS.METHOD:LINE`. A
/// program's stack trace may be cut, but only if it is longer than the JVM's
/// limit, and so may be a call chain.
fn stack_matches(expected: &[&str], chain: &[Place]) -> bool {
    const LIMIT: usize = 1_000;
    let is_cut = expected.len().min(chain.len()) >= LIMIT;
    let place_matches = |(expected, place): (&&str, &Place)| {
        let (name, line) = expected.rsplit_once(':').expect("CLASS.METHOD:LINE");
        // Native methods have no lines: negative ones.
        let line = line.parse::<i32>().expect("a number").max(-1);
        name == place.name && line == place.line.max(-1)
    };
    (is_cut || expected.len() == chain.len()) && expected.iter().zip(chain).all(place_matches)
}
