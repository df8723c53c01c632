//! A prefix in an object store.

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::path::Path as Key;
use object_store::{
    Error, ObjectStore, ObjectStoreExt, ObjectStoreScheme, RetryConfig, WriteMultipart,
};
use tokio::runtime::Runtime;
use url::Url;

use crate::files::destination::error::DestinationError;

/// Larger files are sent in parts of this size. S3 takes 10,000 parts of at least 5 MiB.
const PART_BYTES: usize = 16 << 20;

/// The parts that are on their way, and in memory, at a time.
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
        let failed = |url: Url, source| {
            let url = url.into();
            Err(DestinationError::Store { url, source })
        };
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
    /// If it cannot be written; it is named. The old one is still there.
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

    /// Reads an object, if it is there.
    ///
    /// # Errors
    ///
    /// Those of the store; the object is named. A store that lets nobody list objects does not say
    /// that one is not there.
    pub(super) fn get(&self, name: &Path) -> io::Result<Option<Bytes>> {
        let key = self.key(name)?;
        let bytes = self
            .runtime
            .block_on(async { self.store.get(&key).await?.bytes().await });
        match bytes {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.named(name, &error)),
        }
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
        url: url.into(),
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, Write};
    use std::net::{TcpListener, TcpStream};
    use std::thread;

    use tempfile::TempDir;

    use super::*;

    /// A request: its method, what is behind the question mark, and its body.
    type Request = (String, String, Vec<u8>);

    /// The last request to the server.
    const END: &str = "END / HTTP/1.1\r\n\r\n";

    /// Answers as S3 does, but refuses one part of an upload. Returns the requests before [`END`].
    fn serve(listener: &TcpListener, refused: &str) -> Vec<Request> {
        let mut requests = Vec::new();
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.expect("a connection"));
            let Some(request) = read_request(&mut stream) else {
                continue;
            };
            let (method, query, _) = &request;
            let (status, body) = match (method.as_str(), query.as_str()) {
                ("END", _) => break,
                ("POST", "uploads" | "uploads=") => (
                    "200 OK",
                    "<I><Bucket>b</Bucket><Key>k</Key><UploadId>u</UploadId></I>",
                ),
                ("POST", _) => ("200 OK", "<C><ETag>whole</ETag></C>"),
                ("DELETE", _) => ("204 No Content", ""),
                _ if query.starts_with(refused) => ("403 Forbidden", ""),
                _ => ("200 OK", ""),
            };
            let length = body.len();
            // A client that has given up does not read it.
            let _ = write!(
                stream.get_mut(),
                "HTTP/1.1 {status}\r\netag: part\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            requests.push(request);
        }
        requests
    }

    fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Request> {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?);
        let query = target.split_once('?').map_or("", |(_, query)| query);
        let query = query.to_owned();
        let mut length = 0;
        loop {
            let mut header = String::new();
            stream.read_line(&mut header).ok()?;
            let header = header.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().expect("a number");
            }
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        Some((method, query, body))
    }

    /// Sends a file of 10,000 bytes in parts of 4,096. Returns the requests.
    fn send(refused: &'static str) -> (io::Result<()>, Vec<Request>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("bound");
        let server = thread::spawn(move || serve(&listener, refused));
        use_ring();
        let s3 = AmazonS3Builder::new()
            .with_bucket_name("b")
            .with_endpoint(format!("http://{address}"))
            .with_access_key_id("key")
            .with_secret_access_key("secret")
            .with_allow_http(true)
            .build()
            .expect("complete");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let store = Store {
            url: Url::parse("s3://b/runs").expect("a URL"),
            prefix: Key::from("runs"),
            store: Box::new(s3),
            is_s3: true,
            runtime: runtime.expect("possible"),
            part_bytes: 4096,
        };
        let directory = TempDir::new().expect("a temporary directory");
        let file = directory.path().join("table");
        fs::write(&file, bytes()).expect("writable");
        let sent = store.send(&file, Path::new("waits/table"));
        let mut server_end = TcpStream::connect(address).expect("it listens");
        server_end.write_all(END.as_bytes()).expect("it reads");
        (sent, server.join().expect("no panic"))
    }

    fn bytes() -> Vec<u8> {
        (0..10_000_u32).map(|i| (i * i % 251) as u8).collect()
    }

    #[test]
    fn large_files_are_sent_in_parts() {
        let (sent, requests) = send("none");
        sent.expect("the store takes it");
        let parts = requests.iter().filter(|(method, ..)| method == "PUT");
        let mut parts: Vec<_> = parts.map(|(_, query, body)| (query, body)).collect();
        parts.sort();
        assert_eq!(parts.len(), 3);
        let joined: Vec<u8> = parts
            .into_iter()
            .flat_map(|(_, body)| body.clone())
            .collect();
        assert_eq!(joined, bytes());
    }

    #[test]
    fn an_upload_that_fails_is_aborted() {
        let (sent, requests) = send("partNumber=2&");
        let message = sent.expect_err("a part is refused").to_string();
        assert!(
            message.starts_with("s3://b/runs/waits/table: "),
            "{message}"
        );
        let (method, query, _) = requests.last().expect("requests");
        assert_eq!((method.as_str(), query.as_str()), ("DELETE", "uploadId=u"));
        let is_completed =
            |(method, query, _): &Request| method == "POST" && query.starts_with("uploadId=");
        assert!(!requests.iter().any(is_completed));
    }
}
