//! What the agent says on standard error.

use std::fmt::Display;
use std::io::{self, Write};

pub(crate) const NO_OWNERS: &str =
    "this JVM refuses a class of the agent, so owners of locks are not known";

/// One line on standard error.
pub(crate) fn say(what: &dyn Display) {
    // There is nobody to tell that it cannot be written.
    let _ = writeln!(io::stderr(), "locktrace: {what}");
}
