//! The event of a chunk that describes the types of all others (JDK:
//! `jdk.jfr.internal.MetadataReader`): texts, and a tree of elements that are made of them.

use std::hash::{DefaultHasher, Hasher};

use super::encoding::Encoder;
use super::types::{self, Annotation, CATEGORY, Field, Form, Holds, Type};
use crate::table::Table;

/// Number of the type of this event, which is not described.
const METADATA: u64 = 0;

/// Writes the event, at a time in ticks.
pub(super) fn write(time: u64, encoder: &mut Encoder) {
    let root = Element::new("root", []).with([
        Element::new("metadata", []).with(types::all().map(Type::element)),
        Element::new("region", [("locale", "en_US"), ("gmtOffset", "0")]),
    ]);
    let (mut texts, mut tree) = (Table::default(), Encoder::default());
    root.write(&mut texts, &mut tree);
    let texts: Vec<_> = texts.into_values().collect();
    let mut description = Encoder::default();
    description.number(texts.len() as u64);
    texts.iter().for_each(|text| description.text(text));
    description.bytes.append(&mut tree.bytes);
    encoder.event(METADATA, |event| {
        event.number(time);
        event.number(0); // its duration
        event.number(identity(&description.bytes));
        event.bytes.append(&mut description.bytes);
    });
}

/// Returns the identity of a description: the JDK reads only the first of the chunks of a file with
/// the same identity, whichever recordings they come from. JVMs count theirs from 1; a high bit
/// keeps clear of them.
fn identity(description: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(description);
    hasher.finish() >> 2 | 1 << 62
}

struct Element {
    name: &'static str,
    attributes: Vec<(String, String)>,
    children: Vec<Element>,
}

impl Element {
    fn new<const N: usize>(name: &'static str, attributes: [(&str, &str); N]) -> Self {
        let attributes = attributes.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Self {
            name,
            attributes: attributes.into(),
            children: Vec::new(),
        }
    }

    fn add(&mut self, key: impl Into<String>, value: &str) {
        self.attributes.push((key.into(), value.to_owned()));
    }

    fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children.extend(children);
        self
    }

    fn write(&self, texts: &mut Table<String>, tree: &mut Encoder) {
        let mut text = |text: &str| texts.position(text.to_owned()) as u64;
        tree.number(text(self.name));
        tree.number(self.attributes.len() as u64);
        for (key, value) in &self.attributes {
            tree.number(text(key));
            tree.number(text(value));
        }
        tree.number(self.children.len() as u64);
        for child in &self.children {
            child.write(texts, tree);
        }
    }
}

impl Type {
    fn element(&self) -> Element {
        let number = self.number.to_string();
        let mut element = Element::new("class", [("name", self.name), ("id", &number)]);
        match self.form {
            Form::Plain => {}
            Form::Simple => element.add("simpleType", "true"),
            Form::Event => element.add("superType", "jdk.jfr.Event"),
            Form::Annotation => element.add("superType", "java.lang.annotation.Annotation"),
        }
        element
            .with(self.fields.iter().map(Field::element))
            .with(self.annotations.iter().map(of_annotation))
    }
}

impl Field {
    fn element(&self) -> Element {
        let of = self.of.to_string();
        let mut element = Element::new("field", [("name", self.name), ("class", &of)]);
        match self.holds {
            Holds::Value => {}
            Holds::Values => element.add("dimension", "1"),
            Holds::Constant => element.add("constantPool", "true"),
        }
        element.with(self.annotations.iter().map(of_annotation))
    }
}

fn of_annotation(&(of, values): &Annotation) -> Element {
    let mut element = Element::new("annotation", [("class", &of.to_string())]);
    for (at, value) in values.iter().enumerate() {
        // Array-valued elements are counted.
        if of == CATEGORY {
            element.add(format!("value-{at}"), value);
        } else {
            element.add("value", value);
        }
    }
    element
}
