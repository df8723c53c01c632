//! The dimensions by which waits are grouped, and their values.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use trace_analysis::{Aspect, Value};

/// An aspect of a wait or of its owner, or the trace that it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub enum Dimension {
    /// The trace.
    Trace,
    /// An aspect.
    Aspect(Aspect),
}

const TRACE: &str = "trace";

pub(crate) const THREAD: Dimension = Dimension::Aspect(Aspect::Thread);
pub(crate) const LOCK: Dimension = Dimension::Aspect(Aspect::Lock);
pub(crate) const OWNER_THREAD: Dimension = Dimension::Aspect(Aspect::OwnerThread);

impl Dimension {
    /// Returns the name in questions and answers.
    pub fn name(self) -> &'static str {
        match self {
            Dimension::Trace => TRACE,
            Dimension::Aspect(aspect) => aspect.name(),
        }
    }

    /// Returns whether it depends on the owner.
    pub fn is_of_owner(self) -> bool {
        matches!(self, Dimension::Aspect(aspect) if aspect.is_of_owner())
    }

    /// Returns its column in the table of waiters or of owners.
    pub(crate) fn column(self) -> usize {
        let of = |columns: &[Aspect], aspect: Aspect| {
            let position = columns.iter().position(|&column| column == aspect);
            position.expect("every aspect is of the waiter or of the owner")
        };
        match self {
            Dimension::Trace => WAITER_ASPECTS.len(),
            Dimension::Aspect(aspect) if aspect.is_of_owner() => of(&OWNER_ASPECTS, aspect),
            Dimension::Aspect(aspect) => of(&WAITER_ASPECTS, aspect),
        }
    }
}

/// The aspects in the table of waiters, which also has the trace.
pub(crate) const WAITER_ASPECTS: [Aspect; Aspect::DIRECT.len() - OWNERS] = aspects(false);

/// The aspects in the table of owners.
pub(crate) const OWNER_ASPECTS: [Aspect; OWNERS] = aspects(true);

const OWNERS: usize = {
    let (mut owners, mut at) = (0, 0);
    while at < Aspect::DIRECT.len() {
        if Aspect::DIRECT[at].is_of_owner() {
            owners += 1;
        }
        at += 1;
    }
    owners
};

/// Returns the `N` aspects of owners, or all others, in their order.
const fn aspects<const N: usize>(of_owner: bool) -> [Aspect; N] {
    let mut found = [Aspect::Kind; N];
    let (mut count, mut at) = (0, 0);
    while at < Aspect::DIRECT.len() {
        if Aspect::DIRECT[at].is_of_owner() == of_owner {
            found[count] = Aspect::DIRECT[at];
            count += 1;
        }
        at += 1;
    }
    assert!(count == N, "all places are filled");
    found
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

// By name, as in the tables of answers.
impl Ord for Dimension {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name().cmp(other.name())
    }
}

impl PartialOrd for Dimension {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Dimension> for &'static str {
    fn from(dimension: Dimension) -> Self {
        dimension.name()
    }
}

impl From<Aspect> for Dimension {
    fn from(aspect: Aspect) -> Self {
        Dimension::Aspect(aspect)
    }
}

/// A name that is not a dimension's. Root owners are not dimensions: the model knows direct owners.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown aspect \"{0}\", expected one of {names}", names = Aspect::DIRECT.map(Aspect::name).join(", "))]
pub struct UnknownDimension(String);

impl FromStr for Dimension {
    type Err = UnknownDimension;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        if name == TRACE {
            return Ok(Dimension::Trace);
        }
        let mut aspects = Aspect::DIRECT.into_iter();
        let aspect = aspects.find(|aspect| aspect.name() == name);
        aspect
            .map(Dimension::Aspect)
            .ok_or_else(|| UnknownDimension(name.to_owned()))
    }
}

impl TryFrom<String> for Dimension {
    type Error = UnknownDimension;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

/// The value of a wait in a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Label {
    /// A value of the analysis.
    Value(Value),
    /// A value of an index: the position among its [names](crate::known_names).
    Known(u32),
    /// The trace at this position.
    Trace(u16),
    /// One of too many values to distinguish them.
    Folded,
}

/// The position of a [`Label`] in the model's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct LabelIndex(pub(crate) u32);
