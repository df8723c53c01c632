//! Files that others read at any time.

use std::fs::{File, Permissions};
use std::io;
use std::path::Path;

/// What names of files begin and end with that are not complete. Readers of tables pass over them.
pub(crate) const PREFIX: &str = ".locktrace-";
pub(crate) const SUFFIX: &str = ".tmp";

/// Writes a file such that a reader sees all of the old one or all of the new one.
///
/// # Errors
///
/// As `write`, and if there can be no such file. Then the old one stays.
pub(crate) fn replace(
    path: &Path,
    permissions: Permissions,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    replace_by(PREFIX, path, permissions, write)
}

/// The same by way of a file whose name begins with `prefix`.
///
/// # Errors
///
/// As [`replace`].
pub(crate) fn replace_by(
    prefix: &str,
    path: &Path,
    permissions: Permissions,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(prefix)
        .suffix(SUFFIX)
        .permissions(permissions)
        .tempfile_in(directory.unwrap_or(Path::new(".")))?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}
