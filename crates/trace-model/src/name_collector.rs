//! Collects the names that an answer refers to.

use indexmap::IndexMap;
use trace_analysis::{Chain, ChainIndex, Entities, Frame, Overloads, Value};

use crate::dimension::{Dimension, Label, LabelIndex};
use crate::names::{NamedChain, NamedFrame, NamedValue, Names};
use crate::tables::Tables;

/// Collects the names of one answer.
pub(crate) struct NameCollector<'m> {
    tables: &'m Tables,
    entities: &'m Entities,
    overloads: Overloads<'m>,
    values: IndexMap<(Dimension, LabelIndex), NamedValue, foldhash::fast::RandomState>,
    frames: IndexMap<FrameKey, NamedFrame, foldhash::fast::RandomState>,
}

/// The identity of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum FrameKey {
    Frame(Frame),
    /// The position among the frames of an index.
    Known(u32),
}

impl<'m> NameCollector<'m> {
    pub(crate) fn new(tables: &'m Tables, entities: &'m Entities) -> Self {
        Self {
            tables,
            entities,
            overloads: Overloads::new(entities),
            values: IndexMap::default(),
            frames: IndexMap::default(),
        }
    }

    /// Adds a value. Returns its position in the answer.
    pub(crate) fn add(&mut self, aspect: Dimension, label: LabelIndex) -> u32 {
        if let Some(known) = self.values.get_index_of(&(aspect, label)) {
            return known as u32;
        }
        let value = self.named(aspect, self.tables.label(label));
        self.values.insert_full((aspect, label), value).0 as u32
    }

    fn named(&mut self, aspect: Dimension, label: Label) -> NamedValue {
        let key = self.tables.key(label, self.entities);
        let (label, long, chain) = match label {
            Label::Value(Value::Chain(chain)) => {
                let first = self.tables.methods().position(chain);
                let text = self.entities.chain_label(chain, first);
                (text, None, Some(self.chain(chain)))
            }
            Label::Value(value) => {
                let long = value.long_label(self.entities, &self.overloads);
                (value.label(self.entities, &self.overloads), long, None)
            }
            Label::Known(position) => {
                let known = self.tables.known_names().label(position);
                let chain = known.chain.as_ref().map(|chain| self.known_chain(chain));
                (known.text.clone(), known.long.clone(), chain)
            }
            Label::Trace(position) => (format!("trace {}", position + 1), None, None),
            Label::Folded => ("<others>".to_owned(), None, None),
        };
        NamedValue {
            aspect,
            key,
            label,
            long,
            chain,
        }
    }

    fn known_chain(&mut self, chain: &NamedChain) -> NamedChain {
        let names = self.tables.known_names();
        let frames = chain.frames.iter().map(|&frame| {
            let entry = self.frames.entry(FrameKey::Known(frame));
            let index = entry.index() as u32;
            entry.or_insert_with(|| names.frame(frame).clone());
            index
        });
        NamedChain {
            frames: frames.collect(),
            ..*chain
        }
    }

    fn chain(&mut self, index: ChainIndex) -> NamedChain {
        let chain = self.entities.chain(index);
        let frames = chain.frames().iter().map(|frame| self.frame(frame));
        NamedChain {
            frames: frames.collect(),
            first: self.tables.methods().position(index) as u32,
            truncated: Chain::is_truncated(chain),
        }
    }

    fn frame(&mut self, frame: &Frame) -> u32 {
        if let Some(known) = self.frames.get_index_of(&FrameKey::Frame(*frame)) {
            return known as u32;
        }
        let entities = self.entities;
        let method = entities.method(frame.method);
        let class = method.class;
        let named = NamedFrame {
            method: Value::Method(frame.method).label(entities, &self.overloads),
            key: Value::Method(frame.method).key(entities),
            class: class
                .map_or("", |class| entities.class_name(class))
                .to_owned(),
            file: class
                .map_or("", |class| entities.source_file(class))
                .to_owned(),
            line: frame.line,
            jdk: !self.tables.methods().is_program(frame.method, entities),
        };
        let key = FrameKey::Frame(*frame);
        self.frames.insert_full(key, named).0 as u32
    }

    pub(crate) fn finish(self) -> Names {
        Names {
            values: self.values.into_values().collect(),
            frames: self.frames.into_values().collect(),
        }
    }
}
