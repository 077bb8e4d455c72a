//! `trodden instrument`: everything that is not instrumented stays the same, to the byte.

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::zips::{File, class, file, zip, zip_with};
use tempfile::TempDir;
use trodden_profile::Profile;
use zip::{CompressionMethod, ZipArchive};

struct Room(TempDir);

impl Room {
    fn new() -> Self {
        Room(TempDir::with_prefix("trodden instrument ").unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    #[track_caller]
    fn instrument(&self, args: &[&str]) -> String {
        self.instrument_on(args, "2")
    }

    #[track_caller]
    fn instrument_on(&self, args: &[&str], threads: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trodden"));
        command
            .current_dir(self.0.path())
            .env("RAYON_NUM_THREADS", threads);
        let output = command.arg("instrument").args(args).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{args:?}: {printed}");
        assert!(output.stdout.is_empty());
        printed
    }

    /// The classes of a path map, by name. (In the file they have the order of the output.)
    fn map(&self, output: &str) -> Vec<String> {
        let map = Profile::load(self.path(&format!("{output}.map.trodden"))).unwrap();
        let mut names: Vec<String> = map.classes.iter().map(|c| c.map.name.clone()).collect();
        names.sort();
        names
    }
}

/// An entry as an independent reader sees it.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    name: String,
    comment: String,
    time: Option<String>,
    method: CompressionMethod,
    mode: Option<u32>,
    bytes: Vec<u8>,
    data_start: u64,
    extra: Vec<u8>,
}

fn read(jar: &[u8]) -> Vec<Seen> {
    let mut zip = ZipArchive::new(Cursor::new(jar)).unwrap();
    let mut seen = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        seen.push(Seen {
            name: entry.name().unwrap().into_owned(),
            comment: entry.comment().to_owned(),
            time: entry.last_modified().map(|t| t.to_string()),
            method: entry.compression(),
            mode: entry.unix_mode(),
            data_start: entry.data_start().unwrap(),
            extra: entry.extra_data().unwrap_or_default(),
            bytes,
        });
    }
    seen
}

/// Everything but what must differ: classes' contents, and where data begins.
fn assert_same_but_for_classes(before: &[u8], after: &[u8], changed: &[&str]) {
    let (before, after) = (read(before), read(after));
    for (mut was, mut is) in before.into_iter().zip(after) {
        assert_eq!(
            changed.contains(&was.name.as_str()),
            was.bytes != is.bytes,
            "{}",
            was.name
        );
        was.bytes.clear();
        is.bytes.clear();
        (was.data_start, is.data_start) = (0, 0);
        assert_eq!(was, is);
    }
}

/// A field with a timestamp in seconds, as Info-ZIP writes it.
const UT: &[u8] = &[0x55, 0x54, 5, 0, 1, 1, 2, 3, 4];

fn library() -> Vec<File> {
    let mut manifest = file(
        "META-INF/MANIFEST.MF",
        "Manifest-Version: 1.0\r\nMulti-Release: true\r\n\r\n",
    );
    // What the jar tool puts into the first entry.
    manifest.extra = vec![0xfe, 0xca, 0, 0];
    let mut streamed = file("lib/B.class", class("lib/B"));
    streamed.descriptor = true;
    streamed.comment = "made by hand".to_owned();
    streamed.extra = UT.to_vec();
    let mut text = file("lib/text.txt", "some text ".repeat(50));
    text.descriptor = true;
    text.extra = UT.to_vec();
    text.comment = "text".to_owned();
    vec![
        file("META-INF/", "").stored(),
        manifest,
        file("lib/A.class", class("lib/A")).stored(),
        streamed,
        text,
        file("META-INF/versions/9/lib/A.class", class("lib/A")),
        file("module-info.class", plain_class("module-info")),
        file("lib/Plain.class", plain_class("lib/Plain")),
    ]
}

/// A class without branches.
fn plain_class(name: &str) -> Vec<u8> {
    let mut class = class(name);
    let branch = class.windows(4).position(|w| w == [0x1a, 0x99, 0, 5]).unwrap();
    class[branch..branch + 4].copy_from_slice(&[0, 0, 0, 0]);
    class
}

#[test]
fn what_is_not_instrumented_stays() {
    let room = Room::new();
    let mut files = library();
    // The same bytes in both places are one class of the path map.
    files[5].bytes[7] = 50;
    let jar = zip_with(b"", true, &files, "a comment on all of it");
    room.put("in.jar", &jar);
    let printed = room.instrument(&["in.jar", "-o", "out.jar"]);
    assert!(
        printed.contains("out.jar: 3 methods in 3 of 5 classes carry probes"),
        "{printed}"
    );
    let out = room.get("out.jar");
    let changed = ["lib/A.class", "lib/B.class", "META-INF/versions/9/lib/A.class"];
    assert_same_but_for_classes(&jar, &out, &changed);
    assert!(out.ends_with(b"a comment on all of it"));
    assert_eq!(room.map("out.jar"), ["lib/A", "lib/A", "lib/B"]);
    // Headers, data and descriptors of entries that stay are copied unchanged.
    let text = zip(&files[4..5]);
    let chunk = &text[..text.windows(4).position(|w| w == b"PK\x01\x02").unwrap()];
    assert!(out.windows(chunk.len()).any(|w| w == chunk));
}

#[test]
fn the_same_input_gives_the_same_output_on_any_number_of_processors() {
    let room = Room::new();
    let mut files = library();
    for n in 0..200 {
        let name = format!("many/C{n}");
        files.push(file(&format!("{name}.class"), class(&name)));
    }
    files.push(file("lib/inner.jar", zip(&library())).stored());
    room.put("in.jar", zip(&files));
    room.instrument_on(&["in.jar", "-o", "one.jar"], "1");
    for threads in ["2", "7"] {
        room.instrument_on(&["in.jar", "-o", "more.jar"], threads);
        assert_eq!(room.get("one.jar"), room.get("more.jar"));
        assert_eq!(room.get("one.jar.map.trodden"), room.get("more.jar.map.trodden"));
    }
}

#[test]
fn nothing_to_do_is_a_copy() {
    let room = Room::new();
    let mut signed = library();
    signed.push(file("META-INF/ME.SF", "signature"));
    let jar = zip_with(b"#!/bin/sh\nexec java -jar \"$0\"\n", false, &signed, "");
    room.put("in.jar", &jar);
    room.instrument(&["in.jar", "-o", "out.jar", "--include", "nothing.*"]);
    assert_eq!(room.get("out.jar"), jar);
}

#[test]
fn jars_inside_are_instrumented_and_stay_stored_and_aligned() {
    let room = Room::new();
    let mut inner = file("BOOT-INF/lib/a.jar", zip(&library())).stored();
    inner.align = Some(4096);
    let mut other = file("BOOT-INF/lib/untouched.jar", zip(&[file("x.txt", "x")])).stored();
    other.align = Some(4096);
    let files = [
        file(
            "META-INF/MANIFEST.MF",
            "Manifest-Version: 1.0\r\nStart-Class: app.Main\r\n\r\n",
        ),
        file("org/loader/Launcher.class", class("org/loader/Launcher")),
        file("BOOT-INF/classes/app/Main.class", class("app/Main")),
        inner,
        other,
    ];
    let script = b"#!/bin/sh\nexec java -jar \"$0\" \"$@\"\n";
    for absolute in [true, false] {
        let jar = zip_with(script, absolute, &files, "");
        room.put("app.jar", &jar);
        let printed = room.instrument(&["app.jar", "-o", "out.jar"]);
        assert!(printed.contains("5 methods in 5 of 7 classes"), "{printed}");
        let out = room.get("out.jar");
        assert!(out.starts_with(script));
        let (before, after) = (read(&jar), read(&out));
        let names = |seen: &[Seen]| -> Vec<String> { seen.iter().map(|s| s.name.clone()).collect() };
        assert_eq!(names(&before), names(&after)[..before.len()]);
        assert_eq!(after[3].method, CompressionMethod::Stored);
        assert_eq!(after[3].data_start % 4096, 0);
        assert_eq!(after[4].data_start % 4096, 0);
        assert_eq!(before[4].bytes, after[4].bytes);
        let changed = ["lib/A.class", "lib/B.class", "META-INF/versions/9/lib/A.class"];
        assert_same_but_for_classes(&before[3].bytes, &after[3].bytes, &changed);
        assert_eq!(
            room.map("out.jar"),
            ["app/Main", "lib/A", "lib/B", "org/loader/Launcher"]
        );
        // JVMs count offsets as the input did.
        let counted = |zip: &[u8]| {
            let end = zip.len() - 22;
            let field = |at: usize| u32::from_le_bytes(zip[at..at + 4].try_into().unwrap()) as usize;
            end - field(end + 12) - field(end + 16)
        };
        assert_eq!(counted(&jar), counted(&out));
    }
}

#[test]
fn bare_zeros_of_zipalign_are_kept_up() {
    let room = Room::new();
    let mut data = file("resources.arsc", vec![7; 100]).stored();
    let before = zip(&[file("a/B.class", class("a/B")), data.clone()]);
    let off = read(&before)[1].data_start as usize % 4;
    data.extra = vec![0; 4 - off];
    // In the local header only.
    let jar = {
        let padded = zip(&[file("a/B.class", class("a/B")), data.clone()]);
        assert_eq!(read(&padded)[1].data_start % 4, 0);
        padded
    };
    room.put("in.jar", jar);
    room.instrument(&["in.jar", "-o", "out.jar"]);
    assert_eq!(read(&room.get("out.jar"))[1].data_start % 4, 0);
}

#[test]
fn signatures_are_taken_off_where_asked_for() {
    let room = Room::new();
    let manifest =
        "Manifest-Version: 1.0\r\nMain-Class: lib.A\r\n\r\nName: lib/A.class\r\nSHA-256-Digest: abc\r\n\r\n";
    let jar = zip(&[
        file("META-INF/MANIFEST.MF", manifest),
        file("META-INF/ME.SF", "x"),
        file("META-INF/ME.RSA", "x"),
        file("lib/A.class", class("lib/A")),
    ]);
    room.put("in.jar", &jar);
    room.instrument(&["in.jar", "-o", "out.jar", "--strip-signatures"]);
    let after = read(&room.get("out.jar"));
    assert_eq!(
        after[0].bytes,
        b"Manifest-Version: 1.0\r\nMain-Class: lib.A\r\n\r\n"
    );
    assert_eq!(after[1].name, "lib/A.class");
    // Where nothing changes, a signature holds.
    room.instrument(&["in.jar", "-o", "same.jar", "--strip-signatures", "--exclude", "*"]);
    assert_eq!(room.get("same.jar"), jar);
}

#[test]
fn more_than_65535_entries() {
    let room = Room::new();
    let mut files: Vec<File> = (0..66_000)
        .map(|n| file(&format!("n/{n}"), "").stored())
        .collect();
    files.push(file("a/B.class", class("a/B")));
    // The number of entries in the end record is taken modulo 65536.
    room.put("in.jar", zip(&files));
    let printed = room.instrument(&["in.jar", "-o", "out.jar"]);
    assert!(printed.contains("1 methods in 1 of 1"), "{printed}");
    let out = room.get("out.jar");
    let zip = ZipArchive::new(Cursor::new(&out)).unwrap();
    assert!(zip.len() >= 66_001, "{}", zip.len());
    // Again, now from one with a 64-bit end record.
    room.instrument(&["out.jar", "-o", "again.jar", "--include", "none"]);
    assert_eq!(room.get("again.jar"), out);
}

#[test]
fn folders_become_folders() {
    let room = Room::new();
    room.put("classes/a/B.class", class("a/B"));
    room.put("classes/a/text.txt", "text");
    room.put("classes/lib/inner.jar", zip(&library()));
    fs::create_dir_all(room.path("classes/empty")).unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in ["a/B.class", "a/text.txt"] {
        let file = fs::File::options()
            .write(true)
            .open(room.path("classes").join(name))
            .unwrap();
        file.set_modified(long_ago).unwrap();
    }
    for _ in 0..2 {
        let printed = room.instrument(&["classes", "-o", "out"]);
        assert!(printed.contains("out: 4 methods in 4 of 6 classes"), "{printed}");
        assert_ne!(room.get("out/a/B.class"), room.get("classes/a/B.class"));
        assert_eq!(room.get("out/a/text.txt"), b"text");
        let changed = ["lib/A.class", "lib/B.class", "META-INF/versions/9/lib/A.class"];
        assert_same_but_for_classes(
            &room.get("classes/lib/inner.jar"),
            &room.get("out/lib/inner.jar"),
            &changed,
        );
        for name in ["a/B.class", "a/text.txt"] {
            let data = fs::metadata(room.path("out").join(name)).unwrap();
            assert_eq!(data.modified().unwrap(), long_ago);
        }
        assert!(room.path("out/empty").is_dir());
        assert_eq!(room.map("out"), ["a/B", "lib/A", "lib/B"]);
    }
}

#[test]
fn several_inputs_go_into_a_folder() {
    let room = Room::new();
    room.put("a.jar", zip(&library()));
    room.put("B.class", class("B"));
    room.put("dir/C.class", class("C"));
    room.instrument(&["a.jar", "B.class", "dir", "-o", "out"]);
    for name in ["a.jar", "B.class", "dir/C.class"] {
        assert!(Path::new(&room.path("out").join(name)).is_file(), "{name}");
    }
    assert_eq!(room.map("out/dir"), ["C"]);
    // A folder's name with a slash at the end is one, be it there or not.
    room.instrument(&["a.jar", "-o", "new/"]);
    assert!(room.path("new/a.jar").is_file());
}

#[test]
fn classes_in_odd_places_are_data() {
    let room = Room::new();
    let jar = zip(&[
        file("templates/B.class", class("a/B")),
        file("a/C.class", class("a/C")),
    ]);
    room.put("in.jar", &jar);
    let printed = room.instrument(&["in.jar", "-o", "out.jar"]);
    assert!(
        printed.contains("another name than the class: 1 (such as a.B)"),
        "{printed}"
    );
    assert_same_but_for_classes(&jar, &room.get("out.jar"), &["a/C.class"]);
}
