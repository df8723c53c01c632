//! Sums of waits that are not kept one by one.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::hash::SeededMap;
use crate::scale::Scale;
use crate::tables::{OwnerIndex, WaiterIndex};
use trace_analysis::histogram::bucket;

/// Sums of waits of one waiter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FoldedWaits {
    pub(crate) waits: u64,
    pub(crate) duration_ns: u64,
    pub(crate) max_ns: u64,
    /// The numbers of waits, by bucket of their duration.
    pub(crate) histogram: Vec<(u16, u64)>,
    /// By owner.
    pub(crate) shares: Vec<FoldedShare>,
}

/// The share of one owner in these waits.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct FoldedShare {
    pub(crate) owner: OwnerIndex,
    /// The number of waits with a share of the owner.
    pub(crate) waits: u64,
    pub(crate) duration_ns: u64,
    pub(crate) contentions: u64,
    /// The longest share in one wait.
    pub(crate) max_ns: u64,
}

impl FoldedWaits {
    /// Returns the histogram of that number of waits, in the same proportions.
    pub(crate) fn histogram_of(&self, waits: u64) -> impl Iterator<Item = (u16, u64)> {
        let scale = Scale::new(waits, self.waits);
        let mut before = 0;
        self.histogram.iter().map(move |&(bucket, count)| {
            let part = scale.step(before, count);
            before += count;
            (bucket, part)
        })
    }

    fn add(&mut self, other: &FoldedWaits) {
        self.waits += other.waits;
        self.duration_ns = self.duration_ns.saturating_add(other.duration_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        for &(bucket, count) in &other.histogram {
            match self
                .histogram
                .binary_search_by_key(&bucket, |&(known, _)| known)
            {
                Ok(at) => self.histogram[at].1 += count,
                Err(at) => self.histogram.insert(at, (bucket, count)),
            }
        }
    }

    /// Adds a share. Returns whether it is the first one of its owner.
    fn add_share(&mut self, share: FoldedShare) -> bool {
        match self
            .shares
            .binary_search_by_key(&share.owner, |known| known.owner)
        {
            Ok(at) => {
                let known = &mut self.shares[at];
                // Several shares of one wait may now have one owner: each counts.
                known.waits += share.waits;
                known.duration_ns = known.duration_ns.saturating_add(share.duration_ns);
                known.contentions = known.contentions.saturating_add(share.contentions);
                known.max_ns = known.max_ns.max(share.max_ns);
                false
            }
            Err(at) => {
                self.shares.insert(at, share);
                true
            }
        }
    }
}

/// Returns the sums of a single wait.
pub(crate) fn one_wait(duration_ns: u64) -> FoldedWaits {
    FoldedWaits {
        waits: 1,
        duration_ns,
        max_ns: duration_ns,
        histogram: vec![(bucket(duration_ns), 1)],
        shares: Vec::new(),
    }
}

/// A table of folded waits, by waiter and time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(from = "Vec<FoldedRow>", into = "Vec<FoldedRow>")]
pub(crate) struct FoldedTable {
    rows: IndexMap<(WaiterIndex, u32), FoldedWaits, foldhash::fast::RandomState>,
    shares: usize,
}

/// A row of a [`FoldedTable`]: the waiter, the time, and the sums.
type FoldedRow = (WaiterIndex, u32, FoldedWaits);

impl From<Vec<FoldedRow>> for FoldedTable {
    fn from(rows: Vec<FoldedRow>) -> Self {
        let rows = rows.into_iter();
        let rows: IndexMap<_, _, _> = rows
            .map(|(waiter, time, waits)| ((waiter, time), waits))
            .collect();
        Self {
            shares: rows.values().map(|waits| waits.shares.len()).sum(),
            rows,
        }
    }
}

impl From<FoldedTable> for Vec<FoldedRow> {
    fn from(table: FoldedTable) -> Self {
        let rows = table.rows.into_iter();
        rows.map(|((waiter, time), waits)| (waiter, time, waits))
            .collect()
    }
}

impl FoldedTable {
    pub(crate) fn rows(&self) -> impl Iterator<Item = (WaiterIndex, u32, &FoldedWaits)> {
        let rows = self.rows.iter();
        rows.map(|(&(waiter, time), waits)| (waiter, time, waits))
    }

    /// Returns the number of shares.
    pub(crate) fn len(&self) -> usize {
        self.shares
    }

    pub(crate) fn add(
        &mut self,
        waiter: WaiterIndex,
        time: u32,
        waits: &FoldedWaits,
        shares: impl Iterator<Item = FoldedShare>,
    ) {
        let row = self.rows.entry((waiter, time)).or_default();
        row.add(waits);
        for share in shares {
            self.shares += usize::from(row.add_share(share));
        }
    }

    /// Returns the same sums, with fewer waiters, owners or times.
    pub(crate) fn coarser(
        self,
        mut waiter: impl FnMut(WaiterIndex) -> WaiterIndex,
        mut owner: impl FnMut(OwnerIndex) -> OwnerIndex,
        mut time: impl FnMut(u32) -> u32,
    ) -> Self {
        let mut coarser = Self::default();
        // An owner's new index is looked up once, not for each row.
        let mut owners: SeededMap<OwnerIndex, OwnerIndex> = SeededMap::default();
        for ((old_waiter, old_time), waits) in self.rows {
            let shares = waits.shares.iter().map(|share| FoldedShare {
                owner: *owners
                    .entry(share.owner)
                    .or_insert_with(|| owner(share.owner)),
                ..*share
            });
            coarser.add(waiter(old_waiter), time(old_time), &waits, shares);
        }
        coarser
    }
}
