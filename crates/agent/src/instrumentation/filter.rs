//! The options `include` and `exclude`.

use crate::ffi::{EXITS_CLASS, PARKS_CLASS};

/// The classes that may be changed, by package or name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    included: Vec<Pattern>,
    excluded: Vec<Pattern>,
}

/// A class or package and everything below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern(Vec<u8>);

impl Pattern {
    /// Parses `com.acme`, `com.acme.*` or `com/acme`.
    fn parse(text: &str) -> Option<Self> {
        let name = text.strip_suffix(".*").unwrap_or(text);
        let is_name = !name.is_empty() && !name.contains(['*', ' ', ';']);
        is_name.then(|| Self(name.replace('.', "/").into_bytes()))
    }

    fn matches(&self, class: &[u8]) -> bool {
        let below = class.strip_prefix(self.0.as_slice());
        matches!(below, Some([] | [b'/' | b'$', ..]))
    }
}

impl Filter {
    /// Includes a pattern: from the first one on, only included classes may be changed. Returns `false`
    /// if it is not a pattern.
    pub(crate) fn include(&mut self, pattern: &str) -> bool {
        Self::add(&mut self.included, pattern)
    }

    /// Excludes a pattern. Returns `false` if it is not one.
    pub(crate) fn exclude(&mut self, pattern: &str) -> bool {
        Self::add(&mut self.excluded, pattern)
    }

    fn add(patterns: &mut Vec<Pattern>, pattern: &str) -> bool {
        let pattern = Pattern::parse(pattern);
        let is_one = pattern.is_some();
        patterns.extend(pattern);
        is_one
    }

    /// Returns whether a class may be changed, by its internal name.
    pub(super) fn includes(&self, class: &[u8]) -> bool {
        let any = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(class));
        ![EXITS_CLASS.as_bytes(), PARKS_CLASS.as_bytes()].contains(&class)
            && (self.included.is_empty() || any(&self.included))
            && !self.excludes(class)
    }

    pub(super) fn excludes(&self, class: &[u8]) -> bool {
        self.excluded.iter().any(|pattern| pattern.matches(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_included_and_excluded() {
        let mut filter = Filter::default();
        assert!(filter.includes(b"com/acme/Shop"));
        assert!(!filter.includes(EXITS_CLASS.as_bytes()));
        assert!(filter.exclude("com.acme.*"));
        assert!(!filter.includes(b"com/acme/Shop"));
        assert!(filter.includes(b"com/acmes/Shop"));
        assert!(filter.include("org"));
        assert!(filter.include("com/acme/Shop"));
        assert!(!filter.includes(b"com/acmes/Shop"));
        assert!(!filter.includes(b"com/acme/Shop"));
        assert!(filter.includes(b"org/Main$Inner"));
        for pattern in ["", "*", "a b", "*Foo"] {
            assert!(!filter.exclude(pattern), "{pattern}");
        }
    }
}
