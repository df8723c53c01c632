//! The truth of the scenario `OwnerShares`: what its threads recorded, and the
//! blame that follows from it.

use std::collections::BTreeMap;

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

/// How long each method kept other threads from the lock, in nanoseconds: for
/// every time a thread wanted the lock, who held it meanwhile.
pub fn blame(turns: &[Turn]) -> BTreeMap<String, u64> {
    let mut blame = BTreeMap::new();
    for blocked in turns {
        for owner in turns {
            let from = owner.acquired_ns.max(blocked.wanted_ns);
            let to = owner.released_ns.min(blocked.acquired_ns);
            *blame.entry(owner.method.clone()).or_default() += to.saturating_sub(from);
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
        let expected = [("first", 30 + 20), ("second", 29), ("third", 0)];
        assert_eq!(
            blame(&turns),
            BTreeMap::from(expected.map(|(method, ns)| (method.to_owned(), ns)))
        );
    }
}
