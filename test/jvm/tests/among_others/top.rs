//! `locktrace top` on a program that runs, in a real terminal.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use jvm_tests::{Jdk, Jvm, RunningJvm, jcmd, locktrace, locktrace_program, waits};

/// A terminal in which a command runs, by tmux.
struct Terminal {
    /// A server of our own, so that no other session is touched.
    socket: String,
}

impl Terminal {
    fn start(columns: u16, lines: u16, command: &str) -> Self {
        let socket = format!("locktrace-{}-{columns}", std::process::id());
        let terminal = Self { socket };
        let (columns, lines) = (columns.to_string(), lines.to_string());
        terminal.tmux(&["new-session", "-d", "-x", &columns, "-y", &lines, command]);
        terminal
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.args(["-f", "/dev/null", "-L", &self.socket]);
        command.args(arguments).env_remove("TMUX");
        let output = command.output().expect("tmux is installed");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// The screen, as soon as it has all these texts.
    fn await_screen(&self, texts: &[&str]) -> String {
        // The tracer takes the buffers of idle threads about once a second.
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let screen = self.tmux(&["capture-pane", "-p"]);
            if texts.iter().all(|text| screen.contains(text)) {
                return screen;
            }
            assert!(Instant::now() < deadline, "no {texts:?} in\n{screen}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn await_end(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.tmux(&["list-sessions"]).is_empty() {
            assert!(Instant::now() < deadline, "it does not end");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// The line of the screen that begins with a duration and this thread.
fn line_of<'s>(screen: &'s str, thread: &str) -> &'s str {
    let mut lines = screen.lines();
    let line = lines.find(|line| line.split_whitespace().nth(2) == Some(thread));
    line.unwrap_or_else(|| panic!("no {thread} in\n{screen}"))
}

#[test]
fn a_running_program_in_a_terminal() {
    let mut jvm = Jvm::traced(&["scenarios.BlockedChain"]).start();
    jvm.await_line("blocked");
    let trace = jvm.trace();
    let (program, trace) = (locktrace_program().display(), trace.display());
    for (columns, lines) in [(80, 24), (120, 40)] {
        let command = format!("NO_COLOR=1 '{program}' top '{trace}'");
        let terminal = Terminal::start(columns, lines, &command);
        let screen = terminal.await_screen(&["Blocked now: 2 threads", "middle → root"]);
        assert!(screen.contains("live: "), "{screen}");
        assert!(line_of(&screen, "last").contains("Chain$Inner"), "{screen}");
        assert!(
            line_of(&screen, "middle").contains("Chain$Outer"),
            "{screen}"
        );
        assert!(
            line_of(&screen, "middle").trim_end().ends_with(" root"),
            "{screen}"
        );
        assert_eq!(screen.matches("<wait not over>").count(), 2, "{screen}");
        // In colour there would be escape sequences.
        let escapes = terminal.tmux(&["capture-pane", "-p", "-e"]);
        assert!(
            !escapes.contains("[36m") && !escapes.contains("[33m"),
            "{escapes:?}"
        );

        terminal.press(&["?"]);
        terminal.await_screen(&["any key back"]);
        // Not Escape: with the next key right after it, that is another key.
        terminal.press(&["?"]);
        // Both waits began at nearly the same time, so they are found by name.
        terminal.press(&["/", "l", "a", "s", "t", "Enter", "Tab", "Enter"]);
        terminal.await_screen(&[
            "last has waited for",
            "at scenarios.BlockedChain.wantInner(BlockedChain.java:",
            "held by middle, which waits for",
            "at scenarios.BlockedChain.wantOuter(BlockedChain.java:",
        ]);
        terminal.press(&["Right"]);
        terminal.await_screen(&["2 of 2: held by root"]);
        terminal.press(&["q"]);
        terminal.await_end();
    }

    jvm.send_line();
    let trace = jvm.trace();
    let run = jvm.finish();
    assert!(run.status.success(), "{}", run.describe());
    let batch = locktrace(["top".as_ref(), "--batch".as_ref(), trace.as_os_str()]);
    assert_eq!((batch.code, &*batch.stderr), (0, ""), "{}", batch.stdout);
    let ended = "Blocked when the trace ended: 0 threads\nBlocked in the whole trace, ";
    assert!(batch.stdout.contains(ended), "{}", batch.stdout);
    for owner in ["BlockedChain.run", "BlockedChain.holdInner"] {
        assert!(batch.stdout.contains(owner), "{}", batch.stdout);
    }
}

#[test]
fn plain_tables_while_a_program_runs() {
    let mut jvm = Jvm::traced(&["scenarios.BlockedChain"]).start();
    jvm.await_line("blocked");
    // The threads' events are in the trace a second later.
    thread::sleep(Duration::from_secs(3));
    let trace = jvm.trace();
    let arguments = ["top", "--batch", "-n", "2", "--interval", "1"];
    let arguments = arguments.iter().map(|argument| argument.as_ref());
    let batch = locktrace(arguments.chain([trace.as_os_str()]));
    assert_eq!((batch.code, &*batch.stderr), (0, ""), "{}", batch.stdout);
    assert_eq!(
        batch.stdout.matches("Blocked now: 2 threads").count(),
        2,
        "{}",
        batch.stdout
    );
    assert!(batch.stdout.contains("middle → root"), "{}", batch.stdout);
    jvm.kill();
}

#[test]
fn a_process_stands_for_its_trace() {
    let says = |pid: u32, text: &str| {
        let answer = locktrace(["top".to_owned(), "--batch".to_owned(), pid.to_string()]);
        assert_eq!((answer.code, &*answer.stdout), (3, ""));
        assert!(answer.stderr.contains(text), "{}", answer.stderr);
    };
    let mut jvm = Jvm::traced(&["scenarios.BlockedChain"]).start();
    jvm.await_line("blocked");
    thread::sleep(Duration::from_secs(3));
    let id = jvm.id().to_string();
    let top = locktrace(["top", "--batch", "-n", "2", &id]);
    assert_eq!((top.code, &*top.stderr), (0, ""), "{}", top.stdout);
    let blocked = top.stdout.matches("Blocked now: 2 threads").count();
    assert_eq!(blocked, 2, "{}", top.stdout);
    let metrics = locktrace(["metrics", &id]);
    assert_eq!(metrics.code, 1, "it goes on: {}", metrics.stderr);
    let process = format!("pid=\"{id}\"");
    assert!(metrics.stdout.contains(&process), "{}", metrics.stdout);
    jvm.kill();
    let mut jvm = start_untraced(&[]);
    let metrics = locktrace(["metrics".to_owned(), jvm.id().to_string()]);
    let text = "is a JVM that can trace lock contention, but does not";
    assert_eq!(metrics.code, 3);
    assert!(metrics.stderr.contains(text), "{}", metrics.stderr);
    // The JVM traces, but not to a file that could be read.
    jcmd(&jvm, &["LockContention.start", "analysis=online"]);
    says(
        jvm.id(),
        "analyzes lock contention itself and writes no trace",
    );
    let metrics = locktrace(["metrics".to_owned(), jvm.id().to_string()]);
    let text = "LockContention.report`";
    assert_eq!(metrics.code, 3);
    assert!(metrics.stderr.contains(text), "{}", metrics.stderr);
    jvm.kill();
    says(std::process::id(), "is not a JVM");
    says(u32::MAX, "no such process");
    jvm = start_untraced(&["-XX:+DisableAttachMechanism"]);
    says(jvm.id(), "did not listen within 10 s");
    jvm.kill();
    let stock = Jvm::untraced(Jdk::stock(), &["scenarios.BlockedChain"]);
    jvm = stock.start();
    jvm.await_line("blocked");
    says(jvm.id(), "cannot trace lock contention");
    jvm.kill();
}

fn start_untraced(flags: &[&str]) -> RunningJvm {
    let program = Jvm::untraced(Jdk::traced(), &["scenarios.BlockedChain"]);
    let mut jvm = program.flags(flags).start();
    jvm.await_line("blocked");
    jvm
}

/// Returns whether the JVM traces, according to itself.
fn is_traced(jvm: &RunningJvm) -> bool {
    let text = jcmd(jvm, &["LockContention.status"]);
    let is_off = text.contains("is not traced");
    assert!(is_off || text.contains("is traced to "), "{text}");
    !is_off
}

/// Returns the path of a trace without a given name.
fn temporary_trace(jvm: &RunningJvm) -> PathBuf {
    PathBuf::from(format!("/tmp/locktrace-{}.lct", jvm.id()))
}

/// The owner of the lock ended before the trace began, and is never described in it.
#[test]
fn threads_that_wait_for_an_ended_owner_are_shown_at_once() {
    let program = Jvm::untraced(Jdk::traced(), &["scenarios.DeadOwner"]);
    let mut jvm = program.start();
    jvm.await_line("blocked");
    let id = jvm.id().to_string();
    let begin = Instant::now();
    let batch = locktrace(["top", "--batch", "-n", "3", "--interval", "1", &id]);
    let took = begin.elapsed();
    assert_eq!((batch.code, &*batch.stderr), (0, ""), "{}", batch.stdout);
    let last = batch.stdout.split("\n\n").filter(|table| !table.is_empty());
    let last = last.last().expect("a table");
    assert!(last.contains("Blocked now: 4 threads"), "{}", batch.stdout);
    let of_threads = last.lines().filter(|line| !line.starts_with("HANG"));
    let locks = of_threads.filter(|line| line.contains("ReentrantLock$NonfairSync@"));
    assert_eq!(locks.count(), 4, "{}", batch.stdout);
    // An idle JVM writes once a second.
    assert!(took < Duration::from_secs(10), "{took:?}");
    jvm.kill();
}

/// A JVM that was started without any flag is traced while somebody looks, however that ends.
#[test]
fn a_trace_is_started_and_stopped() {
    // With this flag it listens from the start, and has no handler for the signal.
    let jvm = start_untraced(&["-Xrs"]);
    let id = jvm.id().to_string();
    let batch = locktrace(["top", "--batch", "-n", "1", &id]);
    assert_eq!((batch.code, &*batch.stderr), (0, ""), "{}", batch.stdout);
    jvm.kill();

    let jvm = start_untraced(&[]);
    let id = jvm.id().to_string();
    let batch = locktrace(["top", "--batch", "-n", "1", &id]);
    assert_eq!((batch.code, &*batch.stderr), (0, ""), "{}", batch.stdout);
    assert!(batch.stdout.contains("middle → root"), "{}", batch.stdout);
    assert!(!is_traced(&jvm));
    assert!(!temporary_trace(&jvm).exists());

    let kept = jvm.trace().with_file_name("kept.lct");
    let name = kept.to_str().expect("UTF-8");
    let batch = locktrace(["top", "--batch", "-n", "1", "--trace-file", name, &id]);
    assert_eq!((batch.code, &*batch.stderr), (0, ""), "{}", batch.stdout);
    let waits = waits(&kept);
    assert_eq!(waits.len(), 2, "{waits:?}");

    let program = locktrace_program().display();
    let terminal = Terminal::start(100, 30, &format!("'{program}' top {id}"));
    terminal.await_screen(&["Blocked now: 2 threads", "middle → root"]);
    assert!(is_traced(&jvm));
    assert!(temporary_trace(&jvm).exists());
    terminal.press(&["q"]);
    terminal.await_end();
    assert!(!is_traced(&jvm));

    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut top = Command::new(locktrace_program());
        let top = top.args(["top", "--batch", &id]).stdout(Stdio::null());
        let mut top = top.spawn().expect("locktrace is built");
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_traced(&jvm) {
            assert!(Instant::now() < deadline, "no trace begins");
        }
        let pid = top.id().cast_signed();
        // SAFETY: sends a signal to a child that was not waited for.
        assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
        assert!(top.wait().expect("it was started").success());
        assert!(!is_traced(&jvm));
        assert!(!temporary_trace(&jvm).exists());
    }
    jvm.kill();
}
