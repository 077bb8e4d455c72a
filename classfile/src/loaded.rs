//! A class file of what a JVM still has of a loaded class: its constants, and the code of some of its
//! methods.
//!
//! It is made to be read by the instrumenter and by the reader of conditions, and never loaded. What they
//! need no more is left out: fields, interfaces, stack map frames (so its version is one that needs none).

use crate::pool::tag;
use crate::reader::{put_u2, put_u4};

/// The last version of class files without stack map frames.
const MAJOR: u16 = 49;

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
        self.more.push(tag::UTF8);
        put_u2(&mut self.more, u16::try_from(text.len()).ok()?);
        self.more.extend(text.as_bytes());
        self.entry()
    }

    fn class(&mut self, name: &str) -> Option<u16> {
        let name = self.utf8(name)?;
        self.more.push(tag::CLASS);
        put_u2(&mut self.more, name);
        self.entry()
    }
}

/// Appends numbers of two bytes.
fn put(out: &mut Vec<u8>, numbers: &[u16]) {
    numbers.iter().for_each(|&number| put_u2(out, number));
}

/// Appends an attribute.
fn attribute(out: &mut Vec<u8>, name: u16, contents: &[u8]) -> Option<()> {
    put(out, &[name]);
    put_u4(out, u32::try_from(contents.len()).ok()?);
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
        let mut out = Vec::new();
        put_u4(&mut out, 0xcafe_babe);
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
        put_u4(&mut out, u32::try_from(self.code.len()).ok()?);
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
