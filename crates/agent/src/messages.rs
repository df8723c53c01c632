//! What the agent says on standard error.

use std::fmt::Display;
use std::io::{self, Write};

pub(crate) const NO_OWNERS: &str =
    "this JVM refuses a class of the agent, so owners of locks are not known";

/// Writes a line to standard error.
pub(crate) fn say(what: &dyn Display) {
    // An error cannot be reported anywhere.
    let _ = writeln!(io::stderr(), "locktrace: {what}");
}
