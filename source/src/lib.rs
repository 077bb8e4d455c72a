//! Decisions of branches, in the source's terms: `hit != null` with *yes* and *no*, `i < n` with *again* and
//! *done*, `switch (method)` with `case "GET"`.
//!
//! *In*: the bytes of a class, its path map, and (for labels of enums) a way to other classes. *Out*: a
//! [`MethodConditions`] per method: recovered from the operand stack, oriented by how compilers translate
//! `&&`, `||`, `if` and loops, with what the compiler made on its own marked by a table of rules ([`rules`]).
//!
//! What is not known is left out; nothing is guessed that might be wrong.

mod bootstrap;
mod classes;
mod decide;
mod expression;
mod facts;
mod flow;
mod interpret;
mod known;
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
use trodden_classfile::reader::Fault;
use trodden_profile::{ClassMap, MethodConditions};

pub use classes::{Classes, LabelTables, NoClasses};
pub use print::MAX_TEXT;

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
