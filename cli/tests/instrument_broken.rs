//! `trodden instrument` with input and output that cannot work: each is reported by name, the exit code is
//! not 0, and nothing is written, not even a temporary file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::zips;
use crate::zips::{File, class, class_of_version, file, zip};
use tempfile::TempDir;

struct Room(TempDir);

impl Room {
    fn new() -> Self {
        Room(TempDir::with_prefix("trodden broken ").unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
        command.current_dir(self.0.path()).arg("instrument").args(args);
        command.output().unwrap()
    }

    /// All files and folders with their contents.
    fn contents(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() && !path.is_symlink() {
                    walk(&path, found);
                    found.insert(path, None);
                } else {
                    let bytes = path.is_file().then(|| fs::read(&path).unwrap());
                    found.insert(path, bytes);
                }
            }
        }
        let mut found = BTreeMap::new();
        walk(self.0.path(), &mut found);
        found
    }

    /// Fails with this code and these words, and changes nothing.
    #[track_caller]
    fn refuses(&self, args: &[&str], code: i32, words: &[&str]) {
        let before = self.contents();
        let output = self.run(args);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {printed}");
        for word in words {
            assert!(printed.contains(word), "{args:?}: '{word}' is not in: {printed}");
        }
        assert!(!printed.contains("panicked"), "{printed}");
        assert_eq!(self.contents(), before, "{args:?} left something");
    }

    #[track_caller]
    fn succeeds(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {printed}");
        printed
    }
}

/// Refused as `in.jar`, with the entry's name and a reason.
#[track_caller]
fn refuses_jar(jar: impl AsRef<[u8]>, words: &[&str]) {
    let room = Room::new();
    room.put("in.jar", jar);
    let mut all = vec!["in.jar"];
    all.extend(words);
    room.refuses(&["in.jar", "-o", "out.jar"], 1, &all);
}

fn good() -> Vec<File> {
    vec![
        file("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\n\r\n"),
        file("a/B.class", class("a/B")),
    ]
}

fn with(more: File) -> Vec<u8> {
    let mut files = good();
    files.push(more);
    zip(&files)
}

#[test]
fn missing_input() {
    Room::new().refuses(&["none.jar", "-o", "out.jar"], 1, &["none.jar", "No such file"]);
}

#[test]
fn empty_file() {
    refuses_jar("", &["is empty"]);
}

#[test]
fn neither_class_nor_jar() {
    refuses_jar(
        "just text, and enough of it for an end record",
        &["is truncated, or no zip"],
    );
    let room = Room::new();
    room.put("x.class", "text");
    room.refuses(
        &["x.class", "-o", "y.class"],
        1,
        &["x.class", "neither a class file nor a jar"],
    );
}

#[test]
fn devices_and_files_that_cannot_be_read() {
    let room = Room::new();
    room.refuses(
        &["/dev/null", "-o", "out.jar"],
        1,
        &["/dev/null", "neither a regular file nor a folder"],
    );
    // A regular file that fails to be read, for every user.
    room.refuses(
        &["/proc/self/mem", "-o", "out.jar"],
        1,
        &["/proc/self/mem", "error"],
    );
    std::os::unix::fs::symlink("nowhere", room.path("link.jar")).unwrap();
    room.refuses(&["link.jar", "-o", "out.jar"], 1, &["link.jar", "No such file"]);
}

#[test]
fn truncated_jar() {
    let jar = zip(&good());
    for length in [4, 30, jar.len() / 2, jar.len() - 22, jar.len() - 1] {
        refuses_jar(&jar[..length], &["truncated"]);
    }
}

#[test]
fn jar_with_a_part_missing_in_the_middle() {
    let mut jar = zip(&good());
    jar.drain(40..60);
    refuses_jar(jar, &["truncated"]);
}

#[test]
fn damaged_central_directory() {
    let mut jar = zip(&good());
    let at = jar.windows(4).rposition(|w| w == b"PK\x01\x02").unwrap();
    jar[at] = b'X';
    refuses_jar(jar, &["central directory is damaged at offset"]);
}

#[test]
fn wrong_checksum() {
    let mut bad = file("a/C.class", class("a/C"));
    bad.crc = Some(7);
    refuses_jar(with(bad), &["a/C.class", "checksum"]);
}

#[test]
fn damaged_compressed_data() {
    let mut bad = file("a/C.class", vec![0xff; 100]).stored();
    bad.method = 8;
    let jar = with(bad);
    let data = zips::deflate(&[0xff; 100]);
    let at = jar.windows(data.len()).position(|w| w == data).unwrap();
    let mut jar = jar;
    jar[at] = 0xff;
    refuses_jar(jar, &["a/C.class", "damaged"]);
}

#[test]
fn zip_bombs() {
    let mut bad = file("a/C.class", vec![0; 1 << 20]);
    bad.size = Some(1000);
    refuses_jar(with(bad), &["a/C.class", "more than the 1000 bytes it declares"]);
    let mut bad = file("a/C.class", vec![0; 1000]);
    bad.size = Some(1 << 30);
    refuses_jar(with(bad), &["a/C.class", "declares 1073741824 bytes"]);
    let mut bad = file("lib/x.jar", vec![0; 1000]);
    bad.size = Some((1 << 30) + 1);
    refuses_jar(with(bad), &["lib/x.jar", "declares 1073741825 bytes"]);
    // None is too large, all are.
    let many: Vec<File> = (0..5)
        .map(|n| {
            let mut part = file(&format!("lib/{n}.jar"), vec![0; 1000]);
            part.size = Some(1 << 30);
            part
        })
        .collect();
    refuses_jar(zip(&many), &["lib/4.jar", "more than 4294967296 bytes"]);
    let mut deep = zip(&good());
    for _ in 0..10 {
        deep = zip(&[file("inner.jar", deep)]);
    }
    let room = Room::new();
    room.put("in.jar", deep);
    let words = ["inner.jar!/inner.jar", "9 deep"];
    room.refuses(&["in.jar", "-o", "out.jar", "--nested", "all"], 1, &words);
}

#[test]
fn entries_that_overlap() {
    let mut first = file("a/B.class", class("a/B")).stored();
    first.compressed = Some(first.bytes.len() as u32 + 40);
    first.size = first.compressed;
    let jar = zip(&[first, file("a/C.class", class("a/C"))]);
    refuses_jar(jar, &["a/B.class", "overlaps with entry 'a/C.class'"]);
}

#[test]
fn duplicate_entries() {
    refuses_jar(with(file("a/B.class", class("a/B"))), &["a/B.class", "twice"]);
}

#[test]
fn names_that_lead_out() {
    for name in [
        "../up.txt",
        "a/../../up.txt",
        "/etc/passwd",
        "..\\up.txt",
        "C:\\x.txt",
    ] {
        refuses_jar(with(file(name, "x")), &[name, "leads out of the archive"]);
    }
}

#[test]
fn names_that_differ() {
    let mut bad = file("a/C.class", class("a/C"));
    bad.local_name = Some("a/D.class".to_owned());
    refuses_jar(
        with(bad),
        &["a/C.class", "is called 'a/D.class' in its local header"],
    );
}

#[test]
fn encrypted_entry() {
    let mut bad = file("a/secret.txt", "x");
    bad.flags = 1;
    refuses_jar(with(bad), &["a/secret.txt", "encrypted"]);
}

#[test]
fn unsupported_compression() {
    let mut bad = file("a/C.class", class("a/C"));
    bad.method = 12;
    refuses_jar(with(bad), &["a/C.class", "compression method 12"]);
}

#[test]
fn truncated_class() {
    let whole = class("a/C");
    for length in [3, 20, whole.len() - 9] {
        refuses_jar(
            with(file("a/C.class", &whole[..length])),
            &["a/C.class", "offset"],
        );
    }
    let room = Room::new();
    room.put("in.jar", with(file("a/C.class", &whole[..60])));
    let printed = room.succeeds(&["in.jar", "-o", "out.jar", "--skip-broken"]);
    assert!(
        printed.contains("1 methods in 1 of") && printed.contains("broken"),
        "{printed}"
    );
}

#[test]
fn class_of_a_future_version() {
    let future = class_of_version("a/C", 99);
    refuses_jar(
        with(file("a/C.class", future.clone())),
        &["a/C.class", "newer than this build", "99"],
    );
    let room = Room::new();
    room.put("C.class", future);
    room.refuses(
        &["C.class", "-o", "out.class"],
        1,
        &["C.class", "newer than this build", "99"],
    );
}

#[test]
fn broken_jar_inside() {
    let inner = zip(&good());
    let broken = file("BOOT-INF/lib/x.jar", &inner[..inner.len() - 30]).stored();
    refuses_jar(with(broken.clone()), &["in.jar!/BOOT-INF/lib/x.jar", "truncated"]);
    let mut bad = file("a/C.class", class("a/C"));
    bad.crc = Some(1);
    let inner = file("BOOT-INF/lib/x.jar", with(bad)).stored();
    refuses_jar(
        with(inner),
        &["in.jar!/BOOT-INF/lib/x.jar", "a/C.class", "checksum"],
    );
    let room = Room::new();
    room.put("in.jar", with(broken));
    let printed = room.succeeds(&["in.jar", "-o", "out.jar", "--skip-broken"]);
    assert!(
        printed.contains("x.jar") && printed.contains("truncated"),
        "{printed}"
    );
}

#[test]
fn jmod() {
    let mut jmod = b"JM\x01\x00".to_vec();
    jmod.extend(zip(&good()));
    let room = Room::new();
    room.put("x.jmod", jmod);
    room.refuses(&["x.jmod", "-o", "out.jmod"], 1, &["x.jmod", "is a jmod"]);
}

#[test]
fn signed_jar() {
    let mut files = good();
    files.push(file("META-INF/ME.SF", "x"));
    files.push(file("META-INF/ME.RSA", "x"));
    refuses_jar(zip(&files), &["is signed", "--strip-signatures"]);
    let inner = file("lib/signed.jar", zip(&files));
    refuses_jar(with(inner), &["in.jar!/lib/signed.jar", "is signed"]);
}

#[test]
fn instrumented_already() {
    let room = Room::new();
    room.put("in.jar", zip(&good()));
    room.put("in/a/B.class", class("a/B"));
    room.succeeds(&["in.jar", "-o", "once.jar"]);
    room.refuses(
        &["once.jar", "-o", "twice.jar"],
        1,
        &["once.jar!/a/B.class", "already instrumented"],
    );
    room.succeeds(&["in", "-o", "once"]);
    room.refuses(
        &["once", "-o", "twice"],
        1,
        &["once/a/B.class", "already instrumented"],
    );
    room.refuses(
        &["once/a/B.class", "-o", "C.class"],
        1,
        &["once/a/B.class", "already instrumented"],
    );
}

#[test]
fn outputs_that_would_harm() {
    let room = Room::new();
    room.put("in.jar", zip(&good()));
    room.put("other/in.jar", zip(&good()));
    room.put("classes/a/B.class", class("a/B"));
    room.put("taken/in.jar/x", "a folder");
    room.put("mine/precious.txt", "not ours");
    fs::hard_link(room.path("in.jar"), room.path("same.jar")).unwrap();
    std::os::unix::fs::symlink("in.jar", room.path("link.jar")).unwrap();
    for output in ["in.jar", "./in.jar", "classes/../in.jar", "same.jar", "link.jar"] {
        room.refuses(&["in.jar", "-o", output], 2, &[output, "would replace input"]);
    }
    room.refuses(
        &["in.jar", "other/in.jar", "-o", "out"],
        2,
        &["would become the same file"],
    );
    room.refuses(
        &["in.jar", "-o", "taken"],
        1,
        &["taken/in.jar", "no regular file"],
    );
    room.refuses(
        &["in.jar", "-o", "/dev/full"],
        1,
        &["/dev/full", "no regular file"],
    );
    room.refuses(&["classes", "-o", "classes"], 2, &["would replace input"]);
    room.refuses(&["classes", "-o", "classes/out"], 2, &["inside of input"]);
    room.refuses(&["classes/a", "-o", "classes"], 2, &["would replace input"]);
    room.refuses(
        &["classes", "-o", "mine"],
        1,
        &["mine", "not written by trodden instrument"],
    );
    room.refuses(&["classes", "-o", "in.jar"], 1, &["in.jar", "is no folder"]);
    room.refuses(
        &["in.jar", "-o", "mine/precious.txt/out.jar"],
        1,
        &["mine/precious.txt"],
    );
}

#[test]
fn folders_that_go_in_circles() {
    let room = Room::new();
    room.put("in/a/B.class", class("a/B"));
    std::os::unix::fs::symlink("..", room.path("in/a/up")).unwrap();
    room.refuses(&["in", "-o", "out"], 1, &["in/a/up", "link to a folder"]);
}

#[test]
fn broken_files_in_folders() {
    let room = Room::new();
    room.put("in/a/B.class", class("a/B"));
    room.put("in/a/C.class", &class("a/C")[..50]);
    room.put("in/lib/x.jar", "PK\x03\x04 and no more of it");
    room.refuses(&["in", "-o", "out"], 1, &["in/a/C.class", "offset"]);
    fs::remove_file(room.path("in/a/C.class")).unwrap();
    room.refuses(&["in", "-o", "out"], 1, &["in/lib/x.jar", "truncated, or no zip"]);
}

/// A limit on the size of files does what a full disk does: the write in the middle fails.
#[test]
fn full_disk() {
    let room = Room::new();
    let mut files = good();
    files.push(file("noise.bin", noise(200_000)));
    room.put("in.jar", zip(&files));
    room.put("in/a/B.class", class("a/B"));
    room.put("in/noise.bin", noise(200_000));
    for (input, output, printed) in [("in.jar", "out.jar", "out.jar"), ("in", "out", "out/noise.bin")] {
        let before = room.contents();
        let mut shell = Command::new("bash");
        shell.current_dir(room.0.path());
        let text = format!("ulimit -f 64; exec \"$0\" instrument {input} -o {output}");
        shell.args(["-c", &text, env!("CARGO_BIN_EXE_trodden")]);
        let result = shell.output().unwrap();
        let message = String::from_utf8_lossy(&result.stderr);
        assert_eq!(result.status.code(), Some(1), "{message}");
        assert!(
            message.contains(printed) && message.contains("cannot write: File too large"),
            "{message}"
        );
        assert_eq!(room.contents(), before);
    }
    // A former output survives.
    room.succeeds(&["in", "-o", "out"]);
    let before = room.contents();
    let mut shell = Command::new("bash");
    shell.current_dir(room.0.path());
    shell.args([
        "-c",
        "ulimit -f 64; exec \"$0\" instrument in -o out",
        env!("CARGO_BIN_EXE_trodden"),
    ]);
    assert_eq!(shell.output().unwrap().status.code(), Some(1));
    assert_eq!(room.contents(), before);
}

/// Bytes that cannot be compressed.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u64;
    let step = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..length).map(step).collect()
}
