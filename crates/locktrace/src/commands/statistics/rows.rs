//! The columns of locks and threads, and their rows.

use std::fmt::Write as _;
use std::sync::LazyLock;

use trace_analysis::{
    Durations, Entities, HoldFigures, LockFigures, LockIndex, MethodTable, ThreadFigures,
    ThreadIndex, WaitFigures,
};
use trace_report::record::LockRecord;

use crate::commands::statistics::sheet::{Column, Name, SheetRow};

/// The columns that rows can be sorted by.
pub(crate) fn lock_keys() -> impl Iterator<Item = &'static str> {
    LOCK_COLUMNS.iter().map(|column| column.key)
}

/// The same of threads.
pub(crate) fn thread_keys() -> impl Iterator<Item = &'static str> {
    THREAD_COLUMNS.iter().map(|column| column.key)
}

/// The columns of the durations of waits, in the order of [`wait_numbers`].
const WAIT_COLUMNS: [Column; 9] = [
    Column::duration("blocked_ns", "Blocked"),
    Column::count("waits", "Waits"),
    Column::duration("min_ns", "Shortest").detail(),
    Column::duration("mean_ns", "Mean"),
    Column::duration("deviation_ns", "Deviation").detail(),
    Column::duration("p50_ns", "Median"),
    Column::duration("p95_ns", "95 %").detail(),
    Column::duration("p99_ns", "99 %"),
    Column::duration("max_ns", "Longest"),
];

/// The columns of holds, in the order of [`hold_numbers`]. "Untimed" counts those whose duration is
/// not known, "averaged" those of which only a mean is.
const HOLD_COLUMNS: [Column; 11] = [
    Column::count("holds", "Holds").detail(),
    Column::count("holds_untimed", "Untimed").detail(),
    Column::count("holds_averaged", "Averaged").detail(),
    Column::duration("held_ns", "Held").detail(),
    Column::duration("hold_min_ns", "Shortest hold").detail(),
    Column::duration("hold_mean_ns", "Mean hold"),
    Column::duration("hold_deviation_ns", "Deviation").detail(),
    Column::duration("hold_p50_ns", "Median hold").detail(),
    Column::duration("hold_p95_ns", "95 % hold").detail(),
    Column::duration("hold_p99_ns", "99 % hold").detail(),
    Column::duration("hold_max_ns", "Longest hold").detail(),
];

pub(super) static LOCK_COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let of_locks = [
        Column::count("waiting_threads", "Waiting"),
        Column::count("owning_threads", "Owning"),
        Column::duration("free_ns", "Free").detail(),
        Column::duration("unknown_owner_ns", "Unknown").detail(),
    ];
    [&WAIT_COLUMNS[..], &of_locks, &HOLD_COLUMNS].concat()
});

pub(super) static THREAD_COLUMNS: LazyLock<Vec<Column>> = LazyLock::new(|| {
    let of_threads = [
        Column::count("locks", "Locks").detail(),
        Column::count("owning_threads", "Owners").detail(),
        Column::duration("free_ns", "Free").detail(),
        Column::duration("unknown_owner_ns", "Unknown").detail(),
        Column::duration("caused_ns", "Caused"),
        Column::count("caused_waits", "Parts"),
        Column::duration("caused_mean_ns", "Mean part").detail(),
        Column::duration("caused_max_ns", "Longest part"),
        Column::count("blocked_threads", "Blocking"),
    ];
    let waits = WAIT_COLUMNS.map(|column| match column.key {
        "p50_ns" => column.detail(),
        _ => column,
    });
    let holds = HOLD_COLUMNS.map(Column::detail);
    [&waits[..], &of_threads, &holds].concat()
});

fn wait_numbers(figures: &WaitFigures) -> [Option<u64>; 9] {
    let waits = &figures.durations;
    let [min, mean, deviation, p50, p95, p99, max] = spread(waits);
    let (sum, count) = (waits.sum_ns(), waits.count());
    [sum, count, min, mean, deviation, p50, p95, p99, max].map(Some)
}

fn hold_numbers(figures: &HoldFigures) -> [Option<u64>; 11] {
    let holds = &figures.durations;
    let (count, untimed, averaged) = (figures.count(), figures.untimed, figures.averaged);
    let [count, untimed, averaged] = [count, untimed, averaged].map(Some);
    let is_known = holds.count() > 0;
    let held = is_known.then_some(holds.sum_ns());
    let spread = spread(holds).map(|number| is_known.then_some(number));
    let [min, mean, deviation, p50, p95, p99, max] = spread;
    [
        count, untimed, averaged, held, min, mean, deviation, p50, p95, p99, max,
    ]
}

/// Shortest, mean, deviation, median, 95 and 99 percent, longest.
fn spread(of: &Durations) -> [u64; 7] {
    [
        of.min_ns(),
        of.mean_ns().round() as u64,
        of.standard_deviation_ns().round() as u64,
        of.percentile_ns(50),
        of.percentile_ns(95),
        of.percentile_ns(99),
        of.max_ns(),
    ]
}

pub(super) fn lock_row(lock: LockIndex, figures: &LockFigures, entities: &Entities) -> SheetRow {
    let record = LockRecord::new(lock, entities);
    let mut numbers = wait_numbers(&figures.waits).to_vec();
    let of_locks = [
        figures.waiting_threads(entities) as u64,
        figures.owning_threads(entities) as u64,
        figures.waits.free_ns,
        figures.waits.unknown_ns,
    ];
    numbers.extend(of_locks.map(Some));
    numbers.extend(hold_numbers(&figures.holds));
    let mut label = entities.lock_label(lock);
    if entities.lock_site(lock).is_some() {
        let site = MethodTable::default().site(lock, entities);
        let _ = write!(label, ", allocated by {}", site.name(entities));
    }
    SheetRow {
        label,
        names: [Name::Text(record.lock_class), Name::Text(record.lock_id)],
        numbers,
    }
}

pub(super) fn thread_row(
    thread: ThreadIndex,
    figures: &ThreadFigures,
    entities: &Entities,
) -> SheetRow {
    let mut numbers = wait_numbers(&figures.waits).to_vec();
    let of_threads = [
        figures.locks() as u64,
        figures.owning_threads(entities) as u64,
        figures.waits.free_ns,
        figures.waits.unknown_ns,
        figures.caused.sum_ns(),
        figures.caused.count(),
        figures.caused.mean_ns().round() as u64,
        figures.caused.max_ns(),
        figures.blocked_threads(entities) as u64,
    ];
    numbers.extend(of_threads.map(Some));
    numbers.extend(hold_numbers(&figures.holds));
    let known = entities.thread(thread);
    SheetRow {
        label: entities.thread_long_label(thread),
        names: [
            Name::Number(known.java_id.0),
            Name::Text(known.name.to_string()),
        ],
        numbers,
    }
}
