//! Which waits to consider, by names.

use clap::Args;
use trace_analysis::{Aspect, Condition, Pattern, Selection, TimeRange};

/// What waits have to be called. Wildcards and regular expressions are those of [`Pattern`].
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FilterArguments {
    /// Only waits of threads with this name
    #[arg(long, value_name = "PATTERN")]
    thread: Vec<Pattern>,

    /// Only waits for locks of this class
    #[arg(long, value_name = "PATTERN")]
    lock_class: Vec<Pattern>,

    /// Only waits in this method: class and name as in a report
    #[arg(long, value_name = "PATTERN")]
    method: Vec<Pattern>,

    /// Only the parts of waits in which this method held the lock
    #[arg(long, value_name = "PATTERN")]
    owner_method: Vec<Pattern>,

    /// Only rows with this name under an aspect, as a report shows it: owner-thread=worker-1,
    /// lock=demo.Ledger@1f32, owner-activity=waiting*
    #[arg(long, value_name = "ASPECT=PATTERN", value_parser = parse_named)]
    of: Vec<(Aspect, Pattern)>,

    /// Leave out rows with this name under an aspect: thread=main, owner-thread=GC*,
    /// method=/^java[.]/, kind=idle
    #[arg(long, value_name = "ASPECT=PATTERN", value_parser = parse_named)]
    exclude: Vec<(Aspect, Pattern)>,
}

/// The help text on patterns, for every command that takes them.
pub(crate) const PATTERNS: &str = "\
Patterns:
  demo.AuditLog   exactly this name
  demo.*          names that begin so
  *.Hash?able     * is any text, ? any character
  /Log|Ledger/    names in which this regular expression is found

A name is what a report shows under the aspect, or its key in JSON. An option given several times
selects what one of its patterns matches; different options have to hold all.";

impl FilterArguments {
    /// All waits are considered.
    pub(crate) fn is_all(&self) -> bool {
        let Self {
            thread,
            lock_class,
            method,
            owner_method,
            of,
            exclude,
        } = self;
        let patterns = [thread, lock_class, method, owner_method];
        patterns.iter().all(|patterns| patterns.is_empty()) && of.is_empty() && exclude.is_empty()
    }

    /// What of the waits to consider, in `range`, where these packages and classes are no
    /// callers.
    pub(crate) fn selection(&self, range: TimeRange, libraries: &[String]) -> Selection {
        let wanted = [
            (Aspect::Thread, &self.thread),
            (Aspect::LockClass, &self.lock_class),
            (Aspect::Method, &self.method),
            (Aspect::OwnerMethod, &self.owner_method),
        ];
        let wanted = wanted.map(|(aspect, patterns)| (aspect, patterns.clone()));
        let of_aspect = |aspect: Aspect| {
            let named = self.of.iter().filter(move |(of, _)| *of == aspect);
            (aspect, named.map(|(_, pattern)| pattern.clone()).collect())
        };
        let named = Aspect::ALL.into_iter().map(of_aspect);
        let wanted = wanted.into_iter().chain(named);
        let wanted = wanted.filter(|(_, patterns): &(_, Vec<_>)| !patterns.is_empty());
        let wanted = wanted.map(|(aspect, patterns)| Condition {
            aspect,
            patterns,
            is_negated: false,
        });
        let excluded = self.exclude.iter().map(|(aspect, pattern)| Condition {
            aspect: *aspect,
            patterns: vec![pattern.clone()],
            is_negated: true,
        });
        let everything = Selection::default()
            .in_range(range)
            .with_libraries(libraries.to_vec());
        wanted.chain(excluded).fold(everything, Selection::with)
    }
}

fn parse_named(text: &str) -> Result<(Aspect, Pattern), String> {
    let Some((aspect, pattern)) = text.split_once('=') else {
        return Err("expected ASPECT=PATTERN".to_owned());
    };
    let aspect = aspect
        .parse::<Aspect>()
        .map_err(|error| error.to_string())?;
    let pattern = pattern
        .parse::<Pattern>()
        .map_err(|error| error.to_string())?;
    Ok((aspect, pattern))
}
