//! The class file's outer structure.

use super::pool::Pool;
use super::reader::{Read, Reader, fault, get_u2};

/// An attribute, undecoded.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// Pool index of its name.
    pub name_index: u16,
    /// Its name, raw.
    pub name: &'a [u8],
    /// Its content, without name and length.
    pub content: &'a [u8],
    /// Absolute offset of the content.
    pub offset: usize,
}

impl<'a> Attribute<'a> {
    /// A cursor over the content.
    pub fn reader(&self) -> Reader<'a> {
        Reader::new(self.content, self.offset)
    }

    /// Reads an attribute, name and all.
    #[inline]
    fn read(reader: &mut Reader<'a>, pool: &Pool<'a>) -> Read<Self> {
        let at = reader.offset();
        let name_index = reader.u2()?;
        let Some(name) = pool.utf8(name_index) else {
            return fault(
                at,
                format!("attribute name: constant {name_index} is not a Utf8 entry"),
            );
        };
        let len = reader.u4()? as usize;
        let offset = reader.offset();
        Ok(Attribute {
            name_index,
            name,
            content: reader.bytes(len)?,
            offset,
        })
    }

    /// Reads an attribute table, from its count on, and shows each attribute.
    #[inline]
    pub fn read_each(
        reader: &mut Reader<'a>,
        pool: &Pool<'a>,
        mut show: impl FnMut(&Attribute<'a>),
    ) -> Read<()> {
        for _ in 0..reader.u2()? {
            show(&Self::read(reader, pool)?);
        }
        Ok(())
    }
}

/// An attribute table that was read before without a fault.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// At the count.
    pub reader: Reader<'a>,
}

impl<'a> Attributes<'a> {
    /// All attributes.
    pub fn iter<'p>(self, pool: &'p Pool<'a>) -> impl Iterator<Item = Attribute<'a>> + use<'a, 'p> {
        let mut reader = self.reader;
        let count = reader.u2().unwrap_or(0);
        (0..count).map_while(move |_| Attribute::read(&mut reader, pool).ok())
    }
}

/// A method, its Code undecoded.
#[derive(Clone, Debug)]
pub struct Method<'a> {
    /// Access flags.
    pub access: u16,
    /// Raw name.
    pub name: &'a [u8],
    /// Raw descriptor.
    pub descriptor: &'a [u8],
    /// The whole method_info.
    pub raw: &'a [u8],
    /// Absolute offset of the method_info.
    pub offset: usize,
    /// The Code attribute.
    pub code: Option<Attribute<'a>>,
}

impl<'a> Method<'a> {
    /// The attributes of the method, its Code among them.
    pub fn attributes<'p>(&self, pool: &'p Pool<'a>) -> impl Iterator<Item = Attribute<'a>> + use<'a, 'p> {
        // They were read before; flags, name and descriptor are in front.
        let reader = Reader::new(&self.raw[6..], self.offset + 6);
        Attributes { reader }.iter(pool)
    }
}

/// A class file, taken apart as far as probes need it.
#[derive(Clone, Debug)]
pub struct Class<'a> {
    /// Magic and version: the bytes before the pool.
    pub head: &'a [u8],
    /// Major version.
    pub major: u16,
    /// The constant pool.
    pub pool: Pool<'a>,
    /// Pool index of the class itself.
    pub this_class: u16,
    /// Raw internal name.
    pub name: &'a [u8],
    /// Bytes between pool and methods count (access flags .. fields).
    pub middle: &'a [u8],
    /// The methods.
    pub methods: Vec<Method<'a>>,
    /// Bytes behind the methods (class attributes).
    pub tail: &'a [u8],
    /// The SourceFile attribute's text, raw.
    pub source_file: Option<&'a [u8]>,
}

impl<'a> Class<'a> {
    /// Reads a class file.
    pub fn read(bytes: &'a [u8]) -> Read<Self> {
        Head::read(bytes)?.rest()
    }

    /// The attributes of the class.
    pub fn attributes(&self) -> impl Iterator<Item = Attribute<'a>> {
        // They were read before; their offsets are of no use any more.
        let reader = Reader::new(self.tail, 0);
        Attributes { reader }.iter(&self.pool)
    }

    /// Access flags of the class (JVMS table 4.1-B).
    pub fn access(&self) -> u16 {
        get_u2(self.middle, 0)
    }

    /// Raw internal name of the superclass, if there is one.
    pub fn superclass(&self) -> Option<&'a [u8]> {
        self.pool.class_name(get_u2(self.middle, 4))
    }
}

/// A class file read as far as its own name: enough to filter on before anything else is done.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    bytes: &'a [u8],
    /// Behind `this_class`.
    reader: Reader<'a>,
    middle_start: usize,
    major: u16,
    pool: Pool<'a>,
    this_class: u16,
    /// Raw internal name.
    pub name: &'a [u8],
}

impl<'a> Head<'a> {
    /// Reads pool and name.
    pub fn read(bytes: &'a [u8]) -> Read<Self> {
        let mut reader = Reader::new(bytes, 0);
        if reader.u4()? != 0xCAFE_BABE {
            return fault(0, "not a class file (it does not start with CAFEBABE)");
        }
        reader.u2()?;
        let major = reader.u2()?;
        let pool = Pool::read(&mut reader)?;
        let middle_start = reader.offset();
        reader.u2()?;
        let (this_class, name) = this_class(&mut reader, &pool)?;
        Ok(Head {
            bytes,
            reader,
            middle_start,
            major,
            pool,
            this_class,
            name,
        })
    }

    /// Reads the rest of the class file.
    pub fn rest(self) -> Read<Class<'a>> {
        let Head {
            bytes,
            mut reader,
            middle_start,
            major,
            pool,
            this_class: this_index,
            name,
        } = self;
        reader.u2()?;
        let interfaces = reader.u2()?;
        reader.bytes(interfaces as usize * 2)?;
        let fields = reader.u2()?;
        for _ in 0..fields {
            reader.bytes(6)?;
            Attribute::read_each(&mut reader, &pool, |_| ())?;
        }
        let middle = &bytes[middle_start..reader.offset()];
        let count = reader.u2()?;
        let mut methods = Vec::with_capacity(count.min(4096) as usize);
        for _ in 0..count {
            let start = reader.offset();
            let access = reader.u2()?;
            let mut text = |what: &str| {
                let at = reader.offset();
                let index = reader.u2()?;
                match pool.utf8(index) {
                    Some(text) => Ok(text),
                    None => fault(at, format!("method {what}: constant {index} is not a Utf8 entry")),
                }
            };
            let name = text("name")?;
            let descriptor = text("descriptor")?;
            let at = reader.offset();
            let mut code = None;
            let mut codes = 0;
            Attribute::read_each(&mut reader, &pool, |attribute| {
                if attribute.name == b"Code" {
                    code = Some(*attribute);
                    codes += 1;
                }
            })?;
            if codes > 1 {
                return fault(at, "a method has two Code attributes");
            }
            methods.push(Method {
                access,
                name,
                descriptor,
                raw: &bytes[start..reader.offset()],
                offset: start,
                code,
            });
        }
        let tail = &bytes[reader.offset()..];
        let mut source_file = None;
        Attribute::read_each(&mut reader, &pool, |attribute| {
            if let (b"SourceFile", &[high, low], None) = (attribute.name, attribute.content, source_file) {
                source_file = Some(u16::from_be_bytes([high, low]));
            }
        })?;
        reader.finish("the class file")?;
        let source_file = source_file.and_then(|index| pool.utf8(index));
        Ok(Class {
            head: &bytes[..8],
            major,
            pool,
            this_class: this_index,
            name,
            middle,
            methods,
            tail,
            source_file,
        })
    }
}

fn this_class<'a>(reader: &mut Reader<'a>, pool: &Pool<'a>) -> Read<(u16, &'a [u8])> {
    let at = reader.offset();
    let index = reader.u2()?;
    match pool.class_name(index) {
        Some(name) => Ok((index, name)),
        None => fault(at, format!("this_class: constant {index} is not a Class entry")),
    }
}
