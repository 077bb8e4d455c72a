//! A cursor over class-file bytes whose errors carry offsets.

/// Something wrong at an offset of the class file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Offset in the class file.
    pub offset: usize,
    /// What is wrong.
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

/// A cursor. `base` is where `data` lies in the class file, so that faults tell absolute offsets.
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
    pub fn bytes(&mut self, len: usize) -> Read<&'a [u8]> {
        if len > self.remaining() {
            let left = self.remaining();
            return fault(
                self.offset(),
                format!("ends early: {len} bytes wanted, {left} left"),
            );
        }
        let bytes = &self.data[self.pos..self.pos + len];
        self.pos += len;
        Ok(bytes)
    }

    /// Next byte.
    pub fn u1(&mut self) -> Read<u8> {
        Ok(self.bytes(1)?[0])
    }

    /// Next two bytes, big-endian.
    pub fn u2(&mut self) -> Read<u16> {
        let b = self.bytes(2)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    /// Next four bytes, big-endian.
    pub fn u4(&mut self) -> Read<u32> {
        let b = self.bytes(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Fails unless everything was read.
    pub fn finish(&self, what: &str) -> Read<()> {
        match self.remaining() {
            0 => Ok(()),
            left => fault(self.offset(), format!("{left} bytes too many in {what}")),
        }
    }
}

/// Appends a big-endian u2.
pub fn put_u2(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_be_bytes());
}

/// Appends a big-endian u4.
pub fn put_u4(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_be_bytes());
}
