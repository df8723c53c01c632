//! Reads the names of aspects.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use trace_analysis::Aspect;

/// All but those of root owners.
pub(crate) fn direct_aspect_parser() -> impl TypedValueParser<Value = Aspect> {
    let names = Aspect::DIRECT.map(Aspect::name);
    PossibleValuesParser::new(names).try_map(|name| name.parse::<Aspect>())
}

pub(crate) fn aspect_parser() -> impl TypedValueParser<Value = Aspect> {
    PossibleValuesParser::new(Aspect::ALL.map(Aspect::name)).try_map(|name| name.parse::<Aspect>())
}
