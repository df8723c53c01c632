//! Method descriptors of class files, for people.

/// How names of classes are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    /// `KahaCommand`.
    Simple,
    /// `org.apache.activemq.store.kahadb.KahaCommand`.
    Qualified,
}

/// The parameters' types, as in Java: `(int, KahaCommand[])`. `None` if `descriptor` is
/// not one.
pub(crate) fn parameters(descriptor: &str, names: Names) -> Option<String> {
    let (parameters, _) = split(descriptor)?;
    let mut rest = parameters;
    let mut types = Vec::new();
    while !rest.is_empty() {
        let (name, after) = take_type(rest, names)?;
        types.push(name);
        rest = after;
    }
    Some(format!("({})", types.join(", ")))
}

/// The type of what is returned; `None` if `descriptor` is not one.
pub(crate) fn return_type(descriptor: &str) -> Option<String> {
    let (_, returned) = split(descriptor)?;
    let (name, rest) = take_type(returned, Names::Qualified)?;
    rest.is_empty().then_some(name)
}

/// The text is the descriptor of a method, as `(ILjava/lang/String;)V`.
pub fn is_method_descriptor(text: &str) -> bool {
    parameters(text, Names::Simple).is_some() && return_type(text).is_some()
}

/// The text is the descriptor of a type, as `[Ljava/lang/String;`.
pub fn is_type_descriptor(text: &str) -> bool {
    take_type(text, Names::Simple).is_some_and(|(_, rest)| rest.is_empty())
}

fn split(descriptor: &str) -> Option<(&str, &str)> {
    descriptor.strip_prefix('(')?.split_once(')')
}

/// Returns the first type of `descriptors`, and the rest after it.
fn take_type(descriptors: &str, names: Names) -> Option<(String, &str)> {
    let element = descriptors.trim_start_matches('[');
    let dimensions = descriptors.len() - element.len();
    let (name, rest) = match element.chars().next()? {
        'L' => {
            let (name, rest) = element[1..].split_once(';')?;
            (class_name(name, names), rest)
        }
        kind => (primitive(kind)?.to_owned(), &element[1..]),
    };
    Some((name + &"[]".repeat(dimensions), rest))
}

fn class_name(name: &str, names: Names) -> String {
    match names {
        Names::Qualified => name.replace('/', "."),
        Names::Simple => name.rsplit('/').next().unwrap_or(name).to_owned(),
    }
}

fn primitive(kind: char) -> Option<&'static str> {
    Some(match kind {
        'B' => "byte",
        'C' => "char",
        'D' => "double",
        'F' => "float",
        'I' => "int",
        'J' => "long",
        'S' => "short",
        'V' => "void",
        'Z' => "boolean",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_descriptors_are_detected() {
        for text in ["()V", "([[ILa/B$C;)[La/B;"] {
            assert!(is_method_descriptor(text), "{text}");
        }
        for text in [
            "", "(", "()", ")V", "(L)V", "(LA)V", "()LA", "([)V", "()VV", "I",
        ] {
            assert!(!is_method_descriptor(text), "{text}");
        }
        assert!(is_type_descriptor("[[I") && is_type_descriptor("[La/B;"));
        for text in ["", "[", "[x", "[La/B", "II"] {
            assert!(!is_type_descriptor(text), "{text}");
        }
    }

    #[test]
    fn parameters_are_those_of_the_source() {
        for (descriptor, expected) in [
            ("()V", "()"),
            ("(I[JLjava/lang/String;)Z", "(int, long[], String)"),
            ("([[Ljava/util/Map$Entry;D)V", "(Map$Entry[][], double)"),
            ("(LMain;)V", "(Main)"),
        ] {
            assert_eq!(
                parameters(descriptor, Names::Simple).as_deref(),
                Some(expected)
            );
        }
        let qualified = parameters("(Ljava/util/List;)V", Names::Qualified);
        assert_eq!(qualified.as_deref(), Some("(java.util.List)"));
        assert_eq!(
            return_type("()[Ljava/lang/Object;").as_deref(),
            Some("java.lang.Object[]")
        );
    }

    #[test]
    fn what_is_no_descriptor_has_no_types() {
        for text in [
            "",
            "V",
            "(",
            "(L)V",
            "(Ljava/lang/String)V",
            "(X)V",
            "([)V",
            "(ü)V",
        ] {
            assert_eq!(parameters(text, Names::Simple), None, "{text}");
        }
        assert_eq!(return_type("()"), None);
        assert_eq!(return_type("()II"), None);
    }
}
