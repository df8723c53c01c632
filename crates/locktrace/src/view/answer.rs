//! Questions and their answers, in JSON.

use serde::{Deserialize, Serialize};
use trace_analysis::Entities;
use trace_model::{
    Budget, Columns, DistributionQuery, LanesQuery, Query, QuestionError, WaitsQuery,
};

use crate::outcome::cause;
use crate::view::overview::Overview;
use crate::view::progress::Progress;
use crate::view::state::State;
use crate::view::topic::Topic;

/// What can be asked.
#[derive(Debug)]
pub(crate) enum Question {
    Overview,
    Groups(Query),
    Distribution(DistributionQuery),
    Waits(WaitsQuery),
    Wait(u64),
    Lanes(LanesQuery),
    Embedded(Budget),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AnswerError {
    /// The text is no question.
    #[error("not a question: {0}")]
    Malformed(#[from] serde_json::Error),
    /// The question is not answered.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// There is no such wait.
    #[error("there is no wait {0} that is known by itself")]
    NoSuchWait(u64),
}

cause!(Usage: AnswerError);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WaitQuestion {
    id: u64,
}

/// An answer about what was read so far.
#[derive(Serialize)]
struct InProgress<T> {
    progress: Progress,
    #[serde(flatten)]
    answer: T,
}

/// The model in an exported file, with the answer about all of it.
#[derive(Serialize)]
struct Embedded<M> {
    model: M,
    #[serde(flatten)]
    columns: Columns,
}

/// Everything that fits a model in memory.
const WHOLE: Budget = Budget {
    rows: usize::MAX,
    folded_shares: usize::MAX,
    parts: usize::MAX,
};

impl Question {
    /// Reads a question about `topic`.
    ///
    /// # Errors
    ///
    /// If the text is no question.
    pub(crate) fn parse(topic: Topic, json: &str) -> Result<Self, AnswerError> {
        Ok(match topic {
            Topic::Model => Question::Overview,
            Topic::Query => Question::Groups(serde_json::from_str(json)?),
            Topic::Histogram => Question::Distribution(serde_json::from_str(json)?),
            Topic::Waits => Question::Waits(serde_json::from_str(json)?),
            Topic::Wait => Question::Wait(serde_json::from_str::<WaitQuestion>(json)?.id),
            Topic::Lanes => Question::Lanes(serde_json::from_str(json)?),
            Topic::Embedded => Question::Embedded(WHOLE),
        })
    }
}

impl State {
    /// Answers a question.
    ///
    /// # Errors
    ///
    /// If it asks for what cannot be answered.
    pub(crate) fn answer(
        &mut self,
        question: &Question,
        entities: &Entities,
    ) -> Result<String, AnswerError> {
        if !self.progress.done {
            self.model.forget_names();
        }
        match question {
            Question::Overview => Ok(match self.stored_overview() {
                Some(overview) => serde_json::to_string(&overview)?,
                None => serde_json::to_string(&Overview::new(self, entities))?,
            }),
            Question::Groups(query) => {
                let groups = self.model.query(query, entities)?;
                self.in_progress(groups)
            }
            Question::Distribution(query) => {
                let distribution = self.model.distribution(query, entities)?;
                self.in_progress(distribution)
            }
            Question::Waits(query) => {
                let waits = self.model.waits(query, entities)?;
                self.in_progress(waits)
            }
            Question::Wait(id) => {
                let wait = self.model.wait(*id, entities);
                self.in_progress(wait.ok_or(AnswerError::NoSuchWait(*id))?)
            }
            Question::Lanes(query) => {
                let lanes = self.model.lanes(query, entities)?;
                self.in_progress(lanes)
            }
            Question::Embedded(budget) => {
                let columns = self.model.columns(*budget, entities);
                if let Some(mut model) = self.stored_overview() {
                    model.keep(columns.folding, columns.parts.is_some());
                    return Ok(serde_json::to_string(&Embedded { model, columns })?);
                }
                let mut model = Overview::new(self, entities);
                model.folded = columns.folding;
                model.exact = columns.parts.is_some();
                Ok(serde_json::to_string(&Embedded { model, columns })?)
            }
        }
    }

    fn in_progress(&self, answer: impl Serialize) -> Result<String, AnswerError> {
        let progress = self.progress;
        Ok(serde_json::to_string(&InProgress { progress, answer })?)
    }
}
