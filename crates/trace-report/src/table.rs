//! A report for people: a summary, then a tree.

use std::fmt::Write;

use trace_analysis::{Mechanism, UnknownOwner, WaitKind, WaitSums};

use crate::deadlocks;
use crate::facts;
use crate::hangs;
use crate::human::{self, plural};
use crate::report::{Part, Report};
use crate::still_waiting;
use crate::tree::Tree;

impl Report<'_> {
    /// Returns the report as text, with styles, no wider than `width` columns if there is a limit,
    /// and with all frames of call chains if asked.
    pub fn text(&self, width: Option<usize>, full_chains: bool) -> String {
        render(self, width, full_chains)
    }
}

pub(crate) fn render(report: &Report<'_>, width: Option<usize>, full_chains: bool) -> String {
    let mut text = String::new();
    deadlocks::write(&mut text, report.summaries, report.entities);
    hangs::write(&mut text, report.summaries, report.entities);
    for summary in report.summaries {
        facts::add_trace(&mut text, summary);
    }
    if report.main.totals.all.waits > 0 {
        write_totals(&mut text, report);
    }
    still_waiting::write(&mut text, report.summaries, report.entities);
    write_others(&mut text, report);
    if report.main.totals.all.waits == 0 {
        text.push_str("\nNo thread had to wait for a lock.\n");
    } else {
        text.push('\n');
        Tree::new(&report.main, report, full_chains).render(&mut text, width);
    }
    if let Some(part) = &report.conditional {
        write_conditional(&mut text, part);
        Tree::new(part, report, full_chains).render(&mut text, width);
    }
    text
}

/// Writes the heading of a table of conditional waiting.
fn write_conditional(text: &mut String, part: &Part) {
    let all = part.totals.all;
    let waited = format!(
        "{} in {}, longest {}: for another thread to do something, idle workers left out",
        human::duration(all.duration_ns),
        plural(all.waits, "wait"),
        human::duration(all.max_wait_ns),
    );
    text.push('\n');
    facts::add(text, "Conditional", &waited);
    text.push('\n');
}

fn write_totals(text: &mut String, report: &Report<'_>) {
    let totals = &report.main.totals;
    let all = totals.all;
    let threads = human::share(all.duration_ns, report.duration_ns());
    // Who waits for work or for time is not blocked.
    let (title, state, whole) = match report.main.kinds.is_only(WaitKind::Contention) {
        true => ("Blocked", "blocked", "the blocked time"),
        false => ("Waited", "waiting", "that time"),
    };
    let blocked = format!(
        "{} in {}, longest {}; {threads:.1} threads {state} on average",
        human::duration(all.duration_ns),
        plural(all.waits, "wait"),
        human::duration(all.max_wait_ns),
    );
    facts::add(text, title, &blocked);

    let shown = |waiting| report.main.kinds.contains(waiting);
    let of_mechanism = |wanted| {
        report
            .waits
            .sum(|mechanism, waiting| mechanism == wanted && shown(waiting))
    };
    let (monitors, parks) = (
        of_mechanism(Mechanism::Monitor),
        of_mechanism(Mechanism::Park),
    );
    if parks.waits > 0 {
        let mechanism = format!(
            "intrinsic locks {}; java.util.concurrent {}",
            sums(monitors),
            sums(parks)
        );
        facts::add(text, "Groups", &mechanism);
    }

    let of_blocked = |duration_ns| human::percent(human::share(duration_ns, all.duration_ns));
    let mut owner = format!("known for {}", of_blocked(totals.known_owner_ns()));
    if totals.free_ns > 0 {
        let _ = write!(owner, "; lock free {}", of_blocked(totals.free_ns));
    }
    let reasons = UnknownOwner::ALL.into_iter().zip(totals.unknown_owner_ns);
    for (at, (reason, duration_ns)) in reasons.filter(|&(_, ns)| ns > 0).enumerate() {
        let separator = if at == 0 { "; unknown:" } else { "," };
        let _ = write!(
            owner,
            "{separator} {} {}",
            reason.label(),
            of_blocked(duration_ns)
        );
    }
    facts::add(text, "Owner", &owner);
    if totals.free_ns > 0 {
        let free = format!(
            "{}, {} of {whole}: woken threads were not running yet; {}",
            human::duration(totals.free_ns),
            of_blocked(totals.free_ns),
            plural(report.barging_holds(), "barging hold"),
        );
        facts::add(text, "Free", &free);
    }

    facts::add_frozen(text, totals.frozen_ns, all.duration_ns);
    if let Some(owners) = &report.owners {
        owners.write(text);
    }

    for (name, duration_ns, remark) in [
        ("Safepoints", totals.safepoint_ns, ""),
        (
            "After wait",
            totals.reenter_after_wait_ns,
            ", back from Object.wait or Condition.await: often not critical",
        ),
    ] {
        if duration_ns > 0 {
            let (duration, share) = (human::duration(duration_ns), of_blocked(duration_ns));
            facts::add(
                text,
                name,
                &format!("{duration}, {share} of {whole}{remark}"),
            );
        }
    }
}

/// Writes the sums over the waits that are not shown.
fn write_others(text: &mut String, report: &Report<'_>) {
    let others = WaitKind::ALL.into_iter().filter_map(|kind| {
        let of_kind = report.waits.sum(|_, waiting| waiting == kind);
        let is_hidden = !report.main.kinds.contains(kind) && of_kind.waits > 0;
        let is_below = kind == WaitKind::Conditional && report.conditional.is_some();
        let remark = if is_below { ", see below" } else { "" };
        is_hidden.then(|| format!("{} {}{remark}", kind.name(), sums(of_kind)))
    });
    let others: Vec<_> = others.collect();
    if !others.is_empty() {
        facts::add(
            text,
            "Not shown",
            &format!("{} (--kind)", others.join("; ")),
        );
    }
}

fn sums(sums: WaitSums) -> String {
    let duration = human::duration(sums.duration_ns);
    format!("{duration} in {}", plural(sums.waits, "wait"))
}
