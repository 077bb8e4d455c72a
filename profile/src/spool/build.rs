//! Which build runs: a hash of the class path.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The largest central directory of a jar that is read.
const MAX_DIRECTORY: u64 = 64 << 20;
/// Folders with more bytes of class files, or more files, are not read.
const MAX_CLASSES: u64 = 256 << 20;
const MAX_FILES: usize = 200_000;
/// The end of a zip file's central directory, without its comment.
const END_RECORD: usize = 22;
const MAX_COMMENT: u64 = 0xffff;

/// The first 16 hex digits of the SHA-256 of a text: `trodden build 1`, and a line for each entry of the class path. For a jar that is
/// its name without folder, a blank, and the SHA-256 (hex) of its ZIP central directory, which has the name, size and CRC-32 of each entry. For a folder
/// it is the SHA-256 of a text that has a line for each of its `.class` files, by ascending name: name (from the folder on, with `/`), size,
/// CRC-32 in 8 hex digits. What cannot be read, or is too large, is the word `missing`. Each line ends with a newline.
///
/// `class_path` is as the JVM's property `java.class.path` has it: entries with `:` in between.
pub fn class_path_hash(class_path: &str) -> String {
    let mut text = String::from("trodden build 1\n");
    for entry in class_path.split(':') {
        // An empty entry is the current folder.
        let path = Path::new(if entry.is_empty() { "." } else { entry });
        let line = match fs::metadata(path) {
            Ok(data) if data.is_dir() => folder(path),
            Ok(data) if data.is_file() => jar(path),
            _ => None,
        };
        text.push_str(line.as_deref().unwrap_or("missing"));
        text.push('\n');
    }
    hex(&Sha256::digest(text))[..16].to_owned()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn jar(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy();
    let directory = central_directory(&mut File::open(path).ok()?).ok()??;
    Some(format!("{name} {}", hex(&Sha256::digest(directory))))
}

/// The bytes of a zip file's central directory, if it has one of a size that we read.
fn central_directory(file: &mut File) -> io::Result<Option<Vec<u8>>> {
    let length = file.seek(SeekFrom::End(0))?;
    let tail_at = length.saturating_sub(END_RECORD as u64 + MAX_COMMENT);
    let tail = read_at(file, tail_at, length - tail_at)?;
    // The last record whose comment reaches to the end of the file.
    let is_end = |at: &usize| {
        tail[*at..].starts_with(b"PK\x05\x06")
            && u16::from_le_bytes([tail[at + 20], tail[at + 21]]) as usize == tail.len() - at - END_RECORD
    };
    let Some(end) = (0..(tail.len() + 1).saturating_sub(END_RECORD))
        .rev()
        .find(is_end)
    else {
        return Ok(None);
    };
    let u32_at = |bytes: &[u8], at: usize| {
        u64::from(u32::from_le_bytes([
            bytes[at],
            bytes[at + 1],
            bytes[at + 2],
            bytes[at + 3],
        ]))
    };
    let (mut size, mut behind) = (u32_at(&tail, end + 12), tail_at + end as u64);
    if size == u64::from(u32::MAX) || u32_at(&tail, end + 16) == u64::from(u32::MAX) {
        // Zip64: a locator in front of the record says where one with wider numbers is; it is right behind the directory.
        let locator = read_at(file, behind.saturating_sub(20), 20)?;
        if !locator.starts_with(b"PK\x06\x07") {
            return Ok(None);
        }
        let u64_at = |bytes: &[u8], at: usize| u32_at(bytes, at) | u32_at(bytes, at + 4) << 32;
        behind = u64_at(&locator, 8);
        let wide = read_at(file, behind, 56)?;
        if !wide.starts_with(b"PK\x06\x06") {
            return Ok(None);
        }
        size = u64_at(&wide, 40);
    }
    // What stands in front of the zip file, a script say, shifts its offsets, but not where the directory ends.
    match behind.checked_sub(size) {
        Some(at) if size <= MAX_DIRECTORY => read_at(file, at, size).map(Some),
        _ => Ok(None),
    }
}

fn read_at(file: &mut File, at: u64, length: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(at))?;
    let mut bytes = vec![0; length as usize];
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn folder(path: &Path) -> Option<String> {
    let mut files = Vec::new();
    class_files(path, "", &mut files).ok()?;
    let bytes = files
        .iter()
        .fold(0u64, |sum, (_, size)| sum.saturating_add(*size));
    if bytes > MAX_CLASSES {
        return None;
    }
    files.sort();
    let mut text = Sha256::new();
    for (name, _) in files {
        let bytes = fs::read(path.join(&name)).ok()?;
        text.update(format!(
            "{name} {} {:08x}\n",
            bytes.len(),
            crc32fast::hash(&bytes)
        ));
    }
    Some(hex(&text.finalize()))
}

/// Names, from the folder on, and sizes.
fn class_files(folder: &Path, before: &str, files: &mut Vec<(String, u64)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        // Links are not followed: they may lead in a circle.
        let data = entry.metadata()?;
        if data.is_dir() {
            class_files(&entry.path(), &format!("{name}/"), files)?;
        } else if data.is_file() && name.ends_with(".class") {
            files.push((name, data.len()));
        }
        if files.len() > MAX_FILES {
            return Err(io::Error::other("too many files"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zip file without entries, with a comment, behind something else.
    fn zip(directory: &[u8], before: &[u8], comment: &[u8]) -> Vec<u8> {
        let mut bytes = before.to_vec();
        bytes.extend_from_slice(directory);
        bytes.extend_from_slice(b"PK\x05\x06\0\0\0\0\0\0\0\0");
        bytes.extend_from_slice(&(directory.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&0u32.to_le_bytes());
        bytes.extend_from_slice(&(comment.len() as u16).to_le_bytes());
        bytes.extend_from_slice(comment);
        bytes
    }

    #[test]
    fn entries_count_by_what_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).display().to_string();
        fs::write(at("a.jar"), zip(b"the directory", b"", b"")).unwrap();
        fs::write(at("no.jar"), b"PK\x05\x06 but no more").unwrap();
        fs::create_dir_all(at("classes/p")).unwrap();
        fs::write(at("classes/p/A.class"), "A").unwrap();
        fs::write(at("classes/B.class"), "BB").unwrap();
        fs::write(at("classes/text"), "is not asked").unwrap();
        let path = [at("a.jar"), at("classes"), at("gone.jar"), at("no.jar")].join(":");
        // By `sha256sum` and `crc32`.
        let directory = hex(&Sha256::digest("the directory"));
        let classes = hex(&Sha256::digest("B.class 2 1b441fc4\np/A.class 1 d3d99e8b\n"));
        let text = format!("trodden build 1\na.jar {directory}\n{classes}\nmissing\nmissing\n");
        assert_eq!(class_path_hash(&path), hex(&Sha256::digest(text))[..16]);
        // A comment, or a script in front, is no part of the directory; another folder is not either.
        fs::create_dir(at("lib")).unwrap();
        fs::write(
            at("lib/a.jar"),
            zip(b"the directory", b"#!/bin/sh\n", b"PK\x05\x06 comment"),
        )
        .unwrap();
        assert_eq!(class_path_hash(&at("lib/a.jar")), class_path_hash(&at("a.jar")));
        assert_ne!(class_path_hash(&at("a.jar")), class_path_hash(&at("no.jar")));
    }
}
