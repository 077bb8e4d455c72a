//! The constant pool: an index over borrowed bytes, and what is appended to it.

use rustc_hash::FxHashMap;

use super::reader::{Read, Reader, fault, put_u2};

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

/// The place of each entry of a pool.
#[derive(Clone, Debug)]
pub struct Pool<'a> {
    bytes: &'a [u8],
    /// Offset of each entry's tag in `bytes`; `u32::MAX` for slot 0 and the second slots of long and double.
    offsets: Vec<u32>,
}

const NO_ENTRY: u32 = u32::MAX;

/// Length of an entry behind its tag; 0 for Utf8 and for unknown tags.
const LENGTH: [u8; 256] = {
    let mut length = [0; 256];
    let mut kind = 0;
    while kind < 256 {
        length[kind] = match kind as u8 {
            tag::INTEGER | tag::FLOAT => 4,
            tag::LONG | tag::DOUBLE => 8,
            tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
            tag::FIELDREF | tag::METHODREF | tag::INTERFACE_METHODREF => 4,
            tag::NAME_AND_TYPE | tag::DYNAMIC | tag::INVOKE_DYNAMIC => 4,
            tag::METHOD_HANDLE => 3,
            _ => 0,
        };
        kind += 1;
    }
    length
};

impl<'a> Pool<'a> {
    /// Reads the pool, from its count on.
    pub fn read(reader: &mut Reader<'a>) -> Read<Self> {
        let count = reader.u2()?;
        if count == 0 {
            return fault(reader.offset() - 2, "constant pool count is 0");
        }
        let base = reader.offset();
        let start = *reader;
        let mut offsets = Vec::with_capacity(count as usize + 1);
        offsets.push(NO_ENTRY);
        while offsets.len() < count as usize {
            let at = reader.offset();
            offsets.push((at - base) as u32);
            let kind = reader.u1()?;
            let len = match LENGTH[kind as usize] {
                0 if kind == tag::UTF8 => reader.u2()? as usize,
                0 => return fault(at, format!("unknown constant pool tag {kind}")),
                len => len as usize,
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
        Ok(Pool { bytes, offsets })
    }

    /// Number of slots, slot 0 included.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The entries' bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bytes behind the tag of an entry, if the entry has that tag. They run on to the end of the pool.
    #[inline]
    fn entry(&self, index: u16, wanted: u8) -> Option<&'a [u8]> {
        let offset = *self.offsets.get(index as usize)?;
        // The mark of a slot without entry is past the end of every pool.
        let (&tag, entry) = self.bytes.get(offset as usize..)?.split_first()?;
        (tag == wanted).then_some(entry)
    }

    /// Raw modified UTF-8 of a Utf8 entry.
    #[inline]
    pub fn utf8(&self, index: u16) -> Option<&'a [u8]> {
        let entry = self.entry(index, tag::UTF8)?;
        let (len, text) = entry.split_first_chunk()?;
        text.get(..usize::from(u16::from_be_bytes(*len)))
    }

    /// Raw name of a Class entry.
    pub fn class_name(&self, index: u16) -> Option<&'a [u8]> {
        self.utf8(u16::from_be_bytes(*self.entry(index, tag::CLASS)?.first_chunk()?))
    }

    /// Raw names of the class and the method of a Methodref or InterfaceMethodref entry.
    pub fn method_name(&self, index: u16) -> Option<(&'a [u8], &'a [u8])> {
        let kinds = [tag::METHODREF, tag::INTERFACE_METHODREF];
        let entry = kinds.into_iter().find_map(|kind| self.entry(index, kind))?;
        let [a, b, c, d] = *entry.first_chunk()?;
        let name_and_type = self.entry(u16::from_be_bytes([c, d]), tag::NAME_AND_TYPE)?;
        let name = self.utf8(u16::from_be_bytes(*name_and_type.first_chunk()?))?;
        Some((self.class_name(u16::from_be_bytes([a, b]))?, name))
    }

    /// The two numbers of an entry that consists of them.
    fn two(&self, index: u16, wanted: u8) -> Option<(u16, u16)> {
        let [a, b, c, d] = *self.entry(index, wanted)?.first_chunk()?;
        Some((u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])))
    }

    fn name_and_type(&self, index: u16) -> Option<(&'a [u8], &'a [u8])> {
        let (name, descriptor) = self.two(index, tag::NAME_AND_TYPE)?;
        Some((self.utf8(name)?, self.utf8(descriptor)?))
    }

    /// The field or method that a Fieldref, Methodref or InterfaceMethodref entry names.
    pub fn member(&self, index: u16) -> Option<Member<'a>> {
        let kinds = [tag::FIELDREF, tag::METHODREF, tag::INTERFACE_METHODREF];
        let (class, name) = kinds.into_iter().find_map(|kind| self.two(index, kind))?;
        let (name, descriptor) = self.name_and_type(name)?;
        let class = self.class_name(class)?;
        Some(Member {
            class,
            name,
            descriptor,
        })
    }

    /// Bootstrap method, raw name and raw descriptor of an InvokeDynamic or Dynamic entry.
    pub fn dynamic(&self, index: u16) -> Option<(u16, &'a [u8], &'a [u8])> {
        let kinds = [tag::INVOKE_DYNAMIC, tag::DYNAMIC];
        let (bootstrap, name) = kinds.into_iter().find_map(|kind| self.two(index, kind))?;
        let (name, descriptor) = self.name_and_type(name)?;
        Some((bootstrap, name, descriptor))
    }

    /// The member that a MethodHandle entry refers to.
    pub fn method_handle(&self, index: u16) -> Option<Member<'a>> {
        let [_, a, b] = *self.entry(index, tag::METHOD_HANDLE)?.first_chunk()?;
        self.member(u16::from_be_bytes([a, b]))
    }

    /// The constant that `ldc` and its kin push.
    pub fn constant(&self, index: u16) -> Option<Constant<'a>> {
        let tag = *self.bytes.get(*self.offsets.get(usize::from(index))? as usize)?;
        let entry = self.entry(index, tag)?;
        Some(match tag {
            tag::INTEGER => Constant::Integer(i32::from_be_bytes(*entry.first_chunk()?)),
            tag::FLOAT => Constant::Float(f32::from_be_bytes(*entry.first_chunk()?)),
            tag::LONG => Constant::Long(i64::from_be_bytes(*entry.first_chunk()?)),
            tag::DOUBLE => Constant::Double(f64::from_be_bytes(*entry.first_chunk()?)),
            tag::STRING => Constant::String(self.utf8(u16::from_be_bytes(*entry.first_chunk()?))?),
            tag::CLASS => Constant::Class(self.class_name(index)?),
            _ => Constant::Other,
        })
    }

    /// Returns true for a constant that is made or found when code first asks for it, which may fail. Strings
    /// do not count.
    pub fn is_resolved_late(&self, index: u16) -> bool {
        matches!(
            self.constant(index),
            None | Some(Constant::Class(_) | Constant::Other)
        )
    }

    /// Tag and payload of an entry; the payload runs on to the end of the pool.
    pub fn raw(&self, index: u16) -> Option<(u8, &'a [u8])> {
        let offset = *self.offsets.get(index as usize)?;
        let (&kind, payload) = self.bytes.get(offset as usize..)?.split_first()?;
        Some((kind, payload))
    }

    /// All Class entries by raw name.
    fn classes(&self) -> FxHashMap<&'a [u8], u16> {
        let indices = (1..self.offsets.len()).map(|i| i as u16);
        indices.filter_map(|i| Some((self.class_name(i)?, i))).collect()
    }

    /// Finds the Utf8 entry with exactly these bytes.
    pub fn find_utf8(&self, wanted: &[u8]) -> Option<u16> {
        (1..self.offsets.len())
            .map(|i| i as u16)
            .find(|&i| self.utf8(i) == Some(wanted))
    }
}

/// A field or method, its names raw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Member<'a> {
    /// Internal name of the class.
    pub class: &'a [u8],
    /// Name.
    pub name: &'a [u8],
    /// Descriptor.
    pub descriptor: &'a [u8],
}

/// A constant that can be loaded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Constant<'a> {
    /// int and smaller.
    Integer(i32),
    /// float.
    Float(f32),
    /// long.
    Long(i64),
    /// double.
    Double(f64),
    /// A string, raw.
    String(&'a [u8]),
    /// A class literal: its raw internal name.
    Class(&'a [u8]),
    /// A method handle, a method type, a dynamic constant.
    Other,
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
    /// Appended entries of up to five bytes: tag and payload in one number.
    short: FxHashMap<u64, u16>,
    /// Appended Utf8 entries.
    texts: FxHashMap<Box<[u8]>, u16>,
    /// Methodref entries asked for before. There are few, and they are asked for at every path end.
    methods: Vec<(MethodName, u16)>,
    /// The pool's own Class entries by name; made when first asked for.
    classes: Option<FxHashMap<&'a [u8], u16>>,
}

/// The method that a Methodref entry names.
#[derive(Debug, PartialEq, Eq)]
struct MethodName {
    class: String,
    name: String,
    descriptor: String,
}

impl<'p, 'a> PoolBuilder<'p, 'a> {
    /// Nothing appended yet.
    pub fn new(pool: &'p Pool<'a>) -> Self {
        PoolBuilder {
            pool,
            added: Vec::new(),
            count: pool.len(),
            short: FxHashMap::default(),
            texts: FxHashMap::default(),
            methods: Vec::new(),
            classes: None,
        }
    }

    /// The index of the next entry.
    fn next(&mut self) -> Result<u16, PoolFull> {
        // The count field is a u2 and is one more than the last index.
        if self.count >= u16::MAX as usize {
            return Err(PoolFull);
        }
        self.count += 1;
        Ok((self.count - 1) as u16)
    }

    /// An entry with a payload of two or four bytes.
    fn short(&mut self, kind: u8, payload: u32, len: usize) -> Result<u16, PoolFull> {
        let key = u64::from(kind) << 32 | u64::from(payload);
        if let Some(&index) = self.short.get(&key) {
            return Ok(index);
        }
        let index = self.next()?;
        self.added.push(kind);
        self.added.extend_from_slice(&payload.to_be_bytes()[4 - len..]);
        self.short.insert(key, index);
        Ok(index)
    }

    /// A Utf8 entry.
    pub fn utf8(&mut self, text: &[u8]) -> Result<u16, PoolFull> {
        // No Utf8 entry is longer than its u2 length can state.
        let len = u16::try_from(text.len()).map_err(|_| PoolFull)?;
        if let Some(&index) = self.texts.get(text) {
            return Ok(index);
        }
        let index = self.next()?;
        self.added.push(tag::UTF8);
        put_u2(&mut self.added, len);
        self.added.extend_from_slice(text);
        self.texts.insert(text.into(), index);
        Ok(index)
    }

    /// An Integer entry.
    pub fn integer(&mut self, value: i32) -> Result<u16, PoolFull> {
        self.short(tag::INTEGER, value as u32, 4)
    }

    /// A Class entry: the pool's own, if there is one for that name.
    pub fn class(&mut self, name: &[u8]) -> Result<u16, PoolFull> {
        let pool = self.pool;
        let classes = self.classes.get_or_insert_with(|| pool.classes());
        if let Some(&index) = classes.get(name) {
            return Ok(index);
        }
        let name = self.utf8(name)?;
        self.short(tag::CLASS, u32::from(name), 2)
    }

    /// A Methodref entry.
    pub fn methodref(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16, PoolFull> {
        let same =
            |(m, _): &&(MethodName, u16)| m.name == name && m.descriptor == descriptor && m.class == class;
        if let Some(&(_, index)) = self.methods.iter().find(same) {
            return Ok(index);
        }
        let class_index = self.class(class.as_bytes())?;
        let name_index = self.utf8(name.as_bytes())?;
        let descriptor_index = self.utf8(descriptor.as_bytes())?;
        let name_and_type = self.pair(tag::NAME_AND_TYPE, name_index, descriptor_index)?;
        let index = self.pair(tag::METHODREF, class_index, name_and_type)?;
        let method = MethodName {
            class: class.to_owned(),
            name: name.to_owned(),
            descriptor: descriptor.to_owned(),
        };
        self.methods.push((method, index));
        Ok(index)
    }

    fn pair(&mut self, kind: u8, first: u16, second: u16) -> Result<u16, PoolFull> {
        self.short(kind, u32::from(first) << 16 | u32::from(second), 4)
    }

    /// Writes count, old entries, new entries.
    pub fn write(&self, out: &mut Vec<u8>) {
        put_u2(out, self.count as u16);
        out.extend_from_slice(self.pool.bytes());
        out.extend_from_slice(&self.added);
    }

    /// Bytes that [`PoolBuilder::write`] writes.
    pub fn written_len(&self) -> usize {
        2 + self.pool.bytes().len() + self.added.len()
    }
}
