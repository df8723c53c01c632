//! Until when the tables have all traces of a folder.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use sha2::{Digest, Sha256};
use trace_export::tables::host_folder;

use crate::files::destination::Destination;

/// A trace begins so much before its file is there, at most.
pub(super) const MARGIN: Duration = Duration::from_secs(60);

/// The watermark of a folder of a host, in a file among the tables.
pub(super) struct Watermark {
    name: PathBuf,
    host: String,
    folder: String,
}

impl Watermark {
    /// Returns the watermark of `folder` on `host`.
    ///
    /// # Errors
    ///
    /// If there is no such folder any more.
    pub(super) fn new(host: &str, folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?.to_string_lossy().into_owned();
        // A path may be longer than a name.
        let name = format!("{}.json", digest(&folder));
        Ok(Self {
            name: Path::new("watermarks").join(host_folder(host)).join(name),
            host: host.to_owned(),
            folder,
        })
    }

    /// The folder of the watermarks of the host, relative to the destination.
    pub(super) fn folder_of_host(&self) -> &Path {
        self.name.parent().unwrap_or(Path::new(""))
    }

    /// Notes that all traces are in the tables which began before the folder was looked at, and
    /// before `first_left`, the first that is not (nanoseconds since 1970).
    ///
    /// # Errors
    ///
    /// If the file cannot be written; it is named.
    pub(super) fn advance(
        &self,
        destination: &Destination,
        looked_at: SystemTime,
        first_left: Option<u64>,
    ) -> io::Result<()> {
        let looked_at = looked_at.duration_since(UNIX_EPOCH).unwrap_or_default();
        let certain = looked_at.saturating_sub(MARGIN);
        let first_left = first_left.map_or(Duration::MAX, Duration::from_nanos);
        let until = certain.min(first_left);
        let time = humantime::format_rfc3339_seconds(UNIX_EPOCH + until);
        let watermark = json!({
            "host": self.host,
            "folder": self.folder,
            "complete_until": time.to_string(),
            "complete_until_unix_ns": u64::try_from(until.as_nanos()).unwrap_or(u64::MAX),
        });
        destination.replace(&self.name, &watermark.to_string())
    }
}

/// Returns a name for a text of any length.
pub(super) fn digest(text: &str) -> String {
    let digest = Sha256::digest(text);
    let bytes = digest.iter().take(8);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
