//! Interned texts: a packet refers to them by number.

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use trace_analysis::{ChainIndex, Entities, LockIndex, Value};

use super::message::{InternedData, InternedName};

/// A text by the entity that it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Text {
    /// A literal.
    Fixed(&'static str),
    /// The name of a value.
    Name(Value),
    /// The name of a value, with the number that identifies it.
    Key(Value),
    /// An owner: a thread, and its method.
    Owner(Value, Value),
    /// A lock.
    Lock(LockIndex),
    /// All frames, the innermost first, one a line.
    Stack(ChainIndex),
}

impl Text {
    fn text(self, entities: &Entities) -> String {
        match self {
            Self::Fixed(text) => text.to_owned(),
            Self::Name(value) => value.name(entities),
            Self::Key(value) => value.key(entities),
            Self::Owner(thread, method) => {
                format!("{}: {}", thread.name(entities), method.name(entities))
            }
            Self::Lock(lock) => entities.lock_name(lock),
            Self::Stack(chain) => match entities.frame_labels(chain) {
                frames if frames.is_empty() => entities.chain_label(chain, 0),
                frames => frames.join("\n"),
            },
        }
    }
}

/// The use of a text. Each has numbers of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    Category,
    EventName,
    AnnotationName,
    AnnotationValue,
}

/// The numbers of the texts that a reader knows.
#[derive(Debug, Default)]
pub(super) struct Texts {
    known: IndexSet<(Use, Text), RandomState>,
    bytes: usize,
    /// The texts to be sent with the next packet.
    news: InternedData,
}

impl Texts {
    /// The most bytes that a reader has to remember. Then it may forget all.
    const MAX_BYTES: usize = 8 << 20;
    const MAX_TEXTS: usize = 1 << 17;

    /// Returns whether the limit is reached.
    pub(super) fn are_too_many(&self) -> bool {
        self.bytes > Self::MAX_BYTES || self.known.len() > Self::MAX_TEXTS
    }

    /// Returns the number of a text.
    pub(super) fn number(&mut self, of: Use, text: Text, entities: &Entities) -> u64 {
        let (index, is_new) = self.known.insert_full((of, text));
        let iid = index as u64 + 1;
        if is_new {
            let name = text.text(entities);
            self.bytes += name.len();
            let news = match of {
                Use::Category => &mut self.news.event_categories,
                Use::EventName => &mut self.news.event_names,
                Use::AnnotationName => &mut self.news.debug_annotation_names,
                Use::AnnotationValue => &mut self.news.debug_annotation_string_values,
            };
            news.push(InternedName { iid, name });
        }
        iid
    }

    /// Takes the texts added since the last call.
    pub(super) fn take_news(&mut self) -> Option<InternedData> {
        let news = std::mem::take(&mut self.news);
        (news != InternedData::default()).then_some(news)
    }
}
