//! The smallest parts: varints, zigzag, strings.

use super::error::Checked;
use crate::model::fault::{Fault, ensure};

/// Appends to a section's plain payload.
#[derive(Debug, Default)]
pub(crate) struct Encoder {
    pub bytes: Vec<u8>,
}

impl Encoder {
    /// LEB128: seven bits a byte, lowest first, high bit on all but the last.
    pub fn uint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub fn len(&mut self, length: usize) {
        self.uint(length as u64);
    }

    /// Zigzag, then LEB128.
    pub fn int(&mut self, value: i64) {
        self.uint(((value << 1) ^ (value >> 63)) as u64);
    }

    pub fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    pub fn f64(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    pub fn string(&mut self, text: &str) {
        self.len(text.len());
        self.bytes.extend_from_slice(text.as_bytes());
    }

    /// 0, or 1 and the value.
    pub fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.byte(u8::from(value.is_some()));
        if let Some(value) = value {
            put(self, value);
        }
    }
}

/// Reads a section's plain payload.
pub(crate) struct Decoder<'a> {
    bytes: &'a [u8],
    pub at: usize,
}

pub(crate) type Decoded<T> = Checked<T>;

impl<'a> Decoder<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Decoder { bytes, at: 0 }
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub fn take(&mut self, length: usize, what: &'static str) -> Decoded<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or(Fault::Short(what, length, rest.len()))?;
        self.at += length;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self, what: &'static str) -> Decoded<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub fn f64(&mut self, what: &'static str) -> Decoded<f64> {
        Ok(f64::from_le_bytes(self.array(what)?))
    }

    pub fn byte(&mut self, what: &'static str) -> Decoded<u8> {
        Ok(self.take(1, what)?[0])
    }

    #[inline]
    pub fn uint(&mut self, what: &'static str) -> Decoded<u64> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte < 0x80 => {
                self.at += 1;
                Ok(u64::from(byte))
            }
            _ => self.long_uint(what),
        }
    }

    fn long_uint(&mut self, what: &'static str) -> Decoded<u64> {
        let mut value = 0u64;
        for (index, &byte) in self.bytes[self.at..].iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            if index == 9 && byte > 1 {
                break;
            }
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                self.at += index + 1;
                return Ok(value);
            }
        }
        if self.bytes.len() - self.at < 10 && self.bytes[self.at..].iter().all(|byte| byte & 0x80 != 0) {
            return Err(Fault::CutOff(what).into());
        }
        Err(Fault::TooWide(what, 64).into())
    }

    pub fn int(&mut self, what: &'static str) -> Decoded<i64> {
        let zigzag = self.uint(what)?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    pub fn u32(&mut self, what: &'static str) -> Decoded<u32> {
        let value = self.uint(what)?;
        Ok(u32::try_from(value).map_err(|_| Fault::TooWide(what, 32))?)
    }

    /// The number of items that follow, each of at least one byte: so no more than the bytes that are left.
    pub fn count(&mut self, what: &'static str) -> Decoded<usize> {
        let claimed = self.uint(what)?;
        let left = self.bytes.len() - self.at;
        ensure(claimed <= left as u64, || Fault::TooMany(what, claimed, left))?;
        Ok(claimed as usize)
    }

    /// A list whose items are read one by one. Nothing is reserved in advance: memory follows the bytes read.
    pub fn list<T>(
        &mut self,
        what: &'static str,
        mut item: impl FnMut(&mut Self, usize) -> Decoded<T>,
    ) -> Decoded<Vec<T>> {
        let count = self.count(what)?;
        let mut list: Vec<T> = (0..count)
            .map(|index| item(self, index))
            .collect::<Decoded<_>>()?;
        list.shrink_to_fit();
        Ok(list)
    }

    /// Refuses bytes behind what was read.
    pub fn end(&self) -> Decoded<()> {
        Ok(ensure(self.is_at_end(), || Fault::Extra)?)
    }

    /// Records up to the end of the payload.
    pub fn records(&mut self, mut record: impl FnMut(&mut Self) -> Decoded<()>) -> Decoded<()> {
        while !self.is_at_end() {
            record(self)?;
        }
        Ok(())
    }

    pub fn string(&mut self, what: &'static str) -> Decoded<String> {
        let length = self.count(what)?;
        let bytes = self.take(length, what)?;
        let text = std::str::from_utf8(bytes).map_err(|e| Fault::NotUtf8(what, e))?;
        Ok(text.to_owned())
    }

    pub fn boolean(&mut self, what: &'static str) -> Decoded<bool> {
        match self.byte(what)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Fault::NotBoolean(what, other).into()),
        }
    }

    pub fn option<T>(
        &mut self,
        what: &'static str,
        get: impl FnOnce(&mut Self) -> Decoded<T>,
    ) -> Decoded<Option<T>> {
        self.boolean(what)?.then(|| get(self)).transpose()
    }
}

/// Strictly ascending numbers as a first one and differences, each followed by what `after` writes.
pub(crate) fn put_ascending(
    out: &mut Encoder,
    numbers: impl ExactSizeIterator<Item = u64>,
    mut after: impl FnMut(&mut Encoder, u64),
) {
    out.len(numbers.len());
    let mut previous = 0;
    for number in numbers {
        out.uint(number - previous);
        after(out, number);
        previous = number;
    }
}

/// Reads what [`put_ascending`] wrote.
pub(crate) fn ascending<T>(
    d: &mut Decoder<'_>,
    what: &'static str,
    mut after: impl FnMut(&mut Decoder<'_>) -> Decoded<T>,
) -> Decoded<Vec<(u64, T)>> {
    let mut previous = 0u64;
    d.list(what, |d, index| {
        let step = d.uint(what)?;
        Fault::order(what, step > 0 || index == 0)?;
        previous = previous.checked_add(step).ok_or(Fault::TooWide(what, 64))?;
        Ok((previous, after(d)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_round_trip_at_their_bounds() {
        let unsigned = [
            0,
            1,
            127,
            128,
            16_383,
            16_384,
            u64::from(u32::MAX),
            u64::MAX - 1,
            u64::MAX,
        ];
        let signed = [0, -1, 1, 63, -64, 64, i64::from(i32::MIN), i64::MAX, i64::MIN];
        let mut out = Encoder::default();
        unsigned.iter().for_each(|&n| out.uint(n));
        signed.iter().for_each(|&n| out.int(n));
        let mut decoder = Decoder::new(&out.bytes);
        for n in unsigned {
            assert_eq!(decoder.uint("n"), Ok(n));
        }
        for n in signed {
            assert_eq!(decoder.int("n"), Ok(n));
        }
        assert!(decoder.is_at_end());
    }

    #[test]
    fn overlong_numbers_and_counts_are_refused() {
        assert!(Decoder::new(&[0xff; 9]).uint("n").is_err());
        assert!(Decoder::new(&[0xff; 11]).uint("n").is_err());
        let mut too_big = [0xff; 10];
        too_big[9] = 2;
        assert!(
            Decoder::new(&too_big)
                .uint("n")
                .unwrap_err()
                .to_string()
                .contains("64 bits")
        );
        let mut out = Encoder::default();
        out.uint(1 << 60);
        assert!(
            Decoder::new(&out.bytes)
                .count("paths")
                .unwrap_err()
                .to_string()
                .contains("0 bytes")
        );
        assert!(
            Decoder::new(&[2, 0xc3, 0x28])
                .string("name")
                .unwrap_err()
                .to_string()
                .contains("UTF-8")
        );
    }
}
