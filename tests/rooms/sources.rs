//! What the sources of a crate must not have: circles of files that use each other, which cannot be
//! understood, tested or moved apart; and texts as errors. Crates include this file in a test.
//!
//! A file uses another if a path in its code (in `use` or elsewhere) leads to an item of it. Re-exports are
//! followed to the file that they name. A re-export is a use itself if it is of another part of the crate; one
//! of a module's own parts is none, nor are `mod` declarations, comments, texts, or tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module as the names that lead to it from the crate.
type Module = Vec<String>;

/// The files of a crate and what they use.
pub struct Uses(BTreeMap<Module, BTreeSet<Module>>);

/// Fails if a circle of more files is in the crate of that folder than `most`. More than 4 is a number of
/// today, which is to fall: it fails as well if it is too high.
pub fn check_circles(crate_folder: &str, most: usize) {
    let uses = Uses::read(&Path::new(crate_folder).join("src"));
    // A reader that sees nothing finds no circle either.
    let (files, arrows) = (uses.0.len(), uses.0.values().map(BTreeSet::len).sum::<usize>());
    assert!(
        files > 1 && arrows >= files,
        "{arrows} uses between {files} files of {crate_folder} are too few: {:?}",
        uses.0
    );
    let largest = uses
        .circles()
        .into_iter()
        .max_by_key(Vec::len)
        .unwrap_or_default();
    let names: Vec<String> = largest.iter().map(|module| module.join("::")).collect();
    assert!(
        largest.len() <= most,
        "{} files use each other in a circle, at most {most} may: {names:#?}",
        largest.len()
    );
    assert!(
        most <= 4 || largest.len() == most,
        "the largest circle has {} files now: write that into the test",
        largest.len()
    );
}

/// Fails if errors of that crate are texts in more places than `most`: errors have types.
pub fn check_errors(crate_folder: &str, most: usize) {
    let mut files = BTreeMap::new();
    read(&Path::new(crate_folder).join("src"), &[], &mut files);
    let mut found = Vec::new();
    for (module, text) in &files {
        let code = plain(text);
        let texts = code
            .split("Result<")
            .skip(1)
            .filter(|rest| has_text_as_error(rest))
            .count();
        let texts = texts + code.matches("type Err = String;").count();
        found.extend(std::iter::repeat_n(module.join("::"), texts));
    }
    assert!(
        found.len() == most,
        "{} results have texts as errors; {most} were left, and the number may only fall: {found:#?}",
        found.len()
    );
}

/// What follows `Result<`.
fn has_text_as_error(rest: &str) -> bool {
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += i32::from(c == '<') - i32::from(c == '>');
        depth == 0
    });
    let inside = &rest[..end.unwrap_or(0)];
    inside.trim_end().trim_end_matches(',').ends_with(" String") && inside.contains(", String")
}

impl Uses {
    fn read(source: &Path) -> Uses {
        let mut files = BTreeMap::new();
        read(source, &[], &mut files);
        Uses::of(&files)
    }

    /// Of modules and their texts.
    fn of(files: &BTreeMap<Module, String>) -> Uses {
        let mut sources: BTreeMap<&Module, Source> = BTreeMap::new();
        for (module, text) in files {
            sources.insert(module, Source::new(module, &plain(text), files));
        }
        let uses = |(module, source): (&&Module, &Source)| {
            let is_other = |path: &&Vec<String>| !path.starts_with(module);
            let exports = source.exports.values().filter(is_other);
            let paths = source.imports.values().chain(&source.paths).chain(exports);
            let used = paths.map(|path| home(path, &sources, 0));
            let used = used.filter(|used| used != *module).collect();
            ((*module).clone(), used)
        };
        Uses(sources.iter().map(uses).collect())
    }

    /// Sets of at least two files that use each other, directly or by way of others.
    fn circles(&self) -> Vec<Vec<Module>> {
        let reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.0.keys().map(|from| (from, self.reached(from))).collect();
        let mut done = BTreeSet::new();
        let mut circles = Vec::new();
        for (from, to) in &reached {
            if !to.contains(from) || done.contains(from) {
                continue;
            }
            let circle: Vec<&Module> = to
                .iter()
                .filter(|to| reached[*to].contains(from))
                .copied()
                .collect();
            done.extend(circle.iter().copied());
            circles.push(circle.into_iter().cloned().collect());
        }
        circles
    }

    fn reached(&self, from: &Module) -> BTreeSet<&Module> {
        let mut reached = BTreeSet::new();
        let mut next: Vec<&Module> = self.0[from].iter().collect();
        while let Some(module) = next.pop() {
            if reached.insert(module) {
                next.extend(&self.0[module]);
            }
        }
        reached
    }
}

/// Paths of one file, from the crate on.
#[derive(Default)]
struct Source {
    /// By the names under which the file has them.
    imports: BTreeMap<String, Vec<String>>,
    /// Others may find these here.
    exports: BTreeMap<String, Vec<String>>,
    paths: Vec<Vec<String>>,
}

impl Source {
    fn new(module: &Module, code: &str, files: &BTreeMap<Module, String>) -> Source {
        let mut source = Source::default();
        let mut rest = String::new();
        for statement in code.split_inclusive(';') {
            let Some((before, visible, tree)) = import(statement) else {
                rest += statement;
                continue;
            };
            rest += before;
            for (path, name) in leaves(tree) {
                if let Some(path) = from_crate(&path, module, files, &BTreeMap::new()) {
                    let names = if visible {
                        &mut source.exports
                    } else {
                        &mut source.imports
                    };
                    // Several imports may be called `_` or `*`.
                    let name = if names.contains_key(&name) {
                        path.join("::")
                    } else {
                        name
                    };
                    names.insert(name, path);
                }
            }
        }
        for path in paths(&rest) {
            source
                .paths
                .extend(from_crate(&path, module, files, &source.imports));
        }
        source
    }
}

fn read(folder: &Path, module: &[String], files: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let mut inner = module.to_vec();
        if path.is_dir() {
            inner.push(name);
            read(&path, &inner, files);
        } else if path.extension().is_some_and(|end| end == "rs") && name != "tests" {
            if !matches!(name.as_str(), "mod" | "lib" | "main") {
                inner.push(name);
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            files.entry(inner).or_default().push_str(&text);
        }
    }
}

/// The code without its tests, comments and texts.
fn plain(text: &str) -> String {
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let mut plain = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(['"', '/', '\'']) {
        plain += &rest[..at];
        rest = &rest[at..];
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with('"') {
            let raw = code_before_is_raw(&plain);
            text_length(rest, raw)
        } else if let Some(escaped) = rest.strip_prefix("'\\") {
            escaped.find('\'').map_or(1, |end| end + 3).max(4)
        } else if rest.chars().nth(2) == Some('\'') {
            rest.chars().take(3).map(char::len_utf8).sum()
        } else {
            plain.push_str(&rest[..1]);
            1
        };
        rest = &rest[length..];
    }
    plain + rest
}

/// How many `#` a raw text that begins here has; `None` if it is not raw.
fn code_before_is_raw(before: &str) -> Option<usize> {
    let without = before.trim_end_matches('#');
    let is_raw = without.ends_with('r') && {
        let word = without.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        matches!(&without[word.len()..], "r" | "br" | "cr")
    };
    is_raw.then_some(before.len() - without.len())
}

fn text_length(text: &str, raw: Option<usize>) -> usize {
    if let Some(marks) = raw {
        let end = format!("\"{}", "#".repeat(marks));
        return text[1..].find(&end).map_or(text.len(), |at| at + 1 + end.len());
    }
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// What is before an import that ends this statement, whether others see what is imported, and its tree.
fn import(statement: &str) -> Option<(&str, bool, &str)> {
    let body = statement.strip_suffix(';')?;
    let at = body.rfind("use ").filter(|&at| {
        let before = body[..at].chars().next_back();
        before.is_none_or(char::is_whitespace)
    })?;
    let before = body[..at].trim_end();
    let visible = before.rfind("pub").filter(|&from| {
        let mark = before[from + 3..].trim();
        mark.is_empty() || mark.starts_with('(') && mark.ends_with(')')
    });
    Some((
        &before[..visible.unwrap_or(before.len())],
        visible.is_some(),
        &body[at + 4..],
    ))
}

/// Each path of an import, with the name that it gets.
fn leaves(tree: &str) -> Vec<(Vec<String>, String)> {
    let tree = tree.trim();
    let split = |path: &str| -> Vec<String> {
        let names = path.split("::").map(str::trim).filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    let Some(open) = tree.find('{') else {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, ""));
        let mut path = split(path);
        path.pop_if(|last| last == "self");
        let name = if name.is_empty() {
            path.last().cloned().unwrap_or_default()
        } else {
            name.trim().to_owned()
        };
        return vec![(path, name)];
    };
    let prefix = split(&tree[..open]);
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let mut depth = 0;
    let parts = inner.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    let parts = parts.filter(|part| !part.trim().is_empty());
    let with_prefix = |(path, name): (Vec<String>, String)| {
        let all: Vec<String> = prefix.iter().cloned().chain(path).collect();
        let name = if name.is_empty() {
            prefix.last().cloned().unwrap_or_default()
        } else {
            name
        };
        (all, name)
    };
    parts.flat_map(leaves).map(with_prefix).collect()
}

/// All paths in code.
fn paths(code: &str) -> Vec<Vec<String>> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut path: Vec<String> = Vec::new();
    for word in code.split_inclusive("::") {
        let names = word.strip_suffix("::").unwrap_or(word);
        let mut parts = names.trim_end().rsplit(|c| !is_name(c));
        let last = parts.next().unwrap_or_default();
        let first: String = names.trim_start().chars().take_while(|&c| is_name(c)).collect();
        if names.trim() == last && !path.is_empty() {
            path.push(last.to_owned());
        } else {
            if !path.is_empty() {
                path.push(first);
                found.push(std::mem::take(&mut path));
            }
            if !last.is_empty() {
                path.push(last.to_owned());
            }
        }
    }
    found
}

/// A path from the crate on, if it leads to something of the crate.
fn from_crate(
    path: &[String],
    module: &Module,
    files: &BTreeMap<Module, String>,
    imports: &BTreeMap<String, Vec<String>>,
) -> Option<Vec<String>> {
    let (first, rest) = path.split_first()?;
    let ups = path.iter().take_while(|name| *name == "super").count();
    let (start, rest) = match first.as_str() {
        "crate" => (Vec::new(), rest),
        "self" => (module.clone(), rest),
        "super" => (module[..module.len().checked_sub(ups)?].to_vec(), &path[ups..]),
        name => {
            let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
            let start = imports.get(name).cloned();
            (
                start.or_else(|| files.contains_key(&child).then_some(child))?,
                rest,
            )
        }
    };
    Some(start.into_iter().chain(rest.iter().cloned()).collect())
}

/// The file that has what a path leads to.
fn home(path: &[String], sources: &BTreeMap<&Module, Source>, depth: usize) -> Module {
    let known = |length: &usize| sources.contains_key(&path[..*length].to_vec());
    let length = (0..=path.len()).rev().find(known).unwrap_or(0);
    let module = path[..length].to_vec();
    let exported = path
        .get(length)
        .and_then(|name| sources[&module].exports.get(name));
    match exported {
        Some(start) if depth < 8 => {
            let rest = path[length + 1..].iter().cloned();
            let path: Vec<String> = start.iter().cloned().chain(rest).collect();
            home(&path, sources, depth + 1)
        }
        _ => module,
    }
}

#[test]
fn circles_are_found() {
    let files = [
        ("", "pub use a::One; mod a; mod b;"),
        // Of `c` by way of the re-export in `b`; comments, texts and tests do not count.
        (
            "a",
            "use crate::b::{self as other, Two}; // crate::c::x\n fn f() { \"crate::c\"; }",
        ),
        (
            "b",
            "#[cfg(test)]\nmod tests;\npub(crate) use c::Two; fn f() {}\n#[cfg(test)]\nmod tests { use crate::a; }",
        ),
        ("b::c", "fn f() { super::super::a::g(); crate::One::new() }"),
        ("d", "use crate::a::x;"),
    ];
    let module = |name: &str| -> Module {
        let names = name.split("::").filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    let files = files.map(|(name, text)| (module(name), text.to_owned()));
    let circles = Uses::of(&files.into_iter().collect()).circles();
    assert_eq!(circles, [vec![module("a"), module("b::c")]]);
}

#[test]
fn uses_are_found_in_groups_and_in_code_and_reexports_of_other_parts_are_uses() {
    let module = |name: &str| -> Module {
        let names = name.split("::").filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    let files = [
        ("", "mod a; mod b;"),
        // Its own part: no use.
        ("a", "mod c; pub use c::One;"),
        (
            "a::c",
            "use crate::b::{d::{Three, e}, Four};\nfn f() { super::super::g::h(i) }",
        ),
        // Of another part.
        ("b", "pub mod d; pub use crate::g::Five;"),
        ("b::d", "fn f() { e::f(); std::mem::take(x) }"),
        ("b::d::e", ""),
        ("g", ""),
    ];
    let files = files.map(|(name, text)| (module(name), text.to_owned()));
    let uses = Uses::of(&files.into_iter().collect());
    let of = |name: &str| -> Vec<String> {
        let used = uses.0[&module(name)].iter();
        used.map(|module| module.join("::")).collect()
    };
    assert_eq!(of("a"), [""; 0]);
    assert_eq!(of("a::c"), ["b", "b::d", "b::d::e", "g"]);
    assert_eq!(of("b"), ["g"]);
    assert_eq!(of("b::d"), ["b::d::e"]);
}

#[test]
fn errors_that_are_texts_are_found() {
    for (code, expected) in [
        ("fn f() -> Result<u8, String> {", true),
        ("fn f() -> Result<Vec<(u8, u8)>, String> {", true),
        ("fn f() -> Result<String, Fault> {", false),
        ("fn f() -> Result<BTreeMap<u8, String>, Fault> {", false),
        ("fn f() -> Result<BTreeMap<String, String>> {", false),
    ] {
        let rest = code.split("Result<").nth(1).expect("a result");
        assert_eq!(has_text_as_error(rest), expected, "{code}");
    }
}
