//! The constant pool: an index over borrowed bytes, and what is appended to it.

use rustc_hash::FxHashMap;

use super::reader::{Read, Reader, fault, put_u2, put_u4};

/// Constant tags (JVMS 4.4).
pub mod tag {
    #![allow(missing_docs)]
    pub const UTF8: u8 = 1;
    pub const INTEGER: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const LONG: u8 = 5;
    pub const DOUBLE: u8 = 6;
    pub const CLASS: u8 = 7;
    pub const STRING: u8 = 8;
    pub const FIELDREF: u8 = 9;
    pub const METHODREF: u8 = 10;
    pub const INTERFACE_METHODREF: u8 = 11;
    pub const NAME_AND_TYPE: u8 = 12;
    pub const METHOD_HANDLE: u8 = 15;
    pub const METHOD_TYPE: u8 = 16;
    pub const DYNAMIC: u8 = 17;
    pub const INVOKE_DYNAMIC: u8 = 18;
    pub const MODULE: u8 = 19;
    pub const PACKAGE: u8 = 20;
}

/// Where each entry of a pool lies.
#[derive(Clone, Debug)]
pub struct Pool<'a> {
    bytes: &'a [u8],
    /// Absolute offset of the pool's first entry.
    base: usize,
    /// Offset of each entry's tag in `bytes`; `u32::MAX` for slot 0 and the second slots of long and double.
    offsets: Vec<u32>,
}

const NO_ENTRY: u32 = u32::MAX;

impl<'a> Pool<'a> {
    /// Reads the pool, from its count on.
    pub fn read(reader: &mut Reader<'a>) -> Read<Self> {
        let count = reader.u2()?;
        if count == 0 {
            return fault(reader.offset() - 2, "constant pool count is 0");
        }
        let base = reader.offset();
        let start = *reader;
        let mut offsets = Vec::with_capacity(count as usize);
        offsets.push(NO_ENTRY);
        while offsets.len() < count as usize {
            let at = reader.offset();
            offsets.push((at - base) as u32);
            let kind = reader.u1()?;
            let len = match kind {
                tag::UTF8 => reader.u2()? as usize,
                tag::INTEGER | tag::FLOAT => 4,
                tag::LONG | tag::DOUBLE => 8,
                tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
                tag::FIELDREF
                | tag::METHODREF
                | tag::INTERFACE_METHODREF
                | tag::NAME_AND_TYPE
                | tag::DYNAMIC
                | tag::INVOKE_DYNAMIC => 4,
                tag::METHOD_HANDLE => 3,
                other => return fault(at, format!("unknown constant pool tag {other}")),
            };
            reader.bytes(len)?;
            if matches!(kind, tag::LONG | tag::DOUBLE) {
                offsets.push(NO_ENTRY);
            }
        }
        if offsets.len() > count as usize {
            return fault(
                reader.offset(),
                "the last constant pool entry takes two slots but only one is left",
            );
        }
        let len = reader.offset() - base;
        let bytes = { start }.bytes(len)?;
        Ok(Pool { bytes, base, offsets })
    }

    /// Number of slots, slot 0 included.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The entries' bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// A cursor behind the tag of an entry, if the entry has that tag.
    fn entry(&self, index: u16, wanted: u8) -> Option<Reader<'a>> {
        let offset = *self.offsets.get(index as usize)?;
        if offset == NO_ENTRY {
            return None;
        }
        let offset = offset as usize;
        (self.bytes[offset] == wanted).then(|| Reader::new(&self.bytes[offset + 1..], self.base + offset + 1))
    }

    /// Raw modified UTF-8 of a Utf8 entry.
    pub fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        let mut entry = self.entry(index, tag::UTF8)?;
        let len = entry.u2().ok()?;
        entry.bytes(len as usize).ok()
    }

    /// Raw name of a Class entry.
    pub fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        self.utf8(self.entry(index, tag::CLASS)?.u2().ok()?)
    }

    /// All Class entries by raw name.
    fn classes(&self) -> FxHashMap<&'a [u8], u16> {
        let indices = (1..self.offsets.len()).map(|i| i as u16);
        indices.filter_map(|i| Some((self.class_name(i)?, i))).collect()
    }

    /// Is there a Utf8 entry with exactly these bytes?
    pub fn find_utf8(&self, wanted: &[u8]) -> Option<u16> {
        (1..self.offsets.len())
            .map(|i| i as u16)
            .find(|&i| self.utf8(i) == Some(wanted))
    }
}

/// The pool is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolFull;

/// Entries appended to a pool. Each distinct entry is appended once.
#[derive(Debug)]
pub struct PoolBuilder<'p, 'a> {
    pool: &'p Pool<'a>,
    added: Vec<u8>,
    count: usize,
    seen: FxHashMap<Vec<u8>, u16>,
    /// The pool's own Class entries by name; made when first asked for.
    classes: Option<FxHashMap<&'a [u8], u16>>,
}

impl<'p, 'a> PoolBuilder<'p, 'a> {
    /// Nothing appended yet.
    pub fn new(pool: &'p Pool<'a>) -> Self {
        PoolBuilder {
            pool,
            added: Vec::new(),
            count: pool.len(),
            seen: FxHashMap::default(),
            classes: None,
        }
    }

    fn append(&mut self, entry: Vec<u8>) -> Result<u16, PoolFull> {
        if let Some(&index) = self.seen.get(&entry) {
            return Ok(index);
        }
        // The count field is a u2 and is one more than the last index.
        if self.count >= u16::MAX as usize {
            return Err(PoolFull);
        }
        let index = self.count as u16;
        self.count += 1;
        self.added.extend_from_slice(&entry);
        self.seen.insert(entry, index);
        Ok(index)
    }

    /// A Utf8 entry.
    pub fn utf8(&mut self, text: &[u8]) -> Result<u16, PoolFull> {
        // No Utf8 entry is longer than its u2 length can tell.
        let len = u16::try_from(text.len()).map_err(|_| PoolFull)?;
        let mut entry = Vec::with_capacity(3 + text.len());
        entry.push(tag::UTF8);
        put_u2(&mut entry, len);
        entry.extend_from_slice(text);
        self.append(entry)
    }

    /// An Integer entry.
    pub fn integer(&mut self, value: i32) -> Result<u16, PoolFull> {
        let mut entry = vec![tag::INTEGER];
        put_u4(&mut entry, value as u32);
        self.append(entry)
    }

    /// A Class entry: the pool's own, if there is one for that name.
    pub fn class(&mut self, name: &[u8]) -> Result<u16, PoolFull> {
        let pool = self.pool;
        let classes = self.classes.get_or_insert_with(|| pool.classes());
        if let Some(&index) = classes.get(name) {
            return Ok(index);
        }
        let name = self.utf8(name)?;
        self.pair(tag::CLASS, name, None)
    }

    /// A Methodref entry.
    pub fn methodref(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16, PoolFull> {
        let class = self.class(class.as_bytes())?;
        let name = self.utf8(name.as_bytes())?;
        let descriptor = self.utf8(descriptor.as_bytes())?;
        let name_and_type = self.pair(tag::NAME_AND_TYPE, name, Some(descriptor))?;
        self.pair(tag::METHODREF, class, Some(name_and_type))
    }

    fn pair(&mut self, kind: u8, first: u16, second: Option<u16>) -> Result<u16, PoolFull> {
        let mut entry = vec![kind];
        put_u2(&mut entry, first);
        if let Some(second) = second {
            put_u2(&mut entry, second);
        }
        self.append(entry)
    }

    /// Writes count, old entries, new entries.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_u2(out, self.count as u16);
        out.extend_from_slice(self.pool.bytes());
        out.extend_from_slice(&self.added);
    }
}
