//! The index beside a large trace: what was read of it, so that all of it is there at once when
//! it is opened again.
//!
//! It belongs to one version of one trace and to one version of this program, and says so. What
//! does not fit is ignored, and the trace is read. So it can be deleted at any time.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use trace_analysis::TraceInput;
use trace_format::buffer_file;
use trace_model::{BadStoredModel, Limits, Model, StoredModel};

use crate::arguments::index::IndexUse;
use crate::files::atomic_file;
use crate::files::paths::beside;
use crate::output;
use crate::view::stored_overview::StoredOverview;

/// A smaller trace is read in some seconds.
const LARGE_BYTES: u64 = 64 << 20;
/// Follows the name of the trace.
const EXTENSION: &str = ".idx";
/// To be raised when anything changes that an index has.
const FIRST_LINE: &[u8] = b"locktrace index 3\n";
/// What unpacks to more is not believed.
const MAX_UNPACKED_BYTES: u64 = 256 << 20;
/// The part of a trace's start and of its end that distinguishes it from others.
const DIGESTED_BYTES: u64 = 64 << 10;

/// Where the index of a trace is, and which trace that is.
#[derive(Debug)]
pub(crate) struct IndexFile {
    path: PathBuf,
    trace: PathBuf,
    identity: Identity,
}

/// What an index belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    locktrace: String,
    bytes: u64,
    modified_s: i64,
    modified_ns: i64,
    /// Of the trace's start and end.
    digest: [u8; 32],
    /// What is no caller.
    libraries: Vec<String>,
}

/// What an index has.
pub(crate) struct Indexed {
    pub(crate) model: Model,
    pub(crate) overview: StoredOverview,
}

/// An index that is not written yet.
pub(crate) struct NewIndex {
    file: IndexFile,
    overview: String,
    model: StoredModel,
}

/// Why an index is ignored.
#[derive(Debug, thiserror::Error)]
enum IndexError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("expected an index of this version of locktrace, found something else")]
    Version,
    #[error("expected at most {MAX_UNPACKED_BYTES} bytes when unpacked, found more")]
    TooLarge,
    #[error("it is damaged")]
    Damaged(#[from] postcard::Error),
    #[error("it is damaged: it has no overview")]
    Overview,
    #[error("it is damaged: {0}")]
    Model(#[from] BadStoredModel),
    #[error("it is of another version of the trace or of locktrace, or for other libraries")]
    Other,
}

impl IndexFile {
    /// Where the index of a trace is or could be. `None` if the trace shall have no index, cannot be distinguished
    /// from others, or is not finished: a file of buffers beside it may have more of it.
    pub(crate) fn of(trace: &TraceInput, index: IndexUse, libraries: &[String]) -> Option<Self> {
        let bytes = trace.byte_len()?;
        let is_wanted = match index {
            IndexUse::Never => false,
            IndexUse::OfLarge => bytes >= LARGE_BYTES,
            IndexUse::Always => true,
        };
        // Where the trace itself is, not where a link to it is.
        let path = fs::canonicalize(trace.path()).ok()?;
        if !is_wanted || beside(&path, buffer_file::EXTENSION).exists() {
            return None;
        }
        Some(Self {
            path: beside(&path, EXTENSION),
            identity: Identity::of(&path, bytes, libraries).ok()?,
            trace: path,
        })
    }

    /// Reads the index; `None` if it is missing, or cannot be used, which is said.
    pub(crate) fn read(&self) -> Option<Indexed> {
        match self.try_to_read() {
            Ok(indexed) => Some(indexed),
            Err(IndexError::Io(error)) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let path = self.path.display();
                output::complain(&format_args!("{path}: {error}; it is ignored"));
                None
            }
        }
    }

    fn try_to_read(&self) -> Result<Indexed, IndexError> {
        if !fs::metadata(&self.path)?.is_file() {
            return Err(IndexError::Version);
        }
        let unpacked = unpack(File::open(&self.path)?)?;
        let (identity, rest) = postcard::take_from_bytes::<Identity>(&unpacked)?;
        if identity != self.identity {
            return Err(IndexError::Other);
        }
        let (overview, rest) = postcard::take_from_bytes::<String>(rest)?;
        let (model, rest) = postcard::take_from_bytes::<StoredModel>(rest)?;
        if !rest.is_empty() {
            return Err(postcard::Error::DeserializeBadEncoding.into());
        }
        Ok(Indexed {
            model: Model::from_stored(model, Limits::default())?,
            overview: StoredOverview::parse(&overview).ok_or(IndexError::Overview)?,
        })
    }

    /// An index to be written, with the answer of `api/model`.
    pub(crate) fn with(self, overview: String, model: StoredModel) -> NewIndex {
        NewIndex {
            file: self,
            overview,
            model,
        }
    }
}

impl NewIndex {
    /// Writes it, if the trace is still the one that was read. Says so if that fails; but there
    /// may be a reason why nothing can be written there.
    pub(crate) fn write(&self) {
        let Err(error) = self.try_to_write() else {
            return;
        };
        if !matches!(
            error.kind(),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
        ) {
            let path = self.file.path.display();
            output::complain(&format_args!("{path}: {error}; there is no index"));
        }
    }

    fn try_to_write(&self) -> io::Result<()> {
        let IndexFile {
            path,
            trace,
            identity,
        } = &self.file;
        let now = Identity::of(trace, identity.bytes, &identity.libraries)?;
        if now != *identity {
            return Err(io::Error::other("the trace has changed while it was read"));
        }
        // The users that may read the trace may read its index.
        let mode = fs::metadata(trace)?.mode() & 0o666;
        atomic_file::replace(path, Permissions::from_mode(mode), |file| {
            self.write_to(file)
        })
    }

    fn write_to(&self, mut file: impl Write) -> io::Result<()> {
        file.write_all(FIRST_LINE)?;
        let mut packed = Packed {
            left: MAX_UNPACKED_BYTES,
            failed: None,
            inner: BufWriter::new(snap::write::FrameEncoder::new(file)),
        };
        let written = postcard::to_io(&self.file.identity, &mut packed)
            .and_then(|packed| postcard::to_io(&self.overview, packed))
            .and_then(|packed| postcard::to_io(&self.model, packed).map(|_| ()));
        // Postcard does not say why it could not write.
        if let Err(error) = written {
            return Err(packed.failed.unwrap_or_else(|| io::Error::other(error)));
        }
        packed.flush()
    }
}

/// Takes no more than is believed when it is read again.
struct Packed<W> {
    left: u64,
    /// Why not all was taken.
    failed: Option<io::Error>,
    inner: W,
}

impl<W: Write> Packed<W> {
    fn try_to_write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let left = self.left.checked_sub(bytes.len() as u64);
        self.left = left.ok_or_else(|| {
            io::Error::other(format!(
                "what is known of the trace takes more than {MAX_UNPACKED_BYTES} bytes"
            ))
        })?;
        self.inner.write_all(bytes)
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.try_to_write(bytes).map_err(|error| {
            let kind = error.kind();
            self.failed.get_or_insert(error);
            io::Error::from(kind)
        })?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// What is behind the first line, unpacked. Each of its blocks has a checksum.
fn unpack(mut file: impl Read) -> Result<Vec<u8>, IndexError> {
    let mut first_line = [0; FIRST_LINE.len()];
    match file.read_exact(&mut first_line) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(error.into()),
        _ if first_line != FIRST_LINE => return Err(IndexError::Version),
        _ => {}
    }
    let mut unpacked = Vec::new();
    snap::read::FrameDecoder::new(file)
        .take(MAX_UNPACKED_BYTES + 1)
        .read_to_end(&mut unpacked)?;
    if unpacked.len() as u64 > MAX_UNPACKED_BYTES {
        return Err(IndexError::TooLarge);
    }
    Ok(unpacked)
}

impl Identity {
    fn of(trace: &Path, bytes: u64, libraries: &[String]) -> io::Result<Self> {
        let mut file = File::open(trace)?;
        let metadata = file.metadata()?;
        if metadata.len() != bytes {
            return Err(io::Error::other("the trace has grown"));
        }
        let mut digest = Sha256::new();
        let mut add = |file: &mut File| io::copy(&mut file.take(DIGESTED_BYTES), &mut digest);
        add(&mut file)?;
        file.seek(SeekFrom::Start(bytes.saturating_sub(DIGESTED_BYTES)))?;
        add(&mut file)?;
        Ok(Self {
            locktrace: env!("CARGO_PKG_VERSION").to_owned(),
            bytes,
            modified_s: metadata.mtime(),
            modified_ns: metadata.mtime_nsec(),
            digest: digest.finalize().into(),
            libraries: libraries.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_not_be_read_again_is_not_written() {
        let mut packed = Packed {
            left: 5,
            failed: None,
            inner: Vec::new(),
        };
        packed.write_all(b"abc").expect("it fits");
        packed.write_all(b"de").expect("it just fits");
        packed.write_all(b"f").expect_err("it is too much");
        let error = packed.failed.expect("it failed").to_string();
        assert!(error.contains("takes more than"), "{error}");
    }
}
