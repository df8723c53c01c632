//! Where tables go: a directory, or a prefix in an object store.

mod error;
mod leftovers;
mod store;

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use tempfile::TempDir;
use url::Url;

use crate::files::destination::error::DestinationError;
use crate::files::destination::store::Store;
use crate::files::{atomic_file, paths};

/// Where the tables of all runs are.
pub(crate) struct Destination {
    location: Location,
    /// What names of files begin with that are not complete.
    temporary_prefix: String,
}

enum Location {
    Directory(PathBuf),
    Store(Box<Store>),
}

/// Where the tables of a run are written before they are where they belong.
pub(crate) enum Staged<'a> {
    /// In place: they get their names there.
    Directory(&'a Path),
    /// On this machine, to be sent.
    Temporary(TempDir, &'a Store),
}

/// Whether an output is a URL, and no path.
pub(crate) fn is_url(output: &Path) -> bool {
    scheme(output.as_os_str()).is_some()
}

fn scheme(output: &OsStr) -> Option<&str> {
    let (scheme, _) = output.to_str()?.split_once("://")?;
    let is_of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    let starts_as_one = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    (starts_as_one && scheme.chars().all(is_of_scheme)).then_some(scheme)
}

impl Destination {
    /// What `--output` means.
    ///
    /// # Errors
    ///
    /// If nothing can be written there. Whether a store is there, and lets anybody write, is
    /// not known before.
    pub(crate) fn new(output: &Path) -> Result<Self, DestinationError> {
        Ok(Self {
            location: Location::new(output)?,
            temporary_prefix: atomic_file::PREFIX.to_owned(),
        })
    }

    /// The same for the one process at a time that writes there as `owner`: the next one knows
    /// what it has left, if it is killed.
    ///
    /// # Errors
    ///
    /// As [`new`](Self::new).
    pub(crate) fn owned(output: &Path, owner: &str) -> Result<Self, DestinationError> {
        Ok(Self {
            location: Location::new(output)?,
            temporary_prefix: format!("{}{owner}-", atomic_file::PREFIX),
        })
    }

    /// What names of files begin with that are not complete.
    pub(crate) fn temporary_prefix(&self) -> &str {
        &self.temporary_prefix
    }

    /// Where to write the tables of a run. Nobody sees them before they are published.
    ///
    /// # Errors
    ///
    /// If there can be no temporary directory; where it should be is named.
    pub(crate) fn stage(&self) -> io::Result<Staged<'_>> {
        match &self.location {
            Location::Directory(directory) => Ok(Staged::Directory(directory)),
            Location::Store(store) => {
                let directory = tempfile::Builder::new()
                    .prefix(&self.temporary_prefix)
                    .tempdir()?;
                Ok(Staged::Temporary(directory, store))
            }
        }
    }

    /// Reads a small file, if it is there. `name` is relative.
    ///
    /// # Errors
    ///
    /// If it cannot be read; it is named.
    pub(crate) fn read(&self, name: &Path) -> io::Result<Option<Bytes>> {
        match &self.location {
            Location::Directory(directory) => {
                let path = directory.join(name);
                match fs::read(&path) {
                    Ok(bytes) => Ok(Some(bytes.into())),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                    Err(error) => Err(paths::named(&path, &error)),
                }
            }
            Location::Store(store) => store.get(name),
        }
    }

    /// Writes a line of text, such that a reader sees all of the old one or all of the new one.
    /// `name` is relative.
    ///
    /// # Errors
    ///
    /// If it cannot be written; it is named.
    pub(crate) fn replace(&self, name: &Path, text: &str) -> io::Result<()> {
        match &self.location {
            Location::Directory(directory) => {
                let path = directory.join(name);
                let replaced = replace_file(&path, &self.temporary_prefix, text);
                replaced.map_err(|error| paths::named(&path, &error))
            }
            Location::Store(store) => store.put(name, format!("{text}\n").into_bytes()),
        }
    }

    /// Waits until all that was written is on the disk. A store has it when it says so.
    ///
    /// # Errors
    ///
    /// Those of the system; the directory is named.
    pub(crate) fn sync(&self) -> io::Result<()> {
        let Location::Directory(directory) = &self.location else {
            return Ok(());
        };
        let synced = File::open(directory).and_then(|file| Ok(rustix::fs::syncfs(file)?));
        synced.map_err(|error| paths::named(directory, &error))
    }
}

impl Location {
    fn new(output: &Path) -> Result<Self, DestinationError> {
        if !is_url(output) {
            return Ok(Self::Directory(output.to_owned()));
        }
        let url = output.to_string_lossy().into_owned();
        let url = match Url::parse(&url) {
            Ok(url) => url,
            Err(source) => return Err(DestinationError::Url { url, source }),
        };
        match url.scheme() {
            "file" => match url.to_file_path() {
                Ok(path) => Ok(Self::Directory(path)),
                Err(()) => Err(DestinationError::OtherMachine(url)),
            },
            _ => Ok(Self::Store(Box::new(Store::new(url)?))),
        }
    }
}

impl Staged<'_> {
    pub(crate) fn directory(&self) -> &Path {
        match self {
            Self::Directory(directory) => directory,
            Self::Temporary(directory, _) => directory.path(),
        }
    }

    /// Puts the files of a run, which are in the directory, where they belong. The last one says that
    /// the run is complete.
    ///
    /// # Errors
    ///
    /// If one cannot be written; it is named. Then the run is not complete.
    pub(crate) fn publish(&self, files: &[PathBuf]) -> io::Result<()> {
        let Self::Temporary(directory, store) = self else {
            return Ok(());
        };
        let names = files.iter().map(|file| {
            let name = file.strip_prefix(directory.path());
            name.map_err(io::Error::other)
        });
        let names: Vec<_> = names.collect::<io::Result<_>>()?;
        if let Some(last) = names.last() {
            store.delete(last)?;
        }
        let mut each = files.iter().zip(names);
        each.try_for_each(|(file, name)| store.send(file, name))
    }
}

fn replace_file(path: &Path, temporary_prefix: &str, text: &str) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let permissions = Permissions::from_mode(0o666);
    atomic_file::replace_by(temporary_prefix, path, permissions, |file| {
        writeln!(file, "{text}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_paths_unless_they_have_a_scheme() {
        for path in ["runs", "/mnt/runs", "./s3://x", "a b://c", "://x", "1://x"] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
        for (url, directory) in [
            ("file:///mnt/runs", "/mnt/runs"),
            ("file:///mnt/of%20all", "/mnt/of all"),
        ] {
            let location = Location::new(Path::new(url));
            let Ok(Location::Directory(found)) = location else {
                panic!("{url} is a directory");
            };
            assert_eq!(found, Path::new(directory));
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for (url, reason) in [
            ("file://other/mnt/runs", "a file of another machine"),
            ("hdfs://namenode/runs", "hdfs dfs -put"),
            ("ftp://host/runs", "found one of ftp"),
            ("s3://[/runs", "invalid IPv6 address"),
        ] {
            let Err(error) = Location::new(Path::new(url)) else {
                panic!("{url} is no place for tables");
            };
            let message = error.to_string();
            assert!(message.starts_with(url), "{message}");
            assert!(message.contains(reason), "{message}");
        }
    }
}
