//! The waits that a question is about.

use serde::{Deserialize, Serialize};
use trace_analysis::WaitKind;

use crate::dimension::Dimension;

/// Selects waits, and parts of them. The default selects all contention.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WaitSelection {
    /// The start of the range on the time axis, in nanoseconds. Waits are cut there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from_ns: Option<u64>,
    /// The end of the range on the time axis, in nanoseconds. Waits are cut there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to_ns: Option<u64>,
    /// The kinds of waits; contention if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Kind>,
    /// The least whole duration of a wait, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_ns: Option<u64>,
    /// The whole duration, in nanoseconds, that waits are shorter than.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_ns: Option<u64>,
    /// The traces; all if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<u16>,
    /// The conditions, which must all hold.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<Condition>,
}

/// A condition on the value of one aspect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// The aspect.
    pub aspect: Dimension,
    /// Whether the value must not be one of the keys.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not: bool,
    /// The keys of values.
    #[serde(rename = "in")]
    pub keys: Vec<String>,
}

/// [`WaitKind`], by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub struct Kind(pub WaitKind);

/// A name that is not a kind's.
#[derive(Clone, Debug, thiserror::Error)]
#[error("unknown kind \"{0}\", expected one of {names}", names = WaitKind::ALL.map(WaitKind::name).join(", "))]
pub struct UnknownKind(String);

impl From<Kind> for &'static str {
    fn from(Kind(kind): Kind) -> Self {
        kind.name()
    }
}

impl TryFrom<String> for Kind {
    type Error = UnknownKind;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        let kind = WaitKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.map(Kind).ok_or(UnknownKind(name))
    }
}

/// The reason why a question is not answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The range ends before it begins.
    #[error("to_ns must not be less than from_ns, nor max_ns than min_ns")]
    EmptyRange,
    /// It asks for more than an answer can hold.
    #[error("{what} is {given}, the most is {most}")]
    TooMuch {
        /// What.
        what: &'static str,
        /// How much it asks for.
        given: usize,
        /// The limit.
        most: usize,
    },
    /// It asks for nothing.
    #[error("{what} must be at least 1")]
    Zero {
        /// What.
        what: &'static str,
    },
    /// The cursor is not from an earlier answer.
    #[error("the cursor is not one of an earlier answer")]
    UnknownCursor,
}

/// Checks that `given` is not more than `most`.
pub(crate) fn check(what: &'static str, given: usize, most: usize) -> Result<(), QuestionError> {
    if given > most {
        return Err(QuestionError::TooMuch { what, given, most });
    }
    Ok(())
}

const MAX_CONDITIONS: usize = 64;
const MAX_KEYS: usize = 10_000;

impl WaitSelection {
    /// Returns whether it is about waits of this kind.
    pub(crate) fn has_kind(&self, kind: WaitKind) -> bool {
        if self.kinds.is_empty() {
            return kind == WaitKind::Contention;
        }
        self.kinds.contains(&Kind(kind))
    }

    pub(crate) fn check(&self) -> Result<(), QuestionError> {
        let in_order = |from: Option<u64>, to: Option<u64>| {
            to.is_none_or(|to| from.is_none_or(|from| from <= to))
        };
        if !in_order(self.from_ns, self.to_ns) || !in_order(self.min_ns, self.max_ns) {
            return Err(QuestionError::EmptyRange);
        }
        check(
            "the number of conditions",
            self.filter.len(),
            MAX_CONDITIONS,
        )?;
        let keys = self.filter.iter().map(|condition| condition.keys.len());
        check("the number of keys", keys.sum(), MAX_KEYS)
    }
}
