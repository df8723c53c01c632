//! Layout of a trace file: a header, then [chunks](crate::chunk).
//!
//! | offset | length | field |
//! |---|---|---|
//! | 0 | 8 | [`MAGIC`] |
//! | 8 | 2 | [`VERSION`] |
//! | 10 | 2 | flags: bit 0 the chunks are compressed; the others are [`Capabilities`] |
//! | 12 | 8 | wall clock at the trace's start, nanoseconds since 1970 |
//! | 20 | 4 | process id |
//! | 24 | 2 | length of the next field, n |
//! | 26 | n | version of the JVM, UTF-8 |
//! | 26 + n | 4 | CRC-32C of all bytes before |

use std::io::{self, Read};

use crate::capability::Capabilities;

/// First bytes of a trace. Like PNG's they show whether the file went through a program that
/// changes line ends.
pub const MAGIC: [u8; 8] = *b"\x89LCT\r\n\x1a\n";
/// Version of the format. It changes with the layout of the header, of a chunk
/// or of an event; `tests/golden` keeps a trace of each.
///
/// | version | since then |
/// |---|---|
/// | 1 | |
/// | 2 | events of parked threads; locks have numbers above their domains |
/// | 3 | short forms of these events |
/// | 4 | the owner in each contended enter, the hold in each contended exit, releases of synchronizers, lost numbers in a row, the stacks of threads, the producer's capabilities, and why a trace ended |
/// | 5 | samples of the stacks of owners |
/// | 6 | where locks were allocated |
/// | 7 | waits in `Object.wait`, and notifications |
pub const VERSION: u16 = 7;
/// The oldest version that can be read.
pub const OLDEST_VERSION: u16 = 1;

const FLAG_COMPRESSED: u16 = 1;
const FIXED_LEN: usize = 26;

/// The header of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHeader {
    /// The writer was asked to compress the chunks.
    pub compressed: bool,
    /// The producer's guarantees.
    pub capabilities: Capabilities,
    /// Wall clock at the trace's start, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Process id of the JVM.
    pub pid: u32,
    /// Version of the JVM; at most 65,535 bytes are kept.
    pub jvm: String,
}

/// The reason why a file is not a readable trace.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HeaderError {
    /// The file does not begin with [`MAGIC`].
    #[error(
        "not a lock contention trace: expected it to begin with \"{}\", found \"{}\"",
        MAGIC.escape_ascii(), .found.escape_ascii()
    )]
    NotATrace {
        /// The first bytes of the file, at most eight.
        found: Vec<u8>,
    },
    /// The file has another version of the format.
    #[error(
        "trace format version {found} is not supported, expected {OLDEST_VERSION} to {VERSION}"
    )]
    UnsupportedVersion {
        /// Its version.
        found: u16,
    },
    /// The file ends inside the header.
    #[error("the trace ends inside its header: expected {expected} bytes, found {found}")]
    Truncated {
        /// Length of the header, as far as it is known.
        expected: usize,
        /// Length of the file.
        found: usize,
    },
    /// The checksum of the header is wrong.
    #[error("the trace's header is damaged: expected checksum {expected:08x}, found {found:08x}")]
    Checksum {
        /// The checksum computed.
        expected: u32,
        /// The checksum in the file.
        found: u32,
    },
    /// The file could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl FileHeader {
    /// Returns the header's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let jvm = text_prefix(&self.jvm, usize::from(u16::MAX));
        let compressed = if self.compressed { FLAG_COMPRESSED } else { 0 };
        let flags = compressed | self.capabilities.flags();
        let mut bytes = Vec::with_capacity(FIXED_LEN + jvm.len() + 4);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(&self.start_unix_ns.to_le_bytes());
        bytes.extend_from_slice(&self.pid.to_le_bytes());
        bytes.extend_from_slice(&(jvm.len() as u16).to_le_bytes());
        bytes.extend_from_slice(jvm.as_bytes());
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Reads a header and returns it with the version and its length in bytes.
    pub(crate) fn read(source: &mut impl Read) -> Result<(Self, u16, usize), HeaderError> {
        let mut bytes = read_up_to(source, FIXED_LEN)?;
        if !bytes.starts_with(&MAGIC) {
            let is_cut_off = !bytes.is_empty() && MAGIC.starts_with(&bytes);
            if is_cut_off {
                return Err(HeaderError::Truncated {
                    expected: FIXED_LEN,
                    found: bytes.len(),
                });
            }
            bytes.truncate(MAGIC.len());
            return Err(HeaderError::NotATrace { found: bytes });
        }
        if let Some(&[low, high]) = bytes.get(8..10) {
            let found = u16::from_le_bytes([low, high]);
            if !(OLDEST_VERSION..=VERSION).contains(&found) {
                return Err(HeaderError::UnsupportedVersion { found });
            }
        }
        let Ok(fixed) = <[u8; FIXED_LEN]>::try_from(bytes.as_slice()) else {
            return Err(HeaderError::Truncated {
                expected: FIXED_LEN,
                found: bytes.len(),
            });
        };
        let jvm_len = usize::from(u16::from_le_bytes([fixed[24], fixed[25]]));
        let len = FIXED_LEN + jvm_len + 4;
        bytes.extend(read_up_to(source, len - FIXED_LEN)?);
        if bytes.len() < len {
            return Err(HeaderError::Truncated {
                expected: len,
                found: bytes.len(),
            });
        }
        let (content, checksum) = bytes.split_at(len - 4);
        let expected = crc32c::crc32c(content);
        let found = u32_at(checksum, 0);
        if expected != found {
            return Err(HeaderError::Checksum { expected, found });
        }
        let version = u16::from_le_bytes([fixed[8], fixed[9]]);
        let flags = u16::from_le_bytes([fixed[10], fixed[11]]);
        let header = Self {
            compressed: flags & FLAG_COMPRESSED != 0,
            capabilities: match version {
                ..4 => Capabilities::of_old_version(),
                _ => Capabilities::from_bits(flags),
            },
            start_unix_ns: u64::from(u32_at(&fixed, 12)) | u64::from(u32_at(&fixed, 16)) << 32,
            pid: u32_at(&fixed, 20),
            jvm: String::from_utf8_lossy(&content[FIXED_LEN..]).into_owned(),
        };
        Ok((header, version, len))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Returns the start of `text` that takes at most `max_len` bytes.
fn text_prefix(text: &str, max_len: usize) -> &str {
    let mut len = text.len().min(max_len);
    while !text.is_char_boundary(len) {
        len -= 1;
    }
    &text[..len]
}

/// Reads the next `len` bytes, or fewer at the end of the file.
fn read_up_to(source: &mut impl Read, len: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(len);
    source.take(len as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}
