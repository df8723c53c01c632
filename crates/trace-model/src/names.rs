//! The names in an answer.

use serde::{Deserialize, Serialize};

use crate::dimension::Dimension;

/// A value of an aspect.
#[derive(Clone, Debug, Serialize)]
pub struct NamedValue {
    /// The aspect.
    pub aspect: Dimension,
    /// A text that identifies the same thing in every analysis.
    pub key: String,
    /// The text for people.
    pub label: String,
    /// A longer text, where others have the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long: Option<String>,
    /// The call chain, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chain: Option<NamedChain>,
}

/// A call chain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NamedChain {
    /// The positions of its frames in the answer, innermost first; empty if they are not known.
    pub frames: Vec<u32>,
    /// The position of the first frame outside of the lock's own code.
    pub first: u32,
    /// Whether outer frames are missing.
    pub truncated: bool,
}

/// A frame of call chains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NamedFrame {
    /// The class and name of the method, with its parameters if it is overloaded.
    pub method: String,
    /// The method's key.
    pub key: String,
    /// Its class; empty if it is not known.
    pub class: String,
    /// Its source file; empty if it is not known.
    pub file: String,
    /// The line; -1 if it is not known.
    pub line: i32,
    /// Whether the class is the JDK's or a library's.
    pub jdk: bool,
}

impl NamedFrame {
    /// Returns the frame as in a Java stack trace: `class.method(File.java:line)`.
    pub fn in_stack_trace(&self) -> String {
        match (self.file.as_str(), self.line) {
            ("", ..0) => self.method.clone(),
            ("", line) => format!("{}(line {line})", self.method),
            (file, ..0) => format!("{}({file})", self.method),
            (file, line) => format!("{}({file}:{line})", self.method),
        }
    }
}

/// The names that an answer refers to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Names {
    /// The values of aspects.
    pub values: Vec<NamedValue>,
    /// The frames of their call chains.
    pub frames: Vec<NamedFrame>,
}
