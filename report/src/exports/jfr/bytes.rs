//! Numbers, strings and events as bytes: the encoding of chunks with compressed integers.

/// Longest form of a compressed number.
const LONGEST: usize = 9;
/// Strings are preceded by how they are encoded.
const UTF8: u8 = 3;

/// Bytes of a chunk, or of an event before its size is known.
#[derive(Default)]
pub(super) struct Bytes(Vec<u8>);

impl Bytes {
    /// The position of what comes next.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// All of them.
    pub fn into_vec(self) -> Vec<u8> {
        self.0
    }

    /// A byte.
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    /// A compressed number: seven bits a byte, low ones first; the ninth byte has eight.
    pub fn number(&mut self, mut value: u64) {
        for _ in 1..LONGEST {
            let low = (value & 0x7f) as u8;
            value >>= 7;
            if value == 0 {
                return self.0.push(low);
            }
            self.0.push(low | 0x80);
        }
        self.0.push(value as u8);
    }

    /// A compressed `int`.
    pub fn int(&mut self, value: i32) {
        self.number(u64::from(value as u32));
    }

    /// A string, in UTF-8.
    pub fn text(&mut self, text: &str) {
        self.0.push(UTF8);
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    /// What was written elsewhere.
    pub fn append(&mut self, other: &Bytes) {
        self.0.extend_from_slice(&other.0);
    }

    /// An event: its size, the number of its type, its fields. The size has its own bytes in it.
    pub fn event(&mut self, kind: u32, fields: impl FnOnce(&mut Bytes)) {
        let mut event = Bytes::default();
        event.number(kind.into());
        fields(&mut event);
        let mut size = event.len() + 1;
        while size - event.len() < width(size) {
            size += 1;
        }
        self.number(size);
        self.append(&event);
    }

    /// A number in eight bytes, the high ones first, as headers have them.
    pub fn header_number(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// Bytes as given.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

/// Bytes of a compressed number.
fn width(value: u64) -> u64 {
    let bits = u64::from(64 - value.leading_zeros()).max(1);
    bits.div_ceil(7).min(LONGEST as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_the_format_has_them() {
        for (value, bytes) in [
            (0, &[0][..]),
            (127, &[0x7f]),
            (128, &[0x80, 1]),
            (u64::from(u32::MAX), &[0xff, 0xff, 0xff, 0xff, 0x0f]),
            (u64::MAX, &[0xff; 9]),
        ] {
            let mut out = Bytes::default();
            out.number(value);
            assert_eq!((out.0.as_slice(), width(value)), (bytes, bytes.len() as u64));
        }
    }

    #[test]
    fn sizes_have_their_own_bytes_in_them() {
        for fields in [0, 124, 125, 126, 127, 16_379, 16_380, 16_381, 16_382] {
            let mut out = Bytes::default();
            out.event(7, |event| event.raw(&vec![0; fields]));
            let size = out.0.iter().zip(0..).fold((0, true), |(sum, more), (byte, at)| {
                let part = u64::from(byte & 0x7f) << (7 * at);
                (if more { sum + part } else { sum }, more && byte & 0x80 != 0)
            });
            assert_eq!(size.0, out.len(), "{fields}");
        }
    }
}
