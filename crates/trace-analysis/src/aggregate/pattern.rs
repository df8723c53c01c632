//! Patterns that names match.

#[cfg(feature = "patterns")]
use std::str::FromStr;

#[cfg(feature = "patterns")]
use regex::Regex;

/// What a name has to look like. As text:
///
/// | text | matches |
/// |---|---|
/// | `java.util.Hashtable` | this name |
/// | `java.util.*` | names that begin so |
/// | `*.Hash?able` | `*` stands for any text, `?` for any character |
/// | `/^java\.(util\|io)\./` | names in which the regular expression is found |
#[derive(Clone, Debug)]
pub struct Pattern(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Exact(String),
    #[cfg(feature = "patterns")]
    Prefix(String),
    #[cfg(feature = "patterns")]
    Regex(Regex),
}

/// The text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidPattern(String);

/// Memory that a regular expression may take, in bytes.
#[cfg(feature = "patterns")]
const MAX_REGEX_BYTES: usize = 1 << 20;

impl Pattern {
    /// Matches this name only, whatever characters are in it.
    pub fn exact(name: impl Into<String>) -> Self {
        Self(Kind::Exact(name.into()))
    }

    /// Returns whether `name` looks so.
    pub fn matches(&self, name: &str) -> bool {
        match &self.0 {
            Kind::Exact(exact) => name == exact,
            #[cfg(feature = "patterns")]
            Kind::Prefix(prefix) => name.starts_with(prefix.as_str()),
            #[cfg(feature = "patterns")]
            Kind::Regex(regex) => regex.is_match(name),
        }
    }
}

#[cfg(feature = "patterns")]
impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(text: &str) -> Result<Self, InvalidPattern> {
        if text.is_empty() {
            return Err(InvalidPattern(
                "a pattern has at least one character".into(),
            ));
        }
        let between = text
            .strip_prefix('/')
            .and_then(|rest| rest.strip_suffix('/'));
        if let Some(expression) = between {
            return Ok(Self(Kind::Regex(regex(expression)?)));
        }
        let is_wild = |text: &str| text.contains(['*', '?']);
        Ok(Self(match text.strip_suffix('*') {
            Some(prefix) if !is_wild(prefix) => Kind::Prefix(prefix.to_owned()),
            None if !is_wild(text) => Kind::Exact(text.to_owned()),
            _ => Kind::Regex(regex(&of_glob(text))?),
        }))
    }
}

#[cfg(feature = "patterns")]
fn regex(expression: &str) -> Result<Regex, InvalidPattern> {
    let built = regex::RegexBuilder::new(expression)
        .size_limit(MAX_REGEX_BYTES)
        .build();
    built.map_err(|error| InvalidPattern(error.to_string()))
}

/// The regular expression that finds what a glob matches.
#[cfg(feature = "patterns")]
fn of_glob(glob: &str) -> String {
    let mut expression = String::from(r"(?s)\A");
    for character in glob.chars() {
        match character {
            '*' => expression.push_str(".*"),
            '?' => expression.push('.'),
            _ => expression.push_str(&regex::escape(character.encode_utf8(&mut [0; 4]))),
        }
    }
    expression + r"\z"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_matches_what_it_says() {
        for (pattern, matching, others) in [
            ("a.B", vec!["a.B"], vec!["a.Bc", "xa.B", "aXB"]),
            ("a.*", vec!["a.", "a.B", "a.b.C"], vec!["ab", "xa.B"]),
            ("*.B", vec![".B", "a.B", "a.b.B"], vec!["a.Bc", "aB"]),
            ("a?[", vec!["ab[", "aé["], vec!["a[", "abb["]),
            ("*", vec!["", "anything\nat all"], vec![]),
            ("/^a.B$/", vec!["a.B", "aXB"], vec!["xa.B"]),
            ("/b/", vec!["abc"], vec!["ac", "B"]),
            ("/", vec!["/"], vec!["a"]),
        ] {
            let parsed: Pattern = pattern.parse().expect(pattern);
            for name in matching {
                assert!(parsed.matches(name), "{pattern} {name}");
            }
            for name in others {
                assert!(!parsed.matches(name), "{pattern} {name}");
            }
        }
        assert!(Pattern::exact("a*").matches("a*"));
        assert!(!Pattern::exact("a*").matches("ab"));
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in ["", "/(/", "/(a{1000}){1000}/"] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
    }
}
