//! Coverage: which of the possible paths, branches and lines ran at all.
//!
//! *In*: an exactly counted profile, or one of `profile=coverage`, and, if there are any, the classes of the program as their files have
//! them ([`KnownClass`]): with these, classes that were never loaded count as not covered. *Out*: text, JSON,
//! LCOV and JaCoCo's XML, one file each, and [`Counters`] for thresholds.
//!
//! Lines and branches follow from the paths: a block ran as often as the paths through it (PEP section 3.3,
//! which gives edge profiles from path profiles). What ran of a path that was cut off, by an exception or by
//! the end of the JVM, counts up to the block in which that was, if the profile has it; else
//! the report says that it is missing. Of `profile=coverage` it is known which blocks and which ways of decisions ran, how
//! often is not, and nothing is known of paths.

mod builds;
mod change;
mod counters;
mod criteria;
mod gather;
mod jacoco;
mod lines;
mod nearest;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use trodden_numbering::{EdgeRef, Path};
use trodden_profile::{
    ClassMap, EdgeProfile, MergeError, MethodConditions, MethodCounts, MethodMap, RunInfo, is_control,
    printable,
};

pub use crate::criteria::{ConditionCoverage, DecisionCoverage, PrimePath, PrimePaths};
pub use crate::unified_diff::ChangeError;
pub use builds::newest_build;
pub use change::{ChangeCoverage, ChangedLines, Missed, MissedOutcome, NearestRun, Untaken};
pub use counters::{Counters, Ratio};
pub use jacoco::holds_probes;
pub use lines::{BranchCoverage, Line, OutcomeCoverage};
pub use nearest::{Flip, Nearest, nearest, never_together};

use crate::decisions::Decisions;
use crate::names;
use crate::source::below;
use lines::Made;

/// A class of the program as its file has it.
#[derive(Clone, Debug)]
pub struct KnownClass {
    /// Path map of all its methods, those with a single path too.
    pub map: Arc<ClassMap>,
    /// All methods that have code.
    pub methods: Vec<KnownMethod>,
    /// The conditions of the branches of the map's methods, in their order; as many as are known.
    pub conditions: Vec<MethodConditions>,
    /// The Java release that it is for, if a multi-release jar has it below `META-INF/versions`.
    pub release: Option<u32>,
}

/// A method of a [`KnownClass`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMethod {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// Made by the compiler.
    pub synthetic: bool,
    /// Bytecode indices of its instructions, ascending.
    pub instructions: Vec<u32>,
}

/// Why there is no coverage.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    /// Paths were sampled.
    #[error(
        "paths were sampled, so code that no sample saw may have run too; coverage needs profile=coverage, or every path \
         counted (probe=counters)"
    )]
    Sampled,
    /// MC/DC or prime paths of a profile without paths.
    #[error(
        "MC/DC and prime paths need every path counted: probe=counters, and profile=kpaths for prime paths"
    )]
    NoPaths,
    /// Some paths have no probe.
    #[error("iterations of some loops were not counted, as these loops carry no probe")]
    Unobserved,
    /// Classes of the profile do not go together.
    #[error(transparent)]
    Merge(#[from] MergeError),
}

/// Settings of [`Coverage::new`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoverageOptions {
    /// Most paths of a method that are counted into sums: more of them are beyond any test's reach.
    pub cap: u64,
    /// Folders with source files.
    pub sources: Vec<PathBuf>,
    /// Name of the whole, for formats that have one.
    pub name: String,
    /// True if code that compilers make on their own is counted, too.
    pub compiler_made: bool,
    /// Is MC/DC wanted?
    pub mcdc: bool,
    /// Are prime paths wanted? Methods with more than so many have none.
    pub prime_paths: Option<usize>,
}

impl Default for CoverageOptions {
    fn default() -> Self {
        CoverageOptions {
            cap: 100,
            sources: Vec::new(),
            name: "trodden".to_owned(),
            compiler_made: false,
            mcdc: false,
            prime_paths: None,
        }
    }
}

/// A method that may have run without having been counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Uncounted {
    /// Internal class name.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// Why it was not counted.
    pub reason: String,
}

/// What of a program ran.
#[derive(Clone, Debug)]
pub struct Coverage {
    /// About the run.
    pub run: RunInfo,
    /// All methods whose coverage is known, by class name and place in the class.
    pub methods: Vec<MethodCoverage>,
    /// Methods of the classes that were looked at, whose coverage is not known.
    pub uncounted: Vec<Uncounted>,
    /// Known classes without code: most interfaces.
    pub without_code: Vec<Arc<ClassMap>>,
    /// Classes that were loaded with other bytes than the known ones; lines and branches are those of the
    /// loaded ones.
    pub other_bytes: Vec<String>,
    /// Is it known which paths ran? Else only blocks and ways of decisions are, and there is no path in any sum.
    pub has_paths: bool,
    /// Folders below which packages begin.
    pub folders: Vec<PathBuf>,
    /// As asked for.
    pub options: CoverageOptions,
}

/// One method.
#[derive(Clone, Debug)]
pub struct MethodCoverage {
    class: Arc<ClassMap>,
    index: usize,
    /// Its paths' counts.
    pub counts: MethodCounts,
    /// How often each block ran and each edge was followed.
    pub edges: EdgeProfile,
    /// Bytecode indices of its instructions, if the class file is known.
    pub instructions: Option<Vec<u32>>,
    /// The Java release that its class is for, if a multi-release jar has it for one.
    release: Option<u32>,
    /// What its branches decide.
    pub decisions: Decisions,
    /// What of it the compiler made, and is not counted.
    made: Made,
    /// Of its lines that were inlined elsewhere: how often they ran there.
    elsewhere: BTreeMap<u32, u64>,
    /// Paths that ran, of those possible; none of none if that is not known.
    pub paths: Ratio,
    /// False if only blocks and ways of decisions are known.
    pub has_paths: bool,
    /// Its decisions, if MC/DC is wanted.
    pub mcdc: Option<Vec<DecisionCoverage>>,
    /// Its prime paths, if they are wanted.
    pub prime_paths: Option<PrimePaths>,
}

impl Coverage {
    /// Sums over all methods.
    pub fn counters(&self) -> Counters {
        Counters::of(&self.methods, self.options.cap)
    }

    /// The coverage with printable names, for formats that cannot hold others.
    pub fn printable(&self) -> Cow<'_, Coverage> {
        let one = |text: &str| text.contains(is_control);
        let hostile = self
            .methods
            .iter()
            .any(|m| matches!(m.class.printable(), Cow::Owned(_)))
            || self.other_bytes.iter().any(|class| one(class))
            || self
                .uncounted
                .iter()
                .any(|u| one(&u.class) || one(&u.method) || one(&u.reason));
        if !hostile {
            return Cow::Borrowed(self);
        }
        let mut copy = self.clone();
        for method in &mut copy.methods {
            if let Cow::Owned(class) = method.class.printable() {
                method.class = Arc::new(class);
            }
        }
        let change = |text: &mut String| *text = printable(text).into_owned();
        copy.other_bytes.iter_mut().for_each(change);
        for uncounted in &mut copy.uncounted {
            for text in [&mut uncounted.class, &mut uncounted.method, &mut uncounted.reason] {
                change(text);
            }
        }
        Cow::Owned(copy)
    }

    /// The source file of a method: where it is, if a source folder has it, else by package. `None` if its
    /// class names no file that can be below a source folder.
    pub fn source_path(&self, method: &MethodCoverage, file: &str) -> Option<String> {
        self.source_of((method.class(), file), method.release)
    }

    fn source_of(&self, (class, file): (&str, &str), of_release: Option<u32>) -> Option<String> {
        let relative = below(class, file)?;
        // A folder for a release, `java11`, holds the sources of a multi-release jar's classes for that
        // release.
        let rank = |folder: &&PathBuf| {
            let of_folder = release(folder);
            (of_folder != of_release, of_folder)
        };
        let mut folders: Vec<&PathBuf> = self.folders.iter().collect();
        folders.sort_by_key(rank);
        let mut places = folders.into_iter().map(|folder| folder.join(&relative));
        let found = places.find(|path| path.is_file()).unwrap_or(relative);
        // `.` is where they are looked for if no place is given.
        let found = found.strip_prefix(".").unwrap_or(&found);
        Some(found.display().to_string())
    }
}

/// The Java release that a source folder is for, by its name: 11 of `src/main/java11`.
fn release(folder: &FilePath) -> Option<u32> {
    let name = folder.file_name()?.to_str()?;
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}

impl MethodCoverage {
    /// Internal name of its class.
    pub fn class(&self) -> &str {
        &self.class.name
    }

    /// The class's SourceFile attribute, if it names a file below a source folder.
    pub fn source_file(&self) -> Option<&str> {
        let file = self.class.source_file.as_deref()?;
        below(self.class(), file).map(|_| file)
    }

    /// `a.b.C.m(int)`.
    pub fn title(&self) -> String {
        let map = self.map();
        names::title(self.class(), &map.name, &map.descriptor)
    }

    /// `C.java:12`, or `line 12` where the file is not known.
    pub fn at(&self, bci: u32) -> String {
        let at = self.map().place(bci);
        names::in_file(self.source_file(), at).unwrap_or_else(|| names::place(at))
    }

    /// Its path map.
    pub fn map(&self) -> &MethodMap {
        &self.class.methods[self.index]
    }

    /// Did any of it run, here or where it was inlined?
    pub fn ran(&self) -> bool {
        self.edges.blocks.iter().any(|&count| count > 0) || self.ran_elsewhere()
    }

    /// The nearest paths that did not run, at most `most`; none if it is not known which paths ran.
    pub fn nearest(&self, most: usize) -> Vec<Nearest> {
        if self.has_paths {
            nearest(self.map(), &self.counts, most)
        } else {
            Vec::new()
        }
    }

    /// Two outcomes of a path that did not run which both ran, but never together: see [`never_together`].
    pub fn never_together(&self, path: &Path) -> Option<[EdgeRef; 2]> {
        never_together(self.map(), &self.counts, path)
    }

    /// Paths that ran of those possible, no more than `cap` of either.
    pub fn capped(&self, cap: u64) -> Ratio {
        Ratio {
            covered: self.paths.covered.min(cap),
            total: self.paths.total.min(cap),
        }
    }
}
