//! Constants of a class file: the existing ones, and those that are appended.

use std::collections::BTreeMap;

use crate::bytes::{Put, Reader};
use crate::hooks::Hooks;
use crate::outcome::{Malformed, Reason};

const UTF8: u8 = 1;
const INTEGER: u8 = 3;
const CLASS: u8 = 7;
const METHOD_REF: u8 = 10;
const INTERFACE_METHOD_REF: u8 = 11;
const NAME_AND_TYPE: u8 = 12;

/// The constants of a class (JVMS 4.4).
#[derive(Debug)]
pub(crate) struct ConstantPool<'a> {
    /// By index. Only names are kept.
    constants: Vec<Constant<'a>>,
}

#[derive(Clone, Copy, Debug)]
enum Constant<'a> {
    Utf8(&'a [u8]),
    Class(u16),
    Method { class: u16, name_and_type: u16 },
    NameAndType { name: u16, descriptor: u16 },
    Other,
}

impl<'a> ConstantPool<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self, Malformed> {
        let count = reader.u2()?;
        let mut constants = Vec::with_capacity(count.into());
        constants.push(Constant::Other);
        while constants.len() < count.into() {
            let tag = reader.u1()?;
            let constant = match tag {
                UTF8 => {
                    let len = reader.u2()?;
                    Constant::Utf8(reader.slice(len.into())?)
                }
                CLASS => Constant::Class(reader.u2()?),
                METHOD_REF | INTERFACE_METHOD_REF => Constant::Method {
                    class: reader.u2()?,
                    name_and_type: reader.u2()?,
                },
                NAME_AND_TYPE => Constant::NameAndType {
                    name: reader.u2()?,
                    descriptor: reader.u2()?,
                },
                // String, method handles and types, modules, packages.
                8 | 16 | 19 | 20 => skip(reader, 2)?,
                15 => skip(reader, 3)?,
                // Integer, float, other members, dynamic constants.
                3 | 4 | 9 | 17 | 18 => skip(reader, 4)?,
                // Long and double take two indices.
                5 | 6 => {
                    constants.push(Constant::Other);
                    skip(reader, 8)?
                }
                _ => return Err(reader.malformed("an unknown constant")),
            };
            constants.push(constant);
        }
        if constants.len() != usize::from(count.max(1)) {
            return Err(reader.malformed("a constant with half an index"));
        }
        Ok(Self { constants })
    }

    /// Returns whether a constant of any kind has this index.
    pub(crate) fn reaches(&self, index: u16) -> bool {
        usize::from(index) < self.constants.len()
    }

    /// Returns the text at an index, if there is one.
    pub(crate) fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        match self.constants.get(usize::from(index))? {
            Constant::Utf8(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the internal name of the class at an index.
    pub(crate) fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        match *self.constants.get(usize::from(index))? {
            Constant::Class(name) => self.utf8(name),
            _ => None,
        }
    }

    /// Returns the class or interface, the name and the descriptor of the method at an index.
    pub(crate) fn method(&self, index: u16) -> Option<(&'a [u8], &'a [u8], &'a [u8])> {
        let constant = |index: u16| self.constants.get(usize::from(index)).copied();
        let Constant::Method {
            class,
            name_and_type,
        } = constant(index)?
        else {
            return None;
        };
        let Constant::NameAndType { name, descriptor } = constant(name_and_type)? else {
            return None;
        };
        Some((
            self.class_name(class)?,
            self.utf8(name)?,
            self.utf8(descriptor)?,
        ))
    }
}

fn skip<'a>(reader: &mut Reader<'a>, len: usize) -> Result<Constant<'a>, Malformed> {
    reader.slice(len)?;
    Ok(Constant::Other)
}

/// Constants to be appended to those of a class. Each is added once, even if the class has the
/// same: a few bytes more, and no search. Only a class that already refers to the hooks, since it
/// was changed before, keeps its own: HotSpot never removes constants when a class gets its code
/// back, so they would become more each time.
#[derive(Debug)]
pub(crate) struct NewConstants<'a> {
    /// Index of the next constant: beyond `u16` if the pool is full.
    next: u32,
    bytes: Vec<u8>,
    utf8: BTreeMap<&'a [u8], u16>,
    classes: BTreeMap<&'a [u8], u16>,
    methods: BTreeMap<[&'a [u8]; 3], u16>,
}

/// The hook of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    Block,
    AfterBlock,
    Method,
}

impl<'a> NewConstants<'a> {
    /// Creates an empty list, which follows the constants of `pool`. Hooks are of the class
    /// `hooks`.
    pub(crate) fn new(pool: &ConstantPool<'a>, hooks: &str) -> Self {
        let mut this = Self {
            next: pool.constants.len() as u32,
            bytes: Vec::new(),
            utf8: BTreeMap::new(),
            classes: BTreeMap::new(),
            methods: BTreeMap::new(),
        };
        let mut constants = pool.constants.iter();
        let hooks = hooks.as_bytes();
        if constants.any(|constant| matches!(constant, Constant::Utf8(text) if *text == hooks)) {
            this.adopt(pool);
        }
        this
    }

    /// Adopts the constants of the class for its own.
    fn adopt(&mut self, pool: &ConstantPool<'a>) {
        for (index, constant) in (0_u16..).zip(&pool.constants) {
            match *constant {
                Constant::Utf8(text) => {
                    self.utf8.entry(text).or_insert(index);
                }
                Constant::Class(name) => {
                    if let Some(name) = pool.utf8(name) {
                        self.classes.entry(name).or_insert(index);
                    }
                }
                Constant::Method { .. } => {
                    if let Some((class, name, descriptor)) = pool.method(index) {
                        let key = [class, name, descriptor];
                        self.methods.entry(key).or_insert(index);
                    }
                }
                Constant::NameAndType { .. } | Constant::Other => {}
            }
        }
    }

    /// Returns the number of constants including them, as the class file counts: with the index 0.
    pub(crate) fn count(&self) -> u16 {
        u16::try_from(self.next).unwrap_or(u16::MAX)
    }

    /// Returns the constants as in a class file.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn utf8(&mut self, text: &'a [u8]) -> Result<u16, Reason> {
        if let Some(&index) = self.utf8.get(text) {
            return Ok(index);
        }
        let len = u16::try_from(text.len()).map_err(|_| Reason::PoolFull)?;
        let index = self.next_index()?;
        self.bytes.put_u1(UTF8);
        self.bytes.put_u2(len);
        self.bytes.put(text);
        self.utf8.insert(text, index);
        Ok(index)
    }

    pub(crate) fn class(&mut self, name: &'a [u8]) -> Result<u16, Reason> {
        if let Some(&index) = self.classes.get(name) {
            return Ok(index);
        }
        let utf8 = self.utf8(name)?;
        let index = self.next_index()?;
        self.bytes.put_u1(CLASS);
        self.bytes.put_u2(utf8);
        self.classes.insert(name, index);
        Ok(index)
    }

    /// Adds an integer, each time a new one.
    pub(crate) fn integer(&mut self, value: u32) -> Result<u16, Reason> {
        let index = self.next_index()?;
        self.bytes.put_u1(INTEGER);
        self.bytes.put_u4(value);
        Ok(index)
    }

    pub(crate) fn hook(&mut self, hooks: &Hooks<'a>, hook: Hook) -> Result<u16, Reason> {
        const OBJECT_AND_SITE: &[u8] = b"(Ljava/lang/Object;I)V";
        let (name, descriptor) = match hook {
            Hook::Block => (hooks.block_exit, OBJECT_AND_SITE),
            Hook::AfterBlock => {
                let name = hooks.after_block_exit.unwrap_or_default();
                (name, b"(I)V".as_slice())
            }
            Hook::Method => (hooks.method_exit, OBJECT_AND_SITE),
        };
        self.static_method(hooks.class, name, descriptor)
    }

    pub(crate) fn static_method(
        &mut self,
        class: &'a str,
        name: &'a str,
        descriptor: &'a [u8],
    ) -> Result<u16, Reason> {
        let (class, name) = (class.as_bytes(), name.as_bytes());
        if let Some(&index) = self.methods.get(&[class, name, descriptor]) {
            return Ok(index);
        }
        let key = [class, name, descriptor];
        let class = self.class(class)?;
        let name_index = self.utf8(name)?;
        let descriptor_index = self.utf8(descriptor)?;
        let name_and_type = self.next_index()?;
        self.bytes.put_u1(NAME_AND_TYPE);
        self.bytes.put_u2(name_index);
        self.bytes.put_u2(descriptor_index);
        let index = self.next_index()?;
        self.bytes.put_u1(METHOD_REF);
        self.bytes.put_u2(class);
        self.bytes.put_u2(name_and_type);
        self.methods.insert(key, index);
        Ok(index)
    }

    /// Returns the index of the constant that is written right after the call.
    fn next_index(&mut self) -> Result<u16, Reason> {
        // The number of constants, this one and index 0 included, has to fit, too.
        if self.next >= u32::from(u16::MAX) {
            return Err(Reason::PoolFull);
        }
        let index = self.count();
        self.next += 1;
        Ok(index)
    }
}
