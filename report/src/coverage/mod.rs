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

mod counters;
mod jacoco;
mod json;
mod lcov;
mod lines;
mod marks;
mod nearest;
mod section;
mod text;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use trodden_numbering::BlockId;
use trodden_profile::{
    ClassMap, ClassProfile, EdgeProfile, MergeError, MethodConditions, MethodCounts, MethodCovered,
    MethodMap, Profile, RunInfo, is_control, printable,
};

pub use counters::{Counters, Ratio};
pub use lines::{BranchCoverage, Line};
pub use nearest::{Flip, Nearest, nearest};
pub(crate) use section::Kind;

use crate::decisions::Decisions;
use crate::source::below;
use crate::view::damage;
use lines::Made;

/// A class of the program as its file has it.
#[derive(Clone, Debug)]
pub struct KnownClass {
    /// Path map of all its methods, those with a single path too.
    pub map: Arc<ClassMap>,
    /// All methods that have code.
    pub methods: Vec<KnownMethod>,
    /// What the branches of the map's methods decide, in their order; as many as are known.
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
        "paths were sampled, and what no sample saw may have run all the same: coverage wants profile=coverage, or every \
         path counted (probe=counters)"
    )]
    Sampled,
    /// Some paths have no probe.
    #[error("recorded with single-path-loops=skip, so iterations of some loops were not counted")]
    Unobserved,
    /// Classes of the profile do not go together.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// JaCoCo's XML without class files.
    #[error(
        "JaCoCo's XML counts instructions, which only the class files tell: name them by --classes FOLDER|JAR"
    )]
    NoInstructions,
    /// JaCoCo's XML of classes that were changed before they were loaded.
    #[error(
        "{class} and {others} more classes were loaded with other bytes than --classes has (JaCoCo's own agent changes \
         them, and so does a build after the run): JaCoCo's XML cannot be made of them; LCOV can"
    )]
    OtherBytes {
        /// One of them.
        class: String,
        /// How many others.
        others: usize,
    },
    /// The JSON writer failed.
    #[error("cannot write the coverage as JSON: {0}")]
    Json(#[from] serde_json::Error),
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
    /// Is what compilers make on their own counted, too?
    pub compiler_made: bool,
}

impl Default for CoverageOptions {
    fn default() -> Self {
        CoverageOptions {
            cap: 100,
            sources: Vec::new(),
            name: "trodden".to_owned(),
            compiler_made: false,
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
    /// Classes that were loaded with other bytes than the known ones; lines and branches are those of the
    /// loaded ones.
    pub other_bytes: Vec<String>,
    /// Is it known which paths ran?
    has_paths: bool,
    options: CoverageOptions,
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
    instructions: Option<Vec<u32>>,
    /// The Java release that its class is for, if a multi-release jar has it for one.
    release: Option<u32>,
    /// What its branches decide.
    pub(crate) decisions: Decisions,
    /// What of it the compiler made, and is not counted.
    made: Made,
    /// Of its lines that were inlined elsewhere: how often they ran there.
    elsewhere: BTreeMap<u32, u64>,
    /// Paths that ran, of those possible; none of none if that is not known.
    pub paths: Ratio,
    has_paths: bool,
}

impl Coverage {
    /// Finds out what ran. `keep` chooses methods by internal class name, name and descriptor.
    ///
    /// # Errors
    /// If the profile was sampled, or leaves paths uncounted.
    pub fn new(
        profile: &Profile,
        known: Option<&[KnownClass]>,
        keep: impl Fn(&str, &str, &str) -> bool,
        options: &CoverageOptions,
    ) -> Result<Self, CoverageError> {
        let has_paths = profile.coverage.is_none();
        if has_paths && !profile.run.exact {
            return Err(CoverageError::Sampled);
        }
        let unobserved = |class: &ClassProfile| class.map.methods.iter().any(|m| !m.unobserved.is_empty());
        if has_paths && profile.classes.iter().any(unobserved) {
            return Err(CoverageError::Unobserved);
        }
        // The same class may be there more than once, from several loaders.
        let profile = trodden_profile::merge([profile])?;
        let mut coverage = Coverage {
            run: profile.run.clone(),
            methods: Vec::new(),
            uncounted: Vec::new(),
            other_bytes: Vec::new(),
            has_paths,
            options: options.clone(),
        };
        match known {
            Some(known) => coverage.add_known(&profile, known, &keep),
            None => coverage.add_loaded(&profile, &keep),
        }
        coverage.bring_home();
        coverage.methods.sort_by(|a, b| {
            let key = |m: &MethodCoverage| (m.class.name.clone(), m.class.sha256, m.index);
            key(a).cmp(&key(b))
        });
        coverage.uncounted.sort();
        coverage.uncounted.dedup();
        Ok(coverage)
    }

    /// The classes of the profile, whatever they are.
    fn add_loaded(&mut self, profile: &Profile, keep: &impl Fn(&str, &str, &str) -> bool) {
        for (position, class) in profile.classes.iter().enumerate() {
            for (index, method) in class.map.methods.iter().enumerate() {
                if keep(&class.map.name, &method.name, &method.descriptor) {
                    let place = (position as u32, index as u32);
                    let conditions = profile.conditions.get(&place);
                    let ran = recorded(profile, place);
                    self.add(&class.map, index, ran, (conditions, conditions), None, None);
                }
            }
        }
        for skipped in profile.left_alone() {
            let method = skipped.method.clone().unwrap_or_else(|| "*".to_owned());
            let (name, descriptor) = method.split_at(method.find('(').unwrap_or(method.len()));
            if keep(&skipped.class, name, descriptor) {
                self.uncounted.push(Uncounted {
                    class: skipped.class.clone(),
                    method,
                    reason: skipped.reason.clone(),
                });
            }
        }
    }

    /// The known classes, with the profile's counts where they were loaded.
    fn add_known(
        &mut self,
        profile: &Profile,
        known: &[KnownClass],
        keep: &impl Fn(&str, &str, &str) -> bool,
    ) {
        let mut loaded: HashMap<&str, Vec<Loaded>> = HashMap::new();
        for (position, class) in profile.classes.iter().enumerate() {
            let position = position as u32;
            loaded
                .entry(&class.map.name)
                .or_default()
                .push(Loaded { position, class });
        }
        let conditions = |of: &Loaded, at: usize| profile.conditions.get(&(of.position, at as u32));
        let reasons: HashMap<(&str, Option<&str>), &str> = profile
            .left_alone()
            .map(|s| ((s.class.as_str(), s.method.as_deref()), s.reason.as_str()))
            .collect();
        // Where methods with a single path went without probes, nobody knows which of them ran.
        let single = |class: &ClassProfile| class.map.methods.iter().any(|m| m.num_paths() < 2);
        let single_counted = !self.has_paths
            || profile.run.options.contains("single-path-methods=probe")
            || profile.classes.iter().any(single);
        for class in versions(known, &loaded) {
            let name = class.map.name.as_str();
            let candidates = loaded.get(name).map_or(&[][..], Vec::as_slice);
            let same = candidates.iter().find(|c| c.class.map.sha256 == class.map.sha256);
            let others = match same {
                Some(_) => &[][..],
                None => candidates,
            };
            if !others.is_empty() {
                self.other_bytes.push(name.to_owned());
            }
            let whole_class = reasons.get(&(name, None)).copied();
            for method in &class.methods {
                if !keep(name, &method.name, &method.descriptor) {
                    continue;
                }
                let position = |map: &ClassMap| {
                    let mut methods = map.methods.iter();
                    methods.position(|m| m.name == method.name && m.descriptor == method.descriptor)
                };
                let signature = format!("{}{}", method.name, method.descriptor);
                let reason = reasons
                    .get(&(name, Some(signature.as_str())))
                    .copied()
                    .or(whole_class);
                let in_file = position(&class.map);
                let of_file = in_file.and_then(|at| class.conditions.get(at));
                // A lambda's body is the programmer's; what else the compiler has made is not.
                let made = |of: &MethodConditions| of.method.is_some();
                if method.synthetic && !method.name.starts_with("lambda$") && of_file.is_none_or(made) {
                    continue;
                }
                let single = in_file.is_some_and(|at| class.map.methods[at].num_paths() < 2);
                let mut found = false;
                for other in others {
                    if let Some(at) = position(&other.class.map) {
                        self.add(
                            &other.class.map,
                            at,
                            recorded(profile, (other.position, at as u32)),
                            (conditions(other, at), conditions(other, at)),
                            None,
                            class.release,
                        );
                        found = true;
                    }
                }
                let instructions = || Some(method.instructions.clone());
                if let Some(same) = same
                    && let Some(at) = position(&same.class.map)
                {
                    self.add(
                        &same.class.map,
                        at,
                        recorded(profile, (same.position, at as u32)),
                        // The file tells all of methods that did not run, too.
                        (conditions(same, at).or(of_file), of_file.or(conditions(same, at))),
                        instructions(),
                        class.release,
                    );
                    found = true;
                } else if let (Some(at), true) = (in_file, candidates.is_empty())
                    && reason.is_none()
                    && (single_counted || !single)
                {
                    // Never loaded.
                    self.add(
                        &class.map,
                        at,
                        Recorded::default(),
                        (of_file, of_file),
                        instructions(),
                        class.release,
                    );
                    found = true;
                }
                if !found {
                    let reason = match (reason, single) {
                        (Some(reason), _) => reason,
                        (None, true) => "has a single path, and those were not counted",
                        (None, false) => "has no probes",
                    };
                    self.uncounted.push(Uncounted {
                        class: name.to_owned(),
                        method: signature,
                        reason: reason.to_owned(),
                    });
                }
            }
        }
    }

    /// Code that was inlined counts for the function that it comes from, if that is among the methods.
    fn bring_home(&mut self) {
        let mut homes: HashMap<&str, BTreeMap<u32, u64>> = HashMap::new();
        for method in &self.methods {
            for (class, line, count) in method.inlined_lines() {
                let most = homes.entry(class).or_default().entry(line).or_default();
                *most = count.max(*most);
            }
        }
        let of_method = |method: &MethodCoverage| homes.get(method.class()).cloned().unwrap_or_default();
        let all: Vec<_> = match homes.is_empty() {
            true => return,
            false => self.methods.iter().map(of_method).collect(),
        };
        for (method, lines) in self.methods.iter_mut().zip(all) {
            method.elsewhere = lines;
        }
    }

    fn add(
        &mut self,
        class: &Arc<ClassMap>,
        index: usize,
        ran: Recorded,
        // What is told of its decisions, and what says which of them count.
        (conditions, made): (Option<&MethodConditions>, Option<&MethodConditions>),
        instructions: Option<Vec<u32>>,
        release: Option<u32>,
    ) {
        let map = &class.methods[index];
        let made = match made {
            Some(conditions) if !self.options.compiler_made => Made::of(conditions),
            _ => Made::default(),
        };
        if made.whole {
            return;
        }
        if let Some(damage) = damage(map) {
            self.uncounted.push(Uncounted {
                class: class.name.clone(),
                method: format!("{}{}", map.name, map.descriptor),
                reason: damage,
            });
            return;
        }
        let Recorded { counts, marks } = ran;
        let mut edges = match marks {
            Some(marks) => marks.edge_profile(map),
            None => EdgeProfile::new(map),
        };
        let mut covered = 0;
        for (&number, &count) in counts.paths.iter().filter(|&(_, &count)| count > 0) {
            if let Ok(path) = map.dag.regenerate(&map.graph, number) {
                edges.add(map, &path, count);
                covered += 1;
            }
        }
        for (&(block, number), &count) in counts.partial.iter().filter(|&(_, &count)| count > 0) {
            let stopped = BlockId::new(block as usize);
            if let Ok(prefix) = map.dag.regenerate_partial(&map.graph, number, stopped) {
                edges.add(map, &prefix, count);
            }
        }
        self.methods.push(MethodCoverage {
            paths: match self.has_paths {
                true => Ratio {
                    covered,
                    total: map.num_paths(),
                },
                false => Ratio::default(),
            },
            has_paths: self.has_paths,
            class: class.clone(),
            index,
            counts,
            edges,
            instructions,
            release,
            decisions: match conditions {
                Some(conditions) => Decisions::new(map, conditions, None),
                None => Decisions::default(),
            },
            made,
            elsewhere: BTreeMap::new(),
        });
    }

    /// Sums over all methods.
    pub fn counters(&self) -> Counters {
        Counters::of(&self.methods, self.options.cap)
    }

    /// Is it known which paths ran? Else only blocks and ways of decisions are, and there is no path in any sum.
    pub fn has_paths(&self) -> bool {
        self.has_paths
    }

    /// Most paths of a method that are counted into sums.
    pub fn cap(&self) -> u64 {
        self.options.cap
    }

    /// For a terminal: the sums, and of the `top` methods that lack most paths the nearest uncovered one.
    pub fn text(&self, top: usize, color: bool) -> String {
        text::write(&self.printable(), top, color)
    }

    /// JSON, format `trodden-coverage` version 1.
    ///
    /// # Errors
    /// If the JSON writer fails.
    pub fn json(&self) -> Result<String, CoverageError> {
        json::write(self)
    }

    /// LCOV's tracefile, as `genhtml` reads it.
    pub fn lcov(&self) -> String {
        lcov::write(&self.printable())
    }

    /// JaCoCo's XML report, as of its DTD 1.1.
    ///
    /// # Errors
    /// If instructions are not known, or not those of the loaded classes.
    pub fn jacoco(&self) -> Result<String, CoverageError> {
        jacoco::write(&self.printable())
    }

    /// The coverage with printable names, for formats that cannot hold others.
    fn printable(&self) -> Cow<'_, Coverage> {
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
    fn source_path(&self, method: &MethodCoverage, file: &str) -> Option<String> {
        let relative = below(method.class(), file)?;
        let folders = self.options.sources.iter();
        // A folder for a release, `java11`, holds the sources of a multi-release jar's classes for that
        // release.
        let rank = |folder: &&PathBuf| {
            let of_folder = release(folder);
            (of_folder != method.release, of_folder)
        };
        let mut folders: Vec<&PathBuf> = folders.collect();
        folders.sort_by_key(rank);
        let mut places = folders.into_iter().map(|folder| folder.join(&relative));
        let found = places.find(|path| path.is_file()).unwrap_or(relative);
        Some(found.display().to_string())
    }
}

/// What was recorded of a method.
#[derive(Default)]
struct Recorded<'p> {
    counts: MethodCounts,
    marks: Option<&'p MethodCovered>,
}

/// What a profile has of a method, by the positions of class and method.
fn recorded(profile: &Profile, place: (u32, u32)) -> Recorded<'_> {
    let class = profile.classes.get(place.0 as usize);
    let counts = class.and_then(|class| class.counts.get(place.1 as usize));
    let coverage = profile.coverage.as_ref();
    Recorded {
        counts: counts.cloned().unwrap_or_default(),
        marks: coverage.and_then(|coverage| coverage.methods.get(&place)),
    }
}

/// A class of the profile, and where it stands there.
struct Loaded<'p> {
    position: u32,
    class: &'p ClassProfile,
}

/// The Java release that a source folder is for, by its name: 11 of `src/main/java11`.
fn release(folder: &FilePath) -> Option<u32> {
    let name = folder.file_name()?.to_str()?;
    let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
    digits.parse().ok()
}

/// The classes that count: a multi-release jar has several of a name, of which a JVM loads one.
fn versions<'k>(known: &'k [KnownClass], loaded: &HashMap<&str, Vec<Loaded>>) -> Vec<&'k KnownClass> {
    let mut by_name: BTreeMap<&str, Vec<&KnownClass>> = BTreeMap::new();
    for class in known {
        let versions = by_name.entry(&class.map.name).or_default();
        if versions.iter().all(|v| v.map.sha256 != class.map.sha256) {
            versions.push(class);
        }
    }
    let mut chosen = Vec::with_capacity(by_name.len());
    for (name, versions) in by_name {
        let candidates = loaded.get(name).map_or(&[][..], Vec::as_slice);
        let is_loaded = |v: &&&KnownClass| candidates.iter().any(|c| c.class.map.sha256 == v.map.sha256);
        let before = chosen.len();
        chosen.extend(versions.iter().filter(is_loaded).copied());
        if chosen.len() == before {
            chosen.extend(versions.first().copied());
        }
    }
    chosen
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

    /// Its path map.
    pub fn map(&self) -> &MethodMap {
        &self.class.methods[self.index]
    }

    /// Did any of it run, here or where it was inlined?
    pub fn ran(&self) -> bool {
        self.edges.blocks.iter().any(|&count| count > 0) || self.ran_elsewhere()
    }

    /// The nearest path that did not run, if there is one.
    pub fn nearest(&self) -> Option<Nearest> {
        match self.has_paths {
            true => nearest(self.map(), &self.counts),
            false => None,
        }
    }

    /// Paths that ran of those possible, no more than `cap` of either.
    pub fn capped(&self, cap: u64) -> Ratio {
        Ratio {
            covered: self.paths.covered.min(cap),
            total: self.paths.total.min(cap),
        }
    }
}
