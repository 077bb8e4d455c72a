//! The rooms of the agent and the arrows between them: what may use what. The sources must agree with the
//! table, and so must ARCHITECTURE.md.

#[path = "../../../tests/rooms/sources.rs"]
mod sources;
mod unsafe_code;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each room (a folder or a file of `src/`) with the rooms that it uses. It may name only rooms that stand
/// before it, so there is no circle; and only `entry` may use `session`, so no other room takes the whole
/// agent.
const ROOMS: [(&str, &[&str]); 17] = [
    ("log", &[]),
    ("locks", &[]),
    ("jvm", &["log"]),
    ("threads", &["log", "locks", "jvm"]),
    ("settings", &["log", "threads"]),
    ("classes", &["log", "locks", "jvm", "threads", "settings"]),
    ("host", &["locks", "jvm", "threads", "settings", "classes"]),
    ("hotspot", &["jvm", "host"]),
    ("sampling", &["log", "locks", "jvm", "threads", "classes", "host"]),
    ("requests", &["locks", "jvm", "threads", "classes", "sampling"]),
    (
        "cpu",
        &["log", "locks", "jvm", "threads", "classes", "host", "sampling"],
    ),
    ("stream", &["log", "locks", "jvm", "threads", "classes", "host"]),
    ("structural", &["jvm", "threads", "classes", "host", "sampling"]),
    (
        "controller",
        &[
            "log",
            "locks",
            "jvm",
            "threads",
            "settings",
            "classes",
            "host",
            "sampling",
            "structural",
        ],
    ),
    (
        "recorders",
        &[
            "log",
            "locks",
            "jvm",
            "threads",
            "settings",
            "classes",
            "host",
            "sampling",
            "stream",
            "structural",
            "controller",
        ],
    ),
    (
        "session",
        &[
            "log",
            "locks",
            "jvm",
            "threads",
            "settings",
            "classes",
            "host",
            "hotspot",
            "sampling",
            "requests",
            "cpu",
            "stream",
            "recorders",
        ],
    ),
    (
        "entry",
        &[
            "log",
            "jvm",
            "threads",
            "settings",
            "classes",
            "host",
            "requests",
            "recorders",
            "session",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, found)
        } else {
            found.extend(path.extension().is_some_and(|e| e == "rs").then_some(path))
        }
    }
}

/// All sources of the crate, sorted.
fn all_sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    sources(&root(), &mut files);
    files.sort();
    files
}

/// The modules from the crate's root down to that of a source; none for the root itself.
fn modules_of(file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(root()).expect("inside").with_extension("");
    let mut modules: Vec<String> = inside
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    if modules.last().is_some_and(|name| name == "mod") {
        modules.pop();
    }
    if modules == ["lib"] {
        modules.clear();
    }
    modules
}

/// The code without what follows `//` in its lines.
fn without_comments(text: &str) -> String {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    code.collect::<Vec<_>>().join("\n")
}

/// The first names of all paths that begin with `crate::`, those of `crate::{…}` too.
fn named(code: &str) -> BTreeSet<String> {
    let word = |text: &str| -> String {
        text.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut names = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(group) = rest.strip_prefix('{') else {
            names.insert(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut begins = true;
        for (at, c) in group.char_indices() {
            match c {
                '}' if depth == 0 => break,
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                c if begins && !c.is_whitespace() => {
                    begins = false;
                    names.insert(word(&group[at..]));
                }
                _ => {}
            }
        }
    }
    names
}

/// Does a path of `super::` leave the room? `depth`: modules from the crate's root down to this file's.
fn leaves_by_super(code: &str, depth: usize) -> bool {
    let tests = code.find("#[cfg(test)]\nmod tests {").unwrap_or(code.len());
    let mut rest = 0;
    while let Some(at) = code[rest..].find("super::").map(|at| rest + at) {
        let ups = code[at..].split("::").take_while(|part| *part == "super").count();
        let inline = usize::from(at > tests);
        if ups >= depth + inline {
            return true;
        }
        rest = at + ups * "super::".len();
    }
    false
}

#[test]
fn rooms_use_what_the_table_says() {
    let mut used: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let files = all_sources();
    assert!(files.len() > 30, "{files:?}");
    for file in files {
        let modules = modules_of(&file);
        if modules.is_empty() {
            continue;
        }
        let code = without_comments(&std::fs::read_to_string(&file).expect("a source"));
        assert!(
            !leaves_by_super(&code, modules.len()),
            "{}: a path of `super::` leaves the room",
            file.display()
        );
        let room = modules[0].clone();
        let names = named(&code).into_iter().filter(|name| *name != room);
        used.entry(room.clone()).or_default().extend(names);
    }
    let table: BTreeMap<String, BTreeSet<String>> = ROOMS
        .iter()
        .map(|(room, uses)| {
            let uses = uses.iter().map(|name| (*name).to_owned()).collect();
            ((*room).to_owned(), uses)
        })
        .collect();
    assert_eq!(used, table, "left: the sources; right: the table in this test");
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
fn arrows_point_downwards() {
    for (index, (room, uses)) in ROOMS.iter().enumerate() {
        let below: Vec<&str> = ROOMS[..index].iter().map(|(room, _)| *room).collect();
        for used in *uses {
            assert!(
                below.contains(used),
                "{room} uses {used}, which does not stand below it"
            );
            assert!(*used != "session" || *room == "entry", "{room} takes the agent");
        }
    }
}

#[test]
fn architecture_shows_the_arrows() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ARCHITECTURE.md");
    let text = std::fs::read_to_string(file).expect("ARCHITECTURE.md");
    for (room, uses) in ROOMS {
        let uses: Vec<String> = uses.iter().map(|name| format!("`{name}`")).collect();
        let uses = if uses.is_empty() {
            "–".to_owned()
        } else {
            uses.join(", ")
        };
        let begins = format!("| `{room}` |");
        let ends = format!("| {uses} |");
        assert!(
            text.lines()
                .any(|line| line.starts_with(&begins) && line.ends_with(&ends)),
            "no line `{begins} … {ends}`"
        );
    }
}

#[test]
fn the_readers_of_sources_find_what_they_look_for() {
    let code = without_comments(
        "use crate::{a, b::{c, d}, e::f};\nlet x = crate::g::h(); // crate::not\nuse crate::i;\n",
    );
    assert_eq!(named(&code).into_iter().collect::<String>(), "abegi");
    assert!(leaves_by_super("use super::x;", 1));
    assert!(!leaves_by_super("use super::x;", 2));
    assert!(leaves_by_super("use super::super::x;", 2));
    assert!(!leaves_by_super("#[cfg(test)]\nmod tests {\nuse super::*;", 1));
}
