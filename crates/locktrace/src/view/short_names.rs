//! Names that are short enough to show.
//!
//! A class file allows names of 65,535 bytes, and a trace any number of them. A
//! file that is to be small has the beginning of such a name, and what distinguishes it.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// The names of real programs are shorter, but for those of generated code.
const MAX_CHARS: usize = 250;
/// What is kept of a longer one.
const KEPT_CHARS: usize = 200;
/// Distinguishes names that begin alike: 64 bits.
const DIGEST_BYTES: usize = 8;
/// Of the stacks of a deadlock, whose frames are text.
const MAX_FRAMES: usize = 60;

/// The same answers, with each text that is too long cut. Equal texts stay equal, so a
/// selection still finds what it is about; different ones stay different.
///
/// # Errors
///
/// If `json` is no JSON.
pub(crate) fn shorten(json: &str) -> serde_json::Result<String> {
    let mut answers: Value = serde_json::from_str(json)?;
    shorten_value(&mut answers);
    serde_json::to_string(&answers)
}

fn shorten_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some(short) = shortened(text) {
                *text = short;
            }
        }
        Value::Array(values) => {
            shorten_stack(values);
            values.iter_mut().for_each(shorten_value);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten_value),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn shortened(text: &str) -> Option<String> {
    // No character has less than a byte.
    if text.len() <= MAX_CHARS {
        return None;
    }
    text.char_indices().nth(MAX_CHARS)?;
    let kept: String = text.chars().take(KEPT_CHARS).collect();
    let digest = Sha256::digest(text);
    let digest = digest.iter().take(DIGEST_BYTES);
    let digest: String = digest.map(|byte| format!("{byte:02x}")).collect();
    Some(format!("{kept}… [{digest}]"))
}

/// Only stacks are lists of more texts.
fn shorten_stack(values: &mut Vec<Value>) {
    if values.len() > MAX_FRAMES && values.iter().all(Value::is_string) {
        let left_out = values.len() - MAX_FRAMES;
        values.truncate(MAX_FRAMES);
        values.push(format!("… {left_out} more frames").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_stay() {
        let json = r#"{"values":[{"key":"demo.Ledger.post(I)V"}],"waits":{"id":[1,2]}}"#;
        assert_eq!(shorten(json).expect("JSON"), json);
        let umlauts = "ä".repeat(MAX_CHARS);
        assert_eq!(shortened(&umlauts), None, "characters count, not bytes");
    }

    #[test]
    fn long_names_stay_apart_and_alike() {
        let [one, other] = ["a", "b"].map(|end| format!("{}{end}", "x".repeat(60_000)));
        assert_eq!(shortened(&one), shortened(&one.clone()));
        assert_ne!(shortened(&one), shortened(&other));
        let short = shortened(&one).expect("too long");
        assert!(short.chars().count() <= MAX_CHARS, "{short}");
        assert_eq!(shortened(&short), None);
    }

    #[test]
    fn stacks_say_what_they_leave_out() {
        let stack = vec![Value::from("demo.Tree.walk(Tree.java:7)"); MAX_FRAMES + 2];
        let mut stack = Value::from(stack);
        shorten_value(&mut stack);
        let frames = stack.as_array().expect("a list");
        assert_eq!(frames.len(), MAX_FRAMES + 1);
        assert_eq!(frames[MAX_FRAMES], "… 2 more frames");
    }
}
