//! Where the bytes of other classes are found.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use trodden_classfile::pool::Pool;
use trodden_classfile::reader::Reader;

/// Where the bytes of other classes are found: names of enum constants are in a class of their own.
pub trait Classes {
    /// The class file with this internal name, if it is at hand.
    fn class(&self, name: &str) -> Option<Cow<'_, [u8]>>;
}

/// No other class is at hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoClasses;

impl Classes for NoClasses {
    fn class(&self, _: &str) -> Option<Cow<'_, [u8]>> {
        None
    }
}

/// The classes that say what the numbers of a `switch` over enums are, by internal name: those with a table
/// of labels, and enums that are nested in another class, whose ordinals javac 21 uses at once.
#[derive(Clone, Debug, Default)]
pub struct LabelTables(FxHashMap<String, Box<[u8]>>);

impl LabelTables {
    /// Keeps the bytes of a class if it has such labels; says whether it does.
    pub fn keep(&mut self, name: &str, bytes: &[u8]) -> bool {
        let found = Self::are_in(name, bytes);
        if found {
            self.0.insert(name.to_owned(), bytes.into());
        }
        found
    }

    /// Returns true if the class of this name has such labels.
    pub fn are_in(name: &str, bytes: &[u8]) -> bool {
        // javac numbers these classes: `Outer$1`. The name is asked first, as that is cheap.
        let last = name.rsplit('$').next().unwrap_or_default();
        let table: &[u8] = match last {
            "WhenMappings" => b"$EnumSwitchMapping$",
            _ if last.starts_with(|c: char| c.is_ascii_digit()) => b"$SwitchMap$",
            _ => return last.len() < name.len() && is_enum(bytes),
        };
        bytes.windows(table.len()).any(|part| part == table)
    }
}

/// Returns true for the class file of an enum. Only its constant pool is walked over.
fn is_enum(bytes: &[u8]) -> bool {
    const ACC_ENUM: u16 = 0x4000;
    const MAGIC_AND_VERSION: usize = 8;
    let mut reader = Reader::new(bytes, 0);
    let flags = reader
        .bytes(MAGIC_AND_VERSION)
        .and_then(|_| Pool::read(&mut reader));
    flags
        .and_then(|_| reader.u2())
        .is_ok_and(|flags| flags & ACC_ENUM != 0)
}

impl Classes for LabelTables {
    fn class(&self, name: &str) -> Option<Cow<'_, [u8]>> {
        self.0.get(name).map(|bytes| Cow::Borrowed(&bytes[..]))
    }
}
