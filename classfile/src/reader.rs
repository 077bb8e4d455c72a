//! A cursor over class-file bytes whose errors carry offsets.

/// Something wrong at an offset of the class file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset in the class file.
    pub offset: usize,
    /// Description of the fault.
    pub message: String,
}

/// Result of reading.
pub type Read<T> = Result<T, Fault>;

/// A fault at an offset.
pub fn fault<T>(offset: usize, message: impl Into<String>) -> Read<T> {
    Err(Fault {
        offset,
        message: message.into(),
    })
}

/// A cursor. `base` is the offset of `data` in the class file, so that faults have absolute offsets.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    data: &'a [u8],
    base: usize,
    pos: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the start of `data`, which begins at `base` in the class file.
    pub fn new(data: &'a [u8], base: usize) -> Self {
        Reader { data, base, pos: 0 }
    }

    /// Absolute offset of the next byte.
    pub fn offset(&self) -> usize {
        self.base + self.pos
    }

    /// Bytes left.
    pub fn remaining(&self) -> usize {
        self.data.len() - self.pos
    }

    /// The next `len` bytes.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Read<&'a [u8]> {
        match self.data[self.pos..].split_at_checked(len) {
            Some((bytes, _)) => {
                self.pos += len;
                Ok(bytes)
            }
            None => self.ends_early(len),
        }
    }

    #[cold]
    #[inline(never)]
    fn ends_early<T>(&self, len: usize) -> Read<T> {
        let left = self.remaining();
        fault(
            self.offset(),
            format!("ends early: {len} bytes wanted, {left} left"),
        )
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        match self.data[self.pos..].first_chunk::<N>() {
            Some(bytes) => {
                self.pos += N;
                Ok(*bytes)
            }
            None => self.ends_early(N),
        }
    }

    /// Next byte.
    #[inline]
    pub fn u1(&mut self) -> Read<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Next two bytes, big-endian.
    #[inline]
    pub fn u2(&mut self) -> Read<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// Next four bytes, big-endian.
    #[inline]
    pub fn u4(&mut self) -> Read<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Fails unless everything was read.
    pub fn finish(&self, what: &str) -> Read<()> {
        match self.remaining() {
            0 => Ok(()),
            left => fault(self.offset(), format!("{left} bytes too many in {what}")),
        }
    }
}

/// A big-endian u2 at a place that is known to be within the bytes.
#[inline]
pub fn get_u2(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// A big-endian u4 at a place that is known to be within the bytes.
#[inline]
pub fn get_u4(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Appends a big-endian u2.
#[inline]
pub fn put_u2(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends a big-endian u4.
#[inline]
pub fn put_u4(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}
