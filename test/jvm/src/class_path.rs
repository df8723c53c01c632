//! The classes that a JVM finds, read from their files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use cafebabe::attributes::AttributeData;
use cafebabe::bytecode::Opcode;
use cafebabe::{ClassFile, MethodAccessFlags, MethodInfo, parse_class};
use jimage_rs::JImage;
use zip::ZipArchive;

use crate::jdk::Jdk;

/// The classes that a JVM finds.
pub struct ClassPath {
    places: RefCell<Vec<Place>>,
    /// The classes looked for; `None` where the class does not exist.
    classes: RefCell<HashMap<String, Option<Rc<Class>>>>,
}

enum Place {
    Directory(PathBuf),
    Jar(Box<ZipArchive<BufReader<File>>>),
    Modules(Modules),
}

/// The file in which JDKs from 9 on have their own classes.
struct Modules {
    image: JImage,
    /// The module of each class file.
    modules: HashMap<String, String>,
}

/// The facts of a class that the oracle needs.
#[derive(Debug)]
pub struct Class {
    super_class: Option<String>,
    interfaces: Vec<String>,
    /// By name and descriptor.
    methods: HashMap<(String, String), Method>,
}

/// A method, as its class file has it.
#[derive(Debug)]
pub struct Method {
    /// The method locks its object, or its class.
    pub is_synchronized: bool,
    /// The method is static, so it locks its class.
    pub is_static: bool,
    /// The method has no byte code.
    pub is_native: bool,
    /// Byte codes that have to do with locks, by index.
    code: HashMap<i32, Action>,
    /// The methods that byte codes call, by index; for other byte codes nothing.
    calls: HashMap<i32, Option<String>>,
}

/// The action of a byte code, as far as it may take or release a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `monitorenter`.
    Enter,
    /// `monitorexit`.
    Exit,
    /// It initializes a class, if nobody has yet.
    Initialize,
    /// It loads a class, if that is not loaded yet.
    Resolve,
    /// It calls `Object.wait`.
    Wait,
    /// No lock that anybody could want.
    Nothing,
}

impl ClassPath {
    /// Creates the class path of a JVM of a JDK with some `-cp`.
    pub fn new(jdk: &Jdk, class_path: &OsStr) -> Self {
        let class_path = std::env::split_paths(class_path);
        let mut places = Place::libraries(jdk);
        places.extend(class_path.filter_map(|path| Place::open(&path)));
        Self {
            places: RefCell::new(places),
            classes: RefCell::default(),
        }
    }

    /// A class by its name in Java; `None` if it has no file, because the JVM has made
    /// it up.
    pub fn class(&self, name: &str) -> Option<Rc<Class>> {
        if let Some(class) = self.classes.borrow().get(name) {
            return class.clone();
        }
        let file = format!("{}.class", name.replace('.', "/"));
        let mut places = self.places.borrow_mut();
        let bytes = places.iter_mut().find_map(|place| place.read(&file));
        let class = bytes.map(|bytes| {
            let class = parse_class(&bytes).unwrap_or_else(|error| panic!("{file}: {error}"));
            Rc::new(Class::of(&class))
        });
        let name = name.to_owned();
        self.classes.borrow_mut().insert(name, class.clone());
        class
    }

    /// Returns whether the one class is the other or below it; `None` where the files do not say.
    pub fn is_a(&self, name: &str, ancestor: &str) -> Option<bool> {
        if name == ancestor {
            return Some(true);
        }
        let class = self.class(name)?;
        let above = class.super_class.iter().chain(&class.interfaces);
        let mut answer = Some(false);
        for above in above {
            match self.is_a(above, ancestor) {
                Some(true) => return Some(true),
                Some(false) => {}
                None => answer = None,
            }
        }
        answer
    }
}

impl Class {
    fn of(class: &ClassFile<'_>) -> Self {
        let dotted = |name: &str| name.replace('/', ".");
        let methods = class.methods.iter();
        Self {
            super_class: class.super_class.as_deref().map(dotted),
            interfaces: class.interfaces.iter().map(|name| dotted(name)).collect(),
            methods: methods
                .map(|method| {
                    let key = (method.name.to_string(), method.descriptor.to_string());
                    (key, Method::of(method))
                })
                .collect(),
        }
    }

    /// A method by its name and descriptor.
    pub fn method(&self, name: &str, descriptor: &str) -> Option<&Method> {
        self.methods.get(&(name.to_owned(), descriptor.to_owned()))
    }
}

impl Method {
    fn of(method: &MethodInfo<'_>) -> Self {
        let is = |flag| method.access_flags.contains(flag);
        let code = method.attributes.iter().find_map(|attribute| {
            let AttributeData::Code(code) = &attribute.data else {
                return None;
            };
            code.bytecode.as_ref()
        });
        let opcodes = code.iter().flat_map(|code| &code.opcodes);
        let calls = (opcodes.clone()).map(|(bci, opcode)| (*bci as i32, called(opcode)));
        let calls = calls.collect();
        let actions = opcodes.map(|(bci, opcode)| (*bci as i32, Action::of(opcode)));
        Self {
            is_synchronized: is(MethodAccessFlags::SYNCHRONIZED),
            is_static: is(MethodAccessFlags::STATIC),
            is_native: is(MethodAccessFlags::NATIVE),
            code: actions
                .filter(|(_, action)| *action != Action::Nothing)
                .collect(),
            calls,
        }
    }

    /// Returns whether a byte code begins at an index.
    pub fn has_byte_code_at(&self, bci: i32) -> bool {
        self.calls.contains_key(&bci)
    }

    /// The name of the method that the byte code at an index calls.
    pub fn called(&self, bci: i32) -> Option<&str> {
        self.calls.get(&bci)?.as_deref()
    }

    /// Returns the action of the byte code at an index.
    pub fn action(&self, bci: i32) -> Action {
        self.code.get(&bci).copied().unwrap_or(Action::Nothing)
    }
}

fn called(opcode: &Opcode<'_>) -> Option<String> {
    let name = match opcode {
        Opcode::Invokestatic(member)
        | Opcode::Invokespecial(member)
        | Opcode::Invokevirtual(member)
        | Opcode::Invokeinterface(member, _) => &member.name_and_type.name,
        Opcode::Invokedynamic(member) => &member.name_and_type.name,
        _ => return None,
    };
    Some(name.to_string())
}

impl Action {
    fn of(opcode: &Opcode<'_>) -> Self {
        match opcode {
            Opcode::Monitorenter => Action::Enter,
            Opcode::Monitorexit => Action::Exit,
            Opcode::Invokevirtual(called)
                if called.class_name == "java/lang/Object"
                    && called.name_and_type.name == "wait" =>
            {
                Action::Wait
            }
            Opcode::New(_)
            | Opcode::Getstatic(_)
            | Opcode::Putstatic(_)
            | Opcode::Invokestatic(_) => Action::Initialize,
            Opcode::Anewarray(_)
            | Opcode::Checkcast(_)
            | Opcode::Getfield(_)
            | Opcode::Instanceof(_)
            | Opcode::Invokedynamic(_)
            | Opcode::Invokeinterface(..)
            | Opcode::Invokespecial(_)
            | Opcode::Invokevirtual(_)
            | Opcode::Ldc(_)
            | Opcode::LdcW(_)
            | Opcode::Multianewarray(..)
            | Opcode::Putfield(_) => Action::Resolve,
            _ => Action::Nothing,
        }
    }
}

impl Place {
    /// Those of a JDK's own classes.
    fn libraries(jdk: &Jdk) -> Vec<Self> {
        if let Some(modules) = jdk.modules() {
            return vec![Place::Modules(Modules::open(&modules))];
        }
        let libraries = jdk.home().join("jre/lib");
        let libraries = [libraries.clone(), libraries.join("ext")];
        let jars = libraries.iter().flat_map(|directory| jars_in(directory));
        jars.filter_map(|jar| Place::open(&jar)).collect()
    }

    /// A directory or a jar; `None` if nothing is there, as the JVM has it.
    fn open(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return Some(Place::Directory(path.to_owned()));
        }
        let file = BufReader::new(File::open(path).ok()?);
        let jar = ZipArchive::new(file);
        let jar = jar.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Some(Place::Jar(Box::new(jar)))
    }

    fn read(&mut self, file: &str) -> Option<Vec<u8>> {
        match self {
            Place::Directory(directory) => fs::read(directory.join(file)).ok(),
            Place::Jar(jar) => {
                let mut bytes = Vec::new();
                let read = jar.by_name(file).ok()?.read_to_end(&mut bytes);
                read.unwrap_or_else(|error| panic!("{file}: {error}"));
                Some(bytes)
            }
            Place::Modules(modules) => modules.read(file),
        }
    }
}

impl Modules {
    fn open(path: &Path) -> Self {
        let image = JImage::open(path).unwrap_or_else(|error| panic!("{error}"));
        let names = image.resource_names_iter().map(|name| {
            let name = name.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let (module, file) = name.get_full_name();
            (file, module)
        });
        let modules = names.collect();
        Self { image, modules }
    }

    fn read(&self, file: &str) -> Option<Vec<u8>> {
        let module = self.modules.get(file)?;
        let class = self.image.find_resource(&format!("/{module}/{file}"));
        let class = class.unwrap_or_else(|error| panic!("{file}: {error}"));
        Some(class.expect("the image has what it lists").into_owned())
    }
}

fn jars_in(directory: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(directory).expect("a JDK has libraries");
    let files = files.map(|file| file.expect("a directory is readable").path());
    let mut jars: Vec<_> = files
        .filter(|path| path.extension() == Some(OsStr::new("jar")))
        .collect();
    jars.sort();
    jars
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each JDK has its own: later ones in another form, and with other byte code.
    #[test]
    fn classes_are_those_of_the_jdk() {
        for jdk in Jdk::stock_versions() {
            let class_path = ClassPath::new(jdk, OsStr::new(""));
            let method = |class: &str, name, descriptor| {
                let class = class_path.class(class).expect("all JDKs have it");
                let method = class.method(name, descriptor);
                method.map(|method| method.is_synchronized)
            };
            assert_eq!(method("java.util.Vector", "size", "()I"), Some(true));
            let virtual_threads = method("java.lang.Thread", "isVirtual", "()Z").is_some();
            let mut with_them = ["21", "25"].map(Jdk::stock_version).into_iter();
            let expected = with_them.any(|other| jdk.home() == other.home());
            assert_eq!(virtual_threads, expected, "{}", jdk.home().display());
        }
    }
}
