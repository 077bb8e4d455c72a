//! From a profile, and the classes of the program, to what of each method ran.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use trodden_profile::{
    ClassMap, ClassProfile, EdgeProfile, MethodConditions, MethodCounts, MethodCovered, MethodMap, Profile,
};

use super::jacoco::in_terms_of_files;
use super::lines::Made;
use super::{
    Coverage, CoverageError, CoverageOptions, KnownClass, KnownMethod, MethodCoverage, Ratio, Uncounted,
};
use crate::criteria::Followed;
use crate::decisions::Decisions;
use crate::source::{SourceText, Sources, folders};
use crate::view::damage;

/// Coverage that is being put together.
struct Gathering {
    coverage: Coverage,
    sources: Sources,
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
        if !has_paths && (options.mcdc || options.prime_paths.is_some()) {
            return Err(CoverageError::NoPaths);
        }
        if has_paths && !profile.run.exact {
            return Err(CoverageError::Sampled);
        }
        let unobserved = |class: &ClassProfile| class.map.methods.iter().any(|m| !m.unobserved.is_empty());
        if has_paths && profile.classes.iter().any(unobserved) {
            return Err(CoverageError::Unobserved);
        }
        // The same class may be there more than once, from several loaders.
        let profile = match known {
            Some(known) => in_terms_of_files(profile, known),
            None => Cow::Borrowed(profile),
        };
        let profile = trodden_profile::merge([&*profile])?;
        let mut gathering = Gathering {
            coverage: Coverage {
                run: profile.run.clone(),
                methods: Vec::new(),
                uncounted: Vec::new(),
                without_code: Vec::new(),
                other_bytes: Vec::new(),
                has_paths,
                folders: folders(&options.sources),
                options: options.clone(),
            },
            sources: Sources::new(&options.sources),
        };
        match known {
            Some(known) => gathering.add_known(&profile, known, &keep),
            None => gathering.add_loaded(&profile, &keep),
        }
        let Gathering { mut coverage, .. } = gathering;
        coverage.bring_home();
        coverage.methods.sort_by(|a, b| {
            let key = |m: &MethodCoverage| (m.class.name.clone(), m.class.sha256, m.index);
            key(a).cmp(&key(b))
        });
        coverage.uncounted.sort();
        coverage.uncounted.dedup();
        Ok(coverage)
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
        let all: Vec<_> = if homes.is_empty() {
            return;
        } else {
            self.methods.iter().map(of_method).collect()
        };
        for (method, lines) in self.methods.iter_mut().zip(all) {
            method.elsewhere = lines;
        }
    }
}

impl Gathering {
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
                self.coverage.uncounted.push(Uncounted {
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
        for (class, position) in profile.classes.iter().zip(0..) {
            let of_name = loaded.entry(&class.map.name).or_default();
            of_name.push(Loaded { position, class });
        }
        let reasons: Reasons = profile
            .left_alone()
            .map(|s| ((s.class.as_str(), s.method.as_deref()), s.reason.as_str()))
            .collect();
        let single = |class: &ClassProfile| class.map.methods.iter().any(|m| m.num_paths() < 2);
        let single_counted = !self.coverage.has_paths
            || profile.run.options.contains("coverage=paths")
            || profile.classes.iter().any(single);
        for file in versions(known, &loaded) {
            let name = file.map.name.as_str();
            let candidates = loaded.get(name).map_or(&[][..], Vec::as_slice);
            let same = candidates.iter().find(|c| is_same(&c.class.map, &file.map));
            let class = ClassOfFile {
                profile,
                file,
                same,
                others: if same.is_some() { &[] } else { candidates },
                reasons: &reasons,
                single_counted,
            };
            if !class.others.is_empty() {
                self.coverage.other_bytes.push(name.to_owned());
            }
            if file.methods.is_empty() {
                self.coverage.without_code.push(file.map.clone());
            }
            let kept = |method: &&KnownMethod| keep(name, &method.name, &method.descriptor);
            for method in file.methods.iter().filter(kept) {
                self.add_of_file(&class, method);
            }
        }
    }

    /// A method of a class file, as often as the class was loaded from other files; once, if it was loaded from this one, or
    /// never.
    fn add_of_file(&mut self, class: &ClassOfFile, method: &KnownMethod) {
        let file = class.file;
        let in_file = position(&file.map, method);
        let of_file = in_file.and_then(|at| file.conditions.get(at));
        // A lambda's body is the programmer's; what else the compiler has made is not.
        let made = |of: &MethodConditions| of.method.is_some();
        if method.synthetic && !method.name.starts_with("lambda$") && of_file.is_none_or(made) {
            return;
        }
        let mut found = false;
        for other in class.others {
            if let Some(at) = position(&other.class.map, method) {
                let conditions = class.conditions(other, at);
                let ran = recorded(class.profile, (other.position, at as u32));
                let both = (conditions, conditions);
                self.add(&other.class.map, at, ran, both, None, file.release);
                found = true;
            }
        }
        let signature = format!("{}{}", method.name, method.descriptor);
        let reason = class.reason(&signature);
        let single = in_file.is_some_and(|at| file.map.methods[at].num_paths() < 2);
        let is_loaded = class.same.is_some() || !class.others.is_empty();
        let of_class = class
            .same
            .and_then(|same| Some((same, position(&same.class.map, method)?)));
        let instructions = || Some(method.instructions.clone());
        if let Some((same, at)) = of_class {
            let conditions = class.conditions(same, at);
            let ran = recorded(class.profile, (same.position, at as u32));
            // The file has those of methods that did not run, too.
            let both = (conditions.or(of_file), of_file.or(conditions));
            self.add(&same.class.map, at, ran, both, instructions(), file.release);
        } else if let (Some(at), false) = (in_file, is_loaded)
            && reason.is_none()
            && (class.single_counted || !single)
        {
            let (ran, both) = (Recorded::nothing(), (of_file, of_file));
            self.add(&file.map, at, ran, both, instructions(), file.release);
        } else if !found {
            let reason = match (reason, single) {
                (Some(reason), _) => reason,
                (None, true) => "has a single path, and those were not counted",
                (None, false) => "has no probes",
            };
            self.coverage.uncounted.push(Uncounted {
                class: file.map.name.clone(),
                method: signature,
                reason: reason.to_owned(),
            });
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
            Some(conditions) if !self.coverage.options.compiler_made => Made::of(conditions),
            _ => Made::default(),
        };
        if made.whole {
            return;
        }
        if let Some(damage) = damage(map) {
            self.coverage.uncounted.push(Uncounted {
                class: class.name.clone(),
                method: format!("{}{}", map.name, map.descriptor),
                reason: damage,
            });
            return;
        }
        let Recorded {
            counts,
            marks,
            followed,
        } = ran;
        let mut edges = match marks {
            Some(marks) => marks.edge_profile(map),
            None => EdgeProfile::new(map),
        };
        let mut covered = 0;
        for executed in map.executed(&counts).flatten() {
            edges.add(map, &executed.path, executed.times);
            covered += u64::from(executed.stopped.is_none());
        }
        let mut method = MethodCoverage {
            paths: if self.coverage.has_paths {
                Ratio {
                    covered,
                    total: map.num_paths(),
                }
            } else {
                Ratio::default()
            },
            has_paths: self.coverage.has_paths,
            class: class.clone(),
            index,
            counts,
            edges,
            instructions,
            release,
            decisions: match conditions {
                Some(conditions) => {
                    let source = self.sources.find(&class.name, class.source_file.as_deref());
                    Decisions::new(map, conditions, source.as_deref().map(SourceText::file))
                }
                None => Decisions::default(),
            },
            made,
            elsewhere: BTreeMap::new(),
            mcdc: None,
            prime_paths: None,
        };
        method.judge(&self.coverage.options, followed);
        self.coverage.methods.push(method);
    }
}

/// The record of a method.
struct Recorded<'p> {
    counts: MethodCounts,
    marks: Option<&'p MethodCovered>,
    followed: Followed<'p>,
}

impl Recorded<'_> {
    fn nothing() -> Self {
        Recorded {
            counts: MethodCounts::default(),
            marks: None,
            followed: Followed::Unknown,
        }
    }
}

/// A profile's data of a method, by the positions of class and method.
fn recorded(profile: &Profile, place: (u32, u32)) -> Recorded<'_> {
    let class = profile.classes.get(place.0 as usize);
    let counts = class.and_then(|class| class.counts.get(place.1 as usize));
    let coverage = profile.coverage.as_ref();
    let followed = profile.kpaths.as_ref().map_or(Followed::Unknown, |kpaths| {
        // What was pruned or recorded in windows says what ran, not what did not.
        let all = kpaths.is_exact() && kpaths.bursts.is_none() && kpaths.orphans == 0;
        let forest = kpaths.methods.get(&(place.0 as usize, place.1 as usize));
        Followed::Forest(forest, if all { kpaths.k } else { 1 })
    });
    Recorded {
        counts: counts.cloned().unwrap_or_default(),
        marks: coverage.and_then(|coverage| coverage.methods.get(&place)),
        followed,
    }
}

/// A class of the profile, and where it stands there.
struct Loaded<'p> {
    position: u32,
    class: &'p ClassProfile,
}

/// Why classes, and methods of them, have no probes.
type Reasons<'p> = HashMap<(&'p str, Option<&'p str>), &'p str>;

/// A class file of the program, and what the profile has of its class.
struct ClassOfFile<'a> {
    profile: &'a Profile,
    file: &'a KnownClass,
    /// The class that was loaded from it.
    same: Option<&'a Loaded<'a>>,
    /// If it was not: classes of its name that were loaded from other files.
    others: &'a [Loaded<'a>],
    reasons: &'a Reasons<'a>,
    /// False if methods with a single path had no probes: which of them ran is not known.
    single_counted: bool,
}

impl<'a> ClassOfFile<'a> {
    fn conditions(&self, of: &Loaded, at: usize) -> Option<&'a MethodConditions> {
        self.profile.conditions.get(&(of.position, at as u32))
    }

    /// Why a method has no probes, if that is known.
    fn reason(&self, signature: &str) -> Option<&'a str> {
        let name = self.file.map.name.as_str();
        let of_method = self.reasons.get(&(name, Some(signature)));
        of_method.or_else(|| self.reasons.get(&(name, None))).copied()
    }
}

/// Where a class has a method.
fn position(class: &ClassMap, method: &KnownMethod) -> Option<usize> {
    let mut methods = class.methods.iter();
    methods.position(|m| m.name == method.name && m.descriptor == method.descriptor)
}

/// True if they are of the same class file. Of a class that was loaded before the agent came, the JVM has put its
/// bytes together anew, in another order: then all of its code has to be the same, instruction by instruction
/// and line by line.
fn is_same(loaded: &ClassMap, known: &ClassMap) -> bool {
    let same = |method: &MethodMap| {
        let mut methods = known.methods.iter();
        methods.any(|of| {
            (&of.name, &of.descriptor, of.code_length)
                == (&method.name, &method.descriptor, method.code_length)
                && (&of.blocks, &of.graph, &of.lines) == (&method.blocks, &method.graph, &method.lines)
                && of.shape.is_some()
                && of.shape == method.shape
        })
    };
    let all = || !loaded.methods.is_empty() && loaded.methods.iter().all(same);
    loaded.sha256 == known.sha256 || (loaded.source_file == known.source_file && all())
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
        let is_loaded = |v: &&&KnownClass| candidates.iter().any(|c| is_same(&c.class.map, &v.map));
        let before = chosen.len();
        chosen.extend(versions.iter().filter(is_loaded).copied());
        if chosen.len() == before {
            chosen.extend(versions.first().copied());
        }
    }
    chosen
}
