//! Reading: where everything is, checked before anything is believed.

use std::collections::HashSet;
use std::io::Read;
use std::ops::Range;

use super::source::Source;
use super::{DEFLATED, STORED, ZIP64, extra_fields, u2, u4, u8_at};

const LOCAL: &[u8] = b"PK\x03\x04";
const CENTRAL: &[u8] = b"PK\x01\x02";
const END: &[u8] = b"PK\x05\x06";
const END_64: &[u8] = b"PK\x06\x06";
const LOCATOR_64: &[u8] = b"PK\x06\x07";

/// Length of the end record without its comment.
const END_LENGTH: usize = 22;
const LOCATOR_64_LENGTH: usize = 20;
const END_64_LENGTH: usize = 56;

/// Why an archive cannot be read: the entry, if it is about one, and what is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{what}", .entry.as_ref().map(|e| format!("entry '{e}': ")).unwrap_or_default())]
pub struct ArchiveError {
    /// Name of the entry.
    pub entry: Option<String>,
    /// Description of the fault.
    pub what: String,
}

/// Where the parts of an entry are: from the beginning of the file, if nothing else is said.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The name; what is not UTF-8 in it is replaced.
    pub name: String,
    /// Its record in the central directory, from where that begins.
    central: Range<usize>,
    /// Its local header.
    pub(super) local: usize,
    /// Its data, as stored.
    pub(super) data: Range<usize>,
    /// Where the next thing begins: a data descriptor may be in between.
    pub(super) end: usize,
    /// Compression method.
    pub method: u16,
    crc: u32,
    /// Compressed size.
    pub packed: u64,
    /// Uncompressed size, as declared.
    pub size: u64,
}

/// An archive's table of contents.
#[derive(Clone, Debug)]
pub struct Archive {
    /// In the order of the central directory.
    pub entries: Vec<Entry>,
    /// Entries by their place in the file.
    pub(super) by_place: Vec<usize>,
    /// Bytes in front of the first entry.
    pub(super) prefix: usize,
    /// The position that offsets are counted from.
    pub(super) base: usize,
    /// The central directory.
    directory: Vec<u8>,
    /// Comment of the whole archive.
    pub(super) comment: Vec<u8>,
    /// True if it had a 64-bit end record.
    pub(super) zip64: bool,
}

fn wrong<T>(what: impl Into<String>) -> Result<T, ArchiveError> {
    Err(ArchiveError {
        entry: None,
        what: what.into(),
    })
}

fn in_entry<T>(name: &str, what: impl Into<String>) -> Result<T, ArchiveError> {
    Err(ArchiveError {
        entry: Some(name.to_owned()),
        what: what.into(),
    })
}

fn unreadable(error: std::io::Error) -> ArchiveError {
    ArchiveError {
        entry: None,
        what: format!("cannot be read: {error}"),
    }
}

/// The end of an archive.
struct End {
    entries: u64,
    directory: Range<usize>,
    base: usize,
    comment: Vec<u8>,
    zip64: bool,
}

impl Archive {
    /// Reads the table of contents and checks that the entries are where it says.
    ///
    /// # Errors
    /// If the bytes are no archive that a JVM could read, or one in which names do not say which data is
    /// meant.
    pub fn read(source: &Source) -> Result<Archive, ArchiveError> {
        let end = find_end(source)?;
        let directory = source.read(end.directory.clone()).map_err(unreadable)?;
        let directory = directory.into_owned();
        let mut entries = Vec::new();
        let mut at = 0;
        while at < directory.len() {
            let entry = read_entry(source, &directory, at, &end)?;
            at = entry.central.end;
            entries.push(entry);
        }
        // Without 64-bit records the number is kept modulo 65536 by some tools.
        let number = entries.len() as u64;
        if end.entries != number && (end.zip64 || end.entries != number & 0xffff) {
            return wrong(format!(
                "the central directory has {number} entries, its end says {}",
                end.entries
            ));
        }
        let mut seen = HashSet::new();
        for entry in &entries {
            // A folder twice is clumsy, but both are the same.
            if !entry.name.ends_with('/') && !seen.insert(entry.name.as_str()) {
                return in_entry(&entry.name, "is there twice: which of the two is meant?");
            }
        }
        let mut by_place: Vec<usize> = (0..entries.len()).collect();
        by_place.sort_by_key(|&i| entries[i].local);
        for pair in by_place.windows(2) {
            let (one, next) = (pair[0], pair[1]);
            if entries[one].data.end > entries[next].local {
                let other = entries[next].name.clone();
                return in_entry(&entries[one].name, format!("overlaps with entry '{other}'"));
            }
            entries[one].end = entries[next].local;
        }
        Ok(Archive {
            prefix: by_place
                .first()
                .map_or(end.directory.start, |&i| entries[i].local),
            entries,
            by_place,
            base: end.base,
            directory,
            comment: end.comment,
            zip64: end.zip64,
        })
    }

    /// An entry's record in the central directory.
    pub(super) fn record(&self, index: usize) -> &[u8] {
        &self.directory[self.entries[index].central.clone()]
    }

    /// The entries in the order of their data in the file.
    pub fn in_place(&self) -> &[usize] {
        &self.by_place
    }

    /// An entry's contents. Never more than it declares.
    ///
    /// # Errors
    /// If the data cannot be unpacked, or has another size or checksum than declared.
    pub fn unpack(&self, source: &Source, index: usize) -> Result<Vec<u8>, ArchiveError> {
        let entry = &self.entries[index];
        let data = source.read(entry.data.clone()).map_err(unreadable)?;
        let mut out = Vec::new();
        if entry.method == STORED {
            out = data.into_owned();
        } else {
            // A declared size is believed as far as data could unpack to it, to save copies.
            out.reserve_exact(entry.size.min(data.len() as u64 * 4) as usize);
            let mut inflated = flate2::read::DeflateDecoder::new(&*data).take(entry.size.saturating_add(1));
            if let Err(e) = inflated.read_to_end(&mut out) {
                return in_entry(&entry.name, format!("its compressed data is damaged ({e})"));
            }
        }
        if out.len() as u64 > entry.size {
            let size = entry.size;
            return in_entry(
                &entry.name,
                format!("unpacks to more than the {size} bytes it declares"),
            );
        }
        if (out.len() as u64) < entry.size {
            let (is, size) = (out.len(), entry.size);
            return in_entry(
                &entry.name,
                format!("unpacks to {is} bytes, not to the {size} it declares"),
            );
        }
        if crc32fast::hash(&out) != entry.crc {
            return in_entry(&entry.name, "has a wrong checksum (CRC-32): its data is damaged");
        }
        Ok(out)
    }
}

fn find_end(source: &Source) -> Result<End, ArchiveError> {
    // Everything that may be behind the central directory, and no more of the file.
    let most = END_64_LENGTH + LOCATOR_64_LENGTH + END_LENGTH + usize::from(u16::MAX);
    let start = source.len().saturating_sub(most);
    let bytes = source.read(start..source.len()).map_err(unreadable)?;
    let bytes = &*bytes;
    let is_end = |&at: &usize| {
        bytes[at..].starts_with(END) && at + END_LENGTH + usize::from(u2(bytes, at + 20)) == bytes.len()
    };
    let candidates = bytes.len().checked_sub(END_LENGTH).map(|last| 0..=last);
    let Some(at) = candidates.and_then(|range| range.rev().find(is_end)) else {
        return wrong("is truncated, or no zip: there is no central directory at its end");
    };
    if u2(bytes, at + 4) != 0 || u2(bytes, at + 6) != 0 {
        return wrong("is one of several parts of an archive");
    }
    let mut end = End {
        entries: u64::from(u2(bytes, at + 10)),
        directory: 0..start + at,
        base: 0,
        comment: bytes[at + END_LENGTH..].to_vec(),
        zip64: false,
    };
    let (mut size, mut offset) = (u64::from(u4(bytes, at + 12)), u64::from(u4(bytes, at + 16)));
    let locator = at.checked_sub(LOCATOR_64_LENGTH);
    if let Some(locator) = locator.filter(|&l| bytes[l..].starts_with(LOCATOR_64)) {
        // The record is right in front of its locator: what the locator says may not count what is in front
        // of the archive.
        let record = locator.checked_sub(END_64_LENGTH);
        let Some(record) = record.filter(|&r| bytes[r..].starts_with(END_64)) else {
            return wrong("its 64-bit end record is not where it should be");
        };
        end.entries = u8_at(bytes, record + 32);
        size = u8_at(bytes, record + 40);
        offset = u8_at(bytes, record + 48);
        end.directory.end = start + record;
        end.zip64 = true;
    }
    let begin = (end.directory.end as u64).checked_sub(size);
    let base = begin.and_then(|begin| begin.checked_sub(offset));
    let (Some(begin), Some(base)) = (begin, base) else {
        return wrong("is truncated: its central directory is not where its end says");
    };
    end.directory.start = begin as usize;
    end.base = base as usize;
    Ok(end)
}

fn read_entry(source: &Source, bytes: &[u8], at: usize, end: &End) -> Result<Entry, ArchiveError> {
    const FIXED: usize = 46;
    let damaged = || {
        let at = end.directory.start + at;
        wrong(format!("its central directory is damaged at offset {at}"))
    };
    if at + FIXED > bytes.len() || !bytes[at..].starts_with(CENTRAL) {
        return damaged();
    }
    let lengths = [28, 30, 32].map(|field| usize::from(u2(bytes, at + field)));
    let central = at..at + FIXED + lengths.iter().sum::<usize>();
    if central.end > bytes.len() {
        return damaged();
    }
    let raw_name = &bytes[at + FIXED..at + FIXED + lengths[0]];
    let name = String::from_utf8_lossy(raw_name).into_owned();
    check_name(&name)?;
    let extra = &bytes[at + FIXED + lengths[0]..central.end - lengths[2]];
    let mut sizes = [24, 20, 42].map(|field| u64::from(u4(bytes, at + field)));
    let wide = extra_fields(extra).0.into_iter().find(|(id, _)| *id == ZIP64);
    if let Some((_, field)) = wide {
        let mut values = field[4..].chunks_exact(8);
        for size in &mut sizes {
            if *size == u64::from(u32::MAX)
                && let Some(value) = values.next()
            {
                *size = u8_at(value, 0);
            }
        }
    }
    let [size, compressed, offset] = sizes;
    let (flags, method) = (u2(bytes, at + 8), u2(bytes, at + 10));
    if flags & 1 != 0 {
        return in_entry(&name, "is encrypted, and no JVM can read it");
    }
    if method != STORED && method != DEFLATED {
        return in_entry(
            &name,
            format!("has compression method {method}, and JVMs read 0 (STORED) and 8 (DEFLATED) only"),
        );
    }
    if method == STORED && size != compressed {
        return in_entry(
            &name,
            format!("is STORED, but its sizes differ: {size} and {compressed}"),
        );
    }
    let outside = || in_entry(&name, "its data is not inside the file (is it truncated?)");
    let local = usize::try_from(offset)
        .ok()
        .and_then(|offset| offset.checked_add(end.base));
    let Some(local) = local.filter(|&local| local.saturating_add(30) <= end.directory.start) else {
        return outside();
    };
    let head = source.read(local..local + 30).map_err(unreadable)?;
    if !head.starts_with(LOCAL) {
        return in_entry(&name, format!("has no local header at offset {local}"));
    }
    let local_name = local + 30..local + 30 + usize::from(u2(&head, 26));
    let begin = local_name.end + usize::from(u2(&head, 28));
    let data_end = usize::try_from(compressed)
        .ok()
        .and_then(|length| begin.checked_add(length));
    let Some(data_end) = data_end.filter(|&data_end| data_end <= end.directory.start) else {
        return outside();
    };
    let local_name = source.read(local_name).map_err(unreadable)?;
    if *local_name != *raw_name {
        let other = String::from_utf8_lossy(&local_name);
        return in_entry(&name, format!("is called '{other}' in its local header"));
    }
    if u2(&head, 8) != method {
        return in_entry(&name, "its local header has another compression method");
    }
    Ok(Entry {
        name,
        central,
        local,
        data: begin..data_end,
        end: end.directory.start,
        method,
        crc: u4(bytes, at + 16),
        packed: compressed,
        size,
    })
}

/// Nothing is unpacked to files here, but tools that unpack the output shall not be led out of its folder by
/// us.
fn check_name(name: &str) -> Result<(), ArchiveError> {
    if name.is_empty() || name.contains('\0') {
        return in_entry(name, "has an impossible name");
    }
    let up = name.split(['/', '\\']).any(|part| part == "..");
    let absolute = name.starts_with(['/', '\\']) || name.as_bytes().get(1) == Some(&b':');
    if up || absolute {
        return in_entry(name, "its name leads out of the archive");
    }
    Ok(())
}
