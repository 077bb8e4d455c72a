//! Which tests a change may concern.
//!
//! A change within the lines of one method concerns the tests that ran this method; one of imports those that
//! ran anything of the file. What static initialisers may call, and whatever else changes, fields, signatures,
//! new methods, files that the profile knows nothing of, may concern any test.

use std::collections::{BTreeMap, BTreeSet};

use trodden_profile::{MethodMap, Profile, TestCounts};

use super::initialisers;
use crate::names;
use crate::source::is_of;
use crate::unified_diff::{ChangeError, FileChange, Piece, parse};
use crate::view;

/// Tests to run for a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Their names.
    pub tests: BTreeSet<String>,
    /// Why it has to be all tests, if it has to.
    pub all: Vec<String>,
    /// Methods that changed, and how many tests ran each.
    pub methods: BTreeMap<String, usize>,
    /// Number of tests in the profile.
    pub of: usize,
}

impl Selection {
    fn may_be_any(&mut self, reason: String) {
        if !self.all.contains(&reason) {
            self.all.push(reason);
        }
    }
}

/// The tests that a change may concern. The profile is of the old files.
///
/// # Errors
/// If `diff` is none.
pub fn tests_of_change(profile: &Profile, diff: &str) -> Result<Selection, ChangeError> {
    let mut selection = Selection::default();
    let tests = profile
        .by_test
        .iter()
        .filter(|test| TestCounts::is_test(&test.name));
    let names: BTreeSet<String> = tests.map(|test| test.name.clone()).collect();
    selection.of = names.len();
    let initialisers = initialisers::reached(profile);
    for file in parse(diff)? {
        add(profile, &initialisers, &file, &mut selection);
    }
    if !selection.all.is_empty() {
        selection.tests = names;
    }
    Ok(selection)
}

/// Places of a file's methods in the profile, and their maps.
type Methods<'p> = Vec<((u32, u32), &'p str, &'p MethodMap)>;

/// Code that may run in static initialisers, with the class of one.
type Initialisers<'p> = BTreeMap<(u32, u32), &'p str>;

fn add(profile: &Profile, initialisers: &Initialisers<'_>, file: &FileChange, selection: &mut Selection) {
    if file.whole {
        return selection.may_be_any(format!("{} came, went, was renamed, or is not text", file.path));
    }
    let classes = profile.classes.iter().enumerate();
    let methods: Methods = classes
        .filter(|(_, class)| is_of(&class.map, &file.path))
        .flat_map(|(at, class)| {
            let methods = class.map.methods.iter().enumerate();
            methods.map(move |(index, map)| ((at as u32, index as u32), class.map.name.as_str(), map))
        })
        .collect();
    let without_probes = |class: &str| profile.left_alone().any(|skipped| skipped.class == class);
    if let Some((_, class, _)) = methods.iter().find(|(_, class, _)| without_probes(class)) {
        let what = format!("{} has methods without probes", names::dotted(class));
        return selection.may_be_any(what);
    }
    let code = methods
        .iter()
        .flat_map(|(_, _, map)| map.lines.iter().map(|entry| entry.line));
    let first_code = code.min().unwrap_or(0);
    for piece in &file.pieces {
        if methods.is_empty() {
            return selection.may_be_any(format!("{} has no code in the profile", file.path));
        }
        if is_import(piece) && piece.lines().1 < first_code {
            methods
                .iter()
                .for_each(|method| concern(profile, initialisers, method, selection));
            continue;
        }
        let (first, last) = piece.lines();
        let within: Methods = methods
            .iter()
            .filter(|(_, _, map)| covers(map, first, last))
            .copied()
            .collect();
        if within.is_empty() {
            let what = format!("{}:{} is in no method that has probes", file.path, piece.first);
            return selection.may_be_any(what);
        }
        within
            .iter()
            .for_each(|method| concern(profile, initialisers, method, selection));
    }
}

/// The tests that ran a method.
fn concern(
    profile: &Profile,
    initialisers: &Initialisers<'_>,
    &((class, method), name, map): &((u32, u32), &str, &MethodMap),
    selection: &mut Selection,
) {
    let ran = |test: &&TestCounts| {
        let at = test
            .methods
            .binary_search_by_key(&(class, method), |m| (m.class, m.method));
        at.is_ok_and(|at| view::ran(&test.methods[at].counts))
    };
    let signature = names::title(name, &map.name, &map.descriptor);
    let tests: Vec<&TestCounts> = profile.by_test.iter().filter(ran).collect();
    if let Some(other) = tests.iter().find(|test| !TestCounts::is_test(&test.name)) {
        selection.may_be_any(format!("{signature} ran in no test of its own: {}", other.name));
    } else if map.name == "<clinit>" {
        selection.may_be_any(format!("{signature} runs once, for all tests"));
    } else if let Some(owner) = initialisers.get(&(class, method)).filter(|_| !tests.is_empty()) {
        let owner = names::dotted(owner);
        selection.may_be_any(format!(
            "{signature} may run in the static initialiser of {owner}, once for all tests"
        ));
    }
    selection.methods.insert(signature, tests.len());
    selection.tests.extend(
        tests
            .iter()
            .filter(|test| TestCounts::is_test(&test.name))
            .map(|test| test.name.clone()),
    );
}

/// True if these lines are between the first and the last of a method's code. Code of constructors is spread over the
/// class, where its fields get their values: there each line has to be one of its own.
fn covers(map: &MethodMap, first: u32, last: u32) -> bool {
    let lines: BTreeSet<u32> = map.lines.iter().map(|entry| entry.line).collect();
    match map.name.as_str() {
        "<init>" | "<clinit>" => (first..=last).all(|line| lines.contains(&line)),
        _ => lines.first().is_some_and(|&own| own <= first) && lines.last().is_some_and(|&own| last <= own),
    }
}

/// Imports, and empty lines between them. That a line is a comment is not to be seen: it may be in a text
/// block.
fn is_import(piece: &Piece) -> bool {
    let mut lines = piece.removed.iter().chain(&piece.added).map(|line| line.trim());
    lines.all(|line| line.is_empty() || line.starts_with("import "))
}
