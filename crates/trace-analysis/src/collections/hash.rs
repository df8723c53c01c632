//! Hashing of keys that a file chooses.
//!
//! Identifiers in a trace can be chosen so that an unseeded hash puts them all in one
//! place, which makes every lookup a search. So all maps and sets have a random seed,
//! and nothing may depend on the order of their iteration: it differs from run to run.

use std::collections::{HashMap, HashSet};

/// An odd number whose bits look random: mixes a key's for a table of a few places, in which another key
/// may take the place of one, so that no file can make it slow.
pub(crate) const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A seed for hashing, another one for each map.
pub(crate) type Seed = foldhash::fast::RandomState;

pub(crate) type SeededMap<K, V> = HashMap<K, V, Seed>;

pub(crate) type SeededSet<T> = HashSet<T, Seed>;
