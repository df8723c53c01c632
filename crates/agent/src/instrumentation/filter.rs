//! Which classes may be changed.

use crate::ffi::{EXITS_CLASS, PARKS_CLASS};

/// Which classes may be changed, by package or name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    included: Vec<Pattern>,
    excluded: Vec<Pattern>,
}

/// `com.acme`: the class or package and all below it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pattern(Vec<u8>);

impl Pattern {
    /// `com.acme`, `com.acme.*` or `com/acme`; `None` for what names nothing.
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
    /// Only what is included anywhere may be changed. `false` if the pattern is none.
    pub(crate) fn include(&mut self, pattern: &str) -> bool {
        Self::add(&mut self.included, pattern)
    }

    /// Stays as it is. `false` if the pattern is none.
    pub(crate) fn exclude(&mut self, pattern: &str) -> bool {
        Self::add(&mut self.excluded, pattern)
    }

    fn add(patterns: &mut Vec<Pattern>, pattern: &str) -> bool {
        let pattern = Pattern::parse(pattern);
        let is_one = pattern.is_some();
        patterns.extend(pattern);
        is_one
    }

    /// A class may be changed, by its internal name.
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
