//! The truth of the scenario `OwnerShares`: what its threads recorded, and the
//! blame that follows from it.

use std::collections::BTreeMap;

use crate::hold_log::Bounds;

/// One turn of a thread with the lock, on the program's own clock.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The thread.
    pub thread: String,
    /// The method that held the lock.
    pub method: String,
    /// Just before the thread asked for the lock.
    pub wanted_ns: u64,
    /// Just after it had it.
    pub acquired_ns: u64,
    /// Just before it gave it back.
    pub released_ns: u64,
}

impl Turn {
    /// Reads what follows the word `turn` in a line of the program.
    pub fn parse(words: &[&str]) -> Turn {
        let [thread, method, wanted, acquired, released] = words else {
            panic!("not a turn: {words:?}");
        };
        let time = |text: &str| text.parse().expect("a time in nanoseconds");
        Turn {
            thread: (*thread).to_owned(),
            method: (*method).to_owned(),
            wanted_ns: time(wanted),
            acquired_ns: time(acquired),
            released_ns: time(released),
        }
    }
}

/// Returns how long each method kept other threads from the lock, in nanoseconds: for every time a
/// thread wanted the lock, by the method that held it meanwhile.
///
/// At least from one reading of the clock to the other; at most since the owner before
/// had released the lock until the next one had it, for a thread can lose its processor
/// between the lock and the clock.
pub fn blame(turns: &[Turn]) -> BTreeMap<String, Bounds> {
    let mut turns: Vec<_> = turns.iter().collect();
    turns.sort_unstable_by_key(|turn| turn.acquired_ns);
    let mut blame: BTreeMap<String, Bounds> = BTreeMap::new();
    for blocked in &turns {
        let during = |from_ns: u64, until_ns: u64| {
            let until_ns = until_ns.min(blocked.acquired_ns);
            until_ns.saturating_sub(from_ns.max(blocked.wanted_ns))
        };
        let others = turns.iter().enumerate();
        for (place, owner) in others.filter(|(_, owner)| owner.acquired_ns < blocked.acquired_ns) {
            let before_ns = place
                .checked_sub(1)
                .map_or(0, |before| turns[before].released_ns);
            let after = turns.get(place + 1);
            let until_ns = after.map_or(owner.released_ns, |after| after.acquired_ns);
            let bounds = Bounds {
                least_ns: during(owner.acquired_ns, owner.released_ns),
                most_ns: during(owner.wanted_ns.max(before_ns), until_ns),
            };
            blame.entry(owner.method.clone()).or_default().add(bounds);
        }
    }
    blame
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(thread: &str, method: &str, times: [&str; 3]) -> Turn {
        let [wanted, acquired, released] = times;
        Turn::parse(&[thread, method, wanted, acquired, released])
    }

    /// The paper's figure 3: T2 and T3 want the lock while T1 holds it.
    #[test]
    fn splits_each_wait_over_the_owners() {
        let turns = [
            turn("T1", "first", ["0", "0", "40"]),
            turn("T2", "second", ["10", "41", "70"]),
            turn("T3", "third", ["20", "72", "90"]),
        ];
        let expected = [("first", (30 + 20, 31 + 21)), ("second", (29, 32))];
        let expected = expected
            .map(|(method, (least_ns, most_ns))| (method.to_owned(), Bounds { least_ns, most_ns }));
        assert_eq!(blame(&turns), BTreeMap::from(expected));
    }
}
