//! Which waits to consider, and which parts of them.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use trace_analysis::{Selection, TraceError, TraceInput, WaitKind};

use crate::arguments::filter::FilterArguments;
use crate::arguments::range::RangeArguments;

/// Which waits to consider, and which parts of them.
#[derive(Args, Debug)]
pub(crate) struct WaitArguments {
    #[command(flatten)]
    pub(crate) kinds: KindArguments,

    #[command(flatten)]
    pub(crate) range: RangeArguments,

    #[command(flatten)]
    pub(crate) filter: FilterArguments,
}

impl WaitArguments {
    /// What of the waits of a trace to consider: contention, if nobody says which kinds.
    pub(crate) fn selection(&self, trace: &TraceInput) -> Result<Selection, TraceError> {
        let range = self.range.of(trace)?;
        let kinds = self.kinds.or_contention().kinds();
        Ok(self.filter.selection(range, &[]).of_kinds(kinds))
    }
}

/// Which kinds of waits to consider.
#[derive(Args, Clone, Debug)]
pub(crate) struct KindArguments {
    /// What threads waited for: contention (a lock that another thread held),
    /// conditional (another thread to do something), idle (work), sleep (time)
    /// [default: contention]
    #[arg(
        long,
        value_name = "KIND,...",
        value_delimiter = ',',
        value_parser = kind_parser(),
    )]
    kind: Vec<KindArgument>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KindArgument {
    One(WaitKind),
    All,
}

impl KindArguments {
    /// As if the user had asked for waits of this kind.
    pub(crate) fn only(kind: WaitKind) -> Self {
        Self {
            kind: vec![KindArgument::One(kind)],
        }
    }

    /// What the user asks for, who has perhaps not said anything.
    pub(crate) fn or_contention(&self) -> Self {
        if self.is_default() {
            Self::only(WaitKind::Contention)
        } else {
            self.clone()
        }
    }

    /// The user has not said anything.
    pub(crate) fn is_default(&self) -> bool {
        self.kind.is_empty()
    }

    /// The kinds wanted.
    pub(crate) fn kinds(&self) -> Vec<WaitKind> {
        let kinds = WaitKind::ALL.into_iter();
        kinds.filter(|&kind| self.contains(kind)).collect()
    }

    /// Waits of this kind are wanted.
    pub(crate) fn contains(&self, waiting: WaitKind) -> bool {
        let wanted = [KindArgument::All, KindArgument::One(waiting)];
        self.kind.iter().any(|kind| wanted.contains(kind))
    }
}

fn kind_parser() -> impl TypedValueParser<Value = KindArgument> {
    let names = WaitKind::ALL.map(WaitKind::name).into_iter().chain(["all"]);
    PossibleValuesParser::new(names).map(|name| {
        let kind = WaitKind::ALL.into_iter().find(|kind| kind.name() == name);
        kind.map_or(KindArgument::All, KindArgument::One)
    })
}
