//! Spans in which all threads were stopped at safepoints.

use std::cell::Cell;
use std::collections::VecDeque;

use trace_format::Safepoint;

use crate::collections::galloping::count_near;
use crate::collections::shrink::shrink_queue;
use crate::model::wait::SafepointPhase;

/// The most recent safepoints.
#[derive(Debug)]
pub(crate) struct Safepoints {
    /// In the order of time: the next one begins when the last one has ended.
    safepoints: VecDeque<Safepoint>,
    /// Near the one that was wanted last.
    near: Cell<usize>,
    /// From when to when there is none, around the time that was asked for last.
    none: Cell<(u64, u64)>,
    max: usize,
}

/// The most that stay known.
const MAX_SAFEPOINTS: usize = 1 << 16;

impl Default for Safepoints {
    fn default() -> Self {
        Self::new(MAX_SAFEPOINTS)
    }
}

impl Safepoints {
    /// Keeps this many.
    fn new(max: usize) -> Self {
        Self {
            safepoints: VecDeque::new(),
            near: Cell::default(),
            none: Cell::default(),
            max,
        }
    }

    /// Adds the next one. One that does not come behind the last is none.
    pub(crate) fn add(&mut self, safepoint: Safepoint) {
        let Safepoint {
            begin_ns,
            reached_ns,
            end_ns,
        } = safepoint;
        let last_ns = self.safepoints.back().map_or(0, |last| last.end_ns);
        if last_ns > begin_ns || begin_ns > reached_ns || reached_ns > end_ns {
            return;
        }
        self.none.set((0, 0));
        if self.safepoints.len() >= self.max {
            self.safepoints.pop_front();
        }
        self.safepoints.push_back(safepoint);
        shrink_queue(&mut self.safepoints);
    }

    /// Whether there was one between begin and end.
    #[inline]
    pub(crate) fn has_any(&self, (start_ns, end_ns): (u64, u64)) -> bool {
        let (from_ns, until_ns) = self.none.get();
        let is_known = from_ns <= start_ns && end_ns <= until_ns;
        !is_known && self.looks_for_any(start_ns, end_ns)
    }

    fn looks_for_any(&self, start_ns: u64, end_ns: u64) -> bool {
        let first = self.first_behind(start_ns);
        let next = self.safepoints.get(first);
        let until_ns = next.map_or(u64::MAX, |next| next.begin_ns);
        if until_ns < end_ns {
            return true;
        }
        let before = first
            .checked_sub(1)
            .and_then(|before| self.safepoints.get(before));
        self.none
            .set((before.map_or(0, |before| before.end_ns), until_ns));
        false
    }

    /// The first one that ended behind that time.
    fn first_behind(&self, time_ns: u64) -> usize {
        let is_before = |safepoint: &Safepoint| safepoint.end_ns <= time_ns;
        let first = count_near(&self.safepoints, self.near.get(), is_before);
        self.near.set(first);
        first
    }

    /// Calls `on_part` with each part of the time from begin to end, and its phase if it is one of
    /// a safepoint. Parts may take no time. Costs the less the nearer that is to the time before.
    pub(crate) fn split(
        &self,
        start_ns: u64,
        end_ns: u64,
        mut on_part: impl FnMut(u64, u64, Option<SafepointPhase>),
    ) {
        if !self.has_any((start_ns, end_ns)) {
            return on_part(start_ns, end_ns, None);
        }
        let first = self.first_behind(start_ns);
        let mut at_ns = start_ns;
        for safepoint in self.safepoints.range(first..) {
            if safepoint.begin_ns >= end_ns {
                break;
            }
            for (until_ns, phase) in [
                (safepoint.begin_ns, None),
                (safepoint.reached_ns, Some(SafepointPhase::Reaching)),
                (safepoint.end_ns, Some(SafepointPhase::Reached)),
            ] {
                let until_ns = until_ns.clamp(at_ns, end_ns);
                on_part(at_ns, until_ns, phase);
                at_ns = until_ns;
            }
        }
        on_part(at_ns, end_ns, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Part = (u64, u64, Option<SafepointPhase>);

    const REACHING: Option<SafepointPhase> = Some(SafepointPhase::Reaching);
    const REACHED: Option<SafepointPhase> = Some(SafepointPhase::Reached);

    fn safepoint(begin_ns: u64, reached_ns: u64, end_ns: u64) -> Safepoint {
        Safepoint {
            begin_ns,
            reached_ns,
            end_ns,
        }
    }

    fn parts(safepoints: &Safepoints, start_ns: u64, end_ns: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        safepoints.split(start_ns, end_ns, |start_ns, end_ns, phase| {
            if start_ns < end_ns {
                parts.push((start_ns, end_ns, phase));
            }
        });
        parts
    }

    #[test]
    fn time_is_split() {
        let mut safepoints = Safepoints::new(3);
        for (begin, reached, end) in [(10, 12, 20), (30, 30, 40), (40, 45, 50)] {
            safepoints.add(safepoint(begin, reached, end));
        }
        let all = [
            (5, 10, None),
            (10, 12, REACHING),
            (12, 20, REACHED),
            (20, 30, None),
            (30, 40, REACHED),
            (40, 45, REACHING),
            (45, 50, REACHED),
            (50, 60, None),
        ];
        assert_eq!(parts(&safepoints, 5, 60), all);
        assert_eq!(parts(&safepoints, 15, 18), [(15, 18, REACHED)]);
        assert_eq!(parts(&safepoints, 20, 30), [(20, 30, None)]);
        assert_eq!(parts(&safepoints, 7, 7), []);
        // The first one is forgotten, and what is in disorder is none.
        safepoints.add(safepoint(55, 54, 58));
        safepoints.add(safepoint(45, 46, 47));
        safepoints.add(safepoint(60, 61, 62));
        assert_eq!(parts(&safepoints, 5, 30), [(5, 30, None)]);
    }
}
