//! Where an archive's bytes are.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::ops::Range;

/// The bytes of an archive: those inside of others are in memory, the outermost one stays on the disk.
#[derive(Debug)]
pub enum Source {
    /// All of them.
    Memory(Vec<u8>),
    /// A file, and its length.
    File(File, u64),
}

impl Source {
    /// An open file.
    ///
    /// # Errors
    /// If its length cannot be found out.
    pub fn file(file: File) -> io::Result<Source> {
        let length = file.metadata()?.len();
        Ok(Source::File(file, length))
    }

    /// Number of bytes.
    pub fn len(&self) -> usize {
        match self {
            Source::Memory(bytes) => bytes.len(),
            Source::File(_, length) => *length as usize,
        }
    }

    /// Some of the bytes.
    ///
    /// # Errors
    /// If they cannot be read, or are not there.
    pub fn read(&self, range: Range<usize>) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Source::Memory(bytes) => {
                let part = bytes.get(range).ok_or(io::ErrorKind::UnexpectedEof)?;
                Ok(Cow::Borrowed(part))
            }
            Source::File(file, length) => {
                if range.end as u64 > *length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let mut bytes = vec![0; range.len()];
                read_at(file, &mut bytes, range.start as u64)?;
                Ok(Cow::Owned(bytes))
            }
        }
    }

    /// Some of the bytes, a piece at a time.
    pub fn pieces(&self, range: Range<usize>) -> impl Iterator<Item = io::Result<Cow<'_, [u8]>>> {
        /// Bytes at a time.
        const PIECE: usize = 1 << 18;
        let end = range.end;
        range
            .step_by(PIECE)
            .map(move |at| self.read(at..end.min(at + PIECE)))
    }
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => (bytes, at) = (&mut bytes[read..], at + read as u64),
        }
    }
    Ok(())
}
