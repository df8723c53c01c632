//! The screen on a terminal of a given size, and what keys change on it.

use std::sync::Arc;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;

use crate::top::render::{self, Look};
use crate::top::snapshot::{
    Blocked, ChainEnd, Owner, Pair, Phase, Row, Stack, Standing, Table, TopSnapshot, WaitSums,
    Window,
};
use crate::top::state::{Flow, State};

const MS: u64 = 1_000_000;
const START_UNIX_NS: u64 = 1_795_338_628_000_000_000;

fn stack(frames: &[&str]) -> Stack {
    frames.iter().map(|&frame| frame.to_owned()).collect()
}

fn blocked(id: u64, for_ms: u64, lock: &str, owners: &[&str], end: ChainEnd) -> Blocked {
    let append = [
        "demo.AuditLog.append(AuditLog.java:21)",
        "demo.OrderService.placeOrder(OrderService.java:24)",
        "demo.Demo$OrderDesk.serve(Demo.java:96)",
        "demo.Demo$Worker.run(Demo.java:80)",
    ];
    let owners = owners.iter().enumerate().map(|(at, &thread)| Owner {
        thread: thread.to_owned(),
        standing: if at + 1 < owners.len() {
            Standing::Blocked {
                lock: "java.util.Hashtable@2b".to_owned(),
                stack: stack(&["java.util.Hashtable.merge(Hashtable.java:1077)"]),
            }
        } else {
            Standing::NotKnown
        },
    });
    Blocked {
        id,
        thread: format!("worker-{id}"),
        for_ns: for_ms * MS,
        lock: lock.to_owned(),
        stack: stack(&append),
        owners: owners.collect(),
        end,
    }
}

fn row(lock_class: &str, owner: &str, blocked_ms: u64, waits: u64, longest_ms: u64) -> Row {
    let pair = |method: &str, blocked_ms| Pair {
        method: method.to_owned(),
        stack: stack(&[
            &format!("{method}(Code.java:11)"),
            "demo.Demo$Worker.run(Demo.java:80)",
        ]),
        owner_stack: (!owner.starts_with('<')).then(|| {
            stack(&[
                &format!("{owner}(Code.java:22)"),
                "java.lang.Thread.run(Thread.java:750)",
            ])
        }),
        blocked_ns: blocked_ms * MS,
    };
    Row {
        lock_class: lock_class.to_owned(),
        owner: owner.to_owned(),
        sums: WaitSums {
            blocked_ns: blocked_ms * MS,
            waits,
            longest_ns: longest_ms * MS,
        },
        pairs: vec![
            pair("demo.AuditLog.append", blocked_ms - 1),
            pair("demo.AuditLog.flush", 1),
        ],
        pairs_omitted: 0,
    }
}

fn snapshot(phase: Phase) -> TopSnapshot {
    let rows = vec![
        row("demo.AuditLog", "demo.AuditLog.append", 6_610, 772, 22),
        row(
            "java.util.Hashtable",
            "demo.Ledger.formatStatement",
            4_730,
            100,
            200,
        ),
        row("demo.AuditLog", "<lock was free>", 153, 772, 7),
        row(
            "org.apache.activemq.broker.region.Queue",
            "<wait not over>",
            70,
            0,
            70,
        ),
    ];
    let mut total = WaitSums::default();
    for row in &rows {
        total.add(row.sums);
    }
    total.waits = 872;
    let table = |from_ns| Table {
        from_ns,
        until_ns: 12_250 * MS,
        total,
        rows: rows.clone(),
        rest: WaitSums::default(),
    };
    TopSnapshot {
        name: "build/demo/demo.lct".to_owned(),
        pid: 29_642,
        phase,
        until_ns: 12_345 * MS,
        until_unix_ns: START_UNIX_NS + 12_345 * MS,
        blocked: vec![
            blocked(
                3,
                812,
                "demo.AuditLog@1f",
                &["worker-1", "worker-7", "worker-6"],
                ChainEnd::Runs,
            ),
            blocked(
                1,
                90,
                "java.util.Hashtable@2b",
                &["worker-6"],
                ChainEnd::Unknown,
            ),
            blocked(5, 20, "demo.AuditLog@1f", &[], ChainEnd::Unknown),
            blocked(
                4,
                1,
                "demo.Left@1",
                &["worker-8", "worker-4"],
                ChainEnd::Deadlock,
            ),
        ],
        blocked_omitted: 0,
        wait_otherwise: 0,
        hangs: Vec::new(),
        tables: Window::ALL.map(|window| match window {
            Window::TenSeconds => table(2_250 * MS),
            Window::Minute | Window::Whole => table(0),
        }),
        incomplete: Vec::new(),
    }
}

fn state(phase: Phase) -> State {
    let mut state = State::default();
    state.update(Arc::new(snapshot(phase)));
    state
}

fn press(state: &mut State, keys: &[KeyCode]) {
    for &key in keys {
        assert_eq!(
            state.key(KeyEvent::new(key, KeyModifiers::NONE)),
            Flow::GoOn
        );
    }
}

fn draw(state: &State, (columns, lines): (u16, u16), colour: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).expect("a test terminal");
    let now_unix_ns = START_UNIX_NS + 12_745 * MS;
    terminal
        .draw(|frame| render::draw(frame, state, Look { colour }, now_unix_ns))
        .expect("drawn");
    terminal.backend().buffer().clone()
}

/// The screen as text.
fn screen(state: &State, size: (u16, u16)) -> String {
    let buffer = draw(state, size, true);
    let lines = buffer.content.chunks(usize::from(size.0)).map(|cells| {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n")
}

const SMALL: (u16, u16) = (80, 24);
const LARGE: (u16, u16) = (120, 40);

#[test]
fn tables() {
    insta::assert_snapshot!("small", screen(&state(Phase::Live), SMALL));
    insta::assert_snapshot!("large", screen(&state(Phase::Live), LARGE));
}

#[test]
fn trace_that_has_ended() {
    let mut ended = snapshot(Phase::Ended);
    ended.blocked.clear();
    ended.incomplete = vec!["the end is missing: the JVM was killed".to_owned()];
    let mut state = State::default();
    state.update(Arc::new(ended));
    press(&mut state, &[KeyCode::Char('w'), KeyCode::Char('w')]);
    insta::assert_snapshot!(screen(&state, SMALL));
}

#[test]
fn call_chains_of_a_row() {
    let mut state = state(Phase::Live);
    press(&mut state, &[KeyCode::Down, KeyCode::Enter, KeyCode::Right]);
    insta::assert_snapshot!("row_small", screen(&state, SMALL));
    insta::assert_snapshot!("row_large", screen(&state, LARGE));
}

#[test]
fn call_chains_of_a_blocked_thread() {
    let mut state = state(Phase::Live);
    press(&mut state, &[KeyCode::Tab, KeyCode::Enter]);
    insta::assert_snapshot!(screen(&state, SMALL));
    // Through the chain of owners to the root, and not beyond.
    press(&mut state, &[KeyCode::Right; 5]);
    assert!(screen(&state, SMALL).contains("3 of 3: held by worker-6"));
}

#[test]
fn help() {
    let mut state = state(Phase::Live);
    press(&mut state, &[KeyCode::Char('?')]);
    insta::assert_snapshot!(screen(&state, SMALL));
}

#[test]
fn without_colour_everything_is_said() {
    let state = state(Phase::Live);
    for (colour, expected) in [(true, true), (false, false)] {
        let buffer = draw(&state, SMALL, colour);
        let is_coloured =
            |cell: &ratatui::buffer::Cell| (cell.fg, cell.bg) != (Color::Reset, Color::Reset);
        assert_eq!(
            buffer.content.iter().any(is_coloured),
            expected,
            "colour: {colour}"
        );
    }
    let text = |colour| {
        let cells = draw(&state, SMALL, colour).content;
        cells
            .iter()
            .map(|cell| cell.symbol().to_owned())
            .collect::<String>()
    };
    assert_eq!(text(true), text(false));
}

#[test]
fn rows_are_sorted_and_filtered() {
    let mut state = state(Phase::Live);
    let first = |state: &State| state.rows().first().map(|row| row.owner.clone());
    assert_eq!(first(&state).as_deref(), Some("demo.AuditLog.append"));
    press(&mut state, &[KeyCode::Char('s'), KeyCode::Char('s')]);
    assert_eq!(
        first(&state).as_deref(),
        Some("demo.Ledger.formatStatement")
    );
    press(&mut state, &[KeyCode::Char('/')]);
    press(
        &mut state,
        &"QUEUE".chars().map(KeyCode::Char).collect::<Vec<_>>(),
    );
    assert_eq!(state.rows().len(), 1);
    assert!(screen(&state, SMALL).contains("Only what contains: QUEUE_"));
    press(&mut state, &[KeyCode::Enter]);
    assert!(screen(&state, SMALL).contains("only \"QUEUE\""));
    press(&mut state, &[KeyCode::Esc]);
    assert_eq!(state.rows().len(), 4);
}

#[test]
fn a_pause_keeps_the_snapshot_and_a_selection_stays_with_its_row() {
    let mut state = state(Phase::Live);
    press(&mut state, &[KeyCode::Down]);
    let mut newer = snapshot(Phase::Live);
    newer.tables[0].rows[1].sums.blocked_ns *= 10;
    let newer = Arc::new(newer);
    press(&mut state, &[KeyCode::Char('p')]);
    state.update(Arc::clone(&newer));
    assert_eq!(state.rows()[0].lock_class, "demo.AuditLog");
    assert!(screen(&state, SMALL).contains("PAUSED"));
    press(&mut state, &[KeyCode::Char('p')]);
    state.update(newer);
    assert_eq!(state.rows()[0].lock_class, "java.util.Hashtable");
    assert_eq!(state.selected(crate::top::state::Pane::Table), 0);
}

#[test]
fn q_quits_and_no_size_is_too_small() {
    let mut state = state(Phase::Live);
    for keys in [&[][..], &[KeyCode::Enter], &[KeyCode::Char('?')]] {
        press(&mut state, keys);
        for size in [(1, 1), (10, 3), (20, 6), (300, 100)] {
            draw(&state, size, true);
        }
        let quit = KeyEvent::new(KeyCode::Char('q'), KeyModifiers::NONE);
        assert_eq!(state.key(quit), Flow::Quit);
    }
}
