//! Which waits are described part by part if there are too many parts.

use crate::model::time_sampling::TimeSampling;

/// The most parts that are described before fewer waits are.
const MAX_PARTS: usize = 1 << 19;

/// A sample of the time: a wait that begins in it is described part by part. How many parts there are grows with the waiters,
/// as each hold is a part of all waits that it delays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SampledParts {
    kept: TimeSampling,
    /// How many parts the waits have that began in the time that is kept.
    parts: usize,
    first_ns: Option<u64>,
    last_ns: u64,
    has_changed: bool,
}

impl SampledParts {
    pub(crate) fn keeps(&self, start_ns: u64) -> bool {
        self.kept.keeps(start_ns)
    }

    /// Counts the parts of a wait that is kept.
    pub(crate) fn add(&mut self, start_ns: u64, parts: usize) {
        self.first_ns = Some(self.first_ns.map_or(start_ns, |it| it.min(start_ns)));
        self.last_ns = self.last_ns.max(start_ns);
        self.parts += parts;
        if self.parts > MAX_PARTS {
            self.has_changed |= self.kept.halve(self.first_ns.unwrap_or(0), self.last_ns);
            self.parts /= 2;
        }
    }

    /// Returns what is kept if that has changed since it was asked for.
    pub(crate) fn changed(&mut self) -> Option<TimeSampling> {
        std::mem::take(&mut self.has_changed).then_some(self.kept)
    }
}
