//! Stores whose files cannot be written, or whose answers are lost; damaged files.

mod common;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::*;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use proptest::prelude::*;
use tempfile::TempDir;
use trodden_store::{AddOptions, Adder, CompactOptions, Place, Store};

/// Fails at the requests with these numbers: before it does what was asked for, or after.
#[derive(Debug)]
struct Faulty {
    inner: InMemory,
    puts: AtomicU64,
    /// From this put on, all fail (a full disk).
    full_at: AtomicU64,
    /// The answer to this put is lost.
    lost_at: AtomicU64,
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("faulty")
    }
}

fn failed(what: &'static str) -> object_store::Error {
    object_store::Error::Generic {
        store: "faulty",
        source: what.into(),
    }
}

#[async_trait::async_trait]
impl ObjectStore for Faulty {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        let number = self.puts.fetch_add(1, Ordering::SeqCst);
        if number >= self.full_at.load(Ordering::SeqCst) {
            return Err(failed("no space left on device"));
        }
        let result = self.inner.put_opts(path, payload, options).await;
        if number == self.lost_at.load(Ordering::SeqCst) {
            Err(failed("the answer was lost"))
        } else {
            result
        }
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(path, options).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(path, options).await
    }

    async fn get_ranges(&self, path: &Path, ranges: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        self.inner.get_ranges(path, ranges).await
    }

    fn delete_stream(&self, paths: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

fn faulty() -> (Arc<Faulty>, Place) {
    let objects = Arc::new(Faulty {
        inner: InMemory::new(),
        puts: AtomicU64::new(0),
        full_at: AtomicU64::new(u64::MAX),
        lost_at: AtomicU64::new(u64::MAX),
    });
    let place = Place::of_objects(Arc::clone(&objects) as _, Path::from("some/prefix"), "faulty");
    (objects, place)
}

/// Whatever put is the first that fails: an error, and the store is what it was; with room again, all comes in.
#[tokio::test]
async fn full_disks() {
    let folder = TempDir::new().unwrap();
    let of = fixture("counters");
    let windows: Vec<Window> = (1..=4)
        .map(|window| Window::new(1, window, DAY + window * 20 * HOUR))
        .collect();
    let files: Vec<_> = windows
        .iter()
        .map(|window| window.save(&of, folder.path()))
        .collect();
    let mut failures = 0;
    for room in 0.. {
        let (objects, place) = faulty();
        let store = Store::create(&place).await.unwrap();
        let mut adder = Adder::new(&store);
        adder.add(&files[..1], &AddOptions::default()).await.unwrap();
        objects
            .full_at
            .store(objects.puts.load(Ordering::SeqCst) + room, Ordering::SeqCst);
        let result = adder.add(&files[1..], &AddOptions::default()).await;
        let compacted = store.compact(&CompactOptions::default()).await;
        objects.full_at.store(u64::MAX, Ordering::SeqCst);
        let fresh = Store::open(&place).await.unwrap();
        match &result {
            Err(error) => {
                failures += 1;
                assert!(error.to_string().contains("no space left"), "{error}");
                assert_holds(&fresh, &windows[..1], &of).await;
                adder.add(&files[1..], &AddOptions::default()).await.unwrap();
            }
            Ok(_) => assert_holds(&fresh, &windows, &of).await,
        }
        fresh.compact(&CompactOptions::default()).await.unwrap();
        assert_holds(&fresh, &windows, &of).await;
        if result.is_ok() && compacted.is_ok() {
            break;
        }
    }
    assert!(failures > 5, "{failures}");
}

/// A commit whose answer is lost is found again, and not made twice.
#[tokio::test]
async fn lost_answers() {
    let folder = TempDir::new().unwrap();
    let of = fixture("counters");
    let windows: Vec<Window> = (1..=2).map(|window| Window::new(1, window, DAY)).collect();
    let files: Vec<_> = windows
        .iter()
        .map(|window| window.save(&of, folder.path()))
        .collect();
    for lost in 0..20 {
        let (objects, place) = faulty();
        let store = Store::create(&place).await.unwrap();
        objects.lost_at.store(1 + lost, Ordering::SeqCst);
        let mut adder = Adder::new(&store);
        for file in &files {
            if adder
                .add(std::slice::from_ref(file), &AddOptions::default())
                .await
                .is_err()
            {
                adder
                    .add(std::slice::from_ref(file), &AddOptions::default())
                    .await
                    .unwrap();
            }
        }
        assert_holds(&Store::open(&place).await.unwrap(), &windows, &of).await;
    }
}

/// A store that may be damaged, as files in memory.
async fn files_of(place: &Place, objects: &Faulty) -> Vec<(Path, Vec<u8>)> {
    use futures::TryStreamExt;
    let _ = place;
    let listed: Vec<ObjectMeta> = objects.inner.list(None).try_collect().await.unwrap();
    let mut files = Vec::new();
    for meta in listed {
        let bytes = objects
            .inner
            .get_opts(&meta.location, GetOptions::default())
            .await
            .unwrap()
            .bytes()
            .await
            .unwrap();
        files.push((meta.location, bytes.to_vec()));
    }
    files
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]
    /// Bytes of any file of a store are changed, cut off or added: it says so and names the file, or it is as good as before.
    #[test]
    fn damage_is_told(at in 0usize..10_000, place in 0usize..1_000_000, change in 1u8..=255, kind in 0u8..3) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let folder = TempDir::new().unwrap();
            let of = fixture("counters");
            let windows: Vec<Window> = (1..=2).map(|window| Window::new(1, window, DAY)).collect();
            let (objects, at_place) = faulty();
            let store = Store::create(&at_place).await.unwrap();
            let mut adder = Adder::new(&store);
            for window in &windows {
                adder.add(&[window.save(&of, folder.path())], &AddOptions::default()).await.unwrap();
            }
            let files = files_of(&at_place, &objects).await;
            let (path, mut bytes) = files[at % files.len()].clone();
            let byte = place % bytes.len();
            match kind {
                0 => bytes[byte] ^= change,
                1 => bytes.truncate(byte),
                _ => bytes.push(change),
            }
            objects.inner.put_opts(&path, bytes.into(), PutOptions::default()).await.unwrap();
            let name = path.as_ref().strip_prefix("some/prefix/").unwrap();
            let check = async {
                let store = Store::open(&at_place).await?;
                let found = store.verify().await?;
                let compacted = store.compact(&CompactOptions::default()).await;
                Ok::<_, trodden_store::StoreError>((store, found, compacted))
            };
            match check.await {
                Err(error) => assert!(error.to_string().contains(name), "{name}: {error}"),
                Ok((store, found, compacted)) if found.problems.is_empty() => {
                    compacted.unwrap();
                    assert_holds(&store, &windows, &of).await;
                }
                Ok((store, found, compacted)) => {
                    assert!(found.problems.iter().any(|problem| problem.contains(name)), "{name}: {found:?}");
                    match compacted {
                        Err(error) => assert!(error.to_string().contains(name), "{name}: {error}"),
                        // It had nothing to do with that file.
                        Ok(_) => assert!(store.state().await.unwrap().file(name).is_some(), "{name}"),
                    }
                }
            }
        });
    }
}

#[tokio::test]
async fn newer_stores() {
    let (objects, place) = faulty();
    Store::create(&place).await.unwrap();
    let path = Path::from("some/prefix/trodden-store.json");
    let text = objects
        .inner
        .get_opts(&path, GetOptions::default())
        .await
        .unwrap()
        .bytes()
        .await
        .unwrap();
    let text = String::from_utf8(text.to_vec())
        .unwrap()
        .replace("\"format_version\":1", "\"format_version\":7");
    objects
        .inner
        .put_opts(&path, text.into_bytes().into(), PutOptions::default())
        .await
        .unwrap();
    let error = Store::open(&place).await.unwrap_err().to_string();
    assert!(
        error.contains("trodden-store.json has format version 7"),
        "{error}"
    );
}

#[tokio::test]
async fn no_store() {
    let folder = TempDir::new().unwrap();
    let open = |name: &str| Place::parse(folder.path().join(name).to_str().unwrap()).unwrap();
    let error = Store::open(&open("nowhere")).await.unwrap_err().to_string();
    assert!(error.contains("there is no store at"), "{error}");
    std::fs::create_dir(folder.path().join("other")).unwrap();
    std::fs::write(folder.path().join("other/file"), "x").unwrap();
    let error = Store::create(&open("other")).await.unwrap_err().to_string();
    assert!(error.contains("has other files in it"), "{error}");
}
