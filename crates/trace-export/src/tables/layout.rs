//! The columns of each table. `docs/tables.md` describes them for people, and a test compares the
//! two.

use super::column::Column;

/// A table's name and columns.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) name: &'static str,
    pub(super) columns: &'static [Column],
}

/// The waits, each once.
pub(super) const WAITS: Layout = Layout {
    name: "waits",
    columns: &[
        Column::number("wait"),
        Column::number("event_lock"),
        Column::number("event_number"),
        Column::text("mechanism"),
        Column::text("kind"),
        Column::text("end"),
        Column::flag("after_wait"),
        Column::flag("begun_before_trace"),
        Column::text("lock_class"),
        Column::number("lock"),
        Column::number("thread"),
        Column::text("method"),
        Column::text("chain"),
        Column::time("start"),
        Column::number("start_ns"),
        Column::number("duration_ns"),
        Column::number("safepoint_ns"),
        Column::number("barging_holds"),
        Column::number("deadline_ns").optional(),
        Column::number("waker").optional(),
    ],
};

/// The share of each owner in each wait. Also has the columns that questions about waits use most,
/// so that one table answers them.
pub(super) const BLAME: Layout = Layout {
    name: "blame",
    columns: &[
        Column::number("wait"),
        Column::text("mechanism"),
        Column::text("kind"),
        Column::text("lock_class"),
        Column::number("lock"),
        Column::number("thread"),
        Column::text("method"),
        Column::text("chain"),
        Column::text("owner"),
        Column::text("unknown_reason").optional(),
        Column::number("owner_thread").optional(),
        Column::text("owner_method").optional(),
        Column::text("owner_chain").optional(),
        Column::time("start"),
        Column::number("duration_ns"),
        Column::number("contentions"),
    ],
};

/// Waits during which the waiter owned another lock that others waited for.
pub(super) const NESTINGS: Layout = Layout {
    name: "nestings",
    columns: &[
        Column::number("wait"),
        Column::text("outer_class"),
        Column::number("outer_lock"),
        Column::text("inner_class"),
        Column::number("inner_lock"),
        Column::number("thread"),
        Column::text("owning_method"),
        Column::text("owning_chain"),
        Column::text("waiting_method"),
        Column::text("waiting_chain"),
        Column::time("start"),
        Column::number("start_ns"),
        Column::number("duration_ns"),
    ],
};

/// The threads that waited, or made others wait.
pub(super) const THREADS: Layout = Layout {
    name: "threads",
    columns: &[
        Column::number("thread"),
        Column::number("java_id"),
        Column::text("name"),
    ],
};

/// The locks that threads waited for.
pub(super) const LOCKS: Layout = Layout {
    name: "locks",
    columns: &[
        Column::number("lock"),
        Column::text("lock_class"),
        Column::number("identity_hash").optional(),
        Column::text("label"),
    ],
};

/// Call chains: a row for each frame.
pub(super) const CHAINS: Layout = Layout {
    name: "chains",
    columns: &[
        Column::text("chain"),
        Column::number("depth"),
        Column::text("method"),
        Column::number("line").optional(),
        Column::number("bci").optional(),
        Column::flag("is_truncated"),
    ],
};

/// The methods in call chains.
pub(super) const METHODS: Layout = Layout {
    name: "methods",
    columns: &[
        Column::text("method"),
        Column::text("class").optional(),
        Column::text("name"),
        Column::text("signature"),
        Column::text("source_file").optional(),
    ],
};

/// The run: one row.
pub(super) const RUNS: Layout = Layout {
    name: "runs",
    columns: &[
        Column::number("pid"),
        Column::text("jvm"),
        Column::time("start"),
        Column::number("start_unix_ns"),
        Column::number("duration_ns"),
        Column::text("kinds"),
        Column::flag("is_filtered"),
        Column::flag("has_nestings"),
        Column::number("waits"),
        Column::number("blocked_ns"),
        Column::flag("is_complete"),
        Column::number("lost_events"),
        Column::text("release").optional(),
    ],
};
