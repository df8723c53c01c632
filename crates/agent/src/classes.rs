//! Names of classes, and identifiers of class loaders.

use rust_tracer::text;

use crate::ffi::{Class, Env, Object};

/// The internal name of a class, and the identifier of its loader.
pub(crate) type ClassKey = (Box<[u8]>, u64);

/// Returns the identifier of a loader: 0 for the boot loader.
pub(crate) fn loader_id(env: Env<'_>, loader: Option<Object<'_>>) -> u64 {
    let hash = loader.map(|loader| env.hash(loader).unwrap_or_default());
    hash.map_or(0, |hash| u64::from(hash).saturating_add(1))
}

/// Returns the identifier of the loader of a class.
pub(crate) fn class_loader_id(env: Env<'_>, class: Class<'_>) -> u64 {
    let loader = env.loader(class);
    let id = loader_id(env, loader);
    loader.inspect(|&loader| env.delete(loader));
    id
}

/// Returns the internal name of a class, from its descriptor.
pub(crate) fn internal_name(signature: &[u8]) -> &[u8] {
    match signature {
        [b'L', name @ .., b';'] => name,
        other => other,
    }
}

/// Returns the name of a class as `Class.getTypeName` does, from its descriptor: `java.lang.String`,
/// `int[]`.
pub(crate) fn external_name(signature: &[u8]) -> String {
    let element = signature.trim_ascii_start();
    let dimensions = element.iter().take_while(|&&byte| byte == b'[').count();
    let element = element.get(dimensions..).unwrap_or_default();
    let mut name = match element {
        [b'L', name @ .., b';'] => text::from_jvm(name).replace('/', "."),
        b"Z" => "boolean".to_owned(),
        b"B" => "byte".to_owned(),
        b"C" => "char".to_owned(),
        b"S" => "short".to_owned(),
        b"I" => "int".to_owned(),
        b"J" => "long".to_owned(),
        b"F" => "float".to_owned(),
        b"D" => "double".to_owned(),
        other => text::from_jvm(other).into_owned(),
    };
    for _ in 0..dimensions {
        name.push_str("[]");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_as_in_java() {
        for (signature, name) in [
            ("Ljava/util/Map$Entry;", "java.util.Map$Entry"),
            ("[[I", "int[][]"),
            ("[Ljava/lang/String;", "java.lang.String[]"),
            ("LMain;", "Main"),
            ("", ""),
        ] {
            assert_eq!(external_name(signature.as_bytes()), name);
        }
    }
}
