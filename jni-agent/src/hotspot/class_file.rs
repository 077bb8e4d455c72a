//! A class file of what a JVM still has of a loaded class: its constants, and the code of some of its methods.
//!
//! It is made to be read by the instrumenter and by the reader of conditions, and never loaded. What they need no more
//! is left out: fields, interfaces, stack map frames (so its version is one that needs none).

/// The last version of class files without stack map frames.
const MAJOR: u16 = 49;
const UTF8: u8 = 1;
const CLASS: u8 = 7;

/// A class, as the JVM has it.
#[derive(Debug, Default)]
pub struct LoadedClass {
    /// Internal name.
    pub name: String,
    /// Its modifiers.
    pub access: u16,
    /// The SourceFile attribute.
    pub source_file: Option<String>,
    /// Number of constants, one more than the last index.
    pub pool_count: u16,
    /// The constants, as class files have them.
    pub pool: Vec<u8>,
    /// Methods that are wanted.
    pub methods: Vec<LoadedMethod>,
}

/// A method with code.
#[derive(Debug, Default)]
pub struct LoadedMethod {
    /// Name.
    pub name: String,
    /// Descriptor.
    pub descriptor: String,
    /// Its modifiers.
    pub access: u16,
    /// Number of local variable slots.
    pub max_locals: u16,
    /// Its instructions, as the class file had them.
    pub code: Vec<u8>,
    /// Where lines begin: bytecode index and line.
    pub lines: Vec<(u16, u16)>,
    /// First and last bytecode index of the range, handler, index of the caught class among the constants.
    pub handlers: Vec<[u16; 4]>,
    /// First bytecode index, length, indices of name and descriptor among the constants, slot.
    pub locals: Vec<[u16; 5]>,
}

/// Constants in addition to the class's own.
struct Pool<'c> {
    class: &'c LoadedClass,
    count: u16,
    more: Vec<u8>,
}

impl Pool<'_> {
    fn entry(&mut self) -> Option<u16> {
        let index = self.count;
        self.count = index.checked_add(1)?;
        Some(index)
    }

    fn utf8(&mut self, text: &str) -> Option<u16> {
        self.more.push(UTF8);
        self.more.extend(u16::try_from(text.len()).ok()?.to_be_bytes());
        self.more.extend(text.as_bytes());
        self.entry()
    }

    fn class(&mut self, name: &str) -> Option<u16> {
        let name = self.utf8(name)?;
        self.more.push(CLASS);
        self.more.extend(name.to_be_bytes());
        self.entry()
    }
}

/// Appends numbers of two bytes.
fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    out.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
}

/// Appends an attribute.
fn attribute(out: &mut Vec<u8>, name: u16, contents: &[u8]) -> Option<()> {
    put(out, &[name]);
    out.extend(u32::try_from(contents.len()).ok()?.to_be_bytes());
    out.extend(contents);
    Some(())
}

/// A table: the number of its rows, and the rows.
fn table<'r, const N: usize>(rows: impl ExactSizeIterator<Item = [u16; N]> + 'r) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    put(&mut out, &[u16::try_from(rows.len()).ok()?]);
    rows.for_each(|row| put(&mut out, &row));
    Some(out)
}

impl LoadedClass {
    /// The class file. `None` if there is no room for its constants, or a table is too long.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let mut pool = Pool {
            class: self,
            count: self.pool_count.max(1),
            more: Vec::new(),
        };
        let this = pool.class(&self.name)?;
        let [code, lines, locals] =
            ["Code", "LineNumberTable", "LocalVariableTable"].map(|name| pool.utf8(name));
        let names = (code?, lines?, locals?);
        let mut methods = Vec::new();
        for method in &self.methods {
            let about = [
                method.access,
                pool.utf8(&method.name)?,
                pool.utf8(&method.descriptor)?,
                1,
            ];
            put(&mut methods, &about);
            attribute(&mut methods, names.0, &method.code_attribute(names)?)?;
        }
        let mut attributes = Vec::new();
        if let Some(file) = &self.source_file {
            let name = pool.utf8("SourceFile")?;
            let file = pool.utf8(file)?;
            attribute(&mut attributes, name, &file.to_be_bytes())?;
        }
        let mut out = 0xcafe_babe_u32.to_be_bytes().to_vec();
        put(&mut out, &[0, MAJOR, pool.count]);
        out.extend(&pool.class.pool);
        out.extend(&pool.more);
        // No superclass, no interfaces, no fields.
        put(
            &mut out,
            &[
                self.access,
                this,
                0,
                0,
                0,
                u16::try_from(self.methods.len()).ok()?,
            ],
        );
        out.extend(methods);
        put(&mut out, &[u16::from(self.source_file.is_some())]);
        out.extend(attributes);
        Some(out)
    }
}

impl LoadedMethod {
    fn code_attribute(&self, (_, lines, locals): (u16, u16, u16)) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        // The JVM does not say how deep the operand stack gets.
        put(&mut out, &[u16::MAX, self.max_locals]);
        out.extend(u32::try_from(self.code.len()).ok()?.to_be_bytes());
        out.extend(&self.code);
        out.extend(table(self.handlers.iter().copied())?);
        put(&mut out, &[2]);
        attribute(
            &mut out,
            lines,
            &table(self.lines.iter().map(|&(bci, line)| [bci, line]))?,
        )?;
        attribute(&mut out, locals, &table(self.locals.iter().copied())?)?;
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use trodden_classfile::class::{Attribute, Class};
    use trodden_classfile::code::{Code, Marks};
    use trodden_classfile::decode;
    use trodden_classfile::reader::Reader;

    use super::*;

    /// Rows of numbers of two bytes of an attribute of a method's code.
    fn rows<const N: usize>(attribute: Option<Attribute>) -> Vec<[u16; N]> {
        let Some(attribute) = attribute else {
            return Vec::new();
        };
        let mut reader: Reader = attribute.reader();
        let count = reader.u2().unwrap();
        (0..count)
            .map(|_| std::array::from_fn(|_| reader.u2().unwrap()))
            .collect()
    }

    /// What a JVM has of a class.
    fn loaded(bytes: &[u8]) -> LoadedClass {
        let class = Class::read(bytes).unwrap();
        let mut methods = Vec::new();
        for method in &class.methods {
            let Some(attribute) = &method.code else { continue };
            let code = Code::read(attribute, &class.pool, &mut Marks::default()).unwrap();
            let of = |name: &[u8]| code.attributes(&class.pool).find(|a| a.name == name);
            let mut reader = attribute.reader();
            let (_, max_locals, length) = (reader.u2().unwrap(), reader.u2().unwrap(), reader.u4().unwrap());
            methods.push(LoadedMethod {
                name: decode(method.name).into_owned(),
                descriptor: decode(method.descriptor).into_owned(),
                access: method.access,
                max_locals,
                code: reader.bytes(length as usize).unwrap().to_vec(),
                lines: rows(of(b"LineNumberTable"))
                    .into_iter()
                    .map(|[bci, line]| (bci, line))
                    .collect(),
                handlers: {
                    let count = reader.u2().unwrap();
                    (0..count)
                        .map(|_| std::array::from_fn(|_| reader.u2().unwrap()))
                        .collect()
                },
                locals: rows(of(b"LocalVariableTable")),
            });
        }
        LoadedClass {
            name: decode(class.name).into_owned(),
            access: class.access(),
            source_file: class.source_file.map(|name| decode(name).into_owned()),
            pool_count: class.pool.len() as u16,
            pool: class.pool.bytes().to_vec(),
            methods,
        }
    }

    /// Maps and conditions are those of the class file that the JVM was given.
    #[test]
    fn what_is_read_of_it_is_that_of_the_original() {
        let bytes = include_bytes!("../../../instrumenter/tests/fixtures/Shapes.class");
        let again = loaded(bytes).bytes().unwrap();
        let (original, again_map) = (
            super::super::map(bytes).unwrap(),
            super::super::map(&again).unwrap(),
        );
        assert!(original.methods.len() > 5);
        assert_eq!(original.methods, again_map.methods);
        assert_eq!(original.source_file, again_map.source_file);
        let conditions =
            |bytes, map| trodden_source::recover(bytes, map, &trodden_source::NoClasses, |_| true).unwrap();
        assert_eq!(conditions(bytes, &original), conditions(&again, &again_map));
    }

    #[test]
    fn a_class_without_room_for_constants_is_refused() {
        let full = LoadedClass {
            name: "a/B".to_owned(),
            pool_count: u16::MAX - 3,
            ..LoadedClass::default()
        };
        assert_eq!(full.bytes(), None);
    }
}
