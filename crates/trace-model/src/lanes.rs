//! A timeline with a lane for each lock or thread.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use trace_analysis::{Aspect, Entities};

use crate::dimension::{Dimension, LOCK, LabelIndex, OWNER_THREAD, THREAD};
use crate::groups::Range;
use crate::groups::tree::Tree;
use crate::hash::SeededMap;
use crate::model::Model;
use crate::name_collector::NameCollector;
use crate::names::Names;
use crate::scope::{Piece, Scope, Source, needs_keys};
use crate::selection::{QuestionError, WaitSelection, check};
use crate::series::Series;
use crate::sum::Sum;

/// Asks for a timeline.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LanesQuery {
    /// The waits that the question is about.
    #[serde(default)]
    pub selection: WaitSelection,
    /// What each lane is for.
    pub by: LaneBy,
    /// The width in pixels.
    pub px: usize,
    /// The most lanes: those with the most time.
    #[serde(default = "default_limit")]
    pub limit: usize,
}

/// What each lane is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LaneBy {
    /// A lock.
    Lock,
    /// A class of locks.
    LockClass,
    /// A thread that waits.
    Thread,
}

impl LaneBy {
    fn dimension(self) -> Dimension {
        Dimension::Aspect(match self {
            LaneBy::Lock => Aspect::Lock,
            LaneBy::LockClass => Aspect::LockClass,
            LaneBy::Thread => Aspect::Thread,
        })
    }
}

fn default_limit() -> usize {
    40
}

const MAX_PX: usize = 4_096;
const MAX_LANES: usize = 200;
/// The most lanes times pixels.
const MAX_CELLS: usize = 400_000;
/// The most owners in one lane.
const OWNERS_PER_LANE: usize = 16;
/// A lane with more segments per pixel is shown by its density.
const SEGMENTS_PER_PX: usize = 2;
/// The most owners in one pixel.
const OWNERS_PER_PX: usize = 6;

/// The place of what has no lane.
const NONE: u32 = u32::MAX;

/// The answer to a [`LanesQuery`].
#[derive(Clone, Debug, Serialize)]
pub struct Lanes {
    /// The selection's part of the time axis.
    pub range: Range,
    /// Whether waits are cut where their owners changed.
    pub exact: bool,
    /// The lanes, those with the most time first.
    pub lanes: Vec<Lane>,
    /// The lanes left out.
    pub omitted: OmittedLanes,
    /// The names that they refer to.
    #[serde(flatten)]
    pub names: Names,
}

/// The lanes left out.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OmittedLanes {
    /// The number of lanes.
    pub lanes: usize,
    /// Their time, in nanoseconds.
    pub duration_ns: Sum,
}

/// The waits for one lock, or of one thread.
#[derive(Clone, Debug, Serialize)]
pub struct Lane {
    /// The lock or thread, a value.
    pub value: u32,
    /// The time waited, in nanoseconds.
    pub duration_ns: Sum,
    /// The number of waits.
    pub waits: u64,
    /// The content.
    #[serde(flatten)]
    pub content: LaneContent,
}

/// The content of a lane.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "mode", rename_all = "lowercase")]
pub enum LaneContent {
    /// Segments and waits, one by one.
    Segments {
        /// The owners of the lock while threads waited; in a thread's lane, those it waited for.
        segments: Vec<Segment>,
        /// The waits.
        waits_at: Vec<LaneWait>,
    },
    /// Sums for each pixel.
    Bins {
        /// Pairs of an owner, a value, and its time in nanoseconds.
        bins: Vec<Vec<u64>>,
        /// The time waited by all, in nanoseconds.
        waiting_ns: Vec<Sum>,
        /// The waits; none if they are too many.
        waits_at: Vec<LaneWait>,
    },
}

/// A period in which one owner made a thread wait.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Segment {
    /// Where it begins, in nanoseconds on the time axis.
    pub from_ns: u64,
    /// Where it ends, in nanoseconds on the time axis.
    pub to_ns: u64,
    /// The owner, a value.
    pub owner: u32,
    /// The number of a wait that it is part of.
    pub wait: u64,
}

/// A wait in a lane.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LaneWait {
    /// Its number.
    pub id: u64,
    /// Where it begins, in nanoseconds on the time axis, cut to the range.
    pub from_ns: u64,
    /// Where it ends, in nanoseconds on the time axis, cut to the range.
    pub to_ns: u64,
    /// The thread, a value.
    pub thread: u32,
    /// The lock, a value.
    pub lock: u32,
}

/// A lane under construction.
struct Draft {
    label: LabelIndex,
    duration_ns: Sum,
    waits: u64,
    /// The owners with the most time.
    owners: Vec<LabelIndex>,
    /// Whether there are too many waits to show each.
    has_many_waits: bool,
    /// Whether owners are shown by their density.
    is_dense: bool,
    segments: Vec<(u64, u64, LabelIndex, u64)>,
    waits_at: Vec<(u64, u64, u64, LabelIndex, LabelIndex)>,
    /// The end of the last segment.
    covered_ns: u64,
    /// By pixel, for each of the owners, and last for all others.
    bins: Vec<Option<Series>>,
    waiting: Series,
}

impl Model {
    /// Draws a timeline.
    ///
    /// # Errors
    ///
    /// If it asks for more than an answer can hold, or for nothing, or its selection is not valid.
    pub fn lanes(
        &mut self,
        query: &LanesQuery,
        entities: &Entities,
    ) -> Result<Lanes, QuestionError> {
        query.selection.check()?;
        check("px", query.px, MAX_PX)?;
        check("limit", query.limit, MAX_LANES)?;
        check("limit times px", query.limit * query.px, MAX_CELLS)?;
        if query.px == 0 {
            return Err(QuestionError::Zero { what: "px" });
        }
        self.prepare(entities, needs_keys(&query.selection));
        let scope = Scope::new(self, &query.selection, true);
        let by = [query.by.dimension(), OWNER_THREAD];
        let mut tree = Tree::new(self, &scope, &by);
        scope.for_each(|piece| tree.add(piece));
        let (mut drafts, omitted) = self.drafts(&tree, &scope, query);
        let mut places = vec![NONE; self.tables.labels().len()];
        for (place, draft) in (0..).zip(&drafts) {
            places[draft.label.0 as usize] = place;
        }
        scope.for_each(|piece| {
            let label = self.tables.of_waiter(piece.waiter, by[0]);
            if let Some(draft) = drafts.get_mut(places[label.0 as usize] as usize) {
                self.draw(piece, query, draft);
            }
        });
        let mut names = NameCollector::new(&self.tables, entities);
        let mut lanes = Vec::new();
        for draft in drafts {
            let value = names.add(query.by.dimension(), draft.label);
            lanes.push(Lane {
                value,
                duration_ns: draft.duration_ns,
                waits: draft.waits,
                content: draft.finish(query.px, self, &mut names),
            });
        }
        Ok(Lanes {
            range: Range {
                from_ns: scope.from_ns,
                to_ns: scope.to_ns,
            },
            exact: self.is_exact(),
            lanes,
            omitted,
            names: names.finish(),
        })
    }

    /// Returns the lanes with the most time, still empty.
    fn drafts(
        &self,
        tree: &Tree<'_>,
        scope: &Scope<'_>,
        query: &LanesQuery,
    ) -> (Vec<Draft>, OmittedLanes) {
        let mut sums: SeededMap<LabelIndex, Sum> = SeededMap::default();
        let mut of_owners = Vec::new();
        for (path, duration_ns) in tree.leaf_sums() {
            sums.entry(path[0]).or_default().add_sum(duration_ns);
            of_owners.push(((path[0], path[1]), duration_ns));
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|&(label, duration_ns)| (Reverse(duration_ns), label));
        let shown = sums.len().min(query.limit);
        let mut owners: SeededMap<LabelIndex, Vec<LabelIndex>> = sums[..shown]
            .iter()
            .map(|&(label, _)| (label, Vec::new()))
            .collect();
        of_owners.retain(|((lane, _), _)| owners.contains_key(lane));
        of_owners.sort_unstable_by_key(|&(owned, duration_ns)| (Reverse(duration_ns), owned));
        for ((lane, owner), _) in of_owners {
            let owners = owners.entry(lane).or_default();
            if owners.len() < OWNERS_PER_LANE {
                owners.push(owner);
            }
        }
        let mut omitted_ns = Sum::default();
        for &(_, duration_ns) in &sums[shown..] {
            omitted_ns.add_sum(duration_ns);
        }
        let omitted = OmittedLanes {
            lanes: sums.len() - shown,
            duration_ns: omitted_ns,
        };
        let drafts = sums[..shown].iter().map(|&(label, duration_ns)| {
            let owners = owners.remove(&label).unwrap_or_default();
            Draft {
                label,
                duration_ns,
                waits: 0,
                bins: owners.iter().map(|_| None).chain([None]).collect(),
                owners,
                has_many_waits: false,
                is_dense: !self.is_exact(),
                segments: Vec::new(),
                waits_at: Vec::new(),
                covered_ns: 0,
                waiting: Series::new(scope.from_ns, scope.to_ns, query.px),
            }
        });
        (drafts.collect(), omitted)
    }

    fn draw(&self, piece: &Piece<'_>, query: &LanesQuery, draft: &mut Draft) {
        draft.count(piece, SEGMENTS_PER_PX * query.px);
        let owner_of = |share: usize| {
            self.tables
                .of_owner(piece.shares[share].owner, OWNER_THREAD)
        };
        let wait = match piece.source {
            Source::Wait(wait) => Some(wait),
            Source::Folded(_) => None,
        };
        if let Some(wait) = wait
            && !draft.has_many_waits
        {
            let of = |dimension| self.tables.of_waiter(piece.waiter, dimension);
            let (thread, lock) = (of(THREAD), of(LOCK));
            let (from_ns, to_ns) = (piece.from_ns, piece.to_ns);
            draft.waits_at.push((wait.id, from_ns, to_ns, thread, lock));
        }
        let parts = wait.and_then(|wait| Some((wait, self.store.parts(wait)?)));
        let Some((wait, parts)) = parts else {
            for (position, share) in piece.shares.iter().enumerate() {
                let slot = self.slot(owner_of(position), draft);
                draft.add_to_bins(slot, piece.from_ns, piece.to_ns, share.duration_ns);
            }
            return;
        };
        // Threads that wait for one lock at the same time wait for the same owner.
        let covers = query.by == LaneBy::Lock;
        let mut at_ns = wait.start_ns;
        for part in parts {
            let end_ns = at_ns + part.duration_ns;
            let (mut from_ns, to_ns) = (at_ns.max(piece.from_ns), end_ns.min(piece.to_ns));
            at_ns = end_ns;
            let share = piece
                .shares
                .binary_search_by_key(&part.share, |share| share.position);
            let Ok(share) = share else { continue };
            if covers {
                from_ns = from_ns.max(draft.covered_ns);
            }
            if from_ns >= to_ns {
                continue;
            }
            draft.covered_ns = draft.covered_ns.max(to_ns);
            let owner = owner_of(share);
            draft.add_to_bins(self.slot(owner, draft), from_ns, to_ns, to_ns - from_ns);
            if !draft.is_dense {
                draft.segments.push((from_ns, to_ns, owner, wait.id));
                draft.is_dense = draft.segments.len() > SEGMENTS_PER_PX * query.px;
            }
        }
    }
}

impl Model {
    /// Returns the bins of an owner: the last ones if it has none of its own.
    fn slot(&self, owner: LabelIndex, draft: &Draft) -> usize {
        let is_known = owner != self.tables.folded_label();
        let mut owners = draft.owners.iter();
        let slot = owners.position(|&known| known == owner && is_known);
        slot.unwrap_or(draft.owners.len())
    }
}

impl Draft {
    /// Counts the waits of a piece, of which more than `most` are too many to show each.
    fn count(&mut self, piece: &Piece<'_>, most: usize) {
        self.waiting
            .add(piece.from_ns, piece.to_ns, piece.duration_ns());
        self.waits += piece.waits;
        if !self.has_many_waits && self.waits > most as u64 {
            self.has_many_waits = true;
            self.is_dense = true;
            self.waits_at = Vec::new();
        }
    }

    fn add_to_bins(&mut self, slot: usize, from_ns: u64, to_ns: u64, duration_ns: u64) {
        let empty = || self.waiting.emptied();
        let bins = self.bins[slot].get_or_insert_with(empty);
        bins.add(from_ns, to_ns, duration_ns);
    }

    fn finish(self, px: usize, model: &Model, names: &mut NameCollector<'_>) -> LaneContent {
        let by_owner_thread = |label, names: &mut NameCollector<'_>| names.add(OWNER_THREAD, label);
        let waits_at = self.waits_at.into_iter();
        let waits_at = waits_at.map(|(id, from_ns, to_ns, thread, lock)| LaneWait {
            id,
            from_ns,
            to_ns,
            thread: names.add(THREAD, thread),
            lock: names.add(LOCK, lock),
        });
        let waits_at = waits_at.collect();
        if !self.is_dense {
            let segments = self
                .segments
                .into_iter()
                .map(|(from_ns, to_ns, owner, wait)| Segment {
                    from_ns,
                    to_ns,
                    owner: by_owner_thread(owner, names),
                    wait,
                });
            return LaneContent::Segments {
                segments: segments.collect(),
                waits_at,
            };
        }
        let others = model.tables.folded_label();
        let labels = self.owners.into_iter().chain([others]);
        let owners = labels.zip(self.bins);
        let mut owners: Vec<_> = owners
            .filter_map(|(owner, series)| Some((owner, series?.finish())))
            .collect();
        owners.sort_unstable_by_key(|&(owner, _)| owner);
        let mut bins = Vec::with_capacity(px);
        for at in 0..self.waiting.len() {
            let mut pixel: Vec<(Sum, LabelIndex)> = owners
                .iter()
                .map(|(owner, series)| (series[at], *owner))
                .filter(|&(duration_ns, _)| duration_ns > Sum::default())
                .collect();
            pixel.sort_by_key(|&(duration_ns, _)| Reverse(duration_ns));
            let mut rest_ns = Sum::default();
            let most = pixel.len().min(OWNERS_PER_PX);
            for (duration_ns, _) in pixel.drain(most..) {
                rest_ns.add_sum(duration_ns);
            }
            if rest_ns > Sum::default() {
                pixel.push((rest_ns, others));
            }
            let pairs = pixel.into_iter().flat_map(|(duration_ns, owner)| {
                [by_owner_thread(owner, names).into(), duration_ns.ns()]
            });
            bins.push(pairs.collect());
        }
        LaneContent::Bins {
            bins,
            waiting_ns: self.waiting.finish(),
            waits_at,
        }
    }
}
