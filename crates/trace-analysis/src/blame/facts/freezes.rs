//! Freezes: spans in which the process did not run.

use std::collections::VecDeque;

use trace_format::Freeze;

use crate::collections::shrink::shrink_queue;
use crate::model::wait::{Contention, Owner};

/// Maximum number of freezes kept.
const MAX_FREEZES: usize = 1 << 12;

/// The most recent freezes.
#[derive(Debug, Default)]
pub(crate) struct Freezes {
    /// Ordered by time, without overlaps.
    freezes: VecDeque<Freeze>,
}

impl Freezes {
    /// Adds the next freeze. Ignores one that overlaps the last, precedes it, or is empty.
    pub(crate) fn add(&mut self, freeze: Freeze) {
        let last_ns = self.freezes.back().map_or(0, |last| last.end_ns);
        if last_ns > freeze.begin_ns || freeze.begin_ns >= freeze.end_ns {
            return;
        }
        if self.freezes.len() >= MAX_FREEZES {
            self.freezes.pop_front();
        }
        self.freezes.push_back(freeze);
        shrink_queue(&mut self.freezes);
    }

    /// Returns whether a freeze overlaps the span.
    #[inline]
    pub(crate) fn has_any(&self, time: (u64, u64)) -> bool {
        !self.freezes.is_empty() && self.during(time).next().is_some()
    }

    /// Returns the freezes that overlap the span.
    fn during(&self, (start_ns, end_ns): (u64, u64)) -> impl Iterator<Item = &Freeze> {
        let first = (self.freezes).partition_point(|freeze| freeze.end_ns <= start_ns);
        let freezes = self.freezes.range(first..);
        freezes.take_while(move |freeze| freeze.begin_ns < end_ns)
    }

    /// Calls `on_part` with each part of the span, and whether the process was frozen in it. No
    /// part is empty, unless the span is.
    pub(crate) fn split(
        &self,
        (start_ns, end_ns): (u64, u64),
        mut on_part: impl FnMut((u64, u64), bool),
    ) {
        if start_ns >= end_ns {
            return on_part((start_ns, end_ns), false);
        }
        let mut at_ns = start_ns;
        for freeze in self.during((start_ns, end_ns)) {
            let (begin_ns, until_ns) = (freeze.begin_ns.max(at_ns), freeze.end_ns.min(end_ns));
            if at_ns < begin_ns {
                on_part((at_ns, begin_ns), false);
            }
            on_part((begin_ns, until_ns), true);
            at_ns = until_ns;
        }
        if at_ns < end_ns {
            on_part((at_ns, end_ns), false);
        }
    }

    /// Blames the parts of these contentions that lie in a freeze on [`Owner::Frozen`].
    pub(crate) fn cut(&self, contentions: &mut Vec<Contention>) {
        let Some((first, last)) = contentions.first().zip(contentions.last()) else {
            return;
        };
        if !self.has_any((first.start_ns, last.start_ns + last.duration_ns)) {
            return;
        }
        for part in std::mem::take(contentions) {
            let time = (part.start_ns, part.start_ns + part.duration_ns);
            self.split(time, |(start_ns, end_ns), is_frozen| {
                contentions.push(Contention {
                    start_ns,
                    duration_ns: end_ns - start_ns,
                    owner: if is_frozen { Owner::Frozen } else { part.owner },
                });
            });
        }
        // Parts of consecutive owners that lie in the same freeze are one freeze.
        contentions.dedup_by(|next, last| {
            let is_one = next.owner == Owner::Frozen && last.owner == Owner::Frozen;
            if is_one {
                last.duration_ns += next.duration_ns;
            }
            is_one
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blame::timeline::splitter::{Shares, add_contentions};
    use crate::model::detail::Detail;
    use crate::model::entity::{ChainIndex, ThreadIndex};

    fn freezes(times: &[(u64, u64)]) -> Freezes {
        let mut freezes = Freezes::default();
        for &(begin_ns, end_ns) in times {
            freezes.add(Freeze { begin_ns, end_ns });
        }
        freezes
    }

    fn parts(freezes: &Freezes, time: (u64, u64)) -> Vec<(u64, u64, bool)> {
        let mut parts = Vec::new();
        freezes.split(time, |(start_ns, end_ns), is_frozen| {
            parts.push((start_ns, end_ns, is_frozen));
        });
        parts
    }

    #[test]
    fn time_is_split() {
        // Freezes that are out of order or empty are ignored.
        let freezes = freezes(&[(10, 20), (15, 18), (20, 30), (40, 50), (60, 60)]);
        let all = [
            (5, 10, false),
            (10, 20, true),
            (20, 30, true),
            (30, 40, false),
            (40, 50, true),
            (50, 70, false),
        ];
        assert_eq!(parts(&freezes, (5, 70)), all);
        assert_eq!(parts(&freezes, (12, 15)), [(12, 15, true)]);
        assert_eq!(parts(&freezes, (30, 40)), [(30, 40, false)]);
        assert_eq!(parts(&freezes, (45, 60)), [(45, 50, true), (50, 60, false)]);
        assert_eq!(parts(&freezes, (7, 7)), [(7, 7, false)]);
        for (time, has_any) in [((0, 10), false), ((0, 11), true), ((30, 40), false)] {
            assert_eq!(freezes.has_any(time), has_any, "{time:?}");
        }
    }

    #[test]
    fn the_last_ones_stay_known() {
        let mut freezes = Freezes::default();
        for number in 0..2 * MAX_FREEZES as u64 {
            freezes.add(Freeze {
                begin_ns: 10 * number,
                end_ns: 10 * number + 5,
            });
        }
        assert_eq!(freezes.freezes.len(), MAX_FREEZES);
        assert!(!freezes.has_any((0, 5)));
        assert!(freezes.has_any((20 * MAX_FREEZES as u64 - 10, u64::MAX)));
    }

    #[test]
    fn contentions_are_cut() {
        let owner = |thread| Owner::Thread {
            thread: ThreadIndex(thread),
            chain: ChainIndex::NOT_RECORDED,
        };
        let part = |start_ns, end_ns, owner| Contention {
            start_ns,
            duration_ns: end_ns - start_ns,
            owner,
        };
        let mut contentions = vec![
            part(0, 30, owner(1)),
            part(30, 60, owner(2)),
            part(60, 60, Owner::Free),
        ];
        freezes(&[(20, 40), (50, 90)]).cut(&mut contentions);
        let cut = [
            part(0, 20, owner(1)),
            part(20, 40, Owner::Frozen),
            part(40, 50, owner(2)),
            part(50, 60, Owner::Frozen),
            part(60, 60, Owner::Free),
        ];
        assert_eq!(contentions, cut);

        // The first owner goes on after the freeze: it held the lock once.
        let mut contentions = vec![part(0, 30, owner(1)), part(30, 60, owner(2))];
        freezes(&[(10, 20)]).cut(&mut contentions);
        let mut blame = Vec::new();
        add_contentions(
            &contentions,
            &mut Shares::new(Detail::OWNERS, &mut blame, None),
        );
        let blame = blame
            .iter()
            .map(|blame| (blame.duration_ns, blame.contentions));
        assert_eq!(blame.collect::<Vec<_>>(), [(20, 1), (10, 1), (30, 1)]);
    }
}
