//! What a killed process has left where it wrote tables.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::{env, io, iter};

use super::{Destination, Location};
use crate::files::{atomic_file, paths};

impl Destination {
    /// Removes files that are not complete and never will be: nobody else writes as the owner now.
    /// `folder` is relative, and has files of the owner, too.
    ///
    /// # Errors
    ///
    /// Those of the system; the file is named.
    pub(crate) fn remove_leftovers(&self, folder: &Path) -> io::Result<()> {
        match &self.location {
            Location::Directory(directory) => {
                let folders = iter::once(directory.clone()).chain([directory.join(folder)]);
                folders
                    .into_iter()
                    .try_for_each(|folder| self.remove_files(&folder))
            }
            Location::Store(_) => self.remove_folders(&env::temp_dir()),
        }
    }

    fn remove_files(&self, folder: &Path) -> io::Result<()> {
        let is_suffix = |name: &OsStr| {
            name.as_encoded_bytes()
                .ends_with(atomic_file::SUFFIX.as_bytes())
        };
        self.remove(folder, |entry| {
            if is_suffix(&entry.file_name()) && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
            Ok(())
        })
    }

    /// Anybody may make folders among the temporary ones.
    fn remove_folders(&self, folder: &Path) -> io::Result<()> {
        let user = rustix::process::geteuid().as_raw();
        self.remove(folder, |entry| {
            // Not of what a link leads to.
            let metadata = entry.metadata()?;
            if metadata.is_dir() && metadata.uid() == user {
                fs::remove_dir_all(entry.path())?;
            }
            Ok(())
        })
    }

    /// Removes what begins with the owner's prefix.
    fn remove(
        &self,
        folder: &Path,
        remove: impl Fn(&DirEntry) -> io::Result<()>,
    ) -> io::Result<()> {
        let named = |error| paths::named(folder, &error);
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(named)?,
        };
        for entry in entries {
            let entry = entry.map_err(named)?;
            let name = entry.file_name();
            let is_owned = name
                .as_encoded_bytes()
                .starts_with(self.temporary_prefix.as_bytes());
            if is_owned {
                remove(&entry).map_err(|error| paths::named(&entry.path(), &error))?;
            }
        }
        Ok(())
    }
}
