//! The page in one file, with a model instead of a server.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use trace_model::Budget;

use crate::view::answer::AnswerError;

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

/// Of most traces that is all.
const FIRST_BUDGET: Budget = Budget {
    rows: 400_000,
    folded_shares: 100_000,
    parts: 4_000_000,
};

/// Makes the file, with as much of the model as it may have: `embedded` gives that as
/// JSON.
///
/// # Errors
///
/// As `embedded`.
pub(crate) fn page(
    mut embedded: impl FnMut(Budget) -> Result<String, AnswerError>,
) -> Result<String, AnswerError> {
    let mut budget = FIRST_BUDGET;
    loop {
        let page = with_model(&embedded(budget)?);
        match smaller(budget, page.len()) {
            Some(next) => budget = next,
            None => return Ok(page),
        }
    }
}

/// A budget for the next try, if the page has so many bytes and could have fewer.
pub(crate) fn smaller(budget: Budget, bytes: usize) -> Option<Budget> {
    if bytes <= MAX_BYTES || budget.rows == 0 && budget.folded_shares == 0 {
        return None;
    }
    // Without its parts a wait is still known by itself.
    if budget.parts > 0 {
        return Some(Budget { parts: 0, ..budget });
    }
    // A little less than what would fit if all rows were alike.
    let fitting =
        |rows: usize| rows.min(FIRST_BUDGET.rows) * (MAX_BYTES / 10 * 9 / 1_000) / (bytes / 1_000);
    Some(Budget {
        rows: fitting(budget.rows),
        folded_shares: fitting(budget.folded_shares),
        parts: 0,
    })
}

/// The first try.
pub(crate) fn first_budget() -> Budget {
    FIRST_BUDGET
}

/// The page with a model.
pub(crate) fn with_model(json: &str) -> String {
    let model = BASE64.encode(gzip(json.as_bytes()));
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
    fn budgets_shrink_until_the_page_fits() {
        let mut budget = FIRST_BUDGET;
        let mut tries = 0;
        while let Some(next) = smaller(budget, 300_000 + 60 * budget.rows) {
            assert!(next.rows < budget.rows || next.parts < budget.parts);
            budget = next;
            tries += 1;
        }
        assert!(tries > 0 && tries < 5, "{tries}");
        assert!(budget.rows > 50_000);
    }
}
