//! Stores a model in an index: all of its numbers, and the names that they refer to. Stored data may be
//! damaged or forged, so it is [checked](check) first.

mod check;
mod format;

use trace_analysis::{Entities, Mechanism, WaitKind};

use crate::dimension::{Dimension, Label, LabelIndex};
use crate::known_names::{KnownLabel, KnownNames};
use crate::limits::Limits;
use crate::model::Model;
use crate::name_collector::NameCollector;
use crate::store::{Part, Store};
use crate::tables::{Tables, Waiter};

use format::{StoredLabel, StoredWaiter};

pub use format::{BadStoredModel, StoredModel};

impl Model {
    /// Returns everything that is known, for an index.
    pub fn to_stored(&mut self, entities: &Entities) -> StoredModel {
        self.prepare(entities, false);
        let (labels, names) = self.stored_labels(entities);
        let position = |all: &[WaitKind], kind| all.iter().position(|&one| one == kind);
        let waiters = self.tables.waiters().iter().map(|waiter| StoredWaiter {
            labels: waiter.labels,
            mechanism: u8::from(waiter.mechanism == Mechanism::ALL[1]),
            kind: position(&WaitKind::ALL, waiter.kind).unwrap_or_default() as u8,
            trace: waiter.trace,
        });
        StoredModel {
            traces: self.traces.clone(),
            kinds: self.kinds,
            confidence: self.confidence,
            labels,
            names,
            waiters: waiters.collect(),
            owners: self.tables.owners().to_vec(),
            waits: self.store.waits().to_vec(),
            shares: self.store.all_shares().to_vec(),
            parts: self.store.all_parts().map(<[Part]>::to_vec),
            folded: self.store.folded().clone(),
        }
    }

    fn stored_labels(&self, entities: &Entities) -> (Vec<StoredLabel>, KnownNames) {
        let mut collector = NameCollector::new(&self.tables, entities);
        let mut are_threads = Vec::new();
        let mut labels = Vec::new();
        for (index, label) in (0..).zip(self.tables.labels()) {
            labels.push(match label {
                Label::Folded => StoredLabel::Folded,
                Label::Trace(position) => StoredLabel::Trace(position),
                Label::Value(_) | Label::Known(_) => {
                    // A label has one name in all aspects.
                    collector.add(Dimension::Trace, LabelIndex(index));
                    are_threads.push(self.tables.is_thread(label));
                    StoredLabel::Named
                }
            });
        }
        let named = collector.finish();
        let known = named.values.into_iter().zip(are_threads);
        let known = known.map(|(value, is_thread)| KnownLabel {
            key: value.key,
            text: value.label,
            long: value.long,
            chain: value.chain,
            is_thread,
        });
        let names = KnownNames {
            labels: known.collect(),
            frames: named.frames,
        };
        (labels, names)
    }

    /// Creates the model that was stored. It answers every question as before.
    ///
    /// # Errors
    ///
    /// If the data is not a valid model within these limits.
    pub fn from_stored(stored: StoredModel, limits: Limits) -> Result<Self, BadStoredModel> {
        stored.check(&limits)?;
        let StoredModel {
            traces,
            kinds,
            confidence,
            labels,
            names,
            waiters,
            owners,
            waits,
            shares,
            parts,
            folded,
        } = stored;
        let mut named = 0..;
        let labels = labels.into_iter().map(|label| match label {
            StoredLabel::Named => Label::Known(named.next().unwrap_or_default()),
            StoredLabel::Trace(position) => Label::Trace(position),
            StoredLabel::Folded => Label::Folded,
        });
        let waiters = waiters.iter().map(|waiter| {
            Some(Waiter {
                labels: waiter.labels,
                mechanism: *Mechanism::ALL.get(usize::from(waiter.mechanism))?,
                kind: *WaitKind::ALL.get(usize::from(waiter.kind))?,
                trace: waiter.trace,
            })
        });
        let waiters: Option<Vec<Waiter>> = waiters.collect();
        let tables = Tables::from_stored(
            &limits,
            labels.collect(),
            names,
            waiters.ok_or(BadStoredModel("waiters"))?,
            owners,
        );
        let store = Store::from_stored(limits, waits, shares, parts, folded);
        Ok(Self::of(store, tables, traces, kinds, confidence))
    }
}
