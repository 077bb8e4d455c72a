//! The rooms of this crate depend on each other in one direction only: `output`, `options`, `model`, `stream`,
//! `spool`. And the
//! common code of `model` knows no kind of data by name.

#[path = "../../tests/rooms/sources.rs"]
mod sources;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The rooms, lowest first. A room may use those before it.
const ROOMS: [&str; 5] = ["output", "options", "model", "stream", "spool"];

#[test]
fn each_room_uses_only_lower_ones() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = std::fs::read_to_string(source.join("lib.rs")).expect("lib.rs");
    let exported = exports(&lib);
    assert_eq!(
        exported.get("Schedule"),
        Some(&1),
        "names of options are found in lib.rs"
    );
    assert_eq!(
        exported.get("Profile"),
        Some(&2),
        "names of model are found in lib.rs"
    );
    assert_eq!(
        exported.get("trace"),
        Some(&3),
        "names of stream are found in lib.rs"
    );
    for (rank, room) in ROOMS.iter().enumerate() {
        let mut files = rust_files(&source.join(room));
        files.extend(Some(source.join(format!("{room}.rs"))).filter(|file| file.exists()));
        // Tests may save a profile to see a file written.
        files.retain(|file| file.file_name().is_none_or(|name| name != "tests.rs"));
        assert!(!files.is_empty(), "no source file in {room}");
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file");
            for (line, name) in crate_paths(&text) {
                let used = ROOMS.iter().position(|r| *r == name);
                let used = used.or_else(|| exported.get(name.as_str()).copied());
                let used = used.unwrap_or_else(|| panic!("{}:{line}: crate::{name}?", file.display()));
                let place = format!("{}:{line}", file.display());
                assert!(
                    used <= rank,
                    "{place}: {room} uses {} (crate::{name})",
                    ROOMS[used]
                );
            }
        }
    }
}

#[test]
fn no_circle_of_files_is_larger() {
    sources::check_circles(env!("CARGO_MANIFEST_DIR"), 4);
}

#[test]
fn errors_have_types() {
    sources::check_errors(env!("CARGO_MANIFEST_DIR"), 0);
}

#[test]
fn codec_and_merge_name_no_kind() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model");
    let read = |file: &Path| std::fs::read_to_string(file).expect("a source file");
    let registry = read(&model.join("kinds.rs"));
    let kinds: Vec<&str> = registry
        .lines()
        .filter_map(|line| line.trim().strip_prefix('&')?.strip_suffix("::section::Kind,"))
        .collect();
    assert!(kinds.contains(&"kpaths"), "{kinds:?}");
    let mut common = rust_files(&model.join("codec"));
    common.push(model.join("merge.rs"));
    common.push(model.join("subtract.rs"));
    common.push(model.join("printable.rs"));
    for file in common {
        let all = read(&file);
        let code = all.split("#[cfg(test)]").next().unwrap_or_default();
        for (line, text) in code.lines().enumerate() {
            let code = text.split("//").next().unwrap_or_default();
            let mut words = code.split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let named = words.find(|word| kinds.contains(word));
            assert_eq!(named, None, "{}:{}", file.display(), line + 1);
        }
    }
}

/// The names that `lib.rs` re-exports, with the room they come from.
fn exports(lib: &str) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for statement in lib.split(';') {
        let Some((_, path)) = statement.split_once("pub use ") else {
            continue;
        };
        let (room, rest) = path.split_once("::").expect("re-exports name their room");
        let rank = ROOMS.iter().position(|r| *r == room).expect("a room");
        for name in rest.split(|c: char| !(c.is_alphanumeric() || c == '_')) {
            names.insert(name.to_owned(), rank);
        }
    }
    names
}

/// What follows `crate::` in code (comments do not count), with its line.
fn crate_paths(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        for rest in code.split("crate::").skip(1) {
            let name: String = rest
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            assert!(
                !name.is_empty(),
                "line {}: a list of paths behind crate:: is not understood",
                index + 1
            );
            found.push((index + 1, name));
        }
    }
    found
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a room is a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}
