//! Hash tables that a hostile trace cannot slow down.

use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

pub(crate) type SeededMap<K, V> = HashMap<K, V, RandomState>;
pub(crate) type SeededSet<T> = HashSet<T, RandomState>;
