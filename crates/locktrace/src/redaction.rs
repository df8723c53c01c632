//! `--redact`: names that do not leave the host.
//!
//! Exports get their names from [`RenamedEntities`], so that no format can have a name of the
//! trace. Filters work on these, as ever.

use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::{Args, ValueHint};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use trace_analysis::{
    Detail, Entities, RenamedEntities, Renaming, Selection, ThreadIndex, TraceError, TraceInput,
    Wait,
};

use crate::files::paths;
use crate::input::{self, Analyzed};
use crate::outcome::{self, cause};

/// The names to redact.
#[derive(Args, Debug)]
pub(crate) struct RedactArguments {
    /// Show hashes instead of names: threads, packages of classes, or whole classes; all but the JDK's, or
    /// the ones that begin with PREFIX
    #[arg(
        long = "redact",
        value_name = "threads|packages[=PREFIX]|classes[=PREFIX]",
        value_parser = Rule::parse,
    )]
    pub(crate) rules: Vec<Rule>,

    /// File with the key of the hashes, at least 16 bytes: with the same key, equal names have equal
    /// hashes [default: a random key that is not kept]
    #[arg(long, value_name = "FILE", requires = "rules", value_hint = ValueHint::FilePath)]
    pub(crate) redact_key: Option<PathBuf>,
}

impl RedactArguments {
    /// What to do with names.
    pub(crate) fn redaction(&self) -> Result<Redaction, KeyError> {
        Redaction::new(&self.rules, self.redact_key.as_deref())
    }
}

/// What to replace by hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// The names of threads.
    Threads,
    /// The packages of classes that begin so.
    Packages(String),
    /// The names of classes that begin so, with their packages.
    Classes(String),
}

impl Rule {
    /// Reads `threads`, `packages`, `packages=PREFIX`, `classes` and `classes=PREFIX`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (what, prefix) = text.split_once('=').unwrap_or((text, ""));
        match what {
            "threads" if what == text => Ok(Self::Threads),
            "packages" => Ok(Self::Packages(prefix.to_owned())),
            "classes" => Ok(Self::Classes(prefix.to_owned())),
            _ => Err("expected threads, packages[=PREFIX] or classes[=PREFIX]".to_owned()),
        }
    }

    fn packages(&self) -> Option<&str> {
        match self {
            Self::Packages(prefix) => Some(prefix),
            Self::Threads | Self::Classes(_) => None,
        }
    }

    fn classes(&self) -> Option<&str> {
        match self {
            Self::Classes(prefix) => Some(prefix),
            Self::Threads | Self::Packages(_) => None,
        }
    }
}

/// There is no key to hash names with.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct KeyError(io::Error);

cause!(Usage: KeyError);

/// Which names not to tell, and what to tell instead.
#[derive(Clone, Debug)]
pub(crate) struct Redaction {
    rules: Rc<[Rule]>,
    key: Hmac<Sha256>,
}

impl Redaction {
    /// Shorter keys could be guessed.
    const MIN_KEY_BYTES: usize = 16;

    /// Hashes with the key in a file, or with one that nobody knows afterwards.
    ///
    /// # Errors
    ///
    /// If the key cannot be read, or is too short; the file is named.
    pub(crate) fn new(rules: &[Rule], key_file: Option<&Path>) -> Result<Self, KeyError> {
        let key = match key_file {
            Some(path) => read_key(path).map_err(|error| KeyError(paths::named(path, &error)))?,
            None => random_key().map_err(KeyError)?,
        };
        let key = Hmac::new_from_slice(&key).map_err(|error| KeyError(io::Error::other(error)))?;
        Ok(Self {
            rules: rules.into(),
            key,
        })
    }

    /// As [`input::analyze`], with redacted names.
    pub(crate) fn analyze(
        &self,
        traces: Vec<TraceInput>,
        detail: Detail,
        select: impl Fn(&TraceInput) -> Result<Selection, TraceError>,
        mut on_wait: impl FnMut(&Wait, &Entities) -> io::Result<()>,
    ) -> outcome::Result<Analyzed> {
        if self.rules.is_empty() {
            return input::analyze(traces, detail, select, on_wait);
        }
        let mut renamed = RenamedEntities::new(self.clone());
        let analyzed = input::analyze(traces, detail, select, |wait, entities| {
            on_wait(wait, renamed.follow(entities, threads(wait)))
        })?;
        Ok(Analyzed {
            entities: renamed.finish(&analyzed.entities),
            ..analyzed
        })
    }

    /// Returns the entities under redacted names.
    pub(crate) fn rename(&self, entities: Entities) -> Entities {
        if self.rules.is_empty() {
            return entities;
        }
        RenamedEntities::new(self.clone()).finish(&entities)
    }

    /// A class that begins so, or what is in it.
    fn has(&self, class: &str, of: fn(&Rule) -> Option<&str>) -> bool {
        let is_below = |prefix: &str| {
            let rest = class.strip_prefix(prefix);
            rest.is_some_and(|rest| {
                let ends = prefix.is_empty() || prefix.ends_with('.') || rest.is_empty();
                ends || rest.starts_with(['.', '$'])
            })
        };
        self.rules.iter().filter_map(of).any(is_below)
    }

    /// What is the same for the same name with the same key, and tells nothing else.
    fn hash(&self, kind: &str, name: &str) -> String {
        let mut mac = self.key.clone();
        mac.update(kind.as_bytes());
        mac.update(&[0]);
        mac.update(name.as_bytes());
        let hash = mac.finalize().into_bytes();
        hash.iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    fn package(&self, package: &str) -> String {
        format!("p{}", self.hash("package", package))
    }
}

impl Renaming for Redaction {
    fn thread(&self, name: &str) -> String {
        if self.rules.contains(&Rule::Threads) {
            format!("thread-{}", self.hash("thread", name))
        } else {
            name.to_owned()
        }
    }

    fn class(&self, name: &str) -> String {
        if let Some((dimensions, element)) = name.split_once("[L") {
            let (element, end) = element.split_once(';').unwrap_or((element, ""));
            return format!("{dimensions}[L{};{end}", self.class(element));
        }
        if self.has(name, Rule::classes) {
            return format!("c{}", self.hash("class", name));
        }
        match split(name) {
            Some((package, simple)) if self.has(name, Rule::packages) => {
                format!("{}.{simple}", self.package(package))
            }
            _ => name.to_owned(),
        }
    }

    /// Scala's compiler names some methods after the package.
    fn method(&self, class: &str, name: &str) -> String {
        match split(class) {
            Some((package, _)) if self.class(class) != class => {
                let mangled = format!("{}$", package.replace('.', "$"));
                name.replace(&mangled, &format!("{}$", self.package(package)))
            }
            _ => name.to_owned(),
        }
    }
}

/// Package and simple name of a class; `None` if it has no package. What follows a slash is a number
/// that the JVM has given it.
fn split(class: &str) -> Option<(&str, &str)> {
    let name = class.split('/').next().unwrap_or(class);
    let dot = name.rfind('.')?;
    Some((&class[..dot], &class[dot + 1..]))
}

/// Returns all threads of a wait.
fn threads(wait: &Wait) -> impl Iterator<Item = ThreadIndex> {
    let owners = wait.blame.iter().filter_map(|blame| blame.owner.thread());
    let holder = wait.holder.into_iter();
    [wait.thread]
        .into_iter()
        .chain(owners.chain(holder).map(|(thread, _)| thread))
}

fn read_key(path: &Path) -> io::Result<Vec<u8>> {
    let mut key = std::fs::read(path)?;
    // Of a key in a line of text, editors add the end.
    while key.last().is_some_and(u8::is_ascii_whitespace) {
        key.pop();
    }
    if key.len() < Redaction::MIN_KEY_BYTES {
        let expected = Redaction::MIN_KEY_BYTES;
        let message = format!(
            "expected a key of {expected} bytes at least, found {}",
            key.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(key)
}

fn random_key() -> io::Result<Vec<u8>> {
    let mut key = vec![0; 32];
    getrandom::fill(&mut key)?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(rules: &[&str]) -> Redaction {
        let rules = rules.iter().map(|rule| Rule::parse(rule));
        let rules: Vec<_> = rules.collect::<Result<_, _>>().expect("rules");
        Redaction::new(&rules, None).expect("a random key")
    }

    #[test]
    fn packages_go_and_simple_names_stay() {
        let all = redaction(&["packages"]);
        let package = all.package("com.acme");
        for (class, simple) in [
            ("com.acme.Ledger", "Ledger"),
            ("com.acme.Ledger$Entry", "Ledger$Entry"),
            ("com.acme.A$$Lambda$1/0x7f.8", "A$$Lambda$1/0x7f.8"),
        ] {
            assert_eq!(all.class(class), format!("{package}.{simple}"));
        }
        assert_eq!(
            all.class("[[Lcom.acme.Ledger;"),
            format!("[[L{package}.Ledger;")
        );
        assert_eq!(all.class("[[I"), "[[I");
        assert_eq!(all.class("Plain"), "Plain");
        let mangled = all.method("com.acme.Ledger", "com$acme$Ledger$$add");
        assert_eq!(mangled, format!("{package}$Ledger$$add"));
        assert_eq!(all.thread("main"), "main");
    }

    #[test]
    fn rules_are_for_what_begins_so() {
        let some = redaction(&["packages=com.acme", "classes=com.acme.Secret", "threads"]);
        assert_eq!(some.class("com.acmes.Ledger"), "com.acmes.Ledger");
        assert!(some.class("com.acme.pay.Ledger").ends_with(".Ledger"));
        for secret in ["com.acme.Secret", "com.acme.Secret$Key"] {
            let renamed = some.class(secret);
            assert!(
                renamed.starts_with('c') && !renamed.contains(['.', '$']),
                "{renamed}"
            );
        }
        assert_ne!(some.thread("main"), some.thread("worker"));
        assert!(Rule::parse("threads=main").is_err() && Rule::parse("hosts").is_err());
    }
}
