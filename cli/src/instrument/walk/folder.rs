//! Folders of classes and archives on the way through an input.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::{Outcome, Packable, Walk, windows};
use crate::error::CliError;
use crate::instrument::archive::{Archive, STORED, Source};
use crate::instrument::input::{EntryKind, Found, budget, class, kind};
use crate::instrument::loaded::{Copied, Loaded};
use crate::instrument::runtime::{self, Homes};

/// Where a folder goes.
pub struct NewFolder {
    /// Where it is assembled.
    pub new: PathBuf,
    /// For messages: where it will be.
    pub shown: PathBuf,
}

impl Walk<'_> {
    /// Goes through the files of a folder.
    ///
    /// # Errors
    /// If something is broken or cannot be handled or written.
    pub fn folder(
        &mut self,
        root: &Path,
        files: &[PathBuf],
        out: Option<&NewFolder>,
    ) -> Result<(), CliError> {
        let names: Vec<String> = files
            .iter()
            .map(|file| file.to_string_lossy().into_owned())
            .collect();
        let mut sizes = vec![0; files.len()];
        let mut classes = Vec::new();
        for (index, file) in files.iter().enumerate() {
            let whole = root.join(file);
            sizes[index] = fs::metadata(&whole).map_err(|e| CliError::file(&whole, e))?.len();
            if kind(&names[index]) == Some(EntryKind::Class) {
                budget(
                    &whole.display().to_string(),
                    sizes[index],
                    EntryKind::Class,
                    &mut self.unpacked,
                )?;
                classes.push(index);
            }
        }
        let windows = windows(&classes, |index| sizes[index]);
        let mut homes = Homes::default();
        let mut roots: BTreeMap<String, Loaded> = BTreeMap::new();
        for window in &windows {
            for (index, class) in self.load_files(root, files, &classes[window.clone()], true)? {
                homes.add(&class);
                // Where the names of classes count from, with the folders of versions.
                let end = format!("{}.class", class.name);
                if let Some(place) = names[index].strip_suffix(&end) {
                    roots
                        .entry(place.to_owned())
                        .or_insert_with(|| loaded(root, place));
                }
            }
        }
        let mut taken: BTreeMap<String, usize> = BTreeMap::new();
        for window in &windows {
            let found = self.load_files(root, files, &classes[window.clone()], false)?;
            let known: Vec<(usize, String)> = found.iter().map(|(i, c)| (*i, c.prefix.clone())).collect();
            let found = found.into_iter().map(|(_, class)| (class, STORED)).collect();
            let outcomes = self.visitor.classes(&homes, found)?;
            for ((index, prefix), outcome) in known.into_iter().zip(outcomes) {
                if !matches!(outcome, Outcome::Left) {
                    self.spots.note(None, true, &prefix, index);
                    taken.entry(prefix).or_insert(index);
                }
                if let (Outcome::Written(packed), Some(out)) = (outcome, out) {
                    out.write(&files[index], &packed.into_data())?;
                }
                self.progress.inc(sizes[index]);
            }
        }
        for (index, name) in names.iter().enumerate() {
            if kind(name) == Some(EntryKind::Archive) {
                let data = roots.iter().find_map(|(place, loaded)| {
                    let inside = name.strip_prefix(place.as_str())?;
                    self.policy.nested.copies(loaded, inside)
                });
                let whole = root.join(&files[index]);
                match data {
                    Some(why) => self.copied.push((why, whole.display().to_string())),
                    None => self.archive_file(&whole, &files[index], sizes[index], out)?,
                }
                self.progress.inc(sizes[index]);
            }
        }
        let Some(out) = out else { return Ok(()) };
        out.complete(root, files)?;
        for prefix in taken.keys() {
            if let Some(unit) = self.runtime {
                let name = homes.runtime(prefix, unit);
                let file = PathBuf::from(format!("{prefix}{name}.class"));
                out.write(&file, &runtime::class(&name, unit))?;
            }
        }
        if let Some(Packable { spot, name, bytes }) = self.packed
            && spot.archive.is_none()
        {
            out.write(Path::new(&format!("{}{name}", spot.prefix)), bytes)?;
        }
        Ok(())
    }

    /// Reads class files of a folder. `first`: what is broken is not known yet.
    fn load_files(
        &mut self,
        root: &Path,
        files: &[PathBuf],
        classes: &[usize],
        first: bool,
    ) -> Result<Vec<(usize, Found)>, CliError> {
        let mut found = Vec::with_capacity(classes.len());
        for &index in classes {
            let whole = root.join(&files[index]);
            let bytes = fs::read(&whole).map_err(|e| CliError::file(&whole, e))?;
            let label = whole.display().to_string();
            match class(label.clone(), bytes, Some(&files[index].to_string_lossy())) {
                Ok(Ok(class)) => found.push((index, class)),
                Ok(Err(skipped)) if first => self.skipped.push(skipped),
                Err(message) if first => self.broken(&label, &message)?,
                _ => {}
            }
        }
        Ok(found)
    }

    /// Goes through an archive of a folder.
    fn archive_file(
        &mut self,
        whole: &Path,
        file: &Path,
        size: u64,
        out: Option<&NewFolder>,
    ) -> Result<(), CliError> {
        let failed = |e: std::io::Error| CliError::file(whole, e);
        let label = whole.display().to_string();
        budget(&label, size, EntryKind::Archive, &mut self.unpacked)?;
        let source = Source::file(fs::File::open(whole).map_err(failed)?).map_err(failed)?;
        let magic = source.read(0..source.len().min(2)).map_err(failed)?.into_owned();
        let archive = match Archive::read(&source) {
            Ok(archive) => archive,
            Err(_) if magic != b"PK" => {
                self.copied.push((Copied::NoZip, label));
                return Ok(());
            }
            Err(e) => return self.broken(&label, &format!("{label}: {e}")),
        };
        let Some(out) = out else {
            return self.archive(&label, &source, &archive, None).map(drop);
        };
        let mut new = BufWriter::with_capacity(1 << 16, out.create(file)?);
        let written = (out.shown.join(file), &mut new as &mut dyn Write);
        if !self.archive(&label, &source, &archive, Some((&written.0, written.1)))? {
            drop(new);
            out.remove(file)?;
        }
        Ok(())
    }
}

/// The archives that classes are loaded from in a place of a folder.
fn loaded(root: &Path, place: &str) -> Loaded {
    let manifest = fs::read(root.join(place).join("META-INF/MANIFEST.MF"));
    let manifest = manifest.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Loaded::for_folder(manifest.ok().as_deref())
}
