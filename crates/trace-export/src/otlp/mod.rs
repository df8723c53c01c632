//! Profiles of OpenTelemetry, `opentelemetry.proto.profiles.v1development`.
//!
//! Each run has two, since a profile has values of one type: `contentions`, a count, and `delay`,
//! in nanoseconds, as in [`pprof`](crate::pprof). The attributes of samples have the names of the
//! labels there.

mod dictionary;
mod message;

use std::io::{self, Write};

use foldhash::fast::RandomState;
use indexmap::IndexMap;
use prost::Message;
use trace_analysis::Entities;

use self::dictionary::Dictionary;
use self::message::{
    AnyValue, InstrumentationScope, KeyValue, OneValue, Profile, ProfilesData, Resource,
    ResourceProfiles, Sample, ScopeProfiles,
};
use crate::frames::stack;
use crate::labels::{LabelValue, labels};
use crate::period::Period;
use crate::stacks::{StackKey, StackSum, StackSums};

/// Profiles under construction.
#[derive(Debug, Default)]
pub struct ProfilesBuilder {
    dictionary: Dictionary,
    resource_profiles: Vec<ResourceProfiles>,
}

/// The process of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process<'a> {
    /// Its number.
    pub pid: u32,
    /// Version of the JVM.
    pub jvm: &'a str,
}

/// The identity of a sample: call chain and attributes, all of the dictionary.
type Identity = (i32, Vec<i32>);

impl ProfilesBuilder {
    /// Adds the sums of a run.
    pub fn add(
        &mut self,
        process: Process<'_>,
        period: Period,
        sums: &StackSums,
        entities: &Entities,
    ) {
        // Keys that differ, but not in their names, are one sample.
        let mut samples = IndexMap::<Identity, StackSum, RandomState>::default();
        for (key, sum) in sums.sorted(entities) {
            let identity = self.identity(key, entities);
            samples.entry(identity).or_default().add(*sum);
        }
        let contentions = self.dictionary.value_type("contentions", "count");
        let delay = self.dictionary.value_type("delay", "nanoseconds");
        let profile = |sample_type, value: fn(&StackSum) -> u64| Profile {
            sample_type: Some(sample_type),
            samples: samples
                .iter()
                .filter(|(_, sum)| value(sum) > 0)
                .map(|((stack_index, attribute_indices), sum)| Sample {
                    stack_index: *stack_index,
                    attribute_indices: attribute_indices.clone(),
                    values: vec![signed(value(sum))],
                })
                .collect(),
            time_unix_nano: period.start_unix_ns,
            duration_nano: period.duration_ns,
            period_type: Some(contentions),
            period: 1,
        };
        // Tools show the first one by default.
        let profiles = vec![
            profile(delay, |sum| sum.duration_ns),
            profile(contentions, |sum| sum.waits),
        ];
        let scope = InstrumentationScope {
            name: "locktrace".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        self.resource_profiles.push(ResourceProfiles {
            resource: Some(resource(process)),
            scope_profiles: vec![ScopeProfiles {
                scope: Some(scope),
                profiles,
            }],
        });
    }

    fn identity(&mut self, key: &StackKey, entities: &Entities) -> Identity {
        let dictionary = &mut self.dictionary;
        let mut frames = stack(key, entities);
        frames.reverse();
        let stack = dictionary.stack(&frames, entities);
        let attributes = labels(key, entities).into_iter();
        let attributes = attributes.map(|(name, value)| {
            let value = match value {
                LabelValue::Text(text) => OneValue::StringValue(text),
                LabelValue::Number(number) => OneValue::IntValue(number),
            };
            dictionary.attribute(name, value)
        });
        (stack, attributes.collect())
    }

    /// Writes the profiles: the message `ProfilesData`.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(self, mut out: impl Write) -> io::Result<()> {
        let profiles = ProfilesData {
            resource_profiles: self.resource_profiles,
            dictionary: Some(self.dictionary.finish()),
        };
        out.write_all(&profiles.encode_to_vec())?;
        out.flush()
    }
}

fn resource(process: Process<'_>) -> Resource {
    let attributes = [
        ("process.pid", OneValue::IntValue(i64::from(process.pid))),
        (
            "process.runtime.description",
            OneValue::StringValue(process.jvm.to_owned()),
        ),
    ];
    Resource {
        attributes: attributes
            .map(|(key, value)| KeyValue {
                key: key.to_owned(),
                value: Some(AnyValue { value: Some(value) }),
            })
            .into(),
    }
}

/// Values are signed in the format.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
