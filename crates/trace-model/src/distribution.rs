//! The distribution of a selection's waits by duration.

use serde::{Deserialize, Serialize};
use trace_analysis::Entities;

use crate::hash::SeededMap;
use crate::model::Model;
use crate::scope::{Scope, Source, needs_keys};
use crate::selection::{QuestionError, WaitSelection};
use crate::sum::Sum;
use trace_analysis::histogram::{Histogram, bucket, bucket_range_ns};

/// Asks for a distribution.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DistributionQuery {
    /// The waits that the question is about.
    pub selection: WaitSelection,
}

/// The answer to a [`DistributionQuery`].
#[derive(Clone, Debug, Serialize)]
pub struct Distribution {
    /// The buckets that have waits, the shortest first.
    pub buckets: Vec<DistributionBucket>,
    /// The number of waits.
    pub waits: u64,
    /// Their time, in nanoseconds.
    pub duration_ns: Sum,
    /// The median duration, in nanoseconds.
    pub p50_ns: u64,
    /// The 90th percentile, in nanoseconds.
    pub p90_ns: u64,
    /// The 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// The longest duration, in nanoseconds.
    pub max_ns: u64,
}

/// Waits of nearly the same duration.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct DistributionBucket {
    /// The shortest duration in it, in nanoseconds.
    pub from_ns: u64,
    /// The first duration above it, in nanoseconds.
    pub to_ns: u64,
    /// The number of waits.
    pub waits: u64,
    /// Their time, in nanoseconds.
    pub duration_ns: Sum,
}

impl Model {
    /// Returns the distribution of waits by duration.
    ///
    /// # Errors
    ///
    /// If the selection is not valid.
    pub fn distribution(
        &mut self,
        query: &DistributionQuery,
        entities: &Entities,
    ) -> Result<Distribution, QuestionError> {
        query.selection.check()?;
        self.prepare(entities, needs_keys(&query.selection));
        let scope = Scope::new(self, &query.selection, false);
        let mut histogram = Histogram::default();
        let mut durations: SeededMap<u16, Sum> = SeededMap::default();
        let (mut waits, mut total_ns) = (0, Sum::default());
        let mut add = |duration_ns: u64, in_bucket: u16| {
            durations.entry(in_bucket).or_default().add(duration_ns);
            total_ns.add(duration_ns);
        };
        scope.for_each(|piece| {
            let duration_ns = piece.duration_ns();
            waits += piece.waits;
            match piece.source {
                Source::Wait(_) => {
                    histogram.add(duration_ns, 1);
                    add(duration_ns, bucket(duration_ns));
                }
                Source::Folded(folded) if !scope.selects_owners() => {
                    let buckets: Vec<_> = folded.histogram_of(piece.waits).collect();
                    let max_ns = folded.max_ns.min(duration_ns);
                    histogram.add_buckets(buckets.iter().copied(), max_ns);
                    spread(duration_ns, &buckets, &mut add);
                }
                Source::Folded(_) => {
                    let mean_ns = duration_ns / piece.waits.max(1);
                    histogram.add(mean_ns, piece.waits);
                    add(duration_ns, bucket(mean_ns));
                }
            }
        });
        let buckets = histogram.buckets().into_iter().map(|(bucket, waits)| {
            let (from_ns, to_ns) = bucket_range_ns(bucket);
            DistributionBucket {
                from_ns,
                to_ns,
                waits,
                duration_ns: durations.get(&bucket).copied().unwrap_or_default(),
            }
        });
        Ok(Distribution {
            buckets: buckets.collect(),
            waits,
            duration_ns: total_ns,
            p50_ns: histogram.percentile_ns(50),
            p90_ns: histogram.percentile_ns(90),
            p99_ns: histogram.percentile_ns(99),
            max_ns: histogram.max_ns(),
        })
    }
}

/// Divides a duration among buckets, in proportion to their waits at the shortest duration of each.
fn spread(duration_ns: u64, histogram: &[(u16, u64)], add: &mut impl FnMut(u64, u16)) {
    let least = |&(bucket, waits): &(u16, u64)| {
        u128::from(bucket_range_ns(bucket).0.max(1)) * u128::from(waits)
    };
    let whole: u128 = histogram.iter().map(least).sum();
    let (mut until, mut before_ns) = (0, 0);
    for entry in histogram {
        until += least(entry);
        // Durations are below 2^53 and waits below 2^64: a product needs a double.
        let until_ns = (duration_ns as f64 * (until as f64 / whole as f64)).round() as u64;
        let until_ns = until_ns.clamp(before_ns, duration_ns);
        add(until_ns - before_ns, entry.0);
        before_ns = until_ns;
    }
    if let Some(&(last, _)) = histogram.last() {
        add(duration_ns - before_ns, last);
    }
}
