//! A prefix in an object store.

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    Error, ObjectStore, ObjectStoreExt, ObjectStoreScheme, RetryConfig, WriteMultipart,
};
use tokio::runtime::Runtime;
use url::Url;

use super::DestinationError;

/// Larger files are sent in parts of so many bytes. S3 takes 10,000 parts of at least 5 MiB.
const PART_BYTES: usize = 16 << 20;

/// So many parts are on their way, and in memory, at a time.
const PARTS_AT_ONCE: usize = 4;

/// A store is asked so often again, and not after so long.
const RETRIES: usize = 5;
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// Any of these says with which credentials to ask S3. Without them a role of the machine does.
const S3_CREDENTIALS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// A prefix in an object store, in which objects are written whole.
pub(crate) struct Store {
    url: Url,
    prefix: Key,
    store: Box<dyn ObjectStore>,
    is_s3: bool,
    runtime: Runtime,
    part_bytes: usize,
}

impl Store {
    /// What a URL means, with what the environment says of the store.
    pub(super) fn new(url: Url) -> Result<Self, DestinationError> {
        let Ok((scheme, prefix)) = ObjectStoreScheme::parse(&url) else {
            return Err(unknown(url));
        };
        let retry = RetryConfig {
            max_retries: RETRIES,
            retry_timeout: RETRY_TIMEOUT,
            ..RetryConfig::default()
        };
        use_ring();
        let store: Result<Box<dyn ObjectStore>, Error> = match scheme {
            ObjectStoreScheme::AmazonS3 => AmazonS3Builder::from_env()
                .with_url(url.as_str())
                // Only where the endpoint that the user has given says so.
                .with_allow_http(true)
                // Not every store that speaks S3 has it.
                .with_disable_bulk_delete(true)
                .with_retry(retry)
                .build()
                .map(|store| Box::new(store) as _),
            ObjectStoreScheme::GoogleCloudStorage => GoogleCloudStorageBuilder::from_env()
                .with_url(url.as_str())
                .with_retry(retry)
                .build()
                .map(|store| Box::new(store) as _),
            ObjectStoreScheme::MicrosoftAzure => MicrosoftAzureBuilder::from_env()
                .with_url(url.as_str())
                .with_retry(retry)
                .build()
                .map(|store| Box::new(store) as _),
            _ => return Err(unknown(url)),
        };
        let failed = |url, source| Err(DestinationError::Store { url, source });
        let store = match store {
            Ok(store) => store,
            Err(source) => return failed(url, source),
        };
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => {
                let source = Error::Generic {
                    store: "tokio",
                    source: error.into(),
                };
                return failed(url, source);
            }
        };
        Ok(Self {
            url,
            prefix,
            store,
            is_s3: scheme == ObjectStoreScheme::AmazonS3,
            runtime,
            part_bytes: PART_BYTES,
        })
    }

    /// Writes an object, whose name is below the prefix.
    ///
    /// # Errors
    ///
    /// If it cannot be written; it is named. That of before is still there.
    pub(super) fn put(&self, name: &Path, bytes: Vec<u8>) -> io::Result<()> {
        let key = self.key(name)?;
        let put = self.runtime.block_on(self.store.put(&key, bytes.into()));
        put.map(drop).map_err(|error| self.named(name, &error))
    }

    /// Writes an object of what is in a file.
    ///
    /// # Errors
    ///
    /// As [`put`](Self::put), and if the file cannot be read.
    pub(super) fn send(&self, file: &Path, name: &Path) -> io::Result<()> {
        let mut file = File::open(file)?;
        let mut part = Vec::new();
        read_part(&mut file, self.part_bytes, &mut part)?;
        if part.len() < self.part_bytes {
            return self.put(name, part);
        }
        let key = self.key(name)?;
        self.runtime
            .block_on(self.send_parts(&key, part, &mut file))
            .map_err(|error| self.named(name, &error))
    }

    /// All parts become an object, or none.
    async fn send_parts(&self, key: &Key, first: Vec<u8>, rest: &mut File) -> Result<(), Error> {
        let upload = self.store.put_multipart(key).await?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, self.part_bytes);
        let mut part = first;
        while !part.is_empty() {
            let room = upload.wait_for_capacity(PARTS_AT_ONCE).await;
            upload.write(&part);
            let read = room.and_then(|()| {
                let read = read_part(rest, self.part_bytes, &mut part);
                read.map_err(|error| Error::Generic {
                    store: "file",
                    source: error.into(),
                })
            });
            if let Err(error) = read {
                // What went wrong first is worth saying.
                let _ = upload.abort().await;
                return Err(error);
            }
        }
        upload.finish().await.map(drop)
    }

    /// Deletes an object, if it is there.
    ///
    /// # Errors
    ///
    /// Those of the store; the object is named.
    pub(super) fn delete(&self, name: &Path) -> io::Result<()> {
        let key = self.key(name)?;
        match self.runtime.block_on(self.store.delete(&key)) {
            Err(Error::NotFound { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(self.named(name, &error)),
        }
    }

    /// The names of folders are encoded already.
    fn key(&self, name: &Path) -> io::Result<Key> {
        let name = name.to_string_lossy();
        Key::parse(format!("{}/{name}", self.prefix)).map_err(io::Error::other)
    }

    fn named(&self, name: &Path, error: &Error) -> io::Error {
        let url = self.url.as_str().trim_end_matches('/');
        let name = name.display();
        // Answers of a store have several lines.
        let error = error.to_string();
        let error: Vec<_> = error.split_whitespace().collect();
        let error = error.join(" ");
        let has_credentials = S3_CREDENTIALS
            .iter()
            .any(|variable| env::var_os(variable).is_some());
        let hint = if self.is_s3 && !has_credentials {
            " (AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set)"
        } else {
            ""
        };
        io::Error::other(format!("{url}/{name}: {error}{hint}"))
    }
}

fn unknown(url: Url) -> DestinationError {
    let hint = match url.scheme() {
        "hdfs" | "webhdfs" | "viewfs" => {
            "; for Hadoop, write into a directory, and use hdfs dfs -put"
        }
        _ => "",
    };
    DestinationError::Scheme {
        scheme: url.scheme().to_owned(),
        url,
        hint,
    }
}

/// TLS needs one implementation of cryptography. It may have been chosen before.
fn use_ring() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The next `bytes` of a file; less only at its end.
fn read_part(file: &mut File, bytes: usize, part: &mut Vec<u8>) -> io::Result<()> {
    part.clear();
    file.take(bytes as u64).read_to_end(part)?;
    Ok(())
}
