//! Styles of text for people, where they can be shown.

use anstyle::{AnsiColor, Style};

/// For emphasis.
pub const BOLD: Style = Style::new().bold();
/// For text that must not distract.
pub const DIM: Style = Style::new().dimmed();
/// For alarms.
pub const ALARM: Style = AnsiColor::Red.on_default().bold();

/// Returns `text` without its styles.
pub fn plain(text: &str) -> String {
    const BEGIN: &str = "\u{1b}[";
    let mut parts = text.split(BEGIN);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part.split_once('m').map_or("", |(_style, rest)| rest);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_can_be_left_out() {
        let styled = format!("{BOLD}Owner{BOLD:#} m {ALARM}lost{ALARM:#} {DIM}x{DIM:#}");
        assert_eq!(plain(&styled), "Owner m lost x");
    }
}
