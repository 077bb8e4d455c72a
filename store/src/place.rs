//! Where a store is: a folder, or a prefix in an object store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{BackoffConfig, ClientConfigKey, ObjectStore, RetryConfig};

use crate::error::StoreError;

/// How long a request to an object store may take, in seconds; 60 if it is not set.
pub const TIMEOUT_VARIABLE: &str = "TRODDEN_STORE_TIMEOUT";
/// How long a request to an object store is tried again, in seconds; 180 if it is not set.
pub const RETRY_VARIABLE: &str = "TRODDEN_STORE_RETRY";

/// A place for a store. Nothing is read or written before there is a [`Store`](crate::Store) at it.
#[derive(Clone, Debug)]
pub struct Place {
    pub(crate) text: String,
    pub(crate) objects: Arc<dyn ObjectStore>,
    pub(crate) prefix: Path,
    /// The folder, if it is one: there, files can be written so that they survive a loss of power.
    pub(crate) folder: Option<PathBuf>,
}

impl Place {
    /// From its name: a folder, or `s3://BUCKET/PREFIX`. A folder need not be there yet. S3 is set up by the usual variables
    /// (`AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, `AWS_ENDPOINT_URL`,
    /// `AWS_ALLOW_HTTP`, …).
    ///
    /// # Errors
    /// If the name says no place, or what the variables say makes no sense.
    pub fn parse(text: &str) -> Result<Place, StoreError> {
        match text.split_once("://") {
            Some(("s3", rest)) => Place::s3(text, rest),
            Some(("file", rest)) if rest.starts_with('/') => Place::folder(text, rest),
            Some((scheme, _)) => Err(wrong(
                text,
                format!("'{scheme}' is not known; there are folders, and s3://BUCKET/PREFIX"),
            )),
            None => Place::folder(text, text),
        }
    }

    /// Any object store, under a name for messages.
    pub fn of_objects(objects: Arc<dyn ObjectStore>, prefix: Path, text: impl Into<String>) -> Place {
        Place {
            text: text.into(),
            objects,
            prefix,
            folder: None,
        }
    }

    /// Its name, as given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The folder, if it is one.
    pub fn as_folder(&self) -> Option<&std::path::Path> {
        self.folder.as_deref()
    }

    fn folder(text: &str, folder: &str) -> Result<Place, StoreError> {
        if folder.is_empty() {
            return Err(wrong(text, "it has no name"));
        }
        let folder = std::path::absolute(folder).map_err(|e| wrong(text, e))?;
        if folder.exists() && !folder.is_dir() {
            return Err(wrong(text, "it is a file"));
        }
        // Paths are relative to the folder, which need not be there: `new_with_prefix` asks for one that is.
        let prefix = Path::from_absolute_path(&folder).map_err(|e| wrong(text, e))?;
        Ok(Place {
            text: text.to_owned(),
            objects: Arc::new(LocalFileSystem::new()),
            prefix,
            folder: Some(folder),
        })
    }

    fn s3(text: &str, rest: &str) -> Result<Place, StoreError> {
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        if bucket.is_empty() {
            return Err(wrong(text, "it names no bucket"));
        }
        let prefix = Path::parse(prefix.trim_end_matches('/')).map_err(|e| wrong(text, e))?;
        let timeout = seconds(TIMEOUT_VARIABLE, 60).map_err(|reason| wrong(text, reason))?;
        let retry = seconds(RETRY_VARIABLE, 180).map_err(|reason| wrong(text, reason))?;
        let retries = RetryConfig {
            backoff: BackoffConfig {
                init_backoff: Duration::from_millis(100),
                max_backoff: Duration::from_secs(15).min(retry.max(Duration::from_millis(100))),
                base: 2.0,
            },
            max_retries: 10,
            retry_timeout: retry,
        };
        let client =
            |key, time: Duration| (AmazonS3ConfigKey::Client(key), format!("{}ms", time.as_millis()));
        let (request, request_time) = client(ClientConfigKey::Timeout, timeout);
        let (connect, connect_time) = client(
            ClientConfigKey::ConnectTimeout,
            timeout.min(Duration::from_secs(5)),
        );
        let objects = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_config(request, request_time)
            .with_config(connect, connect_time)
            .with_retry(retries)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .build()
            .map_err(|e| wrong(text, e))?;
        Ok(Place {
            text: text.to_owned(),
            objects: Arc::new(objects),
            prefix,
            folder: None,
        })
    }
}

fn wrong(place: &str, reason: impl ToString) -> StoreError {
    StoreError::Place {
        place: place.to_owned(),
        reason: reason.to_string(),
    }
}

/// A variable of the environment has another value.
#[derive(Debug, thiserror::Error)]
#[error("{0} is no number of seconds, above 0 and up to 86400")]
struct NoSeconds(&'static str);

fn seconds(variable: &'static str, default: u64) -> Result<Duration, NoSeconds> {
    let Some(text) = std::env::var_os(variable) else {
        return Ok(Duration::from_secs(default));
    };
    let number = text.to_str().and_then(|text| text.parse::<f64>().ok());
    let known = number.filter(|&seconds| seconds > 0.0 && seconds <= 86_400.0);
    match known {
        Some(seconds) => Ok(Duration::from_secs_f64(seconds)),
        None => Err(NoSeconds(variable)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_places() {
        let folder = Place::parse("some/where").unwrap();
        assert!(folder.as_folder().unwrap().is_absolute());
        assert!(folder.prefix.as_ref().ends_with("some/where"));
        for (text, reason) in [
            ("", "no name"),
            ("s3://", "no bucket"),
            ("s3:///x", "no bucket"),
            ("gs://x/y", "'gs' is not known"),
            ("/etc/hostname", "is a file"),
        ] {
            let error = Place::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
