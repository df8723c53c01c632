//! Hashing of keys that a file chooses.
//!
//! Identifiers in a trace can be chosen so that an unseeded hash puts them all in one
//! place, which makes every lookup a search. So all maps and sets have a random seed,
//! and nothing may depend on the order of their iteration: it differs from run to run.

use std::collections::{HashMap, HashSet};

/// A seed for hashing, another one for each map.
pub(crate) type Seed = foldhash::fast::RandomState;

pub(crate) type SeededMap<K, V> = HashMap<K, V, Seed>;

pub(crate) type SeededSet<T> = HashSet<T, Seed>;
