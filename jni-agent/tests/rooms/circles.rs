//! Circles of files: each uses the next one, and the last the first. A small one is a module and its parts; a
//! large one is a room in which nothing can be read alone.

use std::collections::{BTreeMap, BTreeSet};

use super::{all_sources, modules_of, without_comments};

/// Files of the largest circle. It may only fall.
const LARGEST: usize = 4;

/// The words of all paths in the code: `use a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut prefixes: Vec<Vec<String>> = vec![Vec::new()];
    let mut current: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if c == ':' && rest.peek() == Some(&':') {
            rest.next();
            current.push(std::mem::take(&mut word));
            if rest.peek() == Some(&'{') {
                rest.next();
                let outer = prefixes.last().cloned().unwrap_or_default();
                prefixes.push([outer, std::mem::take(&mut current)].concat());
            }
            continue;
        }
        if !word.is_empty() {
            current.push(std::mem::take(&mut word));
        }
        let prefix = prefixes.last().cloned().unwrap_or_default();
        if !current.is_empty() && (current.len() > 1 || !prefix.is_empty()) {
            found.push([prefix, current.clone()].concat());
        }
        current.clear();
        if c == '}' && prefixes.len() > 1 {
            prefixes.pop();
        }
    }
    found
}

/// The file that a path written in a module names, if it is one of these.
fn target(path: &[String], module: &[String], files: &BTreeSet<Vec<String>>) -> Option<Vec<String>> {
    let mut base = match path[0].as_str() {
        "crate" => Vec::new(),
        "self" | "super" => module.to_vec(),
        child => {
            let named = [module, &[child.to_owned()]].concat();
            files.contains(&named).then(|| module.to_vec())?
        }
    };
    for part in path {
        match part.as_str() {
            "crate" | "self" => {}
            "super" => {
                base.pop();
            }
            name => {
                let next = [&base[..], &[name.to_owned()]].concat();
                if !files.contains(&next) {
                    break;
                }
                base = next;
            }
        }
    }
    (base != module && files.contains(&base)).then_some(base)
}

type Arrows = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

fn arrows() -> Arrows {
    let sources = all_sources();
    let files: BTreeSet<Vec<String>> = sources.iter().map(|file| modules_of(file)).collect();
    let of_file = |file: &std::path::PathBuf| {
        let module = modules_of(file);
        let code = without_comments(&std::fs::read_to_string(file).expect("a source"));
        let code = code
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default()
            .to_owned();
        let named = paths(&code);
        let used = named
            .iter()
            .filter_map(|path| target(path, &module, &files))
            .collect();
        (module, used)
    };
    // The tests of a module are beside it.
    let is_code = |(module, _): &(Vec<String>, _)| module.last().is_none_or(|name| name != "tests");
    sources.iter().map(of_file).filter(is_code).collect()
}

/// The files that can be reached from a file.
fn reach(from: &[String], arrows: &Arrows) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    let mut next = vec![from.to_vec()];
    while let Some(file) = next.pop() {
        for used in arrows.get(&file).into_iter().flatten() {
            if found.insert(used.clone()) {
                next.push(used.clone());
            }
        }
    }
    found
}

#[test]
fn circles_of_files_are_small() {
    let arrows = arrows();
    assert!(
        arrows.values().map(BTreeSet::len).sum::<usize>() > 200,
        "{arrows:?}"
    );
    let reached: BTreeMap<&Vec<String>, BTreeSet<Vec<String>>> =
        arrows.keys().map(|file| (file, reach(file, &arrows))).collect();
    let circle = |file: &Vec<String>| -> Vec<String> {
        let others = arrows
            .keys()
            .filter(|other| reached[file].contains(*other) && reached[*other].contains(file));
        others.map(|file| file.join("/")).collect()
    };
    let largest = arrows.keys().map(circle).max_by_key(Vec::len).unwrap_or_default();
    assert!(
        largest.len() == LARGEST,
        "{} files use one another, and the test says {LARGEST}: {largest:?}",
        largest.len()
    );
}

#[test]
fn paths_are_read_with_their_groups() {
    let found = paths("use crate::a::{b, c::{D, e}, F};\nlet x = super::g::h(i);\n");
    let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
    let expected = [
        "crate::a::b",
        "crate::a::c::D",
        "crate::a::c::e",
        "crate::a::F",
        "super::g::h",
    ];
    assert_eq!(found, expected);
    let word = |text: &str| text.split("::").map(str::to_owned).collect::<Vec<_>>();
    let files: BTreeSet<Vec<String>> = ["a", "a::b", "a::b::c", "d"].map(word).into();
    let of = |path: &str, module: &str| target(&word(path), &word(module), &files).map(|t| t.join("::"));
    assert_eq!(of("crate::d::X", "a::b").as_deref(), Some("d"));
    assert_eq!(of("super::Y", "a::b").as_deref(), Some("a"));
    assert_eq!(of("c::Z", "a::b").as_deref(), Some("a::b::c"));
    assert_eq!(of("std::mem", "a::b"), None);
}
