//! Jars: instrumented entry by entry, in parallel; entries without probes are copied as they are.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use trodden_instrumenter::{Instrumenter, Preparation, Prepared};
use trodden_profile::Skipped;
use zip::{ZipArchive, ZipWriter};

use super::signature;
use super::{IdSource, Outcome, uncounted};
use crate::error::CliError;

/// Largest class file that is read: far above what the format allows to be useful, far below memory.
const LARGEST_CLASS: u64 = 256 << 20;

type Archive<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// What becomes of an entry.
enum Entry<'a> {
    Copy,
    Drop,
    Rewrite(Vec<u8>),
    Class(Box<Prepared<'a>>),
}

/// Instruments a jar in memory.
pub fn instrument(
    instrumenter: &Instrumenter,
    path: &Path,
    bytes: &[u8],
    ids: &mut IdSource,
    strip_signatures: bool,
) -> Result<(Vec<u8>, Outcome), CliError> {
    let wrong = |e: &dyn std::fmt::Display| CliError::file(path, e);
    let mut archive: Archive = ZipArchive::new(Cursor::new(bytes)).map_err(|e| wrong(&e))?;
    if archive.offset() > 0 {
        return Err(wrong(
            &"has data in front of its first entry (a start script?), which would be lost",
        ));
    }
    if archive.has_duplicate_names() {
        return Err(wrong(
            &"has several entries of one name, of which all but one would be lost",
        ));
    }
    let order: Vec<String> = archive
        .file_names()
        .map(|name| name.map(|name| name.into_owned()).map_err(|e| wrong(&e)))
        .collect::<Result<_, _>>()?;
    let signed = order.iter().any(|name| signature::is_signature(name));
    if signed && !strip_signatures {
        return Err(wrong(
            &"is signed, and its signature would no longer hold; use --strip-signatures",
        ));
    }

    let progress = ProgressBar::new(order.len() as u64)
        .with_style(
            ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}")
                .unwrap_or(ProgressStyle::default_bar()),
        )
        .with_message(path.display().to_string());
    // Classes are unpacked first, so that what is prepared can borrow them.
    let unpacked: Vec<Option<Vec<u8>>> = order
        .par_iter()
        .enumerate()
        .map_with(archive.clone(), |archive, (index, name)| match is_class(name) {
            true => unpack(archive, index)
                .map(Some)
                .map_err(|e| wrong(&format!("{name}: {e}"))),
            false => Ok(None),
        })
        .collect::<Result<_, _>>()?;
    let mut entries: Vec<(Entry, Vec<Skipped>)> = order
        .par_iter()
        .zip(&unpacked)
        .map(|(name, class)| {
            progress.inc(1);
            match class {
                Some(class) => prepare(instrumenter, name, class),
                None => (Entry::Copy, Vec::new()),
            }
        })
        .collect();
    if signed {
        for (index, name) in order.iter().enumerate() {
            if signature::is_signature(name) {
                entries[index].0 = Entry::Drop;
            } else if name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") {
                let manifest = unpack(&mut archive, index).map_err(|e| wrong(&format!("{name}: {e}")))?;
                entries[index].0 = Entry::Rewrite(signature::strip_manifest(&manifest));
            }
        }
    }
    progress.finish_and_clear();

    let mut outcome = Outcome {
        seen: unpacked.iter().flatten().count(),
        ..Outcome::default()
    };
    // Ids go in the order of entries: the same jar gives the same result, however many threads there are.
    let mut work = Vec::with_capacity(entries.len());
    for (entry, skipped) in entries {
        outcome.skipped.extend(skipped);
        let taken = match &entry {
            Entry::Class(prepared) => {
                outcome.classes.push(uncounted(prepared.map()));
                Some(ids.take(prepared.map())?)
            }
            _ => None,
        };
        work.push((entry, taken));
    }
    let done: Vec<Entry> = work
        .into_par_iter()
        .map(|(entry, ids)| match (entry, ids) {
            (Entry::Class(prepared), Some(ids)) => Entry::Rewrite(prepared.emit(ids)),
            (entry, _) => entry,
        })
        .collect();
    let out = write(&mut archive, &done).map_err(|e| wrong(&e))?;
    Ok((out, outcome))
}

fn is_class(name: &str) -> bool {
    name.ends_with(".class")
}

fn unpack(archive: &mut Archive, index: usize) -> Result<Vec<u8>, String> {
    let entry = archive.by_index(index).map_err(|e| e.to_string())?;
    if entry.size() > LARGEST_CLASS {
        return Err(format!("is {} bytes long", entry.size()));
    }
    let mut bytes = Vec::new();
    entry
        .take(LARGEST_CLASS)
        .read_to_end(&mut bytes)
        .map_err(|e| e.to_string())?;
    Ok(bytes)
}

fn prepare<'a>(instrumenter: &Instrumenter, name: &str, class: &'a [u8]) -> (Entry<'a>, Vec<Skipped>) {
    match instrumenter.prepare(class) {
        Ok(Preparation::Ready(prepared)) => {
            let skipped = prepared.skipped().to_vec();
            (Entry::Class(prepared), skipped)
        }
        Ok(Preparation::Unchanged { skipped }) => (Entry::Copy, skipped),
        // One bad class in a jar is not the jar's end: the program may never load it.
        Err(error) => {
            let skipped = Skipped {
                class: name.trim_end_matches(".class").to_owned(),
                method: None,
                reason: format!("not a well-formed class file: {error}"),
            };
            (Entry::Copy, vec![skipped])
        }
    }
}

fn write(archive: &mut Archive, entries: &[Entry]) -> Result<Vec<u8>, String> {
    let text = |e: &dyn std::fmt::Display| e.to_string();
    let mut out = ZipWriter::new(Cursor::new(Vec::new()));
    out.set_raw_comment(archive.comment().into())
        .map_err(|e| text(&e))?;
    for (index, entry) in entries.iter().enumerate() {
        let original = archive.by_index_raw(index).map_err(|e| text(&e))?;
        match entry {
            Entry::Drop => {}
            Entry::Rewrite(bytes) => {
                let name = original.name().map_err(|e| text(&e))?.into_owned();
                let options = original.options();
                drop(original);
                out.start_file(name, options).map_err(|e| text(&e))?;
                out.write_all(bytes).map_err(|e| text(&e))?;
            }
            Entry::Copy | Entry::Class(_) => out.raw_copy_file(original).map_err(|e| text(&e))?,
        }
    }
    Ok(out.finish().map_err(|e| text(&e))?.into_inner())
}
