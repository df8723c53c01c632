//! What a page shows first of a trace that has an index: the answer of that time.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use trace_model::Folding;

/// Raised when an answer changes its meaning.
pub(crate) const VERSION: u32 = 2;

/// The answer of `api/model`, by its fields.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct StoredOverview(BTreeMap<String, Value>);

impl StoredOverview {
    /// `None` if it is not such an answer about one trace.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let overview = Self(serde_json::from_str(text).ok()?);
        let is_one = overview.0.get("version")? == VERSION && overview.trace()?.is_object();
        is_one.then_some(overview)
    }

    fn trace(&self) -> Option<&Value> {
        match self.0.get("traces")?.as_array()?.as_slice() {
            [trace] => Some(trace),
            _ => None,
        }
    }

    /// What the trace lacks, one line for each reason.
    pub(crate) fn problems(&self) -> Vec<String> {
        let problems = self.trace().and_then(|trace| trace["problems"].as_array());
        let lines = problems.into_iter().flatten().filter_map(Value::as_str);
        lines.map(str::to_owned).collect()
    }

    /// The trace lacks nothing.
    pub(crate) fn is_complete(&self) -> bool {
        let trace = self.trace();
        trace.is_some_and(|trace| trace["complete"] == Value::Bool(true))
    }

    /// The trace has this name now.
    pub(crate) fn rename(&mut self, path: &Path) {
        if let Some(Value::Array(traces)) = self.0.get_mut("traces") {
            for trace in traces {
                trace["path"] = path.display().to_string().into();
            }
        }
    }

    /// There is a folder with source code now, or there is not.
    pub(crate) fn has_source(&mut self, has_source: bool) {
        self.set("source", has_source);
    }

    /// It is about a model that keeps so much.
    pub(crate) fn keep(&mut self, folding: Option<Folding>, is_exact: bool) {
        self.set("folded", folding);
        self.set("exact", is_exact);
    }

    fn set(&mut self, name: &str, value: impl Serialize) {
        let value = serde_json::to_value(value).unwrap_or_default();
        self.0.insert(name.to_owned(), value);
    }
}
