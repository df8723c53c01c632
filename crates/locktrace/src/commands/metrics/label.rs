//! Labels that every series has, so that those of several programs can be in one place.

use std::collections::{BTreeSet, HashSet};
use std::str::FromStr;

use crate::outcome::UsageError;

/// The label that there is unless another value is given.
const PID: &str = "pid";

/// The labels of our own series, and those of histograms and summaries.
const RESERVED: [&str; 7] = [
    "jvm",
    "kind",
    "le",
    "lock_class",
    "owner_method",
    "process",
    "quantile",
];

/// A name and a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label {
    pub(super) name: String,
    pub(super) value: String,
}

impl FromStr for Label {
    type Err = String;

    /// Reads `NAME=VALUE`.
    fn from_str(text: &str) -> Result<Self, String> {
        let Some((name, value)) = text.split_once('=') else {
            return Err("expected NAME=VALUE".to_owned());
        };
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        let is_name =
            name.starts_with(is_letter) && name.chars().all(|c| is_letter(c) || c.is_ascii_digit());
        if !is_name {
            return Err("a name has letters, digits and _, and begins with no digit".to_owned());
        }
        if name.starts_with("__") || RESERVED.contains(&name) {
            return Err(format!("{name} is a name with a meaning of its own"));
        }
        Ok(Self {
            name: name.to_owned(),
            value: value.to_owned(),
        })
    }
}

/// Returns the labels of every series: `pid`, by default the traced processes, and those that are `given`. A label
/// without a value is left out.
///
/// # Errors
///
/// If a name is given twice.
pub(super) fn common(given: &[Label], pids: &BTreeSet<u32>) -> Result<Vec<Label>, UsageError> {
    let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
    let pid = Label {
        name: PID.to_owned(),
        value: pids.join(","),
    };
    let default = Some(pid).filter(|_| given.iter().all(|label| label.name != PID));
    let mut names = HashSet::new();
    if !given.iter().all(|label| names.insert(&label.name)) {
        return Err(UsageError("--label: a name is given twice"));
    }
    let labels = default.into_iter().chain(given.iter().cloned());
    Ok(labels.filter(|label| !label.value.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(text: &str) -> Label {
        text.parse().expect("a label")
    }

    #[test]
    fn names_are_those_of_prometheus() {
        assert_eq!(label("app=a=\"b\" ").value, "a=\"b\" ");
        assert_eq!(label("_A1=").name, "_A1");
        for wrong in [
            "app", "=x", "1a=x", "a-b=x", "a.b=x", "ä=x", "__a=x", "kind=x", "le=x", "",
        ] {
            assert!(wrong.parse::<Label>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_given_pid_takes_the_place_of_the_default() {
        let common = |given: &[&str]| {
            let given: Vec<_> = given.iter().map(|text| label(text)).collect();
            common(&given, &[4711, 12].into())
        };
        let labels = |texts: &[&str]| texts.iter().map(|text| label(text)).collect::<Vec<_>>();
        assert_eq!(common(&[]).unwrap(), labels(&["pid=12,4711"]));
        let both = common(&["app=shop"]).unwrap();
        assert_eq!(both, labels(&["pid=12,4711", "app=shop"]));
        let given = common(&["app=shop", "pid=x"]).unwrap();
        assert_eq!(given, labels(&["app=shop", "pid=x"]));
        assert_eq!(common(&["pid="]).unwrap(), []);
        assert!(common(&["a=1", "a=1"]).is_err());
    }
}
