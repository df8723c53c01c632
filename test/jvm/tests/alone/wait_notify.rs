//! `Object.wait`: the blame when it releases the lock, and the meaning of
//! being blocked when it returns (paper, section 3.2, "Conditional waiting").

use jvm_tests::{
    CompileMode, Contention, ExpectedFrame, Jvm, NEVER_INLINED, Run, Wait, alone, check_each,
    waits_on,
};

/// The class of the lock of the scenario's mailbox. Its threads can also be blocked at the locks of
/// class loading.
const LOCK_CLASS: &str = "java.util.ArrayList";

/// `WaitNotify.ROUNDS`.
const ROUNDS: usize = 10;

#[test]
fn a_wait_that_times_out() {
    let _processor = alone();
    check_each(CompileMode::ALL, |&mode| {
        let run = wait_notify("timeout", mode);
        let waits = waits_on(&run.trace(), LOCK_CLASS);
        let slowly = || producer("SlowProducer", "slowly");
        check_blocked_producer(&waits, slowly(), mode);

        let put = ExpectedFrame::new("scenarios.Mailbox.put", "put");
        let reentered = check_blocked_consumer(&waits, [put, slowly()], mode);
        // The producer holds the lock for 50 ms, and the consumer waits 10 ms of
        // them. On a busy machine it can wake up too late, but seldom.
        assert!(
            reentered.len() * 2 > ROUNDS,
            "{} re-enters",
            reentered.len()
        );
        let blamed_ns = reentered.iter().map(|wait| wait.longest_part().duration_ns);
        let longest_ns = blamed_ns.max().expect("there are re-enters");
        let holds_ns = run
            .lines_of("held")
            .map(|held| parse(held[2]) - parse(held[1]));
        let expected_ns = 30_000_000..=holds_ns.max().expect("the producer held the lock");
        assert!(
            expected_ns.contains(&longest_ns),
            "{longest_ns}, not {expected_ns:?}"
        );
    });
}

#[test]
fn a_wait_that_is_notified() {
    let _processor = alone();
    check_each(CompileMode::ALL, |&mode| {
        let run = wait_notify("notified", mode);
        let waits = waits_on(&run.trace(), LOCK_CLASS);
        check_blocked_producer(&waits, producer("GreedyProducer", "brief"), mode);

        let inspect = ExpectedFrame::new("scenarios.Mailbox.inspect", "inspected");
        let greedy = producer("GreedyProducer", "greedy");
        let reentered = check_blocked_consumer(&waits, [inspect, greedy], mode);
        // A race; the producer takes the lock within a microsecond, and the
        // consumer needs fifty to wake up.
        assert!(
            reentered.len() * 2 > ROUNDS,
            "{} re-enters",
            reentered.len()
        );
    });
}

fn wait_notify(end_of_wait: &str, mode: CompileMode) -> Run {
    Jvm::traced(&["scenarios.WaitNotify", end_of_wait])
        .flags(NEVER_INLINED)
        .flags(mode.flags())
        .run()
}

fn producer(class: &str, line: &str) -> ExpectedFrame {
    ExpectedFrame::new(&format!("scenarios.WaitNotify${class}.run"), line)
}

/// The producer was blocked in `Mailbox.put` by `Mailbox.take`, to the end of
/// its synchronized block: nothing of `wait`, which released the lock.
fn check_blocked_producer(waits: &[Wait], run: ExpectedFrame, mode: CompileMode) {
    let chain = [ExpectedFrame::new("scenarios.Mailbox.put", "wanted"), run];
    let owner_chain = [
        ExpectedFrame::new("scenarios.Mailbox.take", "taken"),
        ExpectedFrame::new("scenarios.WaitNotify$Consumer.run", "take"),
    ];
    let in_put = |wait: &&Wait| {
        wait.common()
            .chain
            .first()
            .is_some_and(|frame| frame.method == "put")
    };
    let waits: Vec<_> = waits
        .iter()
        .filter(|wait| wait.thread() == "producer")
        .filter(in_put)
        .collect();
    assert_eq!(waits.len(), ROUNDS, "one wait a round");
    for wait in waits {
        check_part(
            wait.longest_part(),
            false,
            "consumer",
            &chain,
            &owner_chain,
            mode,
        );
        // `Held` blocked it for 20 ms.
        assert!(wait.longest_part().duration_ns >= 20_000_000, "{wait}");
    }
}

/// The consumer was blocked when it returned from `wait`, by a producer.
fn check_blocked_consumer(
    waits: &[Wait],
    owner_chain: [ExpectedFrame; 2],
    mode: CompileMode,
) -> Vec<&Wait> {
    let chain = [
        ExpectedFrame::new("java.lang.Object.wait", "-"),
        ExpectedFrame::new("scenarios.Mailbox.awaitNotEmpty", "wait"),
        ExpectedFrame::new("scenarios.Mailbox.take", "await"),
        ExpectedFrame::new("scenarios.WaitNotify$Consumer.run", "take"),
    ];
    let waits: Vec<_> = waits
        .iter()
        .filter(|wait| wait.thread() == "consumer")
        .collect();
    for wait in &waits {
        check_part(
            wait.longest_part(),
            true,
            "producer",
            &chain,
            &owner_chain,
            mode,
        );
    }
    waits
}

fn check_part(
    part: &Contention,
    after_wait: bool,
    owner: &str,
    chain: &[ExpectedFrame],
    owner_chain: &[ExpectedFrame],
    mode: CompileMode,
) {
    assert_eq!(part.kind, "contention", "{part:#?}");
    assert_eq!(part.after_wait, after_wait, "{part:#?}");
    assert_eq!(part.owner_name(), Some(owner), "{part:#?}");
    if let Err(difference) = ExpectedFrame::compare(chain, &part.chain, mode) {
        panic!("call chain of the {}: {difference}", part.thread.name);
    }
    let found = part.owner_chain.as_deref().unwrap_or_default();
    if let Err(difference) = ExpectedFrame::compare(owner_chain, found, mode) {
        panic!("call chain of the owner {owner}: {difference}");
    }
}

fn parse(time: &str) -> u64 {
    time.parse().expect("a time in nanoseconds")
}
