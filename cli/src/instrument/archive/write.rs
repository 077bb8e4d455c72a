//! Writing an archive that is another one but for some entries.

use std::io::Write;
use std::ops::Range;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::read::{Archive, Entry};
use super::source::Source;
use super::{ALIGNMENT, HAS_DESCRIPTOR, STORED, ZIP64, extra_fields, set_u2, set_u4, u2, u4};

/// The change of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays unchanged.
    Keep,
    /// It goes.
    Drop,
    /// It has other contents, and is the same in everything else.
    Replace(Packed),
}

/// An entry that comes last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its name.
    pub name: String,
    /// Its contents.
    pub contents: Packed,
    /// Index of the entry that time and attributes are taken from.
    pub like: usize,
}

/// Contents as they will be in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    facts: Facts,
    data: Vec<u8>,
}

/// The facts about contents that headers state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    method: u16,
    crc: u32,
    packed: u32,
    size: u32,
}

impl Packed {
    /// Packs with a method.
    ///
    /// # Errors
    /// If there are 4 GB or more.
    pub fn new(bytes: Vec<u8>, method: u16) -> Result<Packed, String> {
        let size = u32::try_from(bytes.len()).map_err(|_| "an entry of 4 GB or more".to_owned())?;
        let crc = crc32fast::hash(&bytes);
        let data = match method {
            STORED => bytes,
            _ => {
                let mut encoder =
                    DeflateEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::default());
                encoder
                    .write_all(&bytes)
                    .and_then(|()| encoder.finish())
                    .map_err(|e| e.to_string())?
            }
        };
        let facts = Facts {
            method,
            crc,
            packed: data.len() as u32,
            size,
        };
        Ok(Packed { facts, data })
    }

    /// The contents in the form that they have in the archive.
    pub fn into_data(self) -> Vec<u8> {
        self.data
    }
}

impl Facts {
    /// Writes checksum and sizes where headers have them.
    fn describe(self, header: &mut [u8], at: usize) {
        set_u4(header, at, self.crc);
        set_u4(header, at + 4, self.packed);
        set_u4(header, at + 8, self.size);
    }
}

/// Rewrites an archive, entry by entry, in the order of their data. As long as nothing changes, nothing is
/// written.
pub struct Writer<'a> {
    archive: &'a Archive,
    source: &'a Source,
    out: &'a mut dyn Write,
    /// Bytes written.
    at: usize,
    /// The entries before the first change.
    waiting: Option<Vec<(usize, Change)>>,
    /// Where the entries are now, and what their contents are if these are others.
    places: Vec<Option<(u32, Option<Facts>)>>,
    added: Vec<u8>,
    number: u64,
}

/// Why an archive cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Because of the archive.
    #[error("{0}")]
    Archive(String),
    /// The archive that it is made of cannot be read any more.
    #[error("cannot be read: {0}")]
    Read(std::io::Error),
    /// Because of the output.
    #[error("cannot write: {0}")]
    Write(std::io::Error),
}

impl<'a> Writer<'a> {
    /// Begins.
    pub fn new(archive: &'a Archive, source: &'a Source, out: &'a mut dyn Write) -> Self {
        Writer {
            archive,
            source,
            out,
            at: 0,
            waiting: Some(Vec::new()),
            places: vec![None; archive.entries.len()],
            added: Vec::new(),
            number: 0,
        }
    }

    /// Takes the next entry. `matters`: the archive is rewritten for this change.
    ///
    /// # Errors
    /// If the archive becomes too large, or cannot be written.
    pub fn entry(&mut self, index: usize, change: Change, matters: bool) -> Result<(), WriteError> {
        match &mut self.waiting {
            Some(waiting) if !matters => {
                waiting.push((index, change));
                return Ok(());
            }
            _ => self.begin()?,
        }
        self.put(index, change)
    }

    fn begin(&mut self) -> Result<(), WriteError> {
        let Some(waiting) = self.waiting.take() else {
            return Ok(());
        };
        self.copy(0..self.archive.prefix)?;
        waiting
            .into_iter()
            .try_for_each(|(index, change)| self.put(index, change))
    }

    fn put(&mut self, index: usize, change: Change) -> Result<(), WriteError> {
        let entry = &self.archive.entries[index];
        let contents = match change {
            Change::Drop => return Ok(()),
            Change::Keep => None,
            Change::Replace(contents) => Some(contents),
        };
        let place = self.place()?;
        let header = self.source.read(entry.local..entry.data.start);
        let header = header.map_err(WriteError::Read)?;
        let begin = self.at + 30 + usize::from(u2(&header, 26));
        match &contents {
            None => {
                self.write(&kept_header(&header, self.archive, entry, begin))?;
                self.copy(entry.data.start..entry.end)?;
            }
            Some(contents) => {
                self.write(&replaced_header(
                    &header,
                    self.archive,
                    entry,
                    contents.facts,
                    begin,
                ))?;
                self.write(&contents.data)?;
            }
        }
        self.places[index] = Some((place, contents.map(|contents| contents.facts)));
        Ok(())
    }

    /// Adds an entry that comes last.
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    pub fn add(&mut self, added: &Added) -> Result<(), WriteError> {
        self.begin()?;
        let place = self.place()?;
        let template = self.archive.record(added.like);
        self.write(&added_header(template, added))?;
        self.write(&added.contents.data)?;
        let record = added_record(template, added, place);
        self.added.extend_from_slice(&record);
        self.number += 1;
        Ok(())
    }

    /// Writes the central directory; nothing at all if nothing changed. Was something written?
    ///
    /// # Errors
    /// As [`entry`](Self::entry).
    pub fn finish(mut self) -> Result<bool, WriteError> {
        if self.waiting.is_some() {
            return Ok(false);
        }
        let directory = self.place()?;
        let begin = self.at;
        for index in 0..self.places.len() {
            let Some((at, facts)) = self.places[index] else {
                continue;
            };
            let record = self.archive.record(index);
            let record = match facts {
                Some(facts) => replaced_record(record, facts, at),
                None => moved_record(record, at),
            };
            self.write(&record)?;
            self.number += 1;
        }
        let added = std::mem::take(&mut self.added);
        self.write(&added)?;
        let size = (self.at - begin) as u64;
        self.place()?;
        let end = end(self.archive, self.at, self.number, size, directory);
        self.write(&end)?;
        self.write(&self.archive.comment)?;
        self.out.flush().map_err(WriteError::Write)?;
        Ok(true)
    }

    /// Copies what is in this place of the source.
    fn copy(&mut self, range: Range<usize>) -> Result<(), WriteError> {
        let source = self.source;
        let mut pieces = source.pieces(range);
        pieces.try_for_each(|piece| self.write(&piece.map_err(WriteError::Read)?))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.out.write_all(bytes).map_err(WriteError::Write)?;
        self.at += bytes.len();
        Ok(())
    }

    /// Where the next header will be, as offsets are counted.
    fn place(&self) -> Result<u32, WriteError> {
        u32::try_from(self.at - self.archive.base)
            .ok()
            .filter(|&offset| offset < u32::MAX)
            .ok_or_else(|| WriteError::Archive("would become larger than 4 GB".to_owned()))
    }
}

/// A local header with its name and extra fields, unchanged but for paddings. The extra fields will be at
/// `begin`.
fn kept_header(header: &[u8], archive: &Archive, entry: &Entry, begin: usize) -> Vec<u8> {
    let name_end = 30 + usize::from(u2(header, 26));
    let extra = &header[name_end..];
    let extra = aligned(extra, entry, archive, begin).unwrap_or_else(|| extra.to_vec());
    let mut out = header[..name_end].to_vec();
    set_u2(&mut out, 28, extra.len() as u16);
    out.extend_from_slice(&extra);
    out
}

/// The same for other contents.
fn replaced_header(header: &[u8], archive: &Archive, entry: &Entry, facts: Facts, begin: usize) -> Vec<u8> {
    let name_end = 30 + usize::from(u2(header, 26));
    let extra = without_zip64(&header[name_end..]);
    let extra = aligned(&extra, entry, archive, begin).unwrap_or(extra);
    let mut out = header[..name_end].to_vec();
    let flags = u2(&out, 6) & !HAS_DESCRIPTOR;
    set_u2(&mut out, 6, flags);
    set_u2(&mut out, 8, facts.method);
    facts.describe(&mut out, 14);
    set_u2(&mut out, 28, extra.len() as u16);
    out.extend_from_slice(&extra);
    out
}

/// The extra fields with other padding, if the data is aligned on purpose and would be no more. They will be
/// at `begin`.
fn aligned(extra: &[u8], entry: &Entry, archive: &Archive, begin: usize) -> Option<Vec<u8>> {
    let (fields, rest) = extra_fields(extra);
    let field = fields
        .iter()
        .find(|(id, field)| *id == ALIGNMENT && field.len() >= 6);
    let zeros = !rest.is_empty() && rest.iter().all(|&b| b == 0);
    let alignment = match field {
        Some((_, field)) => usize::from(u2(field, 4) & 0x7fff),
        // The Android tool zipalign writes bare zeros and states no alignment; libraries are aligned to
        // pages.
        None if zeros || (extra.is_empty() && entry.method == STORED && entry.name.ends_with(".so")) => {
            let at = entry.data.start;
            let pages = [16384, 4096].into_iter().find(|page| at.is_multiple_of(*page));
            pages.filter(|_| entry.name.ends_with(".so")).unwrap_or(4)
        }
        None => 1,
    };
    // Counted from the beginning of the file, or of the archive if something is in front of it.
    let from = [0, archive.base]
        .into_iter()
        .find(|from| alignment > 1 && (entry.data.start - from).is_multiple_of(alignment))?;
    let mut out: Vec<u8> = Vec::with_capacity(extra.len() + alignment);
    let kept = fields.iter().filter(|(id, _)| *id != ALIGNMENT);
    kept.for_each(|(_, field)| out.extend_from_slice(field));
    let mark = usize::from(field.is_some()) * 6;
    let padding = (alignment - (begin - from + out.len() + mark) % alignment) % alignment;
    if let Some((_, field)) = field {
        out.extend_from_slice(&ALIGNMENT.to_le_bytes());
        out.extend_from_slice(&((padding + 2) as u16).to_le_bytes());
        out.extend_from_slice(&field[4..6]);
    }
    out.resize(out.len() + padding, 0);
    (out.len() <= usize::from(u16::MAX)).then_some(out)
}

fn without_zip64(extra: &[u8]) -> Vec<u8> {
    let (fields, rest) = extra_fields(extra);
    let mut out: Vec<u8> = Vec::with_capacity(extra.len());
    let kept = fields.iter().filter(|(id, _)| *id != ZIP64);
    kept.for_each(|(_, field)| out.extend_from_slice(field));
    out.extend_from_slice(rest);
    out
}

fn moved_record(record: &[u8], at: u32) -> Vec<u8> {
    let mut out = record.to_vec();
    let name_end = 46 + usize::from(u2(record, 28));
    let extra = &record[name_end..name_end + usize::from(u2(record, 30))];
    let wide = |field: usize| u4(record, field) == u32::MAX;
    // Behind the 64-bit sizes, if the offset has 64 bits too.
    let mut here = name_end;
    for (id, field) in extra_fields(extra).0 {
        let value = here + 4 + 8 * (usize::from(wide(24)) + usize::from(wide(20)));
        here += field.len();
        if id == ZIP64 && wide(42) && value + 8 <= here {
            set_u4(&mut out, value, at);
            set_u4(&mut out, value + 4, 0);
            return out;
        }
    }
    set_u4(&mut out, 42, at);
    out
}

fn replaced_record(record: &[u8], facts: Facts, at: u32) -> Vec<u8> {
    let name_end = 46 + usize::from(u2(record, 28));
    let extra_end = name_end + usize::from(u2(record, 30));
    let extra = without_zip64(&record[name_end..extra_end]);
    let mut out = record[..name_end].to_vec();
    let flags = u2(record, 8) & !HAS_DESCRIPTOR;
    set_u2(&mut out, 8, flags);
    set_u2(&mut out, 10, facts.method);
    facts.describe(&mut out, 16);
    set_u2(&mut out, 30, extra.len() as u16);
    set_u4(&mut out, 42, at);
    out.extend_from_slice(&extra);
    out.extend_from_slice(&record[extra_end..]);
    out
}

/// Version, flags, method, time and date, checksum, sizes, length of the name, no extra fields.
fn added_header(template: &[u8], added: &Added) -> Vec<u8> {
    let mut out = b"PK\x03\x04".to_vec();
    out.extend_from_slice(&common(template, added));
    out.extend_from_slice(added.name.as_bytes());
    added.contents.facts.describe(&mut out, 14);
    out
}

fn common(template: &[u8], added: &Added) -> Vec<u8> {
    const UTF_8: u16 = 1 << 11;
    let flags = if added.name.is_ascii() { 0 } else { UTF_8 };
    let mut out = Vec::with_capacity(26);
    out.extend_from_slice(&20u16.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&added.contents.facts.method.to_le_bytes());
    out.extend_from_slice(&template[12..16]);
    out.extend_from_slice(&[0; 12]);
    out.extend_from_slice(&(added.name.len() as u16).to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}

fn added_record(template: &[u8], added: &Added, at: u32) -> Vec<u8> {
    let mut out = b"PK\x01\x02".to_vec();
    out.extend_from_slice(&template[4..6]);
    out.extend_from_slice(&common(template, added));
    added.contents.facts.describe(&mut out, 16);
    // No comment, first disk; attributes of the template.
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&template[36..42]);
    out.extend_from_slice(&at.to_le_bytes());
    out.extend_from_slice(added.name.as_bytes());
    out
}

/// The records behind the central directory, without the comment. It will be at `at`.
fn end(archive: &Archive, at: usize, number: u64, size: u64, directory: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let wide = archive.zip64 || number >= u64::from(u16::MAX);
    if wide {
        let record = (at - archive.base) as u64;
        out.extend_from_slice(b"PK\x06\x06");
        out.extend_from_slice(&44u64.to_le_bytes());
        out.extend_from_slice(&[45, 0, 45, 0]);
        out.extend_from_slice(&[0; 8]);
        for value in [number, number, size, u64::from(directory)] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(b"PK\x06\x07");
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&record.to_le_bytes());
        out.extend_from_slice(&1u32.to_le_bytes());
    }
    let number = u16::try_from(number).unwrap_or(u16::MAX);
    out.extend_from_slice(b"PK\x05\x06");
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&number.to_le_bytes());
    out.extend_from_slice(&(size as u32).to_le_bytes());
    out.extend_from_slice(&directory.to_le_bytes());
    out.extend_from_slice(&(archive.comment.len() as u16).to_le_bytes());
    out
}
