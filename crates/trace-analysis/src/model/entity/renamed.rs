//! Entities under other names, for those who must not see the names of a trace.

use trace_format::LockId;
use xxhash_rust::xxh3::xxh3_64;

use super::{Chain, Class, Entities, Lock, Method, Thread, ThreadIndex};

/// Other names. Different ones have to stay different.
pub trait Renaming {
    /// What a thread is called instead.
    fn thread(&self, name: &str) -> String;

    /// What a class outside of the JDK is called instead. Both are binary names with dots.
    fn class(&self, name: &str) -> String;

    /// What a method of such a class is called instead.
    fn method(&self, class: &str, name: &str) -> String;
}

/// A copy of [`Entities`] in which threads, classes and methods have other names and the same
/// indices, so that its users cannot reveal the names of the trace. Classes of the JDK keep their
/// names.
#[derive(Debug)]
pub struct RenamedEntities<R> {
    renaming: R,
    renamed: Entities,
    /// Hashes of the names of threads in the original: a thread may get another one.
    thread_names: Vec<u64>,
}

impl<R: Renaming> RenamedEntities<R> {
    /// A copy of no entities.
    pub fn new(renaming: R) -> Self {
        Self {
            renaming,
            renamed: Entities::new(),
            thread_names: Vec::new(),
        }
    }

    /// Adds what was added to `original` since the last time. Of the threads that are there already,
    /// `threads` are looked at again. `original` is always the same one.
    pub fn follow(
        &mut self,
        original: &Entities,
        threads: impl IntoIterator<Item = ThreadIndex>,
    ) -> &Entities {
        self.add_classes(original);
        self.add_methods(original);
        self.add_chains(original);
        self.add_threads(original);
        self.add_locks(original);
        for thread in threads {
            self.rename(thread, original);
        }
        &self.renamed
    }

    /// The copy of `original` as it is at last.
    pub fn finish(mut self, original: &Entities) -> Entities {
        let threads = 0..original.threads.inserted() as u32;
        self.follow(original, threads.map(ThreadIndex));
        for (at, (name, class)) in original.classes.iter().enumerate() {
            if let Some((renamed, copy)) = self.renamed.classes.get_index_mut(at) {
                copy.source_file = source_file(name, class, renamed).into();
            }
        }
        self.renamed.same_threads.clone_from(&original.same_threads);
        self.renamed
    }

    // Indices are those of the original, so that nothing may be left out, and nothing is equal to
    // another one.

    fn add_classes(&mut self, original: &Entities) {
        let classes = &mut self.renamed.classes;
        for at in classes.len()..original.classes.len() {
            let Some((name, class)) = original.classes.get_index(at) else {
                break;
            };
            let mut renamed = if class.is_jdk {
                name.to_string()
            } else {
                self.renaming.class(name)
            };
            while classes.contains_key(renamed.as_str()) {
                renamed.push('\'');
            }
            let source_file = source_file(name, class, &renamed).into();
            let class = Class {
                source_file,
                ..class.clone()
            };
            classes.insert(renamed.into(), class);
        }
    }

    fn add_methods(&mut self, original: &Entities) {
        for at in self.renamed.methods.len()..original.methods.len() {
            let Some(method) = original.methods.get_index(at) else {
                break;
            };
            let name = match method.class {
                Some(class) if !original.is_jdk(class) => self
                    .renaming
                    .method(original.class_name(class), &method.name),
                _ => method.name.to_string(),
            };
            let mut renamed = Method {
                class: method.class,
                name: name.into(),
                signature: self.signature(&method.signature, original).into(),
            };
            while self.renamed.methods.contains(&renamed) {
                renamed.name = format!("{}'", renamed.name).into();
            }
            self.renamed.methods.insert(renamed);
        }
    }

    /// Returns a descriptor with the classes renamed; an empty one if it is not valid.
    fn signature(&self, descriptor: &str, original: &Entities) -> String {
        let mut renamed = String::new();
        let mut rest = descriptor;
        while let Some((before, class)) = rest.split_once('L') {
            let Some((name, behind)) = class.split_once(';') else {
                return String::new();
            };
            renamed.push_str(before);
            renamed.push('L');
            renamed.push_str(
                &self
                    .class(&name.replace('/', "."), original)
                    .replace('.', "/"),
            );
            renamed.push(';');
            rest = behind;
        }
        let is_primitive = |byte: u8| b"()[BCDFIJSVZ".contains(&byte);
        if !rest.bytes().all(is_primitive) {
            return String::new();
        }
        renamed + rest
    }

    /// What a class is called that the trace perhaps does not describe.
    fn class(&self, name: &str, original: &Entities) -> String {
        let is_jdk = match original.classes.get(name) {
            Some(class) => class.is_jdk,
            // No other program can define such classes.
            None => name.starts_with("java."),
        };
        if is_jdk {
            name.to_owned()
        } else {
            self.renaming.class(name)
        }
    }

    fn add_chains(&mut self, original: &Entities) {
        for at in self.renamed.chains.len()..original.chains.len() {
            let chain: Option<&Chain> = original.chains.get_index(at);
            self.renamed.chains.extend(chain.cloned());
        }
    }

    fn add_threads(&mut self, original: &Entities) {
        for number in self.thread_names.len()..original.threads.inserted() {
            let number = number as u32;
            let thread = original.thread(ThreadIndex(number));
            self.thread_names.push(xxh3_64(thread.name.as_bytes()));
            let mut renamed = self.thread(thread);
            if self.renamed.threads.find(&renamed).is_some() {
                renamed.ordinal = u32::MAX - number;
            }
            self.renamed.threads.insert(renamed);
        }
    }

    fn thread(&self, thread: &Thread) -> Thread {
        Thread {
            name: self.renaming.thread(&thread.name).into(),
            ..thread.clone()
        }
    }

    /// A thread has perhaps got another name.
    fn rename(&mut self, thread: ThreadIndex, original: &Entities) {
        let named = original.thread(thread);
        let hash = xxh3_64(named.name.as_bytes());
        let known = self.thread_names.get_mut(thread.0 as usize);
        if known.is_some_and(|known| std::mem::replace(known, hash) != hash) {
            let renamed = self.thread(named);
            self.renamed.rename_thread(thread, &renamed.name, 0);
        }
    }

    fn add_locks(&mut self, original: &Entities) {
        for number in self.renamed.locks.inserted()..original.locks.inserted() {
            let lock = original.locks.get(number as u32).copied();
            self.renamed
                .locks
                .insert(lock.unwrap_or(Lock::NotDescribed {
                    trace: u32::MAX,
                    lock: LockId(number as u64),
                }));
        }
        self.renamed.lock_sites.clone_from(&original.lock_sites);
        self.renamed.lock_users.clone_from(&original.lock_users);
    }
}

/// The source file of a class, which says what the class is called.
fn source_file<'a>(name: &str, class: &'a Class, renamed: &str) -> &'a str {
    let simple = |name: &str| name.rsplit('.').next().map(str::to_owned);
    if simple(name) == simple(renamed) {
        &class.source_file
    } else {
        ""
    }
}
