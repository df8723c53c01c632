//! The structure of a class file (JVMS 4.1), as far as it leads to code.

use crate::bytes::Reader;
use crate::constant_pool::ConstantPool;
use crate::instruction::MONITOREXIT;
use crate::outcome::Malformed;

const ACC_STATIC: u16 = 0x0008;
const ACC_SYNCHRONIZED: u16 = 0x0020;
const ACC_NATIVE: u16 = 0x0100;

/// A class, and the methods of interest.
#[derive(Debug)]
pub(crate) struct ClassFile<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) major_version: u16,
    pub(crate) pool: ConstantPool<'a>,
    /// The end of the constants.
    pub(crate) pool_end: usize,
    /// The index of the class itself.
    pub(crate) this_class: u16,
    pub(crate) methods: Vec<Method<'a>>,
}

/// A method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Method<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) descriptor: &'a [u8],
    pub(crate) is_static: bool,
    pub(crate) is_synchronized: bool,
    pub(crate) is_native: bool,
    pub(crate) code: Option<CodeAttribute<'a>>,
}

/// A code attribute, without its name and length.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CodeAttribute<'a> {
    /// The position of its length in the class file.
    pub(crate) length_at: usize,
    pub(crate) bytes: &'a [u8],
}

impl CodeAttribute<'_> {
    /// Checks the names of the attributes. The class is malformed if one is beyond its constants,
    /// not only the method: once there are more constants, the name would be one of these, and the
    /// JVM would take a class that it refuses as it is. Other defects of the code, or of the later
    /// attributes, concern the method alone.
    fn check_names(&self, pool: &ConstantPool<'_>) -> Result<(), Malformed> {
        let mut reader = Reader::new(self.bytes);
        if skip_to_attributes(&mut reader).is_err() {
            return Ok(());
        }
        for _ in 0..reader.u2().unwrap_or_default() {
            match reader.u2() {
                Ok(name) if !pool.reaches(name) => {
                    return Err(Malformed {
                        what: "an attribute's name beyond the constants",
                        offset: self.length_at,
                    });
                }
                Ok(_) if reader.slice_with_length().is_ok() => {}
                _ => break,
            }
        }
        Ok(())
    }

    /// Returns its end in the class file.
    pub(crate) fn end(&self) -> usize {
        self.length_at + 4 + self.bytes.len()
    }
}

impl<'a> ClassFile<'a> {
    /// Reads a class with the methods that may release monitors.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Malformed> {
        Self::read_with(bytes, Method::may_release)
    }

    /// Reads a class with the wanted methods.
    pub(crate) fn read_with(
        bytes: &'a [u8],
        is_wanted: impl Fn(&Method<'a>) -> bool,
    ) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        if reader.u4()? != 0xcafe_babe {
            return Err(Malformed {
                what: "no magic number",
                offset: 0,
            });
        }
        let _minor_version = reader.u2()?;
        let major_version = reader.u2()?;
        let pool = ConstantPool::read(&mut reader)?;
        let pool_end = reader.offset();
        let _access = reader.u2()?;
        let this_class = reader.u2()?;
        let _super_class = reader.u2()?;
        let interfaces = reader.u2()?;
        reader.slice(2 * usize::from(interfaces))?;
        for _ in 0..reader.u2()? {
            reader.slice(6)?;
            skip_attributes(&mut reader)?;
        }
        let mut methods = Vec::new();
        for _ in 0..reader.u2()? {
            let method = Method::read(&mut reader, &pool)?;
            if is_wanted(&method) {
                if let Some(code) = method.code {
                    code.check_names(&pool)?;
                }
                methods.push(method);
            }
        }
        skip_attributes(&mut reader)?;
        if !reader.is_at_end() {
            return Err(reader.malformed("something behind the class"));
        }
        Ok(Self {
            bytes,
            major_version,
            pool,
            pool_end,
            this_class,
            methods,
        })
    }

    /// Returns the internal name of the class.
    pub(crate) fn name(&self) -> Option<&'a [u8]> {
        self.pool.class_name(self.this_class)
    }
}

impl<'a> Method<'a> {
    fn read(reader: &mut Reader<'a>, pool: &ConstantPool<'a>) -> Result<Self, Malformed> {
        let access = reader.u2()?;
        let mut name = || {
            let index = reader.u2()?;
            let text = pool.utf8(index);
            text.ok_or(reader.malformed("no name of a method"))
        };
        let mut method = Self {
            name: name()?,
            descriptor: name()?,
            is_static: access & ACC_STATIC != 0,
            is_synchronized: access & ACC_SYNCHRONIZED != 0,
            is_native: access & ACC_NATIVE != 0,
            code: None,
        };
        for _ in 0..reader.u2()? {
            let name = reader.u2()?;
            let length_at = reader.offset();
            let bytes = reader.slice_with_length()?;
            if pool.utf8(name) == Some(b"Code") && method.code.is_none() {
                method.code = Some(CodeAttribute { length_at, bytes });
            }
        }
        Ok(method)
    }

    /// Returns whether the method may release a monitor. A byte with the value of `monitorexit` may
    /// be something else.
    fn may_release(&self) -> bool {
        let code = self.code.map_or(&[][..], |code| code.bytes);
        self.is_synchronized || code.contains(&MONITOREXIT)
    }
}

/// Skips the part of a code attribute before its own attributes (JVMS 4.7.3).
fn skip_to_attributes(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    let _max_stack = reader.u2()?;
    let _max_locals = reader.u2()?;
    reader.slice_with_length()?;
    let handlers = reader.u2()?;
    reader.slice(8 * usize::from(handlers))?;
    Ok(())
}

fn skip_attributes(reader: &mut Reader<'_>) -> Result<(), Malformed> {
    for _ in 0..reader.u2()? {
        reader.u2()?;
        reader.slice_with_length()?;
    }
    Ok(())
}
