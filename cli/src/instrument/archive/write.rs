//! Writing an archive that is another one but for some entries.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use super::read::{Archive, Entry};
use super::{ALIGNMENT, HAS_DESCRIPTOR, STORED, ZIP64, extra_fields, set_u2, set_u4, u2, u4};

/// What becomes of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays as it is.
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
    method: u16,
    crc: u32,
    size: u32,
    data: Vec<u8>,
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
        Ok(Packed {
            method,
            crc,
            size,
            data,
        })
    }

    /// Writes checksum and sizes where headers have them.
    fn describe(&self, header: &mut [u8], at: usize) {
        set_u4(header, at, self.crc);
        set_u4(header, at + 4, self.data.len() as u32);
        set_u4(header, at + 8, self.size);
    }
}

/// Writes the archive anew. `changes` are parallel to the entries.
///
/// # Errors
/// If it becomes too large.
pub fn write(
    bytes: &[u8],
    archive: &Archive,
    changes: &[Change],
    added: &[Added],
) -> Result<Vec<u8>, String> {
    if added.is_empty() && changes.iter().all(|change| *change == Change::Keep) {
        return Ok(bytes.to_vec());
    }
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 4);
    out.extend_from_slice(&bytes[..archive.prefix]);
    let mut places = vec![None; archive.entries.len()];
    for &index in &archive.by_place {
        let entry = &archive.entries[index];
        match &changes[index] {
            Change::Drop => continue,
            Change::Keep => {
                places[index] = Some(place(&out, archive)?);
                keep(&mut out, bytes, archive, entry);
            }
            Change::Replace(contents) => {
                places[index] = Some(place(&out, archive)?);
                replace(&mut out, bytes, archive, entry, contents);
            }
        }
    }
    let mut added_places = Vec::with_capacity(added.len());
    for one in added {
        added_places.push(place(&out, archive)?);
        let template = &bytes[archive.entries[one.like].central.clone()];
        add(&mut out, template, one);
    }
    let directory = place(&out, archive)?;
    let begin = out.len();
    let mut number = 0u64;
    for ((entry, change), at) in archive.entries.iter().zip(changes).zip(&places) {
        let Some(at) = *at else { continue };
        let record = &bytes[entry.central.clone()];
        let record = match change {
            Change::Replace(contents) => replaced_record(record, contents, at),
            _ => moved_record(record, at),
        };
        out.extend_from_slice(&record);
        number += 1;
    }
    for (one, &at) in added.iter().zip(&added_places) {
        let template = &bytes[archive.entries[one.like].central.clone()];
        out.extend_from_slice(&added_record(template, one, at));
        number += 1;
    }
    let size = (out.len() - begin) as u64;
    place(&out, archive)?;
    end(&mut out, archive, number, size, directory);
    out.extend_from_slice(&bytes[archive.comment.clone()]);
    Ok(out)
}

/// Where the next header will be, as offsets are counted.
fn place(out: &[u8], archive: &Archive) -> Result<u32, String> {
    u32::try_from(out.len() - archive.base)
        .ok()
        .filter(|&offset| offset < u32::MAX)
        .ok_or_else(|| "would become larger than 4 GB".to_owned())
}

fn keep(out: &mut Vec<u8>, bytes: &[u8], archive: &Archive, entry: &Entry) {
    let name_end = entry.local + 30 + usize::from(u2(bytes, entry.local + 26));
    let extra = &bytes[name_end..entry.data.start];
    let begin = out.len() + (name_end - entry.local);
    let extra = aligned(extra, entry, archive, begin).unwrap_or_else(|| extra.to_vec());
    let header = out.len();
    out.extend_from_slice(&bytes[entry.local..name_end]);
    set_u2(out, header + 28, extra.len() as u16);
    out.extend_from_slice(&extra);
    out.extend_from_slice(&bytes[entry.data.start..entry.end]);
}

fn replace(out: &mut Vec<u8>, bytes: &[u8], archive: &Archive, entry: &Entry, contents: &Packed) {
    let name_end = entry.local + 30 + usize::from(u2(bytes, entry.local + 26));
    let extra = without_zip64(&bytes[name_end..entry.data.start]);
    let begin = out.len() + (name_end - entry.local);
    let extra = aligned(&extra, entry, archive, begin).unwrap_or(extra);
    let header = out.len();
    out.extend_from_slice(&bytes[entry.local..name_end]);
    let flags = u2(out, header + 6) & !HAS_DESCRIPTOR;
    set_u2(out, header + 6, flags);
    set_u2(out, header + 8, contents.method);
    contents.describe(out, header + 14);
    set_u2(out, header + 28, extra.len() as u16);
    out.extend_from_slice(&extra);
    out.extend_from_slice(&contents.data);
}

/// The extra fields with other padding, if the data is aligned on purpose and would be no more. They will be at `begin`.
fn aligned(extra: &[u8], entry: &Entry, archive: &Archive, begin: usize) -> Option<Vec<u8>> {
    let (fields, rest) = extra_fields(extra);
    let field = fields
        .iter()
        .find(|(id, field)| *id == ALIGNMENT && field.len() >= 6);
    let zeros = !rest.is_empty() && rest.iter().all(|&b| b == 0);
    let alignment = match field {
        Some((_, field)) => usize::from(u2(field, 4) & 0x7fff),
        // The Android tool zipalign writes bare zeros and tells no alignment; libraries are aligned to pages.
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

fn replaced_record(record: &[u8], contents: &Packed, at: u32) -> Vec<u8> {
    let name_end = 46 + usize::from(u2(record, 28));
    let extra_end = name_end + usize::from(u2(record, 30));
    let extra = without_zip64(&record[name_end..extra_end]);
    let mut out = record[..name_end].to_vec();
    let flags = u2(record, 8) & !HAS_DESCRIPTOR;
    set_u2(&mut out, 8, flags);
    set_u2(&mut out, 10, contents.method);
    contents.describe(&mut out, 16);
    set_u2(&mut out, 30, extra.len() as u16);
    set_u4(&mut out, 42, at);
    out.extend_from_slice(&extra);
    out.extend_from_slice(&record[extra_end..]);
    out
}

/// Version, flags, method, time and date, checksum, sizes, length of the name, no extra fields.
fn add(out: &mut Vec<u8>, template: &[u8], added: &Added) {
    let header = out.len();
    out.extend_from_slice(b"PK\x03\x04");
    out.extend_from_slice(&common(template, added));
    out.extend_from_slice(added.name.as_bytes());
    added.contents.describe(out, header + 14);
    out.extend_from_slice(&added.contents.data);
}

fn common(template: &[u8], added: &Added) -> Vec<u8> {
    const UTF_8: u16 = 1 << 11;
    let flags = if added.name.is_ascii() { 0 } else { UTF_8 };
    let mut out = Vec::with_capacity(26);
    out.extend_from_slice(&20u16.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&added.contents.method.to_le_bytes());
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
    added.contents.describe(&mut out, 16);
    // No comment, first disk; attributes of the template.
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&template[36..42]);
    out.extend_from_slice(&at.to_le_bytes());
    out.extend_from_slice(added.name.as_bytes());
    out
}

fn end(out: &mut Vec<u8>, archive: &Archive, number: u64, size: u64, directory: u32) {
    let wide = archive.zip64 || number >= u64::from(u16::MAX);
    if wide {
        let record = (out.len() - archive.base) as u64;
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
}
