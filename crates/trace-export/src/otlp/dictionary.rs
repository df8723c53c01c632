//! The dictionary: the entities that the samples of all profiles refer to by position.

use trace_analysis::Entities;

use super::message::{
    AnyValue, Function, KeyValueAndUnit, Line, Link, Location, Mapping, OneValue,
    ProfilesDictionary, Stack, ValueType,
};
use crate::frames::StackFrame;
use crate::table::Table;

/// Each entity once. Positions follow the default entry that the format demands of each table.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    texts: Table<String>,
    /// By key, a text.
    attributes: Table<(i32, OneValue)>,
    /// Functions by name and file, both texts.
    functions: Table<(i32, i32)>,
    /// Locations by function, line and attribute.
    locations: Table<(i32, i64, Option<i32>)>,
    /// Stacks by locations, innermost first.
    stacks: Table<Vec<i32>>,
}

impl Dictionary {
    pub(super) fn value_type(&mut self, name: &str, unit: &str) -> ValueType {
        ValueType {
            type_strindex: self.text(name),
            unit_strindex: self.text(unit),
        }
    }

    pub(super) fn attribute(&mut self, key: &str, value: OneValue) -> i32 {
        let key = self.text(key);
        after_default(self.attributes.position((key, value)))
    }

    /// Returns the position of a stack, whose `frames` are ordered from the innermost.
    pub(super) fn stack(&mut self, frames: &[StackFrame], entities: &Entities) -> i32 {
        let locations = frames.iter().map(|&frame| self.location(frame, entities));
        let locations = locations.collect();
        after_default(self.stacks.position(locations))
    }

    fn location(&mut self, frame: StackFrame, entities: &Entities) -> i32 {
        let (file, line, frame_type) = match frame {
            StackFrame::Java(frame) => {
                let class = entities.method(frame.method).class;
                let file = class.map_or("", |class| entities.source_file(class));
                let of_jvm = OneValue::StringValue("jvm".to_owned());
                let frame_type = self.attribute("profile.frame.type", of_jvm);
                (file, i64::from(frame.line.max(0)), Some(frame_type))
            }
            StackFrame::Lock(_) | StackFrame::Instead(_) | StackFrame::CutOff => ("", 0, None),
        };
        let names = (self.text(&frame.name(entities)), self.text(file));
        let function = after_default(self.functions.position(names));
        after_default(self.locations.position((function, line, frame_type)))
    }

    fn text(&mut self, text: &str) -> i32 {
        // The default is the empty text.
        if text.is_empty() {
            return 0;
        }
        after_default(self.texts.position(text.to_owned()))
    }

    pub(super) fn finish(self) -> ProfilesDictionary {
        let functions = self.functions.into_values();
        let locations = self.locations.into_values();
        let attributes = self.attributes.into_values();
        let stacks = self.stacks.into_values();
        ProfilesDictionary {
            mapping_table: vec![Mapping {}],
            location_table: with_default(locations.map(|(function_index, line, attribute)| {
                Location {
                    lines: vec![Line {
                        function_index,
                        line,
                    }],
                    attribute_indices: attribute.into_iter().collect(),
                }
            })),
            function_table: with_default(functions.map(|(name_strindex, filename_strindex)| {
                Function {
                    name_strindex,
                    filename_strindex,
                }
            })),
            link_table: vec![Link {}],
            string_table: with_default(self.texts.into_values()),
            attribute_table: with_default(attributes.map(|(key_strindex, value)| {
                KeyValueAndUnit {
                    key_strindex,
                    value: Some(AnyValue { value: Some(value) }),
                }
            })),
            stack_table: with_default(stacks.map(|location_indices| Stack { location_indices })),
        }
    }
}

/// Converts to a position of the format, which has 31 bits. One beyond refers to nothing.
fn after_default(position: usize) -> i32 {
    i32::try_from(position + 1).unwrap_or(0)
}

fn with_default<T: Default>(values: impl Iterator<Item = T>) -> Vec<T> {
    std::iter::once(T::default()).chain(values).collect()
}
