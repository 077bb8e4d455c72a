//! Decisions of branches, in the source's terms: `hit != null` with *yes* and *no*, `i < n` with *again* and
//! *done*, `switch (method)` with `case "GET"`.
//!
//! *In*: the bytes of a class, its path map, and (for labels of enums) a way to other classes. *Out*: a
//! [`MethodConditions`] per method: recovered from the operand stack, oriented by how compilers translate
//! `&&`, `||`, `if` and loops, with what the compiler made on its own marked by a table of rules ([`rules`]).
//!
//! What is not known is left out; nothing is guessed that might be wrong.

mod bootstrap;
mod decide;
mod expression;
mod facts;
mod flow;
mod interpret;
mod listing;
mod patterns;
mod print;
pub mod rules;
mod switches;
pub mod text;
mod variables;

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use trodden_classfile::class::Class;
use trodden_classfile::code::{Code, Marks};
use trodden_classfile::decode;
use trodden_classfile::pool::Pool;
use trodden_classfile::reader::{Fault, Reader};
use trodden_profile::{ClassMap, MethodConditions};

pub use print::MAX_TEXT;

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

/// Recovers the conditions of a class's methods: one entry per method of the map, in its order. Those that
/// are not `wanted` (by position in the map), and those that the class does not have, stay empty.
///
/// # Errors
/// If the bytes are not a well-formed class file: where, and what is wrong.
pub fn recover(
    bytes: &[u8],
    map: &ClassMap,
    classes: &dyn Classes,
    wanted: impl Fn(usize) -> bool,
) -> Result<Vec<MethodConditions>, Fault> {
    let class = Class::read(bytes)?;
    let methods = class
        .methods
        .iter()
        .map(|m| ((decode(m.name), decode(m.descriptor)), m));
    let methods: FxHashMap<_, _> = methods.collect();
    let dialect = match class.pool.find_utf8(b"Lkotlin/Metadata;") {
        Some(_) => print::Dialect::Kotlin,
        None => print::Dialect::Java,
    };
    let class_marks = rules::ClassMarks::new(&class);
    let mut marks = Marks::default();
    let mut all = vec![MethodConditions::default(); map.methods.len()];
    for (position, (of, out)) in map.methods.iter().zip(&mut all).enumerate() {
        if !wanted(position) {
            continue;
        }
        let name = (
            Cow::Borrowed(of.name.as_str()),
            Cow::Borrowed(of.descriptor.as_str()),
        );
        let Some(&method) = methods.get(&name) else {
            continue;
        };
        let Some(attribute) = &method.code else { continue };
        let code = Code::read(attribute, &class.pool, &mut marks)?;
        let fits = code.len() == of.code_length && of.blocks.iter().all(|b| b.end <= code.len());
        if fits {
            *out = decide::method(&class, method, &code, of, (dialect, class_marks), classes);
        }
    }
    Ok(all)
}
