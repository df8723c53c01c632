//! Answers of a model, compared with what the analysis says, and with each other.

mod agreement;
mod findings;
mod folding;
mod hostile;
mod occurrences;
mod ranges;
mod stored;
mod support;
