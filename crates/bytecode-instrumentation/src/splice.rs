//! A class file with more constants and other code.

use crate::bytes::Put;
use crate::class_file::{ClassFile, CodeAttribute};
use crate::constant_pool::NewConstants;

/// The replacement of a method's code attribute.
#[derive(Debug)]
pub(crate) struct NewCode<'a> {
    pub(crate) attribute: CodeAttribute<'a>,
    /// Without name and length.
    pub(crate) bytes: Vec<u8>,
}

/// Returns the class file with more constants and other code, in the order of the methods.
/// Everything else stays as it is.
pub(crate) fn splice(
    class: &ClassFile<'_>,
    constants: &NewConstants<'_>,
    changed: &[NewCode<'_>],
) -> Vec<u8> {
    /// Length of the start of the file, up to and including the number of constants.
    const VERSION_END: usize = 8;
    const COUNT_END: usize = 10;
    let between = |start, end| class.bytes.get(start..end).unwrap_or_default();

    let code: usize = changed.iter().map(|code| code.bytes.len()).sum();
    let mut out = Vec::with_capacity(class.bytes.len() + constants.bytes().len() + code);
    out.put(between(0, VERSION_END));
    out.put_u2(constants.count());
    out.put(between(COUNT_END, class.pool_end));
    out.put(constants.bytes());
    let mut copied = class.pool_end;
    for NewCode { attribute, bytes } in changed {
        out.put(between(copied, attribute.length_at));
        out.put_u4(bytes.len() as u32);
        out.put(bytes);
        copied = attribute.end();
    }
    out.put(between(copied, class.bytes.len()));
    out
}
