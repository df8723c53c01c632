//! Answers that stay true: those about traces that are read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;

use crate::cli::Topic;

/// More are forgotten, the oldest first.
const MAX_BYTES: usize = 32 << 20;

/// Answers by question, shared by all who ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownAnswers(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// The oldest first.
    answers: VecDeque<(Topic, Bytes, Bytes)>,
    bytes: usize,
}

impl KnownAnswers {
    /// The answer to a question that was asked in the same words.
    pub(crate) fn get(&self, topic: Topic, question: &Bytes) -> Option<Bytes> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut answers = known.answers.iter();
        let found = answers.find(|(of, text, _)| *of == topic && text == question);
        found.map(|(_, _, answer)| answer.clone())
    }

    /// Keeps an answer that stays true.
    pub(crate) fn keep(&self, topic: Topic, question: Bytes, answer: Bytes) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.bytes += question.len() + answer.len();
        known.answers.push_back((topic, question, answer));
        while known.bytes > MAX_BYTES
            && let Some((_, question, answer)) = known.answers.pop_front()
        {
            known.bytes -= question.len() + answer.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_answers_make_room() {
        let known = KnownAnswers::default();
        let answer = Bytes::from(vec![0; MAX_BYTES / 4]);
        for question in ["a", "b", "c", "d"] {
            known.keep(Topic::Query, Bytes::from(question), answer.clone());
        }
        assert_eq!(known.get(Topic::Query, &Bytes::from("a")), None);
        assert_eq!(known.get(Topic::Query, &Bytes::from("d")), Some(answer));
        assert_eq!(known.get(Topic::Lanes, &Bytes::from("d")), None);
        assert!(known.0.lock().unwrap().bytes <= MAX_BYTES);
    }
}
