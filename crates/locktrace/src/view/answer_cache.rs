//! Answers that stay true: those about traces that are read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;

use crate::view::topic::Topic;

/// More are forgotten, the oldest first.
const MAX_BYTES: usize = 32 << 20;

/// Answers by question, shared by all who ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct AnswerCache(Arc<Mutex<Answers>>);

#[derive(Debug, Default)]
struct Answers {
    answers: HashMap<Question, Bytes>,
    /// The oldest first.
    order: VecDeque<Question>,
    bytes: usize,
}

type Question = (Topic, Bytes);

impl AnswerCache {
    /// The answer to a question that was asked in the same words.
    pub(crate) fn get(&self, topic: Topic, question: &Bytes) -> Option<Bytes> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.answers.get(&(topic, question.clone())).cloned()
    }

    /// Keeps an answer that stays true.
    pub(crate) fn keep(&self, topic: Topic, question: Bytes, answer: Bytes) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let question = (topic, question);
        if known.answers.contains_key(&question) {
            // Two asked at once.
            return;
        }
        known.bytes += question.1.len() + answer.len();
        known.order.push_back(question.clone());
        known.answers.insert(question, answer);
        while known.bytes > MAX_BYTES
            && let Some(oldest) = known.order.pop_front()
        {
            let answer = known.answers.remove(&oldest).unwrap_or_default();
            known.bytes -= oldest.1.len() + answer.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_answers_make_room() {
        let known = AnswerCache::default();
        let answer = Bytes::from(vec![0; MAX_BYTES / 4]);
        for question in ["a", "b", "c", "d"] {
            known.keep(Topic::Query, Bytes::from(question), answer.clone());
        }
        assert_eq!(known.get(Topic::Query, &Bytes::from("a")), None);
        assert_eq!(known.get(Topic::Query, &Bytes::from("d")), Some(answer));
        assert_eq!(known.get(Topic::Lanes, &Bytes::from("d")), None);
        assert!(known.0.lock().unwrap().bytes <= MAX_BYTES);
    }

    #[test]
    fn an_answer_is_kept_once() {
        let known = AnswerCache::default();
        for _ in 0..2 {
            known.keep(Topic::Query, Bytes::from("a"), Bytes::from("1"));
        }
        let known = known.0.lock().unwrap();
        assert_eq!((known.order.len(), known.bytes), (1, 2));
    }
}
