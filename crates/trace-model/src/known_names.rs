//! What things are called in a model whose traces were not read: an index has it.

use serde::{Deserialize, Serialize};

use crate::names::{NamedChain, NamedFrame};

/// The names of labels, and the frames of their call chains.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct KnownNames {
    pub(crate) labels: Vec<KnownLabel>,
    pub(crate) frames: Vec<NamedFrame>,
}

/// What a label is called.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KnownLabel {
    /// Text that stands for the same thing in every analysis.
    pub(crate) key: String,
    /// Text for people.
    pub(crate) text: String,
    /// Text for people that tells apart what shares a label.
    pub(crate) long: Option<String>,
    /// Of a call chain; its frames are positions among [those here](KnownNames::frames).
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

    /// All frames of call chains are there.
    pub(crate) fn fit(&self) -> bool {
        let chains = self.labels.iter().filter_map(|label| label.chain.as_ref());
        let mut frames = chains.flat_map(|chain| &chain.frames);
        frames.all(|&frame| (frame as usize) < self.frames.len())
    }
}
