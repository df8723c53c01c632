//! Instrumenting whole jars and directories, and the programs that look at the result.

use std::collections::{BTreeMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use bytecode_instrumentation::{Hooks, Reason, Site, SiteKind, instrument_exits};
use jvm_tests::{
    Jar, Jdk, dependencies, java_compiler, run_to_success, scratch_directory, source_directory,
    target_directory,
};
use tempfile::TempDir;
use zip::ZipArchive;

/// The package with the library that the oracle uses.
const DIRECTORY: &str = "instrumentation";

const ASM: [Jar; 2] = [
    Jar {
        name: "asm-9.8.jar",
        sha256: "876eab6a83daecad5ca67eb9fcabb063c97b5aeb8cf1fca7a989ecde17522051",
    },
    Jar {
        name: "asm-tree-9.8.jar",
        sha256: "14b7880cb7c85eed101e2710432fc3ffb83275532a6a894dc4c4095d49ad59f1",
    },
];

/// The hooks to call: before releases only, or after them, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    Before,
    BeforeAndAfter,
}

impl Calls {
    pub(crate) const ALL: [Self; 2] = [Self::Before, Self::BeforeAndAfter];

    fn hooks(self) -> Hooks<'static> {
        Hooks {
            class: "java/lang/InstrumentedExits",
            block_exit: "blockExit",
            after_block_exit: (self == Self::BeforeAndAfter).then_some("afterBlockExit"),
            method_exit: "methodExit",
        }
    }
}

/// Classes that were changed.
#[derive(Debug, Default)]
pub(crate) struct Instrumented {
    /// The internal name of each, and its first site.
    pub(crate) classes: Vec<(String, u32)>,
    /// By number: the method, and the site.
    pub(crate) sites: BTreeMap<u32, (String, Site)>,
    /// Releases that call no hook, by the reason.
    pub(crate) left_alone: BTreeMap<String, u64>,
    /// How many of these are `monitorexit` instructions.
    pub(crate) blocks_left_alone: usize,
    /// Classes with any of these but native methods.
    pub(crate) partly: Vec<String>,
    /// All classes that were looked at.
    pub(crate) seen: HashSet<String>,
    next_site: u32,
}

impl Instrumented {
    /// With sites from a number on.
    pub(crate) fn from_site(next_site: u32) -> Self {
        Self {
            next_site,
            ..Self::default()
        }
    }

    /// Instruments all classes in these, as [`add`](Self::add) does.
    pub(crate) fn of_all(inputs: &[PathBuf], calls: Calls, output: &Path) -> Self {
        let mut all = Self::default();
        for input in inputs {
            all.add(input, calls, output);
        }
        println!("{calls:?}: {}", all.summary());
        all
    }

    /// Returns the number of `monitorexit` instructions that call a hook.
    pub(crate) fn blocks(&self) -> usize {
        let sites = self.sites.values();
        let blocks = sites.filter(|(_, site)| site.kind == SiteKind::Block);
        blocks.count()
    }

    /// Returns a line about the methods that were changed and that were not.
    pub(crate) fn summary(&self) -> String {
        let (classes, sites) = (self.classes.len(), self.sites.len());
        let (all, left) = (self.seen.len(), &self.left_alone);
        format!("{classes} of {all} classes, {sites} sites, left alone: {left:?}")
    }

    /// Instruments all classes in a jar or directory; those that change are put into `output`.
    pub(crate) fn add(&mut self, input: &Path, calls: Calls, output: &Path) {
        for_each_class(input, &mut |name, bytes| {
            // As for a class loader, the first one of a name counts.
            if !self.seen.insert(name.to_owned()) {
                return;
            }
            self.add_class(name, bytes, calls, output);
        });
    }

    fn add_class(&mut self, name: &str, bytes: &[u8], calls: Calls, output: &Path) {
        let mut first = 0;
        let result = instrument_exits(bytes, &calls.hooks(), |count| {
            first = self.next_site;
            self.next_site += count;
            Some(first)
        });
        let result = result.unwrap_or_else(|error| panic!("{name}: {error}"));
        for left in &result.left_alone {
            let count = u64::from(left.blocks) + u64::from(left.method);
            *self.left_alone.entry(left.reason.to_string()).or_default() += count;
            self.blocks_left_alone += left.blocks as usize;
            if left.reason != Reason::Native {
                self.partly.push(name.to_owned());
            }
        }
        for method in &result.methods {
            let label = String::from_utf8_lossy(method.name);
            let sites = method.sites.iter();
            let sites = sites.map(|&site| (site.number, (label.clone().into_owned(), site)));
            self.sites.extend(sites);
        }
        if let Some(class) = result.class {
            let path = output.join(format!("{name}.class"));
            fs::create_dir_all(path.parent().expect("it has one")).expect("a directory");
            fs::write(path, class).expect("the target directory is writable");
            self.classes.push((name.to_owned(), first));
        }
    }

    /// Writes the names of the classes, as Java has them, one a line.
    pub(crate) fn write_names(&self, path: &Path) {
        let names = self.classes.iter();
        let names = names.map(|(name, _)| name.replace('/', ".") + "\n");
        fs::write(path, names.collect::<String>()).expect("a scratch directory is writable");
    }
}

/// Calls `visit` with the internal name and the bytes of each class but descriptions of modules,
/// and versions of classes for other JDKs.
fn for_each_class(input: &Path, visit: &mut dyn FnMut(&str, &[u8])) {
    let mut visit = |path: &str, bytes: &[u8]| {
        let name = path.strip_suffix(".class");
        let name = name.filter(|name| !name.ends_with("-info") && !name.starts_with("META-INF"));
        if let Some(name) = name {
            visit(name, bytes);
        }
    };
    if input.is_dir() {
        let mut directories = vec![input.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).expect("a directory is readable") {
                let path = entry.expect("a directory is readable").path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension() == Some(OsStr::new("class")) {
                    let name = path.strip_prefix(input).expect("it is in there");
                    let bytes = fs::read(&path).expect("a class is readable");
                    visit(name.to_str().expect("names of classes are text"), &bytes);
                }
            }
        }
        return;
    }
    let file = File::open(input).unwrap_or_else(|error| panic!("{}: {error}", input.display()));
    let mut jar = ZipArchive::new(file).expect("a jar");
    for i in 0..jar.len() {
        let mut entry = jar.by_index(i).expect("an entry of the jar");
        let name = entry
            .name()
            .expect("names of classes are text")
            .into_owned();
        if name.ends_with(".class") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).expect("a jar is readable");
            visit(&name, &bytes);
        }
    }
}

/// The compiled Java programs of these tests.
pub(crate) struct JavaPrograms {
    directory: TempDir,
}

impl JavaPrograms {
    pub(crate) fn compiled() -> &'static JavaPrograms {
        static PROGRAMS: OnceLock<JavaPrograms> = OnceLock::new();
        PROGRAMS.get_or_init(|| {
            let directory = scratch_directory("instrumentation");
            let programs = JavaPrograms { directory };
            let sources = source_directory().join(DIRECTORY);
            let asm = std::env::join_paths(asm()).expect("no path has a colon");
            programs.compile("boot", &sources.join("boot/java/lang"), &[]);
            programs.compile("programs", &sources, &["-g".into()]);
            let options = ["-cp".into(), asm];
            programs.compile("oracle", &sources.join("oracle"), &options);
            let mut shapes = AnyJdk::stock().tool("java");
            shapes.arg("-cp").arg(programs.oracle());
            shapes.arg("instrumentation.oracle.Shapes");
            run_to_success(shapes.arg(programs.programs()));
            programs
        })
    }

    fn compile(&self, name: &str, sources: &Path, options: &[OsString]) {
        let output = self.directory.path().join(name);
        fs::create_dir(&output).expect("the target directory is writable");
        let entries = fs::read_dir(sources).expect("the sources are there");
        let entries = entries.map(|entry| entry.expect("a directory is readable").path());
        let java = entries.filter(|path| path.extension() == Some(OsStr::new("java")));
        run_to_success(java_compiler(&output).args(options).args(java));
    }

    /// The class with the hooks.
    pub(crate) fn hooks(&self) -> PathBuf {
        self.directory.path().join("boot")
    }

    /// `Exits`, `Shapes`, `Annotated` and `Verification`.
    pub(crate) fn programs(&self) -> PathBuf {
        self.directory.path().join("programs")
    }

    /// The class path of the oracle.
    pub(crate) fn oracle(&self) -> OsString {
        let places = asm()
            .into_iter()
            .chain([self.directory.path().join("oracle")]);
        std::env::join_paths(places).expect("no path has a colon")
    }
}

fn asm() -> Vec<PathBuf> {
    dependencies(DIRECTORY, &ASM)
}

/// A JDK of any version.
#[derive(Clone, Debug)]
pub(crate) struct AnyJdk {
    pub(crate) home: PathBuf,
}

impl AnyJdk {
    /// The project's own, of version 8.
    pub(crate) fn stock() -> Self {
        let home = Jdk::stock().home().to_owned();
        Self { home }
    }

    /// The project's own, both of version 8, and those with modules that the machine has.
    pub(crate) fn all() -> Vec<Self> {
        let traced = Jdk::traced().home().to_owned();
        let mut all = vec![Self::stock(), Self { home: traced }];
        all.extend(Self::with_modules());
        all
    }

    /// Those of newer versions that the machine has: of `LOCKTRACE_NEWER_JDKS`, directories
    /// with colons between, or below `/usr/lib/jvm`.
    pub(crate) fn with_modules() -> Vec<Self> {
        let homes: Vec<_> = match std::env::var_os("LOCKTRACE_NEWER_JDKS") {
            Some(homes) => std::env::split_paths(&homes).collect(),
            None => {
                let entries = fs::read_dir("/usr/lib/jvm").into_iter().flatten();
                entries
                    .filter_map(|entry| Some(entry.ok()?.path()))
                    .collect()
            }
        };
        // The same one may be there by several names.
        let homes = homes
            .into_iter()
            .filter_map(|home| home.canonicalize().ok());
        let mut homes: Vec<_> = homes
            .filter(|home| home.join("bin/jimage").exists())
            .collect();
        homes.sort();
        homes.dedup();
        println!("newer JDKs: {homes:?}");
        homes.into_iter().map(|home| Self { home }).collect()
    }

    pub(crate) fn has_modules(&self) -> bool {
        self.home.join("lib/modules").exists()
    }

    pub(crate) fn tool(&self, name: &str) -> Command {
        Command::new(self.home.join("bin").join(name))
    }

    /// The JVM with the class of the hooks.
    pub(crate) fn java_with_hooks(&self) -> Command {
        let hooks = JavaPrograms::compiled().hooks();
        let mut java = self.tool("java");
        if self.has_modules() {
            let mut option = OsString::from("--patch-module=java.base=");
            option.push(hooks);
            java.arg(option);
        } else {
            let mut option = OsString::from("-Xbootclasspath/p:");
            option.push(hooks);
            java.arg(option);
        }
        java
    }

    /// Its classes, by directory for each module; extracted once.
    pub(crate) fn modules(&self) -> TempDir {
        let directory = scratch_directory("modules");
        let mut jimage = self.tool("jimage");
        jimage.arg("extract").arg("--dir").arg(directory.path());
        run_to_success(jimage.arg(self.home.join("lib/modules")));
        directory
    }
}

/// Runs a program that must succeed; what it prints.
pub(crate) fn output_of(command: &mut Command) -> String {
    let output = command.current_dir(target_directory()).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let status = output.status;
    assert!(
        status.success(),
        "{command:?}: {status}\n{stdout}\n{stderr}"
    );
    stdout
}
