//! Which tests a change may concern.
//!
//! A change within the lines of one method concerns the tests that ran this method; one of whole
//! [`statements`](super::statements), in Java, only those that ran these. A change of imports concerns the
//! tests that ran anything of the file. What ran in static initialisers, and whatever else changes, fields,
//! signatures, new methods, files that the profile knows nothing of, may concern any test.

use std::collections::{BTreeMap, BTreeSet};

use trodden_profile::{EdgeProfile, MethodMap, Profile, TestCounts};

use super::initialisers::{Initialisers, Place};
use super::{blocks_of, statements};
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
    let ran = Ran {
        profile,
        initialisers: Initialisers::of(profile),
    };
    for file in parse(diff)? {
        ran.add(&file, &mut selection);
    }
    if !selection.all.is_empty() {
        selection.tests = names;
    }
    Ok(selection)
}

/// Places of a file's methods in the profile, and their maps.
type Methods<'p> = Vec<(Place, &'p str, &'p MethodMap)>;

/// The profile, and what is known of its initialisers.
struct Ran<'p> {
    profile: &'p Profile,
    initialisers: Initialisers<'p>,
}

impl<'p> Ran<'p> {
    fn add(&self, file: &FileChange, selection: &mut Selection) {
        if file.whole {
            return selection.may_be_any(format!("{} came, went, was renamed, or is not text", file.path));
        }
        let profile = self.profile;
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
            let (first, last) = piece.lines();
            if is_import(piece) && last < first_code {
                self.concern(&methods, None, selection);
                continue;
            }
            let within: Methods = methods
                .iter()
                .filter(|(_, _, map)| covers(map, first, last))
                .copied()
                .collect();
            if within.is_empty() {
                let what = format!("{}:{} is in no method that has probes", file.path, piece.first);
                return selection.may_be_any(what);
            }
            let is_java = file.path.ends_with(".java");
            let lines = is_java.then(|| statements::changed(piece)).flatten();
            let lines = lines.filter(|lines| are_in_code(&within, lines));
            self.concern(&within, lines.as_deref(), selection);
        }
    }

    /// The tests that ran some of the methods; given lines, code of these.
    fn concern(&self, methods: &Methods<'p>, lines: Option<&[u32]>, selection: &mut Selection) {
        for &(place, name, map) in methods {
            let blocks = lines.map(|lines| blocks(map, lines));
            let tests = self.profile.by_test.iter().enumerate();
            let tests: Vec<(usize, &TestCounts)> = tests
                .filter(|(_, test)| ran(test, place, map, blocks.as_deref()))
                .collect();
            let signature = names::title(name, &map.name, &map.descriptor);
            let owner = || {
                let mut owners = tests
                    .iter()
                    .filter_map(|(at, _)| self.initialisers.owner(*at, place));
                owners.next()
            };
            if let Some((_, other)) = tests.iter().find(|(_, test)| !TestCounts::is_test(&test.name)) {
                selection.may_be_any(format!("{signature} ran in no test of its own: {}", other.name));
            } else if map.name == "<clinit>" {
                selection.may_be_any(format!("{signature} runs once, for all tests"));
            } else if let Some(owner) = owner() {
                let owner = names::dotted(owner);
                selection.may_be_any(format!(
                    "{signature} may run in the static initialiser of {owner}, once for all tests"
                ));
            }
            let names = tests.iter().map(|(_, test)| &test.name);
            let names: BTreeSet<String> = names.filter(|name| TestCounts::is_test(name)).cloned().collect();
            if blocks.is_none_or(|blocks| !blocks.is_empty()) {
                selection.methods.insert(signature, tests.len());
            }
            selection.tests.extend(names);
        }
    }
}

/// True if a test ran a method; given blocks, one of these.
fn ran(test: &TestCounts, place: Place, map: &MethodMap, blocks: Option<&[usize]>) -> bool {
    let at = test.methods.binary_search_by_key(&place, |m| (m.class, m.method));
    let Ok(at) = at else {
        return false;
    };
    let counts = &test.methods[at].counts;
    let any = |blocks: &[usize]| {
        let edges = EdgeProfile::of(map, counts);
        blocks.iter().any(|&block| edges.blocks[block] > 0)
    };
    view::ran(counts) && blocks.is_none_or(any)
}

fn blocks(map: &MethodMap, lines: &[u32]) -> Vec<usize> {
    let of = |&line: &u32| blocks_of(map, line);
    lines.iter().flat_map(of).collect()
}

/// True if each line has code, and none of it is an initialiser's: constants of fields have none, or are
/// copied.
fn are_in_code(methods: &Methods<'_>, lines: &[u32]) -> bool {
    let is_plain =
        |(_, _, map): &(Place, &str, &MethodMap)| !["<init>", "<clinit>"].contains(&map.name.as_str());
    let has_code = |line: &u32| {
        methods
            .iter()
            .any(|(_, _, map)| !blocks_of(map, *line).is_empty())
    };
    methods.iter().all(is_plain) && lines.iter().all(has_code)
}

/// True if these lines are between the first and the last of a method's code. Code of constructors is
/// spread over the class, where its fields get their values: there each line has to be one of its own.
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
