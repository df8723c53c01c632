//! Outputs that are no place for tables.

use url::Url;

use crate::outcome::cause;

/// What `--output` says is no place for tables.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DestinationError {
    #[error("{url}: {source}")]
    Url {
        url: String,
        source: url::ParseError,
    },
    #[error(
        "{url}: expected a directory, or a URL of file, s3, gs or az; found one of {scheme}{hint}"
    )]
    Scheme {
        url: String,
        scheme: String,
        hint: &'static str,
    },
    #[error("{0}: a file of another machine")]
    OtherMachine(Url),
    #[error("{url}: {source}")]
    Store {
        url: String,
        source: object_store::Error,
    },
}

cause!(Usage: DestinationError);
