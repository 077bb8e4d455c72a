//! Zip files, as far as a jar says which build it is: the central directory, and small entries.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use flate2::read::DeflateDecoder;

/// The largest central directory of a jar that is read.
const MAX_DIRECTORY: u64 = 64 << 20;
/// The end of a zip file's central directory, without its comment.
const END_RECORD: usize = 22;
const MAX_COMMENT: u64 = 0xffff;
/// The head of an entry in the directory, and of the same one in front of its bytes, without their names.
const DIRECTORY_HEAD: usize = 46;
const LOCAL_HEAD: usize = 30;
/// Methods of packing.
const STORED: u64 = 0;
const DEFLATED: u64 = 8;

/// The central directory of a zip file.
pub(super) struct Directory {
    bytes: Vec<u8>,
    /// Where in the file its offsets count from: something else may be in front.
    origin: u64,
}

/// The place of an entry.
struct Place {
    method: u64,
    packed: u64,
    size: u64,
    offset: u64,
}

impl Directory {
    /// None if it has none of a size that we read.
    pub fn read(file: &mut File) -> io::Result<Option<Directory>> {
        let length = file.seek(SeekFrom::End(0))?;
        let tail_at = length.saturating_sub(END_RECORD as u64 + MAX_COMMENT);
        let tail = read_at(file, tail_at, length - tail_at)?;
        // The last record whose comment reaches to the end of the file.
        let is_end = |at: &usize| {
            tail[*at..].starts_with(b"PK\x05\x06")
                && number::<2>(&tail, at + 20) == (tail.len() - at - END_RECORD) as u64
        };
        let Some(end) = (0..(tail.len() + 1).saturating_sub(END_RECORD))
            .rev()
            .find(is_end)
        else {
            return Ok(None);
        };
        let (mut size, mut offset) = (number::<4>(&tail, end + 12), number::<4>(&tail, end + 16));
        let mut behind = tail_at + end as u64;
        if size == u64::from(u32::MAX) || offset == u64::from(u32::MAX) {
            // Zip64: a locator in front of the record says where one with wider numbers is, which is right behind
            // the directory.
            let locator = read_at(file, behind.saturating_sub(20), 20)?;
            if !locator.starts_with(b"PK\x06\x07") {
                return Ok(None);
            }
            behind = number::<8>(&locator, 8);
            let wide = read_at(file, behind, 56)?;
            if !wide.starts_with(b"PK\x06\x06") {
                return Ok(None);
            }
            (size, offset) = (number::<8>(&wide, 40), number::<8>(&wide, 48));
        }
        // A script in front of the zip file, say, shifts its offsets, but not where the directory ends.
        let Some(at) = behind.checked_sub(size).filter(|_| size <= MAX_DIRECTORY) else {
            return Ok(None);
        };
        Ok(Some(Directory {
            bytes: read_at(file, at, size)?,
            origin: at.saturating_sub(offset),
        }))
    }

    /// All of it.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// An entry's bytes; none if it is not there, is larger, or is packed otherwise than in jars.
    pub fn entry(&self, file: &mut File, name: &str, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(place) = self.find(name) else {
            return Ok(None);
        };
        if place.size > most || place.packed > most || !matches!(place.method, STORED | DEFLATED) {
            return Ok(None);
        }
        let head_at = self.origin.saturating_add(place.offset);
        let head = read_at(file, head_at, LOCAL_HEAD as u64)?;
        if !head.starts_with(b"PK\x03\x04") {
            return Ok(None);
        }
        // Its extra field may be another one than in the directory.
        let names = number::<2>(&head, 26) + number::<2>(&head, 28);
        let packed = read_at(file, head_at + LOCAL_HEAD as u64 + names, place.packed)?;
        if place.method == STORED {
            return Ok(Some(packed));
        }
        let mut bytes = Vec::new();
        DeflateDecoder::new(&packed[..])
            .take(most)
            .read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn find(&self, name: &str) -> Option<Place> {
        let mut rest = &self.bytes[..];
        while rest.len() >= DIRECTORY_HEAD && rest.starts_with(b"PK\x01\x02") {
            let lengths = [28, 30, 32].map(|at| number::<2>(rest, at) as usize);
            let end = DIRECTORY_HEAD + lengths.iter().sum::<usize>();
            let own = rest.get(DIRECTORY_HEAD..DIRECTORY_HEAD + lengths[0])?;
            if own == name.as_bytes() {
                return Some(Place {
                    method: number::<2>(rest, 10),
                    packed: number::<4>(rest, 20),
                    size: number::<4>(rest, 24),
                    offset: number::<4>(rest, 42),
                });
            }
            rest = rest.get(end..)?;
        }
        None
    }
}

/// A number of some bytes, the lowest first.
fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> u64 {
    let all = bytes[at..at + BYTES].iter().rev();
    all.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn read_at(file: &mut File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}
