//! Safepoints: spans in which all threads were stopped.

use std::cell::Cell;
use std::collections::VecDeque;

use trace_format::Safepoint;

use crate::collections::galloping::count_near;
use crate::collections::shrink::shrink_queue;
use crate::model::wait::SafepointPhase;

/// The most recent safepoints.
#[derive(Debug)]
pub(crate) struct Safepoints {
    /// Ordered by time, without overlaps.
    safepoints: VecDeque<Safepoint>,
    /// An index near the last one looked up.
    near: Cell<usize>,
    /// A span without safepoints around the last time looked up.
    none: Cell<(u64, u64)>,
    max: usize,
}

/// Maximum number of safepoints kept.
const MAX_SAFEPOINTS: usize = 1 << 16;

impl Default for Safepoints {
    fn default() -> Self {
        Self::new(MAX_SAFEPOINTS)
    }
}

impl Safepoints {
    /// Keeps at most `max` safepoints.
    fn new(max: usize) -> Self {
        Self {
            safepoints: VecDeque::new(),
            near: Cell::default(),
            none: Cell::default(),
            max,
        }
    }

    /// Adds the next safepoint. Ignores one that is out of order.
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

    /// Returns whether a safepoint overlaps the span.
    #[inline]
    pub(crate) fn has_any(&self, (start_ns, end_ns): (u64, u64)) -> bool {
        let (from_ns, until_ns) = self.none.get();
        let is_known = from_ns <= start_ns && end_ns <= until_ns;
        !is_known && self.looks_for_any(start_ns, end_ns)
    }

    fn looks_for_any(&self, start_ns: u64, end_ns: u64) -> bool {
        let first = self.first_ended_after(start_ns);
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

    /// Returns the index of the first safepoint that ended after `time_ns`.
    fn first_ended_after(&self, time_ns: u64) -> usize {
        let is_before = |safepoint: &Safepoint| safepoint.end_ns <= time_ns;
        let first = count_near(&self.safepoints, self.near.get(), is_before);
        self.near.set(first);
        first
    }

    /// Calls `on_part` with each part of the span, and the phase of the safepoint it lies in, if
    /// any. Parts may be empty. The closer the span is to the last one looked up, the less this
    /// costs.
    pub(crate) fn split(
        &self,
        start_ns: u64,
        end_ns: u64,
        mut on_part: impl FnMut(u64, u64, Option<SafepointPhase>),
    ) {
        if !self.has_any((start_ns, end_ns)) {
            return on_part(start_ns, end_ns, None);
        }
        let first = self.first_ended_after(start_ns);
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
        // The first one is forgotten, and those out of order are ignored.
        safepoints.add(safepoint(55, 54, 58));
        safepoints.add(safepoint(45, 46, 47));
        safepoints.add(safepoint(60, 61, 62));
        assert_eq!(parts(&safepoints, 5, 30), [(5, 30, None)]);
    }
}
