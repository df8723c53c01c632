//! The code of owners while others waited for their locks, from samples of their stacks.

use crate::blame::facts::latest::{Fact, LatestFacts};
use crate::model::entity::{ChainIndex, ThreadIndex};
use crate::order::system_fact::Sample;

/// The latest samples of all threads.
#[derive(Debug)]
pub(crate) struct OwnerSamples(LatestFacts<Sample>);

impl Fact for Sample {
    fn thread(&self) -> ThreadIndex {
        self.owner
    }

    fn time_ns(&self) -> u64 {
        self.time_ns
    }
}

/// Maximum time that a sample stands for, about twenty minutes: sums of times and their products
/// with times do not overflow then.
const MAX_INTERVAL_NS: u64 = 1 << 40;

fn weight(sample: &Sample) -> u128 {
    sample.interval_ns.clamp(1, MAX_INTERVAL_NS).into()
}

impl OwnerSamples {
    /// Keeps at most `max` samples.
    pub(crate) fn new(max: usize) -> Self {
        Self(LatestFacts::new(max))
    }

    /// Adds a sample. Samples arrive in the order of time, except those that had to wait for a
    /// description.
    pub(crate) fn add(&mut self, sample: Sample) {
        self.0.add(sample);
    }

    /// Divides a span in which the thread owned a lock by its samples in that span: calls `on_part`
    /// with each part, in order and without gaps, and the sampled code; `None` before the thread
    /// could be sampled, and if there is no sample.
    ///
    /// The times of samples are a Poisson process: they are spread evenly over the time in which a
    /// sample was possible, however many there are, so each counts the same if it stands for the
    /// same time.
    pub(crate) fn split(
        &self,
        thread: ThreadIndex,
        (start_ns, end_ns): (u64, u64),
        mut on_part: impl FnMut(u64, u64, Option<ChainIndex>),
    ) {
        let samples = self.0.of(thread).map(|samples| samples.from(start_ns));
        let samples = samples.unwrap_or_default();
        let inside = samples.take_while(|sample| sample.time_ns < end_ns);
        let Some(first) = inside.clone().next() else {
            return on_part(start_ns, end_ns, None);
        };
        let since_ns = first.since_ns.min(first.time_ns).max(start_ns);
        if start_ns < since_ns {
            on_part(start_ns, since_ns, None);
        }
        let whole_ns = u128::from(end_ns - since_ns);
        let all: u128 = inside.clone().map(weight).sum();
        let (mut at_ns, mut so_far) = (since_ns, 0);
        for sample in inside {
            so_far += weight(sample);
            // At most the whole span.
            let until_ns = since_ns + (whole_ns * so_far / all) as u64;
            on_part(at_ns, until_ns, Some(sample.chain));
            at_ns = until_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OWNER: ThreadIndex = ThreadIndex(1);
    const OTHER: ThreadIndex = ThreadIndex(2);

    fn sample(owner: ThreadIndex, time_ns: u64, since_ns: u64, interval_ns: u64) -> Sample {
        Sample {
            owner,
            time_ns,
            since_ns,
            interval_ns,
            chain: ChainIndex(time_ns as u32),
        }
    }

    fn parts(
        samples: &OwnerSamples,
        start_ns: u64,
        end_ns: u64,
    ) -> Vec<(u64, u64, Option<ChainIndex>)> {
        let mut parts = Vec::new();
        samples.split(OWNER, (start_ns, end_ns), |start_ns, end_ns, chain| {
            parts.push((start_ns, end_ns, chain));
        });
        parts
    }

    #[test]
    fn time_is_divided_by_the_samples_in_it() {
        let mut samples = OwnerSamples::new(10);
        samples.add(sample(OWNER, 150, 120, 10));
        samples.add(sample(OTHER, 160, 120, 10));
        samples.add(sample(OWNER, 190, 120, 30));
        samples.add(sample(OWNER, 300, 290, 10));
        let [first, second] = [150, 190].map(|chain| Some(ChainIndex(chain)));
        let expected = [(100, 120, None), (120, 140, first), (140, 200, second)];
        assert_eq!(parts(&samples, 100, 200), expected);
        // The sample at the end belongs to the time that begins there.
        assert_eq!(parts(&samples, 200, 300), [(200, 300, None)]);
        assert_eq!(
            parts(&samples, 130, 160),
            [(130, 160, Some(ChainIndex(150)))]
        );
    }

    fn any_samples() -> impl Strategy<Value = Vec<Sample>> {
        let number = || prop_oneof![0..100u64, any::<u64>()];
        let owner = prop_oneof![3 => Just(OWNER), 1 => Just(OTHER)];
        let sample = (owner, number(), number(), number());
        let sample = sample.prop_map(|(owner, time_ns, since_ns, interval_ns)| {
            self::sample(owner, time_ns, since_ns, interval_ns)
        });
        prop::collection::vec(sample, 0..20)
    }

    proptest! {
        /// Parts are in order, without gaps, and agree with sums over all samples, even in a
        /// damaged trace.
        #[test]
        fn parts_add_up(all in any_samples(), start_ns in 0..120u64, duration_ns in 1..120u64) {
            let end_ns = start_ns + duration_ns;
            let mut samples = OwnerSamples::new(100);
            all.iter().for_each(|&sample| samples.add(sample));
            let parts = parts(&samples, start_ns, end_ns);
            let mut at_ns = start_ns;
            for &(from_ns, to_ns, _) in &parts {
                prop_assert_eq!(from_ns, at_ns);
                prop_assert!(to_ns >= from_ns);
                at_ns = to_ns;
            }
            prop_assert_eq!(at_ns, end_ns);

            let inside = |sample: &&Sample| {
                sample.owner == OWNER && (start_ns..end_ns).contains(&sample.time_ns)
            };
            let inside: Vec<_> = all.iter().filter(inside).collect();
            let not_sampled_ns: u64 = parts
                .iter()
                .filter(|(.., chain)| chain.is_none())
                .map(|(from_ns, to_ns, _)| to_ns - from_ns)
                .sum();
            let Some(first_ns) = inside.iter().map(|sample| sample.time_ns).min() else {
                prop_assert_eq!(not_sampled_ns, duration_ns);
                return Ok(());
            };
            prop_assert!(not_sampled_ns <= first_ns - start_ns);
            let sampled_ns = (duration_ns - not_sampled_ns) as f64;
            let weights = |chain: ChainIndex| -> f64 {
                let of_chain = inside.iter().filter(|sample| sample.chain == chain);
                of_chain.map(|sample| weight(sample) as f64).sum()
            };
            let all_weights: f64 = inside.iter().map(|sample| weight(sample) as f64).sum();
            for sample in &inside {
                let found_ns: u64 = parts
                    .iter()
                    .filter(|(.., chain)| *chain == Some(sample.chain))
                    .map(|(from_ns, to_ns, _)| to_ns - from_ns)
                    .sum();
                let expected_ns = sampled_ns * weights(sample.chain) / all_weights;
                // Boundaries are at whole nanoseconds.
                let tolerance_ns = inside.len() as f64 + 0.001;
                prop_assert!((found_ns as f64 - expected_ns).abs() <= tolerance_ns);
            }
        }
    }
}
