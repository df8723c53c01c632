//! The page in one file, with a model instead of a server.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use trace_model::Budget;

use crate::view::answer::AnswerError;
use crate::view::short_names;

/// The page. What it refers to stands in lines of its own, each once.
pub(crate) const HTML: &str = include_str!("../../assets/viewer.html");
pub(crate) const SCRIPT: &str = include_str!("../../assets/viewer.js");
pub(crate) const STYLE: &str = include_str!("../../assets/viewer.css");

const SCRIPT_PLACE: &str = r#"<script src="viewer.js" defer></script>"#;
const STYLE_PLACE: &str = r#"<link rel="stylesheet" href="viewer.css">"#;
const MODEL_PLACE: &str = "<!--locktrace-model-->";
const HEAD_PLACE: &str = "<head>";

/// The file fits a chat or a ticket.
const MAX_BYTES: usize = 5_000_000;

/// How much of a model a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) budget: Budget,
    short_names: bool,
}

impl Extent {
    /// Of most traces that is all.
    pub(crate) const FIRST: Self = Self {
        budget: Budget {
            rows: 400_000,
            folded_shares: 100_000,
            parts: 4_000_000,
        },
        short_names: false,
    };

    /// Returns what to try next for a page of this size, if a smaller one is possible.
    pub(crate) fn smaller(self, bytes: usize) -> Option<Self> {
        let budget = self.budget;
        if bytes <= MAX_BYTES {
            return None;
        }
        // Without its parts a wait is still known by itself, and so is one with a short name.
        if budget.parts > 0 {
            let budget = Budget { parts: 0, ..budget };
            return Some(Self { budget, ..self });
        }
        if !self.short_names {
            return Some(Self {
                short_names: true,
                ..self
            });
        }
        if budget.rows == 0 && budget.folded_shares == 0 {
            return None;
        }
        // A little less than what would fit if all rows were alike.
        let fitting = |rows: usize, first: usize| {
            rows.min(first) * (MAX_BYTES / 10 * 9 / 1_000) / (bytes / 1_000)
        };
        let budget = Budget {
            rows: fitting(budget.rows, Self::FIRST.budget.rows),
            folded_shares: fitting(budget.folded_shares, Self::FIRST.budget.folded_shares),
            parts: 0,
        };
        Some(Self { budget, ..self })
    }
}

/// Makes the file, with as much of the model as it may have: `embedded` gives that as
/// JSON.
///
/// # Errors
///
/// As `embedded`.
pub(crate) fn page(
    mut embedded: impl FnMut(Budget) -> Result<String, AnswerError>,
) -> Result<String, AnswerError> {
    let mut extent = Extent::FIRST;
    loop {
        let page = with_model(&embedded(extent.budget)?, extent)?;
        match extent.smaller(page.len()) {
            Some(next) => extent = next,
            None => return Ok(page),
        }
    }
}

/// The page with a model, of which `json` is what `extent` says but for its names.
///
/// # Errors
///
/// If `json` is no JSON.
pub(crate) fn with_model(json: &str, extent: Extent) -> serde_json::Result<String> {
    let model = if extent.short_names {
        BASE64.encode(gzip(short_names::shorten(json)?.as_bytes()))
    } else {
        BASE64.encode(gzip(json.as_bytes()))
    };
    Ok(page_of(&model))
}

/// The page with a model that is packed and text.
fn page_of(model: &str) -> String {
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; \
         base-uri 'none'; form-action 'none'",
        digest(SCRIPT),
        digest(STYLE),
    );
    let policy = format!(r#"<head><meta http-equiv="Content-Security-Policy" content="{policy}">"#);
    let model =
        format!(r#"<script id="locktrace-model" type="application/octet-stream">{model}</script>"#);
    // A script in the page runs where it stands, so it stands at the end.
    HTML.replacen(HEAD_PLACE, &policy, 1)
        .replacen(STYLE_PLACE, &format!("<style>{STYLE}</style>"), 1)
        .replacen(SCRIPT_PLACE, "", 1)
        .replacen(
            MODEL_PLACE,
            &format!("{model}\n<script>{SCRIPT}</script>"),
            1,
        )
}

fn digest(text: &str) -> String {
    BASE64.encode(Sha256::digest(text))
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("a vector takes all bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_its_places_once() {
        for place in [SCRIPT_PLACE, STYLE_PLACE, MODEL_PLACE, HEAD_PLACE] {
            assert_eq!(HTML.matches(place).count(), 1, "{place}");
        }
        assert!(!SCRIPT.contains("</script"));
        assert!(!STYLE.contains("</style"));
    }

    #[test]
    fn the_extent_shrinks_until_the_page_fits() {
        let mut extent = Extent::FIRST;
        let mut tries = 0;
        while let Some(next) = extent.smaller(300_000 + 60 * extent.budget.rows) {
            assert_ne!(next, extent);
            extent = next;
            tries += 1;
        }
        assert!(tries > 0 && tries < 6, "{tries}");
        assert!(extent.budget.rows > 50_000);
    }

    /// What needs room is the names, and these go first.
    #[test]
    fn waits_stay_if_shorter_names_suffice() {
        let mut extent = Extent::FIRST;
        let bytes = |extent: Extent| {
            if extent.short_names {
                1_000_000
            } else {
                90_000_000
            }
        };
        while let Some(next) = extent.smaller(bytes(extent)) {
            extent = next;
        }
        assert_eq!(extent.budget.rows, Extent::FIRST.budget.rows);
    }

    #[test]
    fn there_is_an_end_where_nothing_fits() {
        let mut extent = Extent::FIRST;
        let mut tries = 0;
        while let Some(next) = extent.smaller(90_000_000) {
            extent = next;
            tries += 1;
        }
        assert!(tries < 20, "{tries}");
        assert_eq!((extent.budget.rows, extent.budget.folded_shares), (0, 0));
    }
}
