//! Class files put together byte by byte.

/// Instructions of the tests.
pub(crate) mod op {
    pub(crate) const NOP: u8 = 0x00;
    pub(crate) const ACONST_NULL: u8 = 0x01;
    pub(crate) const ICONST_0: u8 = 0x03;
    pub(crate) const ALOAD_0: u8 = 0x2a;
    pub(crate) const ALOAD_1: u8 = 0x2b;
    pub(crate) const ASTORE_0: u8 = 0x4b;
    pub(crate) const ASTORE_1: u8 = 0x4c;
    pub(crate) const ASTORE_2: u8 = 0x4d;
    pub(crate) const ASTORE_3: u8 = 0x4e;
    pub(crate) const ALOAD_2: u8 = 0x2c;
    pub(crate) const ALOAD_3: u8 = 0x2d;
    pub(crate) const DUP: u8 = 0x59;
    pub(crate) const IFEQ: u8 = 0x99;
    pub(crate) const GOTO: u8 = 0xa7;
    pub(crate) const TABLESWITCH: u8 = 0xaa;
    pub(crate) const LOOKUPSWITCH: u8 = 0xab;
    pub(crate) const RETURN: u8 = 0xb1;
    pub(crate) const ATHROW: u8 = 0xbf;
    pub(crate) const MONITORENTER: u8 = 0xc2;
    pub(crate) const MONITOREXIT: u8 = 0xc3;
    pub(crate) const IFNULL: u8 = 0xc6;
    pub(crate) const GOTO_W: u8 = 0xc8;
}

pub(crate) const STATIC: u16 = 0x0008;
pub(crate) const SYNCHRONIZED: u16 = 0x0020;
pub(crate) const NATIVE: u16 = 0x0100;

/// A class with one method `m()V`.
#[derive(Clone)]
pub(crate) struct TestClass {
    pub(crate) version: u16,
    pub(crate) access: u16,
    /// `None` for a native method.
    pub(crate) code: Option<Vec<u8>>,
    /// Start, end, handler; for everything.
    pub(crate) handlers: Vec<[u16; 3]>,
    /// Names and bytes of attributes of the code.
    pub(crate) attributes: Vec<(&'static str, Vec<u8>)>,
    /// Unused constants.
    pub(crate) fillers: usize,
}

impl TestClass {
    /// Creates a class of a version without frames.
    pub(crate) fn new(access: u16, code: Vec<u8>) -> Self {
        Self {
            version: 49,
            access,
            code: Some(code),
            handlers: Vec::new(),
            attributes: Vec::new(),
            fillers: 0,
        }
    }

    /// `synchronized (this) { BODY }`, as javac writes it. The body begins at bci 4.
    pub(crate) fn block(body: &[u8]) -> Self {
        let mut code = vec![op::ALOAD_0, op::DUP, op::ASTORE_1, op::MONITORENTER];
        code.extend(body);
        code.extend([op::ALOAD_1, op::MONITOREXIT, op::RETURN]);
        let released = code.len() as u16 - 1;
        let handler = released + 1;
        code.extend([op::ASTORE_2, op::ALOAD_1, op::MONITOREXIT]);
        let end = code.len() as u16;
        code.extend([op::ALOAD_2, op::ATHROW]);
        let mut class = Self::new(0, code);
        class.handlers = vec![[4, released, handler], [handler, end, handler]];
        class
    }

    pub(crate) fn with_attribute(mut self, name: &'static str, bytes: Vec<u8>) -> Self {
        self.attributes.push((name, bytes));
        self
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut constants = Vec::new();
        let mut count = 1u16;
        let mut utf8 = |text: &str| {
            constants.push(1);
            constants.extend((text.len() as u16).to_be_bytes());
            constants.extend(text.as_bytes());
            count += 1;
            count - 1
        };
        let class_name = utf8("Test");
        let name = utf8("m");
        let descriptor = utf8("()V");
        let code_name = utf8("Code");
        let names: Vec<_> = self.attributes.iter().map(|(name, _)| utf8(name)).collect();
        for _ in 0..self.fillers {
            utf8("");
        }
        constants.extend([7, 0, class_name as u8]);
        let this = count;

        let mut class = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0];
        let mut put = |value: u16| class.extend(value.to_be_bytes());
        put(self.version);
        put(count + 1);
        class.extend(constants);
        let mut put = |value: u16| class.extend(value.to_be_bytes());
        // Access, class, superclass, interfaces, fields, methods.
        [0, this, this, 0, 0, 1].into_iter().for_each(&mut put);
        let method = [self.access, name, descriptor, self.code.is_some().into()];
        method.into_iter().for_each(&mut put);
        if let Some(code) = &self.code {
            put(code_name);
            let attribute = self.code_attribute(code, &names);
            class.extend((attribute.len() as u32).to_be_bytes());
            class.extend(attribute);
        }
        class.extend([0, 0]);
        class
    }

    fn code_attribute(&self, code: &[u8], names: &[u16]) -> Vec<u8> {
        let mut out = vec![0, 2, 0, 3];
        out.extend((code.len() as u32).to_be_bytes());
        out.extend(code);
        out.extend((self.handlers.len() as u16).to_be_bytes());
        for handler in &self.handlers {
            out.extend(handler.iter().flat_map(|value| value.to_be_bytes()));
            out.extend([0, 0]);
        }
        out.extend((self.attributes.len() as u16).to_be_bytes());
        for ((_, bytes), name) in self.attributes.iter().zip(names) {
            out.extend(name.to_be_bytes());
            out.extend((bytes.len() as u32).to_be_bytes());
            out.extend(bytes);
        }
        out
    }
}
