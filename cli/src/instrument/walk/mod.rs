//! The way through an input: archives inside of archives, classes a window at a time. What was written is
//! forgotten, so that memory does not grow with the input.
//!
//! *In*: archives that are on the disk, or inside of others in memory. *Out*: these archives with other
//! classes, as a stream.

mod folder;

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use indicatif::ProgressBar;
use rayon::prelude::*;
use trodden_profile::Skipped;

use crate::error::CliError;
use crate::instrument::archive::{Added, Archive, Change, Packed, STORED, Source, WriteError, Writer};
use crate::instrument::input::{DEEPEST, EntryKind, Found, Input, Looked, Policy, Root, budget, class, kind};
use crate::instrument::loaded::{Copied, Loaded};
use crate::instrument::runtime::{self, Homes};
use crate::instrument::signature;
pub use folder::NewFolder;

/// Bytes of classes that are worked on at a time: enough for all processors, little compared with a large
/// archive.
const WINDOW: u64 = 2 << 20;

/// The outcome for a class or an archive.
pub enum Outcome {
    /// It stays unchanged.
    Left,
    /// It would change, but nothing is written.
    Counted,
    /// It has these contents now.
    Written(Packed),
}

/// Takes the classes.
pub trait Visit {
    /// Takes some classes of one archive or folder, each with how its archive packs it; returns the outcome
    /// for each.
    ///
    /// # Errors
    /// If a class cannot be handled.
    fn classes(&mut self, homes: &Homes, classes: Vec<(Found, u16)>) -> Result<Vec<Outcome>, CliError>;
}

/// A file to be added next to classes.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The label of the archive, or none for the input folder.
    archive: Option<String>,
    /// The part in front of its name.
    prefix: &'static str,
    /// The entry that its time and attributes are taken from.
    like: usize,
}

/// Where a path map could go that is packed into the output.
#[derive(Clone, Debug, Default)]
struct Spots {
    war: Option<Spot>,
    outermost: Option<Spot>,
    any: Option<Spot>,
}

/// A file to be packed into the output.
pub struct Packable {
    pub spot: Spot,
    pub name: String,
    pub bytes: Vec<u8>,
}

/// One way through an input.
pub struct Walk<'v> {
    visitor: &'v mut dyn Visit,
    policy: Policy,
    /// The unit, if the probes call the runtime.
    runtime: Option<&'v str>,
    packed: Option<&'v Packable>,
    progress: ProgressBar,
    /// The file that is being written.
    shown: PathBuf,
    unpacked: u64,
    spots: Spots,
    /// Classes and archives that are broken.
    pub skipped: Vec<Skipped>,
    /// Archives inside that are copied unchanged, by their labels.
    pub copied: Vec<(Copied, String)>,
}

/// An archive on the way.
struct Here<'a> {
    label: &'a str,
    /// How many others it is inside of.
    depth: usize,
    source: &'a Source,
    archive: &'a Archive,
}

impl Here<'_> {
    fn label(&self, entry: usize) -> String {
        format!("{}!/{}", self.label, self.archive.entries[entry].name)
    }

    fn pack(&self, bytes: Vec<u8>, method: u16) -> Result<Packed, CliError> {
        Packed::new(bytes, method).map_err(|what| CliError::Failed(format!("{}: {what}", self.label)))
    }

    /// An entry's contents; the message names the archive.
    fn unpack(&self, entry: usize) -> Result<Vec<u8>, String> {
        let failed = |e| format!("{}: {e}", self.label);
        self.archive.unpack(self.source, entry).map_err(failed)
    }
}

impl<'v> Walk<'v> {
    /// Begins. `runtime`: the unit, if the probes call the runtime's copies.
    pub fn new(visitor: &'v mut dyn Visit, policy: Policy, runtime: Option<&'v str>) -> Self {
        Walk {
            visitor,
            policy,
            runtime,
            packed: None,
            progress: ProgressBar::hidden(),
            shown: PathBuf::new(),
            unpacked: 0,
            spots: Spots::default(),
            skipped: Vec::new(),
            copied: Vec::new(),
        }
    }

    /// Packs this into the output as well.
    pub fn with_packed(mut self, packed: Option<&'v Packable>) -> Self {
        self.packed = packed;
        self
    }

    /// Shows the progress.
    pub fn with_progress(mut self, progress: ProgressBar) -> Self {
        self.progress = progress;
        self
    }

    /// Where a path map goes that is packed into the output: where the program's class loader finds it. At
    /// the top, in a war with its classes.
    pub fn spot(&self) -> Option<Spot> {
        let Spots { war, outermost, any } = &self.spots;
        war.as_ref().or(outermost.as_ref()).or(any.as_ref()).cloned()
    }

    /// Goes through all of an input, and writes nothing.
    ///
    /// # Errors
    /// If something is broken or cannot be handled.
    pub fn look(&mut self, input: &Input) -> Result<(), CliError> {
        match &input.root {
            Root::Class(found) => self.class(found).map(drop),
            Root::Archive(source, archive) => {
                let label = input.path.display().to_string();
                self.archive(&label, source, archive, None).map(drop)
            }
            Root::Folder(files) => self.folder(&input.path, files, None),
        }
    }

    /// Goes through a class file. Its new contents, and the name and contents of the runtime's copy, if it
    /// has probes.
    ///
    /// # Errors
    /// If it is broken or cannot be handled.
    #[expect(clippy::type_complexity, reason = "taken apart right where it is called")]
    pub fn class(&mut self, found: &Found) -> Result<Option<(Vec<u8>, Option<(String, Vec<u8>)>)>, CliError> {
        let mut homes = Homes::default();
        homes.add(found);
        let own = Found {
            label: found.label.clone(),
            bytes: found.bytes.clone(),
            name: found.name.clone(),
            prefix: found.prefix.clone(),
        };
        let outcome = self.visitor.classes(&homes, vec![(own, STORED)])?.pop();
        let Some(Outcome::Written(packed)) = outcome else {
            return Ok(None);
        };
        let beside = self.runtime.map(|unit| {
            // Next to the class, which is in the folder of its package.
            let name = homes.runtime(&found.prefix, unit);
            let file = format!("{}.class", name.rsplit('/').next().unwrap_or(&name));
            (file, runtime::class(&name, unit))
        });
        Ok(Some((packed.into_data(), beside)))
    }

    /// Goes through an archive that is inside of no other. Returns true if it was written; if not, it stays
    /// unchanged.
    ///
    /// # Errors
    /// If something is broken or cannot be handled or written.
    pub fn archive(
        &mut self,
        label: &str,
        source: &Source,
        archive: &Archive,
        out: Option<(&Path, &mut dyn Write)>,
    ) -> Result<bool, CliError> {
        if let Some((path, _)) = out {
            self.shown = path.to_owned();
        }
        let out = out.map(|(_, out)| out);
        let here = Here {
            label,
            depth: 0,
            source,
            archive,
        };
        self.go(&here, out)
    }

    fn go(&mut self, here: &Here<'_>, out: Option<&mut dyn Write>) -> Result<bool, CliError> {
        let archive = here.archive;
        let signed = archive.entries.iter().any(|e| signature::is_signature(&e.name));
        let members = self.members(here)?;
        let windows = windows(archive.in_place(), |index| match members.get(&index) {
            Some(EntryKind::Class) => archive.entries[index].size,
            _ => 0,
        });
        // What loads the classes must be known before the first of them is written.
        let mut homes = Homes::default();
        let mut only = None;
        for window in &windows {
            let found = self.load(here, &members, window.clone(), true)?;
            found.iter().for_each(|(_, class)| homes.add(class));
            only = (windows.len() == 1).then_some(found);
        }
        let mut writer = out.map(|out| Writer::new(archive, here.source, out));
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        let mut changed = false;
        for window in &windows {
            let found = match only.take() {
                Some(found) => found,
                None => self.load(here, &members, window.clone(), false)?,
            };
            let mut changes = self.visit(here, &homes, found, &mut taken)?;
            changed |= !changes.is_empty();
            for &index in &archive.in_place()[window.clone()] {
                let mut outcome = changes.remove(&index).unwrap_or(Outcome::Left);
                if members.get(&index) == Some(&EntryKind::Archive) {
                    outcome = self.inner(here, index, writer.is_some())?;
                }
                changed |= !matches!(outcome, Outcome::Left);
                if changed && signed && !self.policy.strip_signatures && !self.policy.survey {
                    return Err(CliError::Failed(format!(
                        "{}: is signed, and its signature would no longer hold; use --strip-signatures, or leave its \
                         classes alone by --exclude",
                        here.label
                    )));
                }
                if let Some(writer) = &mut writer {
                    let (change, matters) = self.change(here, index, outcome, signed)?;
                    writer
                        .entry(index, change, matters)
                        .map_err(|e| self.failed(here, &e))?;
                }
                if here.depth == 0 {
                    self.progress.inc(archive.entries[index].packed);
                }
            }
        }
        let Some(mut writer) = writer else {
            return Ok(changed);
        };
        for added in self.additions(here, &homes, &taken)? {
            writer.add(&added).map_err(|e| self.failed(here, &e))?;
        }
        writer.finish().map_err(|e| self.failed(here, &e))
    }

    fn failed(&self, here: &Here<'_>, error: &WriteError) -> CliError {
        match error {
            WriteError::Write(_) => CliError::file(&self.shown, error),
            _ => CliError::Failed(format!("{}: {error}", here.label)),
        }
    }

    /// Classes and archives in an archive, by the numbers of their entries.
    fn members(&mut self, here: &Here<'_>) -> Result<BTreeMap<usize, EntryKind>, CliError> {
        let loaded = Loaded::for_archive(here.label, here.depth == 0, here.archive, here.source);
        let mut members = BTreeMap::new();
        for (index, entry) in here.archive.entries.iter().enumerate() {
            let Some(kind) = kind(&entry.name) else { continue };
            let label = here.label(index);
            match (kind, self.policy.nested.copies(&loaded, &entry.name)) {
                (EntryKind::Archive, Some(why)) => self.copied.push((why, label)),
                _ => {
                    budget(&label, entry.size, kind, &mut self.unpacked)?;
                    members.insert(index, kind);
                }
            }
        }
        Ok(members)
    }

    /// Unpacks the classes of a window, on all processors. `first`: what is broken is not known yet.
    fn load(
        &mut self,
        here: &Here<'_>,
        members: &BTreeMap<usize, EntryKind>,
        window: Range<usize>,
        first: bool,
    ) -> Result<Vec<(usize, Found)>, CliError> {
        let indices = here.archive.in_place()[window].iter().copied();
        let classes: Vec<usize> = indices
            .filter(|index| members.get(index) == Some(&EntryKind::Class))
            .collect();
        let load = |&index: &usize| {
            let name = &here.archive.entries[index].name;
            let bytes = here.unpack(index);
            (
                index,
                bytes.and_then(|bytes| class(here.label(index), bytes, Some(name))),
            )
        };
        let loaded: Vec<(usize, Looked)> = classes.par_iter().map(load).collect();
        let mut found = Vec::with_capacity(loaded.len());
        for (index, looked) in loaded {
            match looked {
                Ok(Ok(class)) => found.push((index, class)),
                Ok(Err(skipped)) if first => self.skipped.push(skipped),
                Err(message) if first => self.broken(&here.label(index), &message)?,
                _ => {}
            }
        }
        Ok(found)
    }

    /// Lists what is broken, or stops.
    fn broken(&mut self, label: &str, message: &str) -> Result<(), CliError> {
        if !self.policy.skip_broken && !self.policy.survey {
            return Err(CliError::Failed(format!(
                "{message} (--skip-broken copies what is broken inside of others)"
            )));
        }
        let reason = message.strip_prefix(label).unwrap_or(message);
        self.skipped.push(Skipped {
            class: label.trim_end_matches(".class").to_owned(),
            method: None,
            reason: format!("broken{reason}"),
        });
        Ok(())
    }

    /// The outcomes for the classes of an archive's window that do not stay unchanged.
    fn visit(
        &mut self,
        here: &Here<'_>,
        homes: &Homes,
        found: Vec<(usize, Found)>,
        taken: &mut BTreeMap<String, usize>,
    ) -> Result<BTreeMap<usize, Outcome>, CliError> {
        let known: Vec<(usize, String)> = (found.iter())
            .map(|(index, class)| (*index, class.prefix.clone()))
            .collect();
        let classes = found
            .into_iter()
            .map(|(index, class)| (class, here.archive.entries[index].method))
            .collect();
        let outcomes = self.visitor.classes(homes, classes)?;
        let mut changes = BTreeMap::new();
        for ((index, prefix), outcome) in known.into_iter().zip(outcomes) {
            if !matches!(outcome, Outcome::Left) {
                self.spots.note(Some(here.label), here.depth == 0, &prefix, index);
                taken.entry(prefix).or_insert(index);
                changes.insert(index, outcome);
            }
        }
        Ok(changes)
    }

    /// Goes through an archive inside of another.
    fn inner(&mut self, here: &Here<'_>, index: usize, writes: bool) -> Result<Outcome, CliError> {
        let label = here.label(index);
        let depth = here.depth + 1;
        if depth > DEEPEST {
            let message = format!("{label}: archives inside of archives, {depth} deep");
            return self.broken(&label, &message).map(|()| Outcome::Left);
        }
        let bytes = match here.unpack(index) {
            Ok(bytes) => bytes,
            Err(message) => return self.broken(&label, &message).map(|()| Outcome::Left),
        };
        let named_only = !bytes.starts_with(b"PK");
        let source = Source::Memory(bytes);
        let archive = match Archive::read(&source) {
            Ok(archive) => archive,
            Err(_) if named_only => {
                self.copied.push((Copied::NoZip, label));
                return Ok(Outcome::Left);
            }
            Err(e) => {
                let message = format!("{label}: {e}");
                return self.broken(&label, &message).map(|()| Outcome::Left);
            }
        };
        let inner = Here {
            label: &label,
            depth,
            source: &source,
            archive: &archive,
        };
        let mut out = Vec::new();
        if writes {
            // Untouched, it costs nothing.
            out.reserve_exact(source.len() + source.len() / 4);
        }
        let changed = self.go(&inner, writes.then_some(&mut out as &mut dyn Write))?;
        drop(archive);
        drop(source);
        if !changed {
            Ok(Outcome::Left)
        } else if !writes {
            Ok(Outcome::Counted)
        } else {
            let method = here.archive.entries[index].method;
            here.pack(out, method).map(Outcome::Written)
        }
    }

    /// The change of an entry, and whether the archive is rewritten for it.
    fn change(
        &self,
        here: &Here<'_>,
        index: usize,
        outcome: Outcome,
        signed: bool,
    ) -> Result<(Change, bool), CliError> {
        let entry = &here.archive.entries[index];
        Ok(match outcome {
            Outcome::Written(packed) => (Change::Replace(packed), true),
            _ if signed && signature::is_signature(&entry.name) => (Change::Drop, false),
            _ if signed && entry.name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") => {
                let manifest = here.unpack(index).map_err(CliError::Failed)?;
                let stripped = here.pack(signature::strip_manifest(&manifest), entry.method)?;
                (Change::Replace(stripped), false)
            }
            _ => (Change::Keep, false),
        })
    }

    /// Entries that an archive did not have: the runtime's copies wherever some class has probes, and what is
    /// packed in.
    fn additions(
        &self,
        here: &Here<'_>,
        homes: &Homes,
        taken: &BTreeMap<String, usize>,
    ) -> Result<Vec<Added>, CliError> {
        let add = |name: String, bytes: Vec<u8>, like: usize| {
            let contents = here.pack(bytes, here.archive.entries[like].method)?;
            Ok(Added { name, contents, like })
        };
        let mut added = Vec::new();
        for (prefix, &like) in taken {
            if let Some(unit) = self.runtime {
                let name = homes.runtime(prefix, unit);
                let bytes = runtime::class(&name, unit);
                added.push(add(format!("{prefix}{name}.class"), bytes, like)?);
            }
        }
        if let Some(Packable { spot, name, bytes }) = self.packed
            && spot.archive.as_deref() == Some(here.label)
        {
            added.push(add(format!("{}{name}", spot.prefix), bytes.clone(), spot.like)?);
        }
        Ok(added)
    }
}

impl Spots {
    /// A class in there takes probes.
    fn note(&mut self, archive: Option<&str>, outermost: bool, prefix: &str, like: usize) {
        const WAR: &str = "WEB-INF/classes/";
        let war = prefix == WAR;
        let spot = || Spot {
            archive: archive.map(str::to_owned),
            prefix: if war { WAR } else { "" },
            like,
        };
        if war {
            self.war.get_or_insert_with(spot);
        }
        if outermost {
            self.outermost.get_or_insert_with(spot);
        }
        self.any.get_or_insert_with(spot);
    }
}

/// Ranges that cover all of `order`, each with as many bytes as are worked on at a time.
fn windows(order: &[usize], size: impl Fn(usize) -> u64) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    let (mut begin, mut bytes) = (0, 0);
    for (at, &index) in order.iter().enumerate() {
        bytes += size(index);
        if bytes >= WINDOW {
            windows.push(begin..at + 1);
            (begin, bytes) = (at + 1, 0);
        }
    }
    if begin < order.len() {
        windows.push(begin..order.len());
    }
    windows
}
