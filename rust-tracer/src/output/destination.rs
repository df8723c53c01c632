//! Where the trace goes: a new file, or a pipe or device that the user has put
//! there on purpose.
//!
//! A JVM may run as root and write to a directory that is writable for all users. So a
//! trace never goes through a symbolic link nor into a pipe that another user has prepared,
//! and only its own user can read it. And a JVM that is started again, in a
//! container even with the same process id, does not overwrite the trace that says why
//! the last one ended: if a name is taken, the file gets a number.

use std::fs::{File, FileType, Metadata};
use std::io::{self, ErrorKind};
use std::os::fd::{BorrowedFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::os::{self, InWords};

/// Most traces of one name in a directory.
const MAX_NUMBER: u32 = 9_999;

/// The target of the trace.
#[derive(Debug)]
pub(crate) enum Destination {
    /// A file that this process has created. It can be removed and cut off.
    Created(File),
    /// A device, or a descriptor that the process was given.
    Given(File),
    /// A named pipe, to be opened once it has a reader.
    Pipe,
}

/// The trace file could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot open '{}': {}", path.display(), InWords(error))]
pub struct OpenError {
    path: PathBuf,
    #[source]
    error: io::Error,
}

impl Destination {
    /// Creates the file, or opens what the user has put there on purpose. Returns the
    /// name, too, which has a number if the one that was asked for is taken.
    ///
    /// # Errors
    ///
    /// The file can neither be created nor be written to.
    pub(crate) fn open(path: PathBuf) -> Result<(PathBuf, Self), OpenError> {
        match Self::try_open(&path) {
            Ok(opened) => Ok(opened),
            Err(error) => Err(OpenError { path, error }),
        }
    }

    fn try_open(path: &Path) -> io::Result<(PathBuf, Self)> {
        if let Some(descriptor) = descriptor_named(path) {
            return Ok((path.to_owned(), Self::Given(duplicate(descriptor)?)));
        }
        let is_taken = |error: &io::Error| error.kind() == ErrorKind::AlreadyExists;
        match create(path) {
            Err(error) if is_taken(&error) => {}
            created => return Ok((path.to_owned(), Self::Created(created?))),
        }
        if let Some(existing) = Self::existing(path)? {
            return Ok((path.to_owned(), existing));
        }
        for number in 1..=MAX_NUMBER {
            let numbered = with_number(path, number);
            match create(&numbered) {
                Err(error) if is_taken(&error) => {}
                created => return Ok((numbered, Self::Created(created?))),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Opens an existing target that is meant to be written to: a device, which only root can
    /// make, or a named pipe of the JVM's own user or of root.
    fn existing(path: &Path) -> io::Result<Option<Self>> {
        let Ok(found) = path.symlink_metadata() else {
            return Ok(None);
        };
        let kind = found.file_type();
        if kind.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        if kind.is_fifo() {
            return Ok(is_trusted(&found).then_some(Self::Pipe));
        }
        if !is_device(kind) {
            return Ok(None);
        }
        let device = open_existing(path)?;
        // It may have been exchanged meanwhile.
        Ok(is_device(device.metadata()?.file_type()).then_some(Self::Given(device)))
    }
}

/// Opens a named pipe if it has a reader.
///
/// # Errors
///
/// The pipe cannot be opened, or is no pipe any more.
pub(crate) fn open_pipe(path: &Path) -> io::Result<Option<File>> {
    match open_existing(path) {
        Ok(pipe) => {
            let found = pipe.metadata()?;
            if found.file_type().is_fifo() && is_trusted(&found) {
                Ok(Some(pipe))
            } else {
                Err(ErrorKind::AlreadyExists.into())
            }
        }
        // It has no reader.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Creates the file for this user alone. The standard library adds `O_CLOEXEC`.
fn create(path: &Path) -> io::Result<File> {
    File::options()
        // Where it ends may change.
        .append(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path)
}

/// Opens an existing target without waiting for a reader. Writing to it waits.
fn open_existing(path: &Path) -> io::Result<File> {
    let file = File::options()
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW | libc::O_NOCTTY)
        .open(path)?;
    os::let_writes_wait(&file)?;
    Ok(file)
}

fn is_device(kind: FileType) -> bool {
    kind.is_char_device() || kind.is_block_device()
}

/// Returns whether root or the JVM's own user has made it.
fn is_trusted(file: &Metadata) -> bool {
    [0, os::user_id()].contains(&file.uid())
}

/// The descriptor of this process that a path stands for. Opened by that path it might
/// be another file's beginning; a socket could not be opened at all.
fn descriptor_named(path: &Path) -> Option<RawFd> {
    let path = path.to_str()?;
    let own = format!("/proc/{}/fd/", std::process::id());
    let number = match path {
        "/dev/stdout" => "1",
        "/dev/stderr" => "2",
        _ => ["/dev/fd/", "/proc/self/fd/", &own]
            .iter()
            .find_map(|folder| path.strip_prefix(folder))?,
    };
    number.parse().ok()
}

fn duplicate(descriptor: RawFd) -> io::Result<File> {
    if !os::is_writable(descriptor) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is open, as was just seen, and not -1. If another thread closes it at
    // this moment, the call fails or duplicates what has come in its place.
    let descriptor = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(descriptor.try_clone_to_owned()?.into())
}

/// `trace.lct` with number 2 is `trace.2.lct`.
fn with_number(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fs;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder that is removed at the end of the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(test: &str) -> Self {
            let name = format!("locktrace-{test}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn open(&self, name: &str) -> Result<(PathBuf, Destination), OpenError> {
            Destination::open(self.0.join(name))
        }

        /// The name of the file that is created when asked for `name`.
        fn created(&self, name: &str) -> String {
            let (path, destination) = self.open(name).unwrap();
            assert!(matches!(destination, Destination::Created(_)));
            path.strip_prefix(&self.0)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        }

        fn make_pipe(&self, name: &str) -> PathBuf {
            let path = self.0.join(name);
            let made = std::process::Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap();
            assert!(made.success());
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn errors_name_the_file_and_the_cause() {
        let message = |path: &str| Destination::open(path.into()).unwrap_err().to_string();
        assert_eq!(
            message("/no/such/x.lct"),
            "cannot open '/no/such/x.lct': No such file or directory"
        );
        assert_eq!(message("/"), "cannot open '/': Is a directory");
        assert_eq!(message("/tmp"), "cannot open '/tmp': Is a directory");
        assert_eq!(
            message("/dev/fd/987"),
            "cannot open '/dev/fd/987': Bad file descriptor"
        );
    }

    #[test]
    fn files_that_are_there_stay_as_they_are() {
        let folder = Folder::new("taken");
        assert_eq!(folder.created("a.b.lct"), "a.b.lct");
        fs::write(folder.0.join("a.b.lct"), "precious").unwrap();
        assert_eq!(folder.created("a.b.lct"), "a.b.1.lct");
        assert_eq!(folder.created("a.b.lct"), "a.b.2.lct");
        assert_eq!(folder.created("plain"), "plain");
        assert_eq!(folder.created("plain"), "plain.1");
        let kept = fs::read_to_string(folder.0.join("a.b.lct")).unwrap();
        assert_eq!(kept, "precious");
    }

    #[test]
    fn links_are_not_followed() {
        let folder = Folder::new("links");
        let victim = folder.0.join("victim");
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, folder.0.join("a.lct")).unwrap();
        symlink(folder.0.join("absent"), folder.0.join("b.lct")).unwrap();
        symlink("/dev/null", folder.0.join("c.lct")).unwrap();
        assert_eq!(folder.created("a.lct"), "a.1.lct");
        assert_eq!(folder.created("b.lct"), "b.1.lct");
        assert_eq!(folder.created("c.lct"), "c.1.lct");
        assert_eq!(fs::read_to_string(victim).unwrap(), "precious");
        assert!(!folder.0.join("absent").exists());
    }

    #[test]
    fn nobody_else_can_read_the_file() {
        let folder = Folder::new("mode");
        let name = folder.created("a.lct");
        let mode = fs::metadata(folder.0.join(name)).unwrap().mode();
        assert_eq!(mode & 0o077, 0, "{mode:o}");
    }

    #[test]
    fn devices_and_descriptors_are_written_to() {
        for device in ["/dev/null", "/dev/full"] {
            let (path, destination) = Destination::open(device.into()).unwrap();
            assert_eq!(path, Path::new(device));
            assert!(matches!(destination, Destination::Given(_)));
        }

        let folder = Folder::new("descriptor");
        let path = folder.0.join("file");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"before ").unwrap();
        for directory in ["/dev", "/proc/self"] {
            let name = format!("{directory}/fd/{}", file.as_raw_fd());
            let (_, destination) = Destination::open(name.into()).unwrap();
            let Destination::Given(mut given) = destination else {
                panic!("{destination:?}");
            };
            given.write_all(b"trace ").unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "before trace trace ");

        let readable = File::open(&path).unwrap();
        let name = format!("/dev/fd/{}", readable.as_raw_fd());
        assert!(Destination::open(name.into()).is_err());
    }

    #[test]
    fn a_pipe_is_opened_when_somebody_reads_it() {
        let folder = Folder::new("pipe");
        let path = folder.make_pipe("a.lct");
        let (_, destination) = folder.open("a.lct").unwrap();
        assert!(matches!(destination, Destination::Pipe));
        assert!(open_pipe(&path).unwrap().is_none());
        let _reader = File::options()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)
            .unwrap();
        assert!(open_pipe(&path).unwrap().is_some());
    }

    #[test]
    fn somebody_elses_pipe_is_not_written_to() {
        let folder = Folder::new("trap");
        let path = folder.make_pipe("a.lct");
        if std::os::unix::fs::chown(&path, Some(12_345), None).is_err() {
            // Only root can make another user's file.
            return;
        }
        assert_eq!(folder.created("a.lct"), "a.1.lct");
        let _reader = File::options()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)
            .unwrap();
        assert!(open_pipe(&path).is_err());
    }
}
