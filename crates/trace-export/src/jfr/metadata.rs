//! The event of a chunk that describes the types of all others (JDK:
//! `jdk.jfr.internal.MetadataReader`): texts, and a tree of elements that are made of them.

use super::encoding::Encoder;
use super::types::{Annotation, CATEGORY, Field, Form, Holds, TYPES, Type};
use crate::table::Table;

/// Number of the type of this event, which is not described.
const METADATA: u64 = 0;

/// The types of all chunks are the same.
const VERSION: u64 = 1;

/// Writes the event, at a time in ticks.
pub(super) fn write(time: u64, encoder: &mut Encoder) {
    let root = Element::new("root", []).with([
        Element::new("metadata", []).with(TYPES.iter().map(Type::element)),
        Element::new("region", [("locale", "en_US"), ("gmtOffset", "0")]),
    ]);
    let (mut texts, mut tree) = (Table::default(), Encoder::default());
    root.write(&mut texts, &mut tree);
    let texts: Vec<_> = texts.into_values().collect();
    encoder.event(METADATA, |event| {
        event.number(time);
        event.number(0); // its duration
        event.number(VERSION);
        event.number(texts.len() as u64);
        texts.iter().for_each(|text| event.text(text));
        event.bytes.append(&mut tree.bytes);
    });
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
        // Those that are an array are counted.
        if of == CATEGORY {
            element.add(format!("value-{at}"), value);
        } else {
            element.add("value", value);
        }
    }
    element
}
