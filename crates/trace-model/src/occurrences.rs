//! Lists of single waits, and the details of one.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use trace_analysis::{Aspect, Entities};

use crate::dimension::{Dimension, LOCK, LabelIndex, OWNER_THREAD, THREAD};
use crate::model::Model;
use crate::name_collector::NameCollector;
use crate::names::Names;
use crate::scope::{Scope, Source, needs_keys};
use crate::selection::{QuestionError, WaitSelection, check};
use crate::store::{Share, WaitRow};

/// Asks for single waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WaitsQuery {
    /// The waits that the question is about.
    #[serde(default)]
    pub selection: WaitSelection,
    /// The order of the waits.
    #[serde(default)]
    pub sort: WaitOrder,
    /// The most waits.
    #[serde(default = "default_limit")]
    pub limit: usize,
    /// The end of an earlier answer.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// The order of waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitOrder {
    /// The most selected time first.
    #[default]
    Duration,
    /// The earliest first.
    Start,
}

fn default_limit() -> usize {
    100
}

const MAX_LIMIT: usize = 1_000;
const LISTED_SHARES: usize = 8;
const MAX_SHARES: usize = 1_000;
const MAX_PARTS: usize = 10_000;
const MAX_MEANWHILE: usize = 50;

/// The answer to a [`WaitsQuery`].
#[derive(Clone, Debug, Serialize)]
pub struct Waits {
    /// The waits.
    pub waits: Vec<Occurrence>,
    /// The names that they refer to.
    #[serde(flatten)]
    pub names: Names,
    /// The cursor for the next waits.
    pub cursor: Option<String>,
    /// The number of waits in the selection that are known one by one.
    pub total: u64,
    /// The number of waits in it that are folded.
    pub folded: u64,
}

/// A wait.
#[derive(Clone, Debug, Serialize)]
pub struct Occurrence {
    /// Its number.
    pub id: u64,
    /// The trace's position.
    pub trace: u16,
    /// When it began, in nanoseconds on the time axis.
    pub start_ns: u64,
    /// Its duration, in nanoseconds.
    pub duration_ns: u64,
    /// The time of it in which the JVM was in safepoints, in nanoseconds.
    pub safepoint_ns: u64,
    /// The time of it that is selected, in nanoseconds.
    pub selected_ns: u64,
    /// `monitor` or `park`.
    pub mechanism: &'static str,
    /// What the thread waited for.
    pub kind: &'static str,
    /// Whether it was over when the trace ended.
    pub ended: bool,
    /// Whether the thread returned from `Object.wait` or `Condition.await`.
    pub after_wait: bool,
    /// The lock, a value.
    pub lock: u32,
    /// The thread, a value.
    pub thread: u32,
    /// Where it waited, a value.
    pub chain: u32,
    /// The method that waited, a value.
    pub method: u32,
    /// The shares of owners, the largest first.
    pub shares: Vec<OccurrenceShare>,
    /// The shares that are left out.
    pub more_shares: MoreShares,
}

/// The share of one owner in a wait.
#[derive(Clone, Debug, Serialize)]
pub struct OccurrenceShare {
    /// The thread, a value.
    pub thread: u32,
    /// The method that held the lock, a value.
    pub method: u32,
    /// The call chain that held the lock, a value.
    pub chain: u32,
    /// The duration, in nanoseconds.
    pub duration_ns: u64,
    /// The number of parts.
    pub contentions: u32,
}

/// Shares that are left out.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct MoreShares {
    /// Their number.
    pub count: u64,
    /// Their time, in nanoseconds.
    pub duration_ns: u64,
}

/// A single wait, and what happened meanwhile.
#[derive(Clone, Debug, Serialize)]
pub struct WaitDetails {
    /// The wait.
    pub wait: Occurrence,
    /// Its parts, in order and without gaps; `None` if not known.
    pub parts: Option<Vec<OccurrencePart>>,
    /// Other waits, the longest overlap first.
    pub meanwhile: Vec<Overlap>,
    /// Waits of the owners of the wait, which held them up.
    pub owner_waits: Vec<Overlap>,
    /// The names that they refer to.
    #[serde(flatten)]
    pub names: Names,
}

/// A part of a wait.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OccurrencePart {
    /// When it began, in nanoseconds on the time axis.
    pub start_ns: u64,
    /// Its duration, in nanoseconds.
    pub duration_ns: u64,
    /// The position of its share.
    pub share: u32,
}

/// Another wait at the same time.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Overlap {
    /// Its number.
    pub id: u64,
    /// The thread, a value.
    pub thread: u32,
    /// The lock, a value.
    pub lock: u32,
    /// When it began, in nanoseconds on the time axis.
    pub start_ns: u64,
    /// Its duration, in nanoseconds.
    pub duration_ns: u64,
    /// The time that both have in common, in nanoseconds.
    pub overlap_ns: u64,
}

/// The sort key of a wait, which ends in its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place(Reverse<u64>, u64, u64);

impl Place {
    fn of(order: WaitOrder, selected_ns: u64, wait: &WaitRow) -> Self {
        let longest_first = match order {
            WaitOrder::Duration => selected_ns,
            WaitOrder::Start => 0,
        };
        Place(Reverse(longest_first), wait.start_ns, wait.id)
    }

    fn parse(cursor: &str) -> Option<Self> {
        let mut numbers = cursor.split('-').map(|number| number.parse().ok());
        let place = Place(
            Reverse(numbers.next()??),
            numbers.next()??,
            numbers.next()??,
        );
        numbers.next().is_none().then_some(place)
    }

    fn cursor(self) -> String {
        format!("{}-{}-{}", self.0.0, self.1, self.2)
    }
}

impl Model {
    /// Lists single waits.
    ///
    /// # Errors
    ///
    /// If it asks for more than an answer can hold, or its selection or cursor is not valid.
    pub fn waits(
        &mut self,
        query: &WaitsQuery,
        entities: &Entities,
    ) -> Result<Waits, QuestionError> {
        query.selection.check()?;
        check("limit", query.limit, MAX_LIMIT)?;
        let after = match &query.cursor {
            Some(cursor) => Some(Place::parse(cursor).ok_or(QuestionError::UnknownCursor)?),
            None => None,
        };
        self.prepare(entities, needs_keys(&query.selection));
        let scope = Scope::new(self, &query.selection, false);
        let mut found = Vec::new();
        let (mut total, mut folded) = (0, 0);
        scope.for_each(|piece| match piece.source {
            Source::Wait(wait) => {
                total += 1;
                let selected_ns = piece.duration_ns();
                let place = Place::of(query.sort, selected_ns, wait);
                if after.is_none_or(|after| place > after) {
                    found.push((place, selected_ns, *wait));
                }
            }
            Source::Folded(_) => folded += piece.waits,
        });
        let has_more = found.len() > query.limit;
        if has_more && query.limit > 0 {
            found.select_nth_unstable_by_key(query.limit - 1, |&(place, ..)| place);
        }
        found.truncate(query.limit);
        found.sort_unstable_by_key(|&(place, ..)| place);
        let cursor = found.last().filter(|_| has_more);
        let cursor = cursor.map(|(place, ..)| place.cursor());
        let mut names = NameCollector::new(&self.tables, entities);
        let waits = found.iter().map(|(_, selected_ns, wait)| {
            self.occurrence(wait, *selected_ns, LISTED_SHARES, &mut names)
        });
        Ok(Waits {
            waits: waits.collect(),
            names: names.finish(),
            cursor,
            total,
            folded,
        })
    }

    /// Returns the details of a wait; `None` if no wait of this number is known one by one.
    pub fn wait(&mut self, id: u64, entities: &Entities) -> Option<WaitDetails> {
        self.prepare(entities, false);
        let wait = *self.store.waits().iter().find(|wait| wait.id == id)?;
        let mut names = NameCollector::new(&self.tables, entities);
        let occurrence = self.occurrence(&wait, wait.duration_ns, MAX_SHARES, &mut names);
        let owners = self.owner_threads(&wait);
        let overlapping = self.store.waits().iter().filter_map(|other| {
            let overlap_ns = overlap_ns(&wait, other);
            (other.id != id && overlap_ns > 0).then_some((overlap_ns, other))
        });
        let mut overlapping: Vec<_> = overlapping.collect();
        overlapping.sort_by_key(|&(overlap_ns, other)| (Reverse(overlap_ns), other.id));
        let thread = |other: &WaitRow| self.tables.of_waiter(other.waiter, THREAD);
        let mut overlap = |&(overlap_ns, other): &(u64, &WaitRow)| Overlap {
            id: other.id,
            thread: names.add(THREAD, thread(other)),
            lock: names.add(LOCK, self.tables.of_waiter(other.waiter, LOCK)),
            start_ns: other.start_ns,
            duration_ns: other.duration_ns,
            overlap_ns,
        };
        let meanwhile = overlapping.iter().take(MAX_MEANWHILE).map(&mut overlap);
        let meanwhile = meanwhile.collect();
        let of_owners = overlapping.iter();
        let of_owners = of_owners.filter(|(_, other)| owners.contains(&thread(other)));
        let owner_waits = of_owners.take(MAX_MEANWHILE).map(&mut overlap).collect();
        Some(WaitDetails {
            parts: self.occurrence_parts(&wait),
            wait: occurrence,
            meanwhile,
            owner_waits,
            names: names.finish(),
        })
    }

    fn owner_threads(&self, wait: &WaitRow) -> Vec<LabelIndex> {
        let shares = self.store.shares(wait).iter();
        let threads = shares.map(|share| self.tables.of_owner(share.owner, OWNER_THREAD));
        threads.collect()
    }

    /// Returns the shares of a wait as answers list them: the largest first.
    fn by_size(&self, wait: &WaitRow) -> Vec<(u32, Share)> {
        let mut shares: Vec<_> = (0..).zip(self.store.shares(wait).iter().copied()).collect();
        shares.sort_by_key(|&(position, share)| (Reverse(share.duration_ns), position));
        shares
    }

    fn occurrence_parts(&self, wait: &WaitRow) -> Option<Vec<OccurrencePart>> {
        let parts = self.store.parts(wait)?;
        let by_size = self.by_size(wait);
        let mut place = vec![0; by_size.len()];
        for (listed, (position, _)) in (0..).zip(&by_size) {
            place[*position as usize] = listed;
        }
        let mut at_ns = wait.start_ns;
        let parts = parts.iter().take(MAX_PARTS).map(|part| {
            let start_ns = at_ns;
            at_ns += part.duration_ns;
            OccurrencePart {
                start_ns,
                duration_ns: part.duration_ns,
                share: place.get(part.share as usize).copied().unwrap_or(0),
            }
        });
        Some(parts.collect())
    }

    fn occurrence(
        &self,
        wait: &WaitRow,
        selected_ns: u64,
        most_shares: usize,
        names: &mut NameCollector<'_>,
    ) -> Occurrence {
        let by_size = self.by_size(wait);
        let (listed, more) = by_size.split_at(by_size.len().min(most_shares));
        let shares = listed.iter().map(|(_, share)| {
            let mut name = |aspect| names.add(aspect, self.tables.of_owner(share.owner, aspect));
            OccurrenceShare {
                thread: name(OWNER_THREAD),
                method: name(Dimension::Aspect(Aspect::OwnerMethod)),
                chain: name(Dimension::Aspect(Aspect::OwnerChain)),
                duration_ns: share.duration_ns,
                contentions: share.contentions,
            }
        });
        let shares = shares.collect();
        let waiter = self.tables.waiters()[wait.waiter.0 as usize];
        let mut name = |aspect| names.add(aspect, self.tables.of_waiter(wait.waiter, aspect));
        Occurrence {
            id: wait.id,
            trace: waiter.trace,
            start_ns: wait.start_ns,
            duration_ns: wait.duration_ns,
            safepoint_ns: wait.safepoint_ns,
            selected_ns,
            mechanism: waiter.mechanism.name(),
            kind: waiter.kind.name(),
            ended: wait.ended,
            after_wait: wait.after_wait,
            lock: name(LOCK),
            thread: name(THREAD),
            chain: name(Dimension::Aspect(Aspect::Chain)),
            method: name(Dimension::Aspect(Aspect::Method)),
            shares,
            more_shares: MoreShares {
                count: more.len() as u64,
                duration_ns: more.iter().map(|(_, share)| share.duration_ns).sum(),
            },
        }
    }
}

fn overlap_ns(one: &WaitRow, other: &WaitRow) -> u64 {
    let end_ns = one.end_ns().min(other.end_ns());
    end_ns.saturating_sub(one.start_ns.max(other.start_ns))
}
