//! The names in a model that comes from an index, without its traces.

use serde::{Deserialize, Serialize};

use crate::names::{NamedChain, NamedFrame};

/// The names of labels, and the frames of their call chains.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KnownNames {
    pub(crate) labels: Vec<KnownLabel>,
    pub(crate) frames: Vec<NamedFrame>,
}

/// The name of a label.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KnownLabel {
    /// A text that identifies the same thing in every analysis.
    pub(crate) key: String,
    /// The text for people.
    pub(crate) text: String,
    /// A longer text, where others have the same.
    pub(crate) long: Option<String>,
    /// The call chain, if it is one; its frames are positions in [`KnownNames::frames`].
    pub(crate) chain: Option<NamedChain>,
    pub(crate) is_thread: bool,
}

impl KnownNames {
    pub(crate) fn label(&self, position: u32) -> &KnownLabel {
        &self.labels[position as usize]
    }

    pub(crate) fn frame(&self, position: u32) -> &NamedFrame {
        &self.frames[position as usize]
    }

    /// Returns whether all frames of call chains are there.
    pub(crate) fn fit(&self) -> bool {
        let chains = self.labels.iter().filter_map(|label| label.chain.as_ref());
        let mut frames = chains.flat_map(|chain| &chain.frames);
        frames.all(|&frame| (frame as usize) < self.frames.len())
    }
}
