//! Which methods share their name with others.

use std::collections::hash_map::Entry;

use crate::collections::hash::SeededMap;
use crate::model::entity::{ClassIndex, Entities, MethodIndex};
use crate::model::signature::{self, Names};

/// Methods of one class and name. Every method of the analyzed traces counts, wherever
/// it occurs: so the same method has the same label everywhere.
#[derive(Debug)]
pub struct Overloads<'a> {
    entities: &'a Entities,
    /// The parameters of each name's methods; `None` if they differ. A method and the
    /// compiler's bridge to it do not.
    parameters: SeededMap<(ClassIndex, &'a str), Option<&'a str>>,
}

impl<'a> Overloads<'a> {
    /// Those among all methods of `entities`.
    pub fn new(entities: &'a Entities) -> Self {
        let mut parameters = SeededMap::default();
        for method in entities.methods() {
            let Some(class) = method.class else { continue };
            let own = method.signature.split(')').next();
            match parameters.entry((class, &*method.name)) {
                Entry::Vacant(entry) => {
                    entry.insert(own);
                }
                Entry::Occupied(mut entry) if *entry.get() != own => {
                    entry.insert(None);
                }
                Entry::Occupied(_) => {}
            }
        }
        Self {
            entities,
            parameters,
        }
    }

    /// Class and name of a method, and simple names of its parameters' types if it is
    /// overloaded.
    pub(crate) fn label(&self, method: MethodIndex) -> String {
        let name = self.entities.method_label(method);
        if self.is_overloaded(method) {
            name + &self.parameters(method, Names::Simple)
        } else {
            name
        }
    }

    /// Returns all that distinguishes a method from its overloads, as in Java source.
    pub(crate) fn long_label(&self, method: MethodIndex) -> String {
        let signature = &self.entities.method(method).signature;
        let returned = signature::return_type(signature);
        let returned = returned.map_or(String::new(), |returned| format!(": {returned}"));
        let name = self.entities.method_label(method);
        name + &self.parameters(method, Names::Qualified) + &returned
    }

    fn is_overloaded(&self, method: MethodIndex) -> bool {
        let method = self.entities.method(method);
        let of_name = |class| self.parameters.get(&(class, &*method.name));
        method.class.and_then(of_name) == Some(&None)
    }

    fn parameters(&self, method: MethodIndex, names: Names) -> String {
        let signature = &self.entities.method(method).signature;
        signature::parameters(signature, names).unwrap_or_else(|| signature.to_string())
    }
}
