//! The form of a model in an index.

use serde::{Deserialize, Serialize};
use trace_analysis::WaitKind;

use crate::known_names::KnownNames;
use crate::model::{Confidence, KindTotals, Trace};
use crate::store::{Folded, Part, Share, WaitRow};
use crate::tables::{OwnerLabels, WaiterLabels};

/// A whole [model](crate::Model), without its traces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredModel {
    pub(super) traces: Vec<Trace>,
    pub(super) kinds: [KindTotals; WaitKind::ALL.len()],
    pub(super) confidence: Confidence,
    pub(super) labels: Vec<StoredLabel>,
    pub(super) names: KnownNames,
    pub(super) waiters: Vec<StoredWaiter>,
    pub(super) owners: Vec<OwnerLabels>,
    pub(super) waits: Vec<WaitRow>,
    pub(super) shares: Vec<Share>,
    /// The parts of all waits, if they are known.
    pub(super) parts: Option<Vec<Part>>,
    pub(super) folded: Folded,
}

/// A [label](crate::dimension::Label): those with a name have the names in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum StoredLabel {
    Named,
    Trace(u16),
    Folded,
}

/// A [waiter](crate::tables::Waiter), with the positions of its mechanism and its kind.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct StoredWaiter {
    pub(super) labels: WaiterLabels,
    pub(super) mechanism: u8,
    pub(super) kind: u8,
    pub(super) trace: u16,
}

/// The error that stored data is not a valid model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its {0} do not fit together")]
pub struct BadStoredModel(pub(super) &'static str);
