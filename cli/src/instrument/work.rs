//! The work on one input: classes prepared, numbered and written, archives and folders put together again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use trodden_instrumenter::{ClassIds, Instrumenter, Preparation, Prepared, SkipReason};
use trodden_profile::{ClassMap, ClassProfile, CounterLayout, MethodCounts, Skipped};

use super::archive::{Added, Change, Packed, write};
use super::input::{Found, Input, Place, Policy, Root};
use super::signature;
use crate::error::CliError;

/// Most counter slots of one output. A JVM has room for about 33 million, for all that runs there.
const MOST_SLOTS: u32 = 32_000_000;

/// Classes that take probes, and what does not.
pub struct Work<'a> {
    input: &'a Input,
    /// Parallel to the input's classes.
    prepared: Vec<Option<Box<Prepared<'a>>>>,
    /// Archives in which something changes.
    changed: BTreeSet<usize>,
    pub skipped: Vec<Skipped>,
    progress: ProgressBar,
}

/// Ids of all classes of an output, by name and hash of the class: the order of a path map.
pub type Ids = BTreeMap<(String, [u8; 32]), ClassIds>;

/// A file that no input had.
pub struct NewFile {
    /// Where it goes: an archive's number, or the folder or the one class file that is the input.
    pub archive: Option<usize>,
    pub name: String,
    pub bytes: Vec<u8>,
    /// Number of a class whose time and attributes it takes.
    pub like: usize,
}

/// What is to be written for an input.
pub enum Output {
    /// One file, and others beside it.
    File(Vec<u8>, Vec<(String, Vec<u8>)>),
    /// A folder as the input, but for these files (relative), some of which it did not have.
    Folder(BTreeMap<PathBuf, Vec<u8>>),
}

/// What becomes of a class.
type Verdict<'a> = Result<(Option<Box<Prepared<'a>>>, Vec<Skipped>), String>;

/// Reads and numbers all classes, on all processors.
///
/// # Errors
/// If a class is broken or has probes already, or an archive would change that is signed.
pub fn prepare<'a>(
    instrumenter: impl Fn(&Found) -> Instrumenter + Sync,
    input: &'a Input,
    policy: Policy,
) -> Result<Work<'a>, CliError> {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}");
    let progress = ProgressBar::new(2 * input.classes.len() as u64)
        .with_style(style.unwrap_or(ProgressStyle::default_bar()))
        .with_message(input.path.display().to_string());
    let one = |class: &'a Found| {
        progress.inc(1);
        prepare_class(&instrumenter(class), class, policy)
    };
    let verdicts: Vec<Verdict<'a>> = input.classes.par_iter().map(one).collect();
    let mut work = Work {
        input,
        prepared: Vec::with_capacity(verdicts.len()),
        changed: BTreeSet::new(),
        skipped: input.skipped.clone(),
        progress,
    };
    for (verdict, class) in verdicts.into_iter().zip(&input.classes) {
        // The first in order is told, whichever processor came first.
        let (prepared, skipped) = verdict.map_err(CliError::Failed)?;
        if prepared.is_some() {
            work.note_change(class.place);
        }
        work.skipped.extend(skipped);
        work.prepared.push(prepared);
    }
    if !policy.strip_signatures && !policy.survey {
        for &number in &work.changed {
            let archive = &input.archives[number];
            if archive.signed {
                return Err(CliError::Failed(format!(
                    "{}: is signed, and its signature would no longer hold; use --strip-signatures, or leave its \
                     classes alone by --exclude",
                    archive.label
                )));
            }
        }
    }
    Ok(work)
}

fn prepare_class<'a>(instrumenter: &Instrumenter, class: &'a Found, policy: Policy) -> Verdict<'a> {
    let label = &class.label;
    let broken = |what: String| match policy.skip_broken || policy.survey {
        true => Ok((
            None,
            vec![Skipped {
                class: class.name.clone(),
                method: None,
                reason: format!("broken: {what}"),
            }],
        )),
        false => Err(format!(
            "{label}: {what} (--skip-broken copies such class files, --exclude leaves them alone)"
        )),
    };
    match instrumenter.prepare(&class.bytes) {
        Ok(Preparation::Ready(prepared)) => {
            let skipped = prepared.skipped().to_vec();
            Ok((Some(prepared), skipped))
        }
        Ok(Preparation::Unchanged { skipped }) => {
            let whole = skipped
                .iter()
                .find(|s| s.method.is_none())
                .map(|s| s.reason.as_str());
            match whole {
                Some(reason) if reason == SkipReason::AlreadyInstrumented.text() && !policy.survey => Err(
                    format!("{label}: is {reason}; take the original (or leave it alone by --exclude)"),
                ),
                Some(reason) if reason == SkipReason::UnknownVersion.text() => {
                    let major = u16::from_be_bytes([class.bytes[6], class.bytes[7]]);
                    broken(format!("{reason} (it is {major})"))
                }
                _ => Ok((None, skipped)),
            }
        }
        Err(error) => broken(format!("not a well-formed class file: {error}")),
    }
}

impl<'a> Work<'a> {
    fn note_change(&mut self, mut place: Place) {
        while let Place::Entry(archive, _) = place {
            if !self.changed.insert(archive) {
                break;
            }
            place = self.input.archives[archive].place;
        }
    }

    /// How many classes were looked at.
    pub fn seen(&self) -> usize {
        self.input.classes.len()
    }

    /// Number and class of all that take probes.
    pub fn taken(&self) -> impl Iterator<Item = (usize, &'a Found, &Prepared<'a>)> {
        let found = self.input.classes.iter().zip(&self.prepared).enumerate();
        found.filter_map(|(number, (class, prepared))| Some((number, class, prepared.as_deref()?)))
    }

    /// The classes that take probes, without counts, as a profile has them.
    pub fn classes(&self) -> Vec<ClassProfile> {
        let mut classes: BTreeMap<(&str, [u8; 32]), ClassProfile> = BTreeMap::new();
        for (_, _, prepared) in self.taken() {
            let map = prepared.map();
            let profile = || ClassProfile {
                counts: vec![MethodCounts::default(); map.methods.len()],
                map: map.clone(),
            };
            classes.entry((&map.name, map.sha256)).or_insert_with(profile);
        }
        classes.into_values().collect()
    }

    /// Writes the classes and what they are in.
    ///
    /// # Errors
    /// If something becomes too large.
    pub fn finish(self, ids: &Ids, new_files: Vec<NewFile>) -> Result<Output, CliError> {
        let failed = |what: String| CliError::Failed(format!("{}: {what}", self.input.path.display()));
        let emit = |(number, prepared): (usize, &Option<Box<Prepared>>)| {
            self.progress.inc(1);
            let map = prepared.as_ref()?.map();
            let &ids = ids.get(&(map.name.clone(), map.sha256))?;
            let bytes = prepared.as_ref()?.emit(ids);
            Some(match self.input.classes[number].place {
                Place::Entry(archive, entry) => {
                    let method = self.input.archives[archive].archive.entries[entry].method;
                    Packed::new(bytes, method).map(Contents::Packed)
                }
                Place::Whole | Place::File(_) => Ok(Contents::Plain(bytes)),
            })
        };
        let written: Vec<Option<Result<Contents, String>>> =
            self.prepared.par_iter().enumerate().map(emit).collect();
        self.progress.finish_and_clear();
        let mut parts = Parts::default();
        for (class, contents) in self.input.classes.iter().zip(written) {
            if let Some(contents) = contents {
                parts.contents.insert(class.place, contents.map_err(failed)?);
            }
        }
        for file in new_files {
            match (file.archive, self.input.classes[file.like].place) {
                (Some(archive), Place::Entry(_, like)) => {
                    let method = self.input.archives[archive].archive.entries[like].method;
                    parts.added.entry(archive).or_default().push(Added {
                        name: file.name,
                        contents: Packed::new(file.bytes, method).map_err(failed)?,
                        like,
                    });
                }
                _ => parts.beside.push((file.name, file.bytes)),
            }
        }
        let Parts {
            contents,
            added,
            beside,
        } = parts;
        let assembly = Assembly {
            input: self.input,
            changed: &self.changed,
            contents: &contents,
            added: &added,
        };
        match &self.input.root {
            Root::Class => {
                let class = match contents.get(&Place::Whole) {
                    Some(Contents::Plain(bytes)) => bytes.clone(),
                    _ => self
                        .input
                        .classes
                        .first()
                        .map(|c| c.bytes.clone())
                        .unwrap_or_default(),
                };
                Ok(Output::File(class, beside))
            }
            Root::Archive => Ok(Output::File(assembly.archive(0).map_err(failed)?, beside)),
            Root::Folder(files) => {
                let mut out: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
                for (number, nested) in self.input.archives.iter().enumerate() {
                    if let (Place::File(file), true) = (nested.place, self.changed.contains(&number)) {
                        out.insert(files[file].clone(), assembly.archive(number).map_err(failed)?);
                    }
                }
                for (place, contents) in &contents {
                    if let (Place::File(file), Contents::Plain(bytes)) = (place, contents) {
                        out.insert(files[*file].clone(), bytes.clone());
                    }
                }
                out.extend(
                    beside
                        .into_iter()
                        .map(|(name, bytes)| (PathBuf::from(name), bytes)),
                );
                Ok(Output::Folder(out))
            }
        }
    }
}

/// A class as it is written.
enum Contents {
    Plain(Vec<u8>),
    Packed(Packed),
}

#[derive(Default)]
struct Parts {
    contents: BTreeMap<Place, Contents>,
    added: BTreeMap<usize, Vec<Added>>,
    beside: Vec<(String, Vec<u8>)>,
}

struct Assembly<'w> {
    input: &'w Input,
    changed: &'w BTreeSet<usize>,
    contents: &'w BTreeMap<Place, Contents>,
    added: &'w BTreeMap<usize, Vec<Added>>,
}

impl Assembly<'_> {
    /// Puts an archive together, with those inside.
    fn archive(&self, number: usize) -> Result<Vec<u8>, String> {
        let own = &self.input.archives[number];
        if !self.changed.contains(&number) {
            return Ok(own.bytes.clone());
        }
        let inside: Vec<(usize, usize)> = (self.input.archives.iter().enumerate().skip(number + 1))
            .filter_map(|(nested, archive)| match archive.place {
                Place::Entry(outer, entry) if outer == number => Some((nested, entry)),
                _ => None,
            })
            .filter(|(nested, _)| self.changed.contains(nested))
            .collect();
        let inside: BTreeMap<usize, Packed> = inside
            .into_par_iter()
            .map(|(nested, entry)| {
                let packed = Packed::new(self.archive(nested)?, own.archive.entries[entry].method)?;
                Ok((entry, packed))
            })
            .collect::<Result<_, String>>()?;
        let mut changes = Vec::with_capacity(own.archive.entries.len());
        for (index, entry) in own.archive.entries.iter().enumerate() {
            let changed = self.contents.get(&Place::Entry(number, index));
            let change = if own.signed && signature::is_signature(&entry.name) {
                Change::Drop
            } else if own.signed && entry.name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") {
                let manifest = own.archive.unpack(&own.bytes, index).map_err(|e| e.to_string())?;
                Change::Replace(Packed::new(signature::strip_manifest(&manifest), entry.method)?)
            } else if let Some(nested) = inside.get(&index) {
                Change::Replace(nested.clone())
            } else if let Some(Contents::Packed(packed)) = changed {
                Change::Replace(packed.clone())
            } else {
                Change::Keep
            };
            changes.push(change);
        }
        let added = self.added.get(&number).map(Vec::as_slice).unwrap_or_default();
        write(&own.bytes, &own.archive, &changes, added)
    }
}

/// Hands out ids to classes in the order of a path map: by name, then hash. So whoever has the map knows them.
///
/// # Errors
/// If there are more methods or paths than ids.
pub fn number<'m>(maps: impl IntoIterator<Item = &'m ClassMap>) -> Result<Ids, CliError> {
    let mut ids = Ids::new();
    let (mut counters, mut methods) = (0u32, 0u32);
    for map in maps {
        ids.insert((map.name.clone(), map.sha256), ClassIds::new(counters, methods));
        let limit = |next: Option<u32>, most: u32, what: &str| {
            next.filter(|&next| next <= most).ok_or_else(|| {
                CliError::Failed(format!(
                    "more than {most} {what} in one output: leave some classes alone, by --include or --exclude"
                ))
            })
        };
        let more = u32::try_from(map.methods.len()).ok();
        methods = limit(
            more.and_then(|more| methods.checked_add(more)),
            i32::MAX as u32 / 2,
            "methods",
        )?;
        counters = limit(
            counters.checked_add(CounterLayout::of(map).slots),
            MOST_SLOTS,
            "paths",
        )?;
    }
    Ok(ids)
}
