//! Facts at the lines where their code is now.

use std::cell::OnceCell;
use std::collections::btree_map::{self, BTreeMap};

use trodden_insight::coverage::{BranchCoverage, Coverage, MethodCoverage};
use trodden_insight::edited::{Edit, MovedLines, Rebuilt};
use trodden_insight::hotspot::HotSpotBranchView;
use trodden_insight::left_out::LeftOut;
use trodden_insight::names;
use trodden_insight::view::{BranchView, MethodView, View};
use trodden_profile::{ClassProfile, MethodMap};
use trodden_source::text::SourceFile;

use super::files::{Files, declared_name};
use super::recorded::Recorded;

/// The name of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodName {
    /// Internal name.
    pub class: String,
    pub name: String,
    pub descriptor: String,
}

/// A fact at a line.
pub struct Placed<'v, 'p> {
    /// From 1.
    pub line: u32,
    /// Its method was edited since.
    pub edited: bool,
    pub method: MethodName,
    /// `a.b.C.m(int)`.
    pub title: String,
    pub what: What<'v, 'p>,
}

/// A fact.
pub enum What<'v, 'p> {
    /// A method that ran.
    Method(&'v MethodView<'p>),
    /// A method without a count.
    Idle,
    /// A method whose paths are not known.
    LeftOut(&'v LeftOut<'p>),
    /// The branches of a method at the line.
    Branches(&'v MethodView<'p>, Vec<&'v BranchView>),
    /// A method of which only what ran is known.
    Covered(&'v MethodCoverage),
    /// Its branches at the line.
    CoveredBranches(&'v MethodCoverage, Vec<BranchCoverage>),
    /// A branch that HotSpot counted, and its question, if that is known.
    HotSpot(Option<String>, &'v HotSpotBranchView),
}

impl What<'_, '_> {
    /// True if it is about a method as a whole.
    pub fn is_method(&self) -> bool {
        matches!(
            self,
            What::Method(_) | What::Idle | What::LeftOut(_) | What::Covered(_)
        )
    }
}

/// A file with its recorded text and the present one.
pub struct Placing<'v, 'p, 't> {
    view: &'v View<'p>,
    files: &'v Files<'p>,
    /// Where the profile says only what ran at all.
    covered: Option<&'v Coverage>,
    recorded: &'t Recorded,
    edit: Edit<'t>,
    before: OnceCell<SourceFile>,
    now: SourceFile,
}

impl<'v, 'p, 't> Placing<'v, 'p, 't> {
    pub fn new(
        (view, files, covered): (&'v View<'p>, &'v Files<'p>, Option<&'v Coverage>),
        recorded: &'t Recorded,
        text: &'t str,
    ) -> Self {
        Placing {
            view,
            files,
            covered,
            recorded,
            edit: Edit::new(&recorded.text, text),
            before: OnceCell::new(),
            now: SourceFile::new(text),
        }
    }

    /// True if lines of the profile are elsewhere now.
    pub fn is_moved(&self) -> bool {
        let moved = |rebuilt: &Rebuilt| rebuilt.lines != MovedLines::Unmoved;
        !self.edit.is_none() || self.recorded.rebuilt.values().any(moved)
    }

    /// The facts of these classes, by line; and the number of methods that are gone.
    pub fn place(&self, classes: &[&'p ClassProfile]) -> (Vec<Placed<'v, 'p>>, usize) {
        let mut all = Vec::new();
        let mut gone = 0;
        for class in classes {
            for (index, map) in class.map.methods.iter().enumerate() {
                match self.declaration(&class.map.name, index, map) {
                    Some(line) => self.add(&class.map.name, (index, map), line, &mut all),
                    None if map.lines.is_empty() => {}
                    None => gone += 1,
                }
            }
            for left in self.files.without_map(self.view, &class.map.name) {
                self.add_without_map(left, &mut all);
            }
        }
        all.sort_by_key(|placed: &Placed| (placed.line, !placed.what.is_method()));
        (all, gone)
    }

    /// A line of a class's recorded text in the present one.
    fn line(&self, class: &str, line: u32) -> Option<u32> {
        let built = match self.recorded.rebuilt.get(class) {
            Some(rebuilt) => rebuilt.lines.now(line)?,
            None => line,
        };
        // Line 0 is none, though class files may have it.
        self.edit.lines().now(built).filter(|&line| line > 0)
    }

    /// Adds a method that is declared at this line, and its branches.
    fn add(
        &self,
        class: &str,
        (index, map): (usize, &'p MethodMap),
        line: u32,
        all: &mut Vec<Placed<'v, 'p>>,
    ) {
        let what = match (self.files.row(map), self.files.left_out(class, map)) {
            (Some(row), _) => What::Method(&self.view.methods[row]),
            (None, Some(row)) => What::LeftOut(&self.view.left_out[row]),
            (None, None) => match self.covered {
                Some(covered) => match self.covered(covered, class, map) {
                    Some(method) => What::Covered(method),
                    // Compilers made it.
                    None => return,
                },
                None => What::Idle,
            },
        };
        let edited = self.is_edited(class, index, map);
        let placed = |line, what| Placed {
            line,
            edited,
            method: MethodName {
                class: class.to_owned(),
                name: map.name.clone(),
                descriptor: map.descriptor.clone(),
            },
            title: names::title(class, &map.name, &map.descriptor),
            what,
        };
        match &what {
            What::Method(method) => {
                let decisions = method.decisions();
                let own = method
                    .branches
                    .iter()
                    .filter(|branch| decisions.made(branch.block).is_none());
                let branches = self.by_line(class, own, |branch| branch.at.line);
                all.extend(branches.map(|(line, branches)| placed(line, What::Branches(method, branches))));
            }
            What::LeftOut(left) => {
                for (asked, branch) in hotspot(left) {
                    if let Some(line) = branch.at.line.and_then(|line| self.line(class, line)) {
                        all.push(placed(line, What::HotSpot(asked, branch)));
                    }
                }
            }
            What::Covered(method) => {
                let branches = self.by_line(class, method.branches(), |branch| branch.line);
                all.extend(
                    branches.map(|(line, branches)| placed(line, What::CoveredBranches(method, branches))),
                );
            }
            _ => {}
        }
        all.push(placed(line, what));
    }

    /// Branches of a class by the line where they are now.
    fn by_line<B>(
        &self,
        class: &str,
        branches: impl IntoIterator<Item = B>,
        line: impl Fn(&B) -> Option<u32>,
    ) -> btree_map::IntoIter<u32, Vec<B>> {
        let mut by_line: BTreeMap<u32, Vec<B>> = BTreeMap::new();
        for branch in branches {
            if let Some(line) = line(&branch).and_then(|line| self.line(class, line)) {
                by_line.entry(line).or_default().push(branch);
            }
        }
        by_line.into_iter()
    }

    fn covered(&self, covered: &'v Coverage, class: &str, map: &MethodMap) -> Option<&'v MethodCoverage> {
        let is = |of: &&MethodCoverage| {
            of.class() == class && (&of.map().name, &of.map().descriptor) == (&map.name, &map.descriptor)
        };
        covered.methods.iter().find(is)
    }

    /// A method that only samples know, at the line with most of its time.
    fn add_without_map(&self, left: &'v LeftOut<'p>, all: &mut Vec<Placed<'v, 'p>>) {
        let hottest = left.places.first().and_then(|(place, _)| place.line);
        let Some(line) = hottest.and_then(|line| self.line(left.class, line)) else {
            return;
        };
        all.push(Placed {
            line,
            edited: false,
            method: MethodName {
                class: left.class.to_owned(),
                name: left.name.to_owned(),
                descriptor: left.descriptor.to_owned(),
            },
            title: left.title(),
            what: What::LeftOut(left),
        });
    }

    /// Where a method is declared now. One whose declaration is nowhere has the first line of its code; one
    /// of which nothing is there, none.
    fn declaration(&self, class: &str, index: usize, map: &MethodMap) -> Option<u32> {
        let rebuilt = self.recorded.rebuilt.get(class);
        let changed = |rebuilt: &Rebuilt| rebuilt.changed.get(&index).copied();
        let code = match rebuilt.and_then(changed) {
            Some(line) => self.edit.lines().now(line).filter(|&line| line > 0)?,
            None => match self.code(class, map) {
                Some(line) => line,
                None => return self.declared_before(class, map),
            },
        };
        let declared = match map.name.as_str() {
            "<clinit>" => self.now.static_initialiser(code),
            name if name.contains('$') => None,
            name => self.now.declaration(declared_name(class, name), code),
        };
        Some(declared.unwrap_or(code))
    }

    /// Where a method is declared whose code was edited as a whole.
    fn declared_before(&self, class: &str, map: &MethodMap) -> Option<u32> {
        if self.recorded.rebuilt.contains_key(class) {
            return None;
        }
        let declared = self
            .before()
            .declaration(declared_name(class, &map.name), map.line(0)?);
        self.edit.lines().now(declared?)
    }

    /// The first of a method's lines that is there now. Of a constructor, whose first lines are those of
    /// fields, the last one.
    fn code(&self, class: &str, map: &MethodMap) -> Option<u32> {
        let mut lines = map.lines.iter().filter_map(|entry| self.line(class, entry.line));
        if map.name == "<init>" {
            lines.last()
        } else {
            lines.next()
        }
    }

    fn is_edited(&self, class: &str, index: usize, map: &MethodMap) -> bool {
        let rebuilt = self.recorded.rebuilt.get(class);
        if rebuilt.is_some_and(|rebuilt| !rebuilt.same.contains(&index)) {
            return true;
        }
        let built = |line: u32| match rebuilt {
            Some(rebuilt) => rebuilt.lines.now(line),
            None => Some(line),
        };
        let lines: Option<Vec<u32>> = map.lines.iter().map(|entry| built(entry.line)).collect();
        let Some(mut lines) = lines else { return true };
        lines.sort_unstable();
        let (Some(&first), Some(&last)) = (lines.first(), lines.last()) else {
            return false;
        };
        match map.name.as_str() {
            "<init>" | "<clinit>" => !self.keeps_spread(&lines),
            // Something may have been put in front of its first line.
            name if name.contains('$') => !self.edit.keeps(first.saturating_sub(1).max(1), last),
            name => {
                let declared = || self.before().declaration(name, first).unwrap_or(first);
                !self.edit.is_none() && !self.edit.keeps(declared(), last)
            }
        }
    }

    /// True if these lines are kept, and what is between neighbours. Code of constructors is spread over the
    /// class, where its fields get their values.
    fn keeps_spread(&self, lines: &[u32]) -> bool {
        const NEAR: u32 = 3;
        let between = lines.windows(2).filter(|pair| pair[1] - pair[0] <= NEAR);
        lines.iter().all(|&line| self.edit.keeps(line, line))
            && between.into_iter().all(|pair| self.edit.keeps(pair[0], pair[1]))
    }

    /// The recorded text, taken apart.
    fn before(&self) -> &SourceFile {
        self.before.get_or_init(|| SourceFile::new(&*self.recorded.text))
    }
}

/// The branches that HotSpot counted in a method, with their questions.
fn hotspot<'v>(left: &'v LeftOut) -> Vec<(Option<String>, &'v HotSpotBranchView)> {
    let Some(found) = &left.hotspot else {
        return Vec::new();
    };
    let asked = |branch: &HotSpotBranchView| found.decisions.of(branch.block)?.phrase();
    found
        .branches
        .iter()
        .map(|branch| (asked(branch), branch))
        .collect()
}
