//! A report as comma-separated values: the innermost rows, with a column for
//! each aspect.

use std::io::{self, Write};

use trace_analysis::{Entities, Rows, Value};
use trace_report::Report;
use trace_report::record::chain_text;

use crate::output;
use crate::text::human;

const SUMS: [&str; 5] = [
    "contentions",
    "waits",
    "duration_ns",
    "max_wait_ns",
    "share",
];

pub(super) fn write(report: &Report<'_>, out: impl Write) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    let aspects = report.aspects().iter().map(|aspect| aspect.name());
    out.write_record(aspects.chain(SUMS))
        .map_err(output::csv_error)?;
    write_rows(&report.main().rows, &mut Vec::new(), report, &mut out)?;
    out.flush()
}

/// Writes the innermost of `rows`, which lie below the rows with the labels
/// `outer`.
fn write_rows(
    rows: &Rows,
    outer: &mut Vec<String>,
    report: &Report<'_>,
    out: &mut csv::Writer<impl Write>,
) -> io::Result<()> {
    for row in &rows.rows {
        outer.push(text(row.value, &row.label, report.entities()));
        if outer.len() == report.aspects().len() {
            let sums = row.sums;
            let share = human::share(sums.duration_ns, report.main().totals.all.duration_ns);
            let numbers = [
                sums.contentions,
                sums.waits,
                sums.duration_ns,
                sums.max_wait_ns,
            ];
            let numbers = numbers
                .iter()
                .map(u64::to_string)
                .chain([share.to_string()]);
            out.write_record(outer.iter().cloned().chain(numbers))
                .map_err(output::csv_error)?;
        } else {
            write_rows(&row.children, outer, report, out)?;
        }
        outer.pop();
    }
    Ok(())
}

/// The label, but all frames of a call chain, and of a lock and its class nothing but their own names.
fn text(value: Value, label: &str, entities: &Entities) -> String {
    match value {
        Value::Chain(chain) if !entities.chain(chain).frames().is_empty() => {
            chain_text(chain, entities)
        }
        Value::Class(_) | Value::Lock(_) => value.name(entities),
        _ => label.to_owned(),
    }
}
