//! Files that others read at any time.

use std::fs::{File, Permissions};
use std::io;
use std::path::Path;

/// Writes a file such that whoever reads it sees all of the old one or all of the new one.
///
/// # Errors
///
/// As `write`, and if there can be no such file. Then the old one stays.
pub(crate) fn replace(
    path: &Path,
    permissions: Permissions,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let mut file = tempfile::Builder::new()
        .prefix(".locktrace-")
        .suffix(".tmp")
        .permissions(permissions)
        .tempfile_in(directory.unwrap_or(Path::new(".")))?;
    write(file.as_file_mut())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    Ok(())
}
