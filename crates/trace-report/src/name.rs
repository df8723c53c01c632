//! Names of classes and methods that fit a width.

use trace_analysis::{Entities, Frame};
use unicode_width::UnicodeWidthStr;

/// Returns the number of columns of `text`.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns `text` without control characters, which would reach the terminal: the traced program
/// chooses its names.
pub fn printable(text: &str) -> String {
    text.replace(char::is_control, "\u{fffd}")
}

/// Returns the qualified name `name`, printable and shortened to `max_width` columns if there is a
/// limit.
pub fn fit(name: &str, max_width: Option<usize>) -> String {
    let name = printable(name);
    match max_width {
        Some(max_width) => shorten(&name, max_width),
        None => name,
    }
}

/// Shortens qualified names to at most `max_width` columns in all: first packages to
/// their initials from the left, as in `o.a.xml.dtm.DTMManager.getDTM`, then the types of
/// parameters, then the beginning.
fn shorten(name: &str, max_width: usize) -> String {
    let mut shortened = name.to_owned();
    let mut start = 0;
    while width(&shortened) > max_width {
        let rest = &shortened[start..];
        let word = rest.split(' ').next().unwrap_or(rest);
        let Some(dot) = package_segment(word) else {
            match rest.find(' ') {
                Some(space) => start += space + 1,
                None => break,
            }
            continue;
        };
        let initial = rest.chars().next().map_or(0, char::len_utf8);
        shortened.replace_range(start + initial..start + dot, "");
        start += initial + 1;
    }
    if width(&shortened) > max_width {
        shortened = without_parameters(shortened);
    }
    if width(&shortened) <= max_width {
        return shortened;
    }
    let mut kept = String::new();
    for character in shortened.chars().rev() {
        kept.insert(0, character);
        if width(&kept) + 1 > max_width {
            kept.remove(0);
            break;
        }
    }
    format!("…{kept}")
}

/// Returns the name of an overloaded method without its parameters.
fn without_parameters(mut name: String) -> String {
    // In the name of a lock they come after a space.
    if let Some(open) = name.find('(')
        && name.ends_with(')')
        && !name[..open].ends_with(' ')
    {
        name.replace_range(open + 1..name.len() - 1, "…");
    }
    name
}

/// Returns the length of the package's first segment, if `name` begins with one: segments are lower
/// case, and the name after the last one begins with a class.
fn package_segment(name: &str) -> Option<usize> {
    let dot = name.find('.')?;
    let segment = &name[..dot];
    let is_package = segment
        .chars()
        .all(|c| c.is_lowercase() || c.is_ascii_digit() || c == '_');
    (is_package && !segment.is_empty() && name[dot + 1..].contains('.')).then_some(dot)
}

/// Returns a call chain on one line, innermost first: as many frames as fit into `max_width`
/// columns but at least one, and the number of the others.
pub fn chain_line(frames: &[Frame], entities: &Entities, max_width: usize) -> String {
    const CALLED_BY: &str = " ← ";
    let mut line = String::new();
    for (at, frame) in frames.iter().enumerate() {
        let separator = if at > 0 { CALLED_BY } else { "" };
        let next = format!("{separator}{}", short_frame(frame, entities));
        let more = omission(frames.len() - at - 1);
        if at > 0 && width(&line) + width(&next) + width(&more) > max_width {
            return line + &omission(frames.len() - at);
        }
        line += &next;
    }
    line
}

/// Returns the paper's notation for calls left out.
fn omission(frames: usize) -> String {
    if frames == 0 {
        String::new()
    } else {
        format!(" [+{frames}]")
    }
}

/// Returns class without package, method and line.
fn short_frame(frame: &Frame, entities: &Entities) -> String {
    let method = entities.method(frame.method);
    let class = method.class.map_or("", |class| entities.class_name(class));
    let class = class.rsplit('.').next().unwrap_or(class);
    let dot = if class.is_empty() { "" } else { "." };
    let line = match frame.line {
        ..0 => String::new(),
        line => format!(":{line}"),
    };
    printable(&format!("{class}{dot}{}{line}", method.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_shortened_from_the_left() {
        let name = "org.apache.xml.dtm.DTMManager.getDTM";
        for (max_width, expected) in [
            (36, "org.apache.xml.dtm.DTMManager.getDTM"),
            (35, "o.apache.xml.dtm.DTMManager.getDTM"),
            (30, "o.a.xml.dtm.DTMManager.getDTM"),
            (25, "o.a.x.d.DTMManager.getDTM"),
            (12, "…ager.getDTM"),
        ] {
            assert_eq!(shorten(name, max_width), expected);
        }
    }

    #[test]
    fn packages_are_shortened_after_other_words() {
        let name = "initialization of class org.apache.xml.dtm.DTMManager";
        assert_eq!(
            shorten(name, 48),
            "initialization of class o.a.xml.dtm.DTMManager"
        );
        let name = "Object.wait ← org.h2.table.RegularTable.doLock(Session, int)";
        assert_eq!(
            shorten(name, 54),
            "Object.wait ← o.h.t.RegularTable.doLock(Session, int)"
        );
        assert_eq!(
            shorten(name, 45),
            "Object.wait ← o.h.t.RegularTable.doLock(…)"
        );
        assert_eq!(shorten(name, 20), "…ularTable.doLock(…)");
    }

    #[test]
    fn names_cannot_command_the_terminal() {
        assert_eq!(
            printable("worker\u{1b}[31m\n1"),
            "worker\u{fffd}[31m\u{fffd}1"
        );
    }

    #[test]
    fn names_without_package_lose_their_beginning() {
        assert_eq!(shorten("Main.main", 20), "Main.main");
        assert_eq!(shorten("<unknown: hand-off>", 8), "…nd-off>");
    }
}
