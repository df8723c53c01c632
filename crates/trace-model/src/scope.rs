//! A selection, looked up in a model, and the waits in it.

use crate::dimension::Dimension;
use crate::folded::FoldedWaits;
use crate::hash::SeededSet;
use crate::model::Model;
use crate::scale::Scale;
use crate::selection::WaitSelection;
use crate::store::WaitRow;
use crate::tables::{OwnerIndex, WaiterIndex};
use crate::time_axis::MAX_NS;

/// A selection in terms of one model.
pub(crate) struct Scope<'m> {
    model: &'m Model,
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// Whether no wait is cut.
    is_whole: bool,
    /// Whether the time of folded waits matters more than their threads.
    is_timed: bool,
    min_ns: u64,
    /// `None` if there is no limit.
    max_ns: Option<u64>,
    /// Which waiters are selected.
    waiters: Vec<bool>,
    /// Which owners are selected; `None` if all are.
    owners: Option<Vec<bool>>,
}

/// The selected part of a wait, or of folded waits.
#[derive(Debug)]
pub(crate) struct Piece<'a> {
    pub(crate) waiter: WaiterIndex,
    pub(crate) source: Source<'a>,
    /// The number of waits.
    pub(crate) waits: u64,
    /// Where it begins and ends, cut to the range.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    /// The time of all owners, selected or not, in the range.
    pub(crate) full_ns: u64,
    /// The shares of the selected owners in the range.
    pub(crate) shares: &'a [PieceShare],
}

/// What a [`Piece`] is part of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source<'a> {
    Wait(&'a WaitRow),
    Folded(&'a FoldedWaits),
}

/// The share of one owner in a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PieceShare {
    pub(crate) owner: OwnerIndex,
    pub(crate) duration_ns: u64,
    pub(crate) contentions: u64,
    /// The number of the piece's waits with it.
    pub(crate) waits: u64,
    /// The longest one in a wait.
    pub(crate) max_ns: u64,
    /// Its position among the wait's shares.
    pub(crate) position: u32,
}

impl Piece<'_> {
    /// Returns the time of the selected owners.
    pub(crate) fn duration_ns(&self) -> u64 {
        let durations = self.shares.iter().map(|share| share.duration_ns);
        durations.fold(0, u64::saturating_add)
    }
}

impl<'m> Scope<'m> {
    /// Looks up `selection`. The model must be [prepared](Model::prepare), with keys if there are
    /// conditions. `wants_time` if the time of folded waits matters more than their threads.
    pub(crate) fn new(model: &'m Model, selection: &WaitSelection, wants_time: bool) -> Self {
        let end_ns = model.end_ns();
        let from_ns = selection.from_ns.unwrap_or(0).min(end_ns);
        let to_ns = selection.to_ns.unwrap_or(end_ns).min(end_ns);
        let tables = &model.tables;
        let mut waiters: Vec<bool> = tables
            .waiters()
            .iter()
            .map(|waiter| {
                let has_trace =
                    selection.traces.is_empty() || selection.traces.contains(&waiter.trace);
                has_trace && selection.has_kind(waiter.kind)
            })
            .collect();
        let mut owners = None;
        for condition in &selection.filter {
            let keys = condition.keys.iter();
            let labels: SeededSet<u32> = keys
                .flat_map(|key| model.keys().labels(key))
                .copied()
                .collect();
            let fulfils = |label: u32| labels.contains(&label) != condition.not;
            let column = condition.aspect.column();
            if condition.aspect.is_of_owner() {
                let owners = owners.get_or_insert_with(|| vec![true; tables.owners().len()]);
                for (selected, owner) in owners.iter_mut().zip(tables.owners()) {
                    *selected &= fulfils(owner[column].0);
                }
            } else {
                for (selected, waiter) in waiters.iter_mut().zip(tables.waiters()) {
                    *selected &= fulfils(waiter.labels[column].0);
                }
            }
        }
        Self {
            model,
            from_ns,
            to_ns,
            is_whole: from_ns == 0 && to_ns == end_ns,
            is_timed: wants_time
                || from_ns > 0
                || to_ns < end_ns
                || model.store.folded().is_by_time_only(),
            min_ns: selection.min_ns.unwrap_or(0),
            max_ns: selection.max_ns,
            waiters,
            owners,
        }
    }

    /// Returns whether the waiter is selected, at any time.
    pub(crate) fn has_waiter(&self, waiter: WaiterIndex) -> bool {
        self.waiters[waiter.0 as usize]
    }

    /// Returns whether the selection is about owners.
    pub(crate) fn selects_owners(&self) -> bool {
        self.owners.is_some()
    }

    /// Returns whether the owner is selected.
    pub(crate) fn has_owner(&self, owner: OwnerIndex) -> bool {
        let owners = self.owners.as_ref();
        owners.is_none_or(|owners| owners[owner.0 as usize])
    }

    fn has_duration(&self, duration_ns: u64) -> bool {
        duration_ns >= self.min_ns && self.max_ns.is_none_or(|max_ns| duration_ns < max_ns)
    }

    /// Passes all pieces with selected time to `take`: first those of waits, in the order in which these
    /// began.
    pub(crate) fn for_each(&self, mut take: impl FnMut(&Piece<'_>)) {
        let mut shares = Vec::new();
        let to_ns = if self.is_whole { u64::MAX } else { self.to_ns };
        for wait in self.model.store.waits_around(self.from_ns, to_ns) {
            if let Some(piece) = self.piece(wait, &mut shares) {
                take(&piece);
            }
        }
        let folded = self.model.store.folded();
        let table = if self.is_timed {
            &folded.by_time
        } else {
            &folded.whole
        };
        for (waiter, bucket, waits) in table.rows() {
            let (from_ns, to_ns) = if self.is_timed {
                let (from_ns, to_ns) = folded.bucket_range_ns(bucket);
                (from_ns, to_ns.min(self.model.end_ns()))
            } else {
                (0, self.to_ns)
            };
            if let Some(piece) = self.folded_piece(waiter, from_ns, to_ns, waits, &mut shares) {
                take(&piece);
            }
        }
    }

    /// Returns the selected piece of a wait.
    pub(crate) fn piece<'a>(
        &self,
        wait: &'a WaitRow,
        shares: &'a mut Vec<PieceShare>,
    ) -> Option<Piece<'a>> {
        if !self.has_waiter(wait.waiter) || !self.has_duration(wait.duration_ns) {
            return None;
        }
        let (from_ns, to_ns) = self.cut(wait.start_ns, wait.end_ns())?;
        shares.clear();
        let is_cut = to_ns - from_ns < wait.duration_ns;
        if is_cut {
            self.cut_shares(wait, from_ns, to_ns, shares);
        } else {
            for (position, share) in (0..).zip(self.model.store.shares(wait)) {
                if self.has_owner(share.owner) {
                    shares.push(PieceShare {
                        owner: share.owner,
                        duration_ns: share.duration_ns,
                        contentions: share.contentions.into(),
                        waits: 1,
                        max_ns: share.duration_ns,
                        position,
                    });
                }
            }
        }
        (!shares.is_empty()).then_some(Piece {
            waiter: wait.waiter,
            source: Source::Wait(wait),
            waits: 1,
            from_ns,
            to_ns,
            full_ns: to_ns - from_ns,
            shares,
        })
    }

    /// Cuts a period to the range. An empty period is in the range that it begins in.
    fn cut(&self, start_ns: u64, end_ns: u64) -> Option<(u64, u64)> {
        if self.is_whole {
            return Some((start_ns, end_ns));
        }
        let from_ns = start_ns.max(self.from_ns);
        let to_ns = end_ns.min(self.to_ns);
        let is_point_inside = start_ns == end_ns && (self.from_ns..self.to_ns).contains(&start_ns);
        (from_ns < to_ns || is_point_inside).then_some((from_ns, to_ns))
    }

    fn cut_shares(&self, wait: &WaitRow, from_ns: u64, to_ns: u64, cut: &mut Vec<PieceShare>) {
        let store = &self.model.store;
        let shares = store.shares(wait);
        let mut durations_ns = vec![0; shares.len()];
        if let Some(parts) = store.parts(wait) {
            let mut at_ns = wait.start_ns;
            for part in parts {
                let end_ns = at_ns + part.duration_ns;
                let inside_ns = end_ns.min(to_ns).saturating_sub(at_ns.max(from_ns));
                if let Some(duration_ns) = durations_ns.get_mut(part.share as usize) {
                    *duration_ns += inside_ns;
                }
                at_ns = end_ns;
            }
        } else {
            let scale = Scale::new(to_ns - from_ns, wait.duration_ns);
            let mut sum_ns = 0;
            for (duration_ns, share) in durations_ns.iter_mut().zip(shares) {
                *duration_ns = scale.step(sum_ns, share.duration_ns);
                sum_ns += share.duration_ns;
            }
        }
        for ((position, share), duration_ns) in (0..).zip(shares).zip(durations_ns) {
            if duration_ns > 0 && self.has_owner(share.owner) {
                cut.push(PieceShare {
                    owner: share.owner,
                    duration_ns,
                    contentions: share.contentions.into(),
                    waits: 1,
                    max_ns: duration_ns,
                    position,
                });
            }
        }
    }

    fn folded_piece<'a>(
        &self,
        waiter: WaiterIndex,
        from_ns: u64,
        to_ns: u64,
        waits: &'a FoldedWaits,
        shares: &'a mut Vec<PieceShare>,
    ) -> Option<Piece<'a>> {
        let mean_ns = waits.duration_ns / waits.waits.max(1);
        if !self.has_waiter(waiter) || !self.has_duration(mean_ns) {
            return None;
        }
        let (cut_from_ns, cut_to_ns) = self.cut(from_ns, to_ns)?;
        let scale = Scale::new(cut_to_ns - cut_from_ns, to_ns - from_ns);
        shares.clear();
        let mut sum_ns = 0;
        let mut full_ns: u64 = 0;
        let mut of_owners: u64 = 0;
        for (position, share) in (0..).zip(&waits.shares) {
            let duration_ns = scale.step(sum_ns, share.duration_ns);
            sum_ns = sum_ns.saturating_add(share.duration_ns);
            full_ns = full_ns.saturating_add(duration_ns);
            if self.has_owner(share.owner) {
                let waits = scale.up(share.waits);
                of_owners = of_owners.saturating_add(waits);
                shares.push(PieceShare {
                    owner: share.owner,
                    duration_ns,
                    contentions: scale.down(share.contentions),
                    waits,
                    max_ns: share.max_ns.min(duration_ns),
                    position,
                });
            }
        }
        let in_range = scale.up(waits.waits);
        (!shares.is_empty()).then_some(Piece {
            waiter,
            source: Source::Folded(waits),
            waits: if self.selects_owners() {
                in_range.min(of_owners)
            } else {
                in_range
            },
            from_ns: cut_from_ns,
            to_ns: cut_to_ns,
            full_ns,
            shares,
        })
    }
}

/// Returns whether an aspect or a condition is about threads or single locks.
pub(crate) fn is_about_threads(selection: &WaitSelection, by: &[Dimension]) -> bool {
    use trace_analysis::Aspect::{Lock, OwnerThread, Thread};
    let conditions = selection.filter.iter().map(|condition| condition.aspect);
    let mut all = by.iter().copied().chain(conditions);
    all.any(|dimension| matches!(dimension, Dimension::Aspect(Lock | Thread | OwnerThread)))
}

/// Returns whether a question needs keys of labels.
pub(crate) fn needs_keys(selection: &WaitSelection) -> bool {
    !selection.filter.is_empty()
}

/// Returns how long the traces of a selection ran in its range, in nanoseconds.
pub(crate) fn run_time_ns(model: &Model, selection: &WaitSelection) -> u64 {
    let from_ns = selection.from_ns.unwrap_or(0);
    let to_ns = selection.to_ns.unwrap_or(MAX_NS);
    let selected = |position: usize| {
        let mut traces = selection.traces.iter();
        selection.traces.is_empty() || traces.any(|&trace| usize::from(trace) == position)
    };
    let traces = model.traces().iter().enumerate();
    let traces = traces.filter(|&(position, _)| selected(position));
    let durations = traces.map(|(_, trace)| {
        let inside_ns = trace.end_ns().min(to_ns);
        inside_ns.saturating_sub(trace.offset_ns.max(from_ns))
    });
    durations.fold(0, u64::saturating_add)
}
