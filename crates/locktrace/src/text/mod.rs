//! Text for people.

pub(crate) mod human;
pub(crate) mod labelled_table;
