//! The store of waits: one by one within the limits, folded beyond.

use serde::{Deserialize, Serialize};
use trace_analysis::{Contention, Entities, Owner, Wait, WaitKind};

use crate::folded::{FoldedShare, FoldedTable, FoldedWaits, one_wait};
use crate::hash::SeededMap;
use crate::limits::Limits;
use crate::tables::{OwnerIndex, Tables, WaiterIndex};
use crate::time_axis::MAX_NS;

/// A wait that is kept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct WaitRow {
    pub(crate) id: u64,
    /// On the time axis.
    pub(crate) start_ns: u64,
    pub(crate) duration_ns: u64,
    pub(crate) safepoint_ns: u64,
    pub(crate) waiter: WaiterIndex,
    pub(crate) first_share: u32,
    pub(crate) share_count: u32,
    pub(crate) first_part: u32,
    pub(crate) part_count: u32,
    pub(crate) ended: bool,
    pub(crate) after_wait: bool,
}

impl WaitRow {
    pub(crate) fn end_ns(&self) -> u64 {
        self.start_ns + self.duration_ns
    }
}

/// The place of a wait in the model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// Its number.
    pub(crate) id: u64,
    /// The position of its trace.
    pub(crate) trace: u16,
    /// Where the trace begins on the time axis.
    pub(crate) offset_ns: u64,
}

/// The share of one owner in a wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Share {
    pub(crate) duration_ns: u64,
    pub(crate) owner: OwnerIndex,
    pub(crate) contentions: u32,
}

/// A part of a wait.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) duration_ns: u64,
    /// The position of its share in the wait.
    pub(crate) share: u32,
}

/// The most buckets of folded waits over time.
const MAX_BUCKETS: u32 = 2_048;
/// The width of the first buckets.
const FIRST_BUCKET_NS: u64 = 1 << 20;
/// The fewest buckets to which too many sums are reduced.
const MIN_BUCKETS: u32 = 64;

/// Old waits are folded once they are one in this number: it takes a pass over all waits.
const OLD_PART: usize = 4;

/// The number of waits that are skipped at once if none of them lasts long enough.
const BLOCK: usize = 256;

/// The waits.
#[derive(Debug)]
pub(crate) struct Store {
    limits: Limits,
    waits: Vec<WaitRow>,
    shares: Vec<Share>,
    parts: Vec<Part>,
    /// Whether the parts of all waits are kept.
    has_parts: bool,
    /// The number of waits, from the first, that are in the order in which they began.
    ordered: usize,
    /// The end of the last wait to end, by blocks of ordered waits.
    block_ends_ns: Vec<u64>,
    /// By kind, the least duration that is kept; shorter waits are folded.
    min_kept_ns: [u64; WaitKind::ALL.len()],
    /// Waits that ended longer ago are folded first.
    recent_ns: Option<u64>,
    /// When the newest wait ended.
    newest_ns: u64,
    folded: Folded,
    share_of_owner: SeededMap<Owner, u32>,
}

/// Folded waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Folded {
    /// By waiter and owner, without a time.
    pub(crate) whole: FoldedTable,
    /// By the code of both, over time.
    pub(crate) by_time: FoldedTable,
    /// The width of the buckets of time.
    pub(crate) bucket_ns: u64,
    /// Whether `whole` no longer distinguishes threads and locks.
    threads_are_folded: bool,
    /// Whether `by_time` no longer distinguishes the code of owners.
    owners_are_folded: bool,
    /// Whether `whole` was left out.
    is_by_time_only: bool,
}

impl Store {
    pub(crate) fn new(limits: Limits, keeps_parts: bool) -> Self {
        Self {
            limits,
            waits: Vec::new(),
            shares: Vec::new(),
            parts: Vec::new(),
            has_parts: keeps_parts,
            ordered: 0,
            block_ends_ns: Vec::new(),
            min_kept_ns: [0; WaitKind::ALL.len()],
            recent_ns: None,
            newest_ns: 0,
            folded: Folded {
                whole: FoldedTable::default(),
                by_time: FoldedTable::default(),
                bucket_ns: FIRST_BUCKET_NS,
                threads_are_folded: false,
                owners_are_folded: false,
                is_by_time_only: false,
            },
            share_of_owner: SeededMap::default(),
        }
    }

    /// Creates a store from [stored](crate::StoredModel), consistent waits.
    pub(crate) fn from_stored(
        limits: Limits,
        waits: Vec<WaitRow>,
        shares: Vec<Share>,
        parts: Option<Vec<Part>>,
        folded: Folded,
    ) -> Self {
        let mut store = Self {
            waits,
            shares,
            folded,
            ..Self::new(limits, parts.is_some())
        };
        store.parts = parts.unwrap_or_default();
        store.sort();
        store
    }

    /// Returns the shares of all waits.
    pub(crate) fn all_shares(&self) -> &[Share] {
        &self.shares
    }

    /// Returns the parts of all waits, if they are kept.
    pub(crate) fn all_parts(&self) -> Option<&[Part]> {
        self.has_parts.then_some(&self.parts)
    }

    /// Returns the waits that are kept, in the order in which they came, or, after
    /// [`sort`](Self::sort), began.
    pub(crate) fn waits(&self) -> &[WaitRow] {
        &self.waits
    }

    pub(crate) fn shares(&self, wait: &WaitRow) -> &[Share] {
        let first = wait.first_share as usize;
        &self.shares[first..first + wait.share_count as usize]
    }

    /// Returns the parts of a wait, if all parts are kept.
    pub(crate) fn parts(&self, wait: &WaitRow) -> Option<&[Part]> {
        let first = wait.first_part as usize;
        self.has_parts
            .then(|| &self.parts[first..first + wait.part_count as usize])
    }

    /// Returns whether the parts of all waits are kept, and so nothing is folded.
    pub(crate) fn has_parts(&self) -> bool {
        self.has_parts
    }

    pub(crate) fn folded(&self) -> &Folded {
        &self.folded
    }

    /// Sorts waits by their start.
    pub(crate) fn sort(&mut self) {
        if self.ordered < self.waits.len() {
            self.waits.sort_by_key(|wait| (wait.start_ns, wait.id));
            self.ordered = self.waits.len();
            let ends_ns = self.waits.chunks(BLOCK);
            let ends_ns = ends_ns.map(|block| block.iter().map(WaitRow::end_ns).max());
            self.block_ends_ns = ends_ns.map(Option::unwrap_or_default).collect();
        }
    }

    /// Returns the waits that overlap the range, and some that do not, by their start. They are
    /// [sorted](Self::sort).
    pub(crate) fn waits_around(&self, from_ns: u64, to_ns: u64) -> impl Iterator<Item = &WaitRow> {
        debug_assert_eq!(self.ordered, self.waits.len(), "put in order");
        let end = self.waits.partition_point(|wait| wait.start_ns < to_ns);
        let blocks = self.waits[..end].chunks(BLOCK).zip(&self.block_ends_ns);
        let blocks = blocks.filter(move |&(_, &end_ns)| end_ns >= from_ns);
        blocks.flat_map(|(block, _)| block)
    }

    /// Returns the waits at these positions, and the sums of all others. Parts are kept only if all
    /// waits are, and if there are at most `max_parts`.
    pub(crate) fn with_sums(&self, kept: &[usize], folded: Folded, max_parts: usize) -> Self {
        let mut reduced = Self::new(self.limits, false);
        reduced.has_parts =
            self.has_parts && kept.len() == self.waits.len() && self.parts.len() <= max_parts;
        for &at in kept {
            let wait = &self.waits[at];
            let mut row = WaitRow {
                first_share: reduced.shares.len() as u32,
                first_part: reduced.parts.len() as u32,
                ..*wait
            };
            reduced.shares.extend_from_slice(self.shares(wait));
            if reduced.has_parts {
                reduced
                    .parts
                    .extend_from_slice(self.parts(wait).unwrap_or_default());
            } else {
                row.part_count = 0;
            }
            reduced.waits.push(row);
        }
        reduced.folded = folded;
        reduced.sort();
        reduced
    }

    /// Folds waits that ended longer ago than this before short ones.
    pub(crate) fn keep_recent(&mut self, recent_ns: u64) {
        self.recent_ns = Some(recent_ns);
    }

    /// Adds a wait.
    pub(crate) fn add(
        &mut self,
        wait: &Wait,
        place: Place,
        tables: &mut Tables,
        entities: &Entities,
    ) {
        let start_ns = wait.start_ns.saturating_add(place.offset_ns).min(MAX_NS);
        let duration_ns = wait.duration_ns.min(MAX_NS - start_ns);
        let mut row = WaitRow {
            id: place.id,
            start_ns,
            duration_ns,
            safepoint_ns: wait.safepoint_ns.min(duration_ns),
            waiter: tables.waiter(wait, place.trace, entities),
            first_share: self.shares.len() as u32,
            share_count: 0,
            first_part: self.parts.len() as u32,
            part_count: 0,
            ended: wait.ended(),
            after_wait: wait.after_wait,
        };
        let mut left_ns = duration_ns;
        for blame in &wait.blame {
            let share_ns = blame.duration_ns.min(left_ns);
            left_ns -= share_ns;
            self.shares.push(Share {
                duration_ns: share_ns,
                owner: tables.owner(wait, blame.owner, entities),
                contentions: blame.contentions.min(u32::MAX.into()) as u32,
            });
        }
        row.share_count = self.shares.len() as u32 - row.first_share;
        if duration_ns < self.min_kept_ns[wait.kind as usize] {
            self.folded
                .add(&row, &self.shares[row.first_share as usize..], tables);
            self.shares.truncate(row.first_share as usize);
            self.folded.shrink(self.limits.folded_shares, tables);
            return;
        }
        if self.has_parts {
            self.add_parts(wait, duration_ns);
            row.part_count = self.parts.len() as u32 - row.first_part;
        }
        self.newest_ns = self.newest_ns.max(row.end_ns());
        self.waits.push(row);
        if self.waits.len() > self.limits.waits || self.shares.len() > self.limits.shares {
            self.fold(tables);
        }
        if self.parts.len() > self.limits.parts {
            self.drop_parts();
        }
    }

    fn add_parts(&mut self, wait: &Wait, duration_ns: u64) {
        self.share_of_owner.clear();
        for (share, blame) in (0..).zip(&wait.blame) {
            self.share_of_owner.insert(blame.owner, share);
        }
        let mut left_ns = duration_ns;
        for Contention {
            owner, duration_ns, ..
        } in &wait.contentions
        {
            let duration_ns = (*duration_ns).min(left_ns);
            left_ns -= duration_ns;
            let share = self.share_of_owner.get(owner).copied().unwrap_or(0);
            self.parts.push(Part { duration_ns, share });
        }
    }

    fn drop_parts(&mut self) {
        self.has_parts = false;
        self.parts = Vec::new();
    }

    /// Folds old waits, or short ones.
    fn fold(&mut self, tables: &mut Tables) {
        self.drop_parts();
        let size = |wait: &WaitRow| 1 + wait.share_count as usize;
        if let Some(recent_ns) = self.recent_ns {
            let old_ns = self.newest_ns.saturating_sub(recent_ns);
            let old = self.waits.iter().filter(|wait| wait.end_ns() < old_ns);
            if old.map(size).sum::<usize>() >= (self.waits.len() + self.shares.len()) / OLD_PART {
                self.fold_where(tables, |wait, _| wait.end_ns() < old_ns);
                // Short waits may fit again.
                self.min_kept_ns = [0; WaitKind::ALL.len()];
                return;
            }
        }
        let mut sizes = [0; WaitKind::ALL.len()];
        for wait in &self.waits {
            sizes[kind_of(wait, tables) as usize] += size(wait);
        }
        let largest = WaitKind::ALL
            .into_iter()
            .max_by_key(|&kind| sizes[kind as usize]);
        self.fold_short(largest.expect("there are kinds"), tables);
    }

    /// Folds the shorter half of the waits of one kind.
    fn fold_short(&mut self, kind: WaitKind, tables: &mut Tables) {
        let of_kind = self
            .waits
            .iter()
            .filter(|wait| kind_of(wait, tables) == kind);
        let mut durations_ns: Vec<u64> = of_kind.map(|wait| wait.duration_ns).collect();
        let middle = durations_ns.len() / 2;
        let (_, &mut median_ns, _) = durations_ns.select_nth_unstable(middle);
        // Waits as long as the median are folded, too.
        let min_kept_ns = median_ns + 1;
        self.min_kept_ns[kind as usize] = min_kept_ns;
        self.fold_where(tables, |wait, tables| {
            kind_of(wait, tables) == kind && wait.duration_ns < min_kept_ns
        });
    }

    fn fold_where(&mut self, tables: &mut Tables, is_folded: impl Fn(&WaitRow, &Tables) -> bool) {
        let mut kept_shares = Vec::with_capacity(self.shares.len() / 2);
        let mut kept = 0;
        for at in 0..self.waits.len() {
            let mut wait = self.waits[at];
            let shares = {
                let first = wait.first_share as usize;
                &self.shares[first..first + wait.share_count as usize]
            };
            if is_folded(&wait, tables) {
                self.folded.add(&wait, shares, tables);
                self.folded.shrink(self.limits.folded_shares, tables);
                continue;
            }
            wait.first_share = kept_shares.len() as u32;
            kept_shares.extend_from_slice(shares);
            self.waits[kept] = wait;
            kept += 1;
        }
        self.waits.truncate(kept);
        self.shares = kept_shares;
        self.ordered = 0;
    }
}

fn kind_of(wait: &WaitRow, tables: &Tables) -> WaitKind {
    tables.waiters()[wait.waiter.0 as usize].kind
}

fn one_share(share: &Share, owner: OwnerIndex) -> FoldedShare {
    FoldedShare {
        owner,
        waits: 1,
        duration_ns: share.duration_ns,
        contentions: share.contentions.into(),
        max_ns: share.duration_ns,
    }
}

impl Folded {
    fn add(&mut self, wait: &WaitRow, shares: &[Share], tables: &mut Tables) {
        let waits = one_wait(wait.duration_ns);
        let owners: Vec<OwnerIndex> = if self.threads_are_folded || self.owners_are_folded {
            let code = |share: &Share| tables.owner_without_thread(share.owner);
            shares.iter().map(code).collect()
        } else {
            shares.iter().map(|share| share.owner).collect()
        };
        let waiter = if self.threads_are_folded {
            tables.without_thread(wait.waiter)
        } else {
            wait.waiter
        };
        let of_whole = shares.iter().zip(owners);
        let of_whole = of_whole.map(|(share, owner)| one_share(share, owner));
        self.whole.add(waiter, 0, &waits, of_whole);

        self.add_by_time(wait, shares, tables);
    }

    /// Adds a wait to the bucket of its middle.
    pub(crate) fn add_by_time(&mut self, wait: &WaitRow, shares: &[Share], tables: &mut Tables) {
        let waits = one_wait(wait.duration_ns);
        let middle_ns = wait.start_ns + wait.duration_ns / 2;
        while middle_ns / self.bucket_ns >= MAX_BUCKETS.into() {
            self.widen_buckets();
        }
        let bucket = (middle_ns / self.bucket_ns) as u32;
        let waiter = tables.without_thread(wait.waiter);
        let shares: Vec<FoldedShare> = shares
            .iter()
            .map(|part| {
                let owner = if self.owners_are_folded {
                    tables.folded_owner()
                } else {
                    tables.owner_without_thread(part.owner)
                };
                one_share(part, owner)
            })
            .collect();
        self.by_time.add(waiter, bucket, &waits, shares.into_iter());
    }

    fn widen_buckets(&mut self) {
        self.bucket_ns *= 2;
        let by_time = std::mem::take(&mut self.by_time);
        self.by_time = by_time.coarser(|waiter| waiter, |owner| owner, |bucket| bucket / 2);
    }

    /// Coarsens the tables until they have at most `max` sums.
    pub(crate) fn shrink(&mut self, max: usize, tables: &mut Tables) {
        if self.whole.len() > max && !self.threads_are_folded {
            self.threads_are_folded = true;
            let whole = std::mem::take(&mut self.whole);
            let mut waiters: SeededMap<WaiterIndex, WaiterIndex> = SeededMap::default();
            let tables = std::cell::RefCell::new(&mut *tables);
            self.whole = whole.coarser(
                |waiter| {
                    let code = || tables.borrow_mut().without_thread(waiter);
                    *waiters.entry(waiter).or_insert_with(code)
                },
                |owner| tables.borrow_mut().owner_without_thread(owner),
                |time| time,
            );
        }
        while self.by_time.len() > max {
            let last = self.by_time.rows().map(|(_, bucket, _)| bucket).max();
            if last.is_some_and(|last| last >= MIN_BUCKETS) {
                self.widen_buckets();
            } else if self.owners_are_folded {
                break;
            } else {
                self.owners_are_folded = true;
                let folded = tables.folded_owner();
                let by_time = std::mem::take(&mut self.by_time);
                self.by_time = by_time.coarser(|waiter| waiter, |_| folded, |bucket| bucket);
            }
        }
    }

    /// Returns whether the sums over time distinguish the code of owners.
    pub(crate) fn knows_owners_by_time(&self) -> bool {
        !self.owners_are_folded
    }

    /// Returns the range of a bucket.
    pub(crate) fn bucket_range_ns(&self, bucket: u32) -> (u64, u64) {
        let from_ns = u64::from(bucket) * self.bucket_ns;
        (from_ns, (from_ns + self.bucket_ns).min(MAX_NS))
    }

    /// Returns only the sums over time.
    pub(crate) fn by_time_only(&self) -> Self {
        Self {
            whole: FoldedTable::default(),
            by_time: self.by_time.clone(),
            is_by_time_only: true,
            ..*self
        }
    }

    /// Returns whether nothing is folded.
    pub(crate) fn is_empty(&self) -> bool {
        self.whole.rows().next().is_none() && self.by_time.rows().next().is_none()
    }

    /// Returns whether the width of the buckets is valid.
    pub(crate) fn has_buckets(&self) -> bool {
        (1..=MAX_NS).contains(&self.bucket_ns)
    }

    /// Returns whether a bucket begins by `end_ns`.
    pub(crate) fn begins_by(&self, bucket: u32, end_ns: u64) -> bool {
        let from_ns = u64::from(bucket).checked_mul(self.bucket_ns);
        from_ns.is_some_and(|from_ns| from_ns <= end_ns)
    }

    /// Returns whether there are only sums over time.
    pub(crate) fn is_by_time_only(&self) -> bool {
        self.is_by_time_only
    }

    /// Returns the totals of all folded waits.
    pub(crate) fn totals(&self) -> FoldedWaits {
        let mut totals = FoldedWaits::default();
        for (_, _, waits) in self.by_time.rows() {
            totals.waits += waits.waits;
            totals.duration_ns = totals.duration_ns.saturating_add(waits.duration_ns);
            totals.max_ns = totals.max_ns.max(waits.max_ns);
        }
        totals
    }
}
