//! Branch counts out of HotSpot's `MethodData`: what the interpreter and C1's code counted for C2.

use std::collections::BTreeMap;

use super::memory::{Layout, Memory};
use crate::error::{Error, Result};

/// A conditional branch: class (internal name), method (name and descriptor), bytecode index.
pub type Place = (String, String, u32);

/// How often a branch was taken, and not.
pub type Outcomes = [u64; 2];

/// What was found.
#[derive(Debug, Default)]
pub struct Counted {
    /// Per branch.
    pub branches: BTreeMap<Place, Outcomes>,
    /// Methods that have such data.
    pub methods: usize,
    /// Of these, those whose data could not be understood.
    pub not_understood: usize,
}

/// Kinds of data, as `DataLayout` numbers them.
mod tag {
    pub const BIT: u8 = 1;
    pub const COUNTER: u8 = 2;
    pub const JUMP: u8 = 3;
    pub const RECEIVER: u8 = 4;
    pub const VIRTUAL_CALL: u8 = 5;
    pub const RETURN: u8 = 6;
    pub const BRANCH: u8 = 7;
    pub const SWITCH: u8 = 8;
    pub const TYPED_CALL: u8 = 10;
    pub const TYPED_VIRTUAL_CALL: u8 = 11;
}

/// A method's data.
struct MethodData {
    class: String,
    method: String,
    code_size: u32,
    begin: u64,
    size: u64,
}

/// Words of data that a call with receivers has: it depends on how the JVM was built.
const RECEIVER_WORDS: std::ops::RangeInclusive<u64> = 5..=9;

/// Reads all branch counts of a JVM.
///
/// # Errors
/// If the JVM does not tell what is needed for it.
pub fn read(memory: &Memory, layout: &Layout) -> Result<Counted> {
    let methods = methods(memory, layout)?;
    let walks = |words: u64| {
        methods
            .iter()
            .filter(|data| branches(memory, data, words).is_none())
            .count()
    };
    let words = RECEIVER_WORDS.min_by_key(|&words| walks(words)).unwrap_or(5);
    let mut counted = Counted {
        methods: methods.len(),
        ..Counted::default()
    };
    for data in &methods {
        let Some(branches) = branches(memory, data, words) else {
            counted.not_understood += 1;
            continue;
        };
        for (bci, outcomes) in branches {
            let place = (data.class.clone(), data.method.clone(), bci);
            let sum = counted.branches.entry(place).or_default();
            sum[0] += outcomes[0];
            sum[1] += outcomes[1];
        }
    }
    if counted.not_understood * 100 > counted.methods {
        let problem = format!(
            "data of {} of {} methods were not understood",
            counted.not_understood, counted.methods
        );
        return Err(Error::Usage(problem));
    }
    Ok(counted)
}

fn methods(memory: &Memory, layout: &Layout) -> Result<Vec<MethodData>> {
    let field = |of, name| layout.field(of, name);
    let (next_loader, first_klass) = (
        field("ClassLoaderData", "_next")?,
        field("ClassLoaderData", "_klasses")?,
    );
    let (next_klass, klass_name) = (field("Klass", "_next_link")?, field("Klass", "_name")?);
    let (layout_helper, methods) = (
        field("Klass", "_layout_helper")?,
        field("InstanceKlass", "_methods")?,
    );
    let elements = field("Array<Method*>", "_data")?;
    let (data, const_method) = (field("Method", "_method_data")?, field("Method", "_constMethod")?);
    let pool = field("ConstMethod", "_constants")?;
    let (name_index, signature_index) = (
        field("ConstMethod", "_name_index")?,
        field("ConstMethod", "_signature_index")?,
    );
    let code_size = field("ConstMethod", "_code_size")?;
    let (data_begin, data_size) = (
        field("MethodData", "_data[0]")?,
        field("MethodData", "_data_size")?,
    );
    let constants = layout.size("ConstantPool")?;
    let symbol_length = field("Symbol", "_length")?;
    let symbol_body = field("Symbol", "_body").or_else(|_| field("Symbol", "_body[0]"))?;
    let symbol = |at: u64| {
        let mut text = vec![0; memory.u16(at + symbol_length).into()];
        memory.read(at + symbol_body, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let mut all = Vec::new();
    let mut loader = memory.u64(field("ClassLoaderDataGraph", "_head")?);
    while loader != 0 {
        let mut klass = memory.u64(loader + first_klass);
        while klass != 0 {
            let array = memory.u64(klass + methods);
            // Arrays have a negative one, and no methods.
            let is_array = memory.i32(klass + layout_helper) < 0;
            let count = if is_array || array == 0 {
                0
            } else {
                memory.i32(array)
            };
            for index in 0..u64::try_from(count).unwrap_or(0) {
                let method = memory.u64(array + elements + 8 * index);
                let data = memory.u64(method + data);
                if data == 0 {
                    continue;
                }
                let code = memory.u64(method + const_method);
                let pool = memory.u64(code + pool);
                let named = |at: u64| {
                    let index = u64::from(memory.u16(code + at));
                    symbol(memory.u64(pool + constants + 8 * index) & !1)
                };
                all.push(MethodData {
                    class: symbol(memory.u64(klass + klass_name)),
                    method: named(name_index) + &named(signature_index),
                    code_size: memory.u16(code + code_size).into(),
                    begin: data + data_begin,
                    size: u64::try_from(memory.i32(data + data_size)).unwrap_or(0),
                });
            }
            klass = memory.u64(klass + next_klass);
        }
        loader = memory.u64(loader + next_loader);
    }
    Ok(all)
}

/// The conditional branches of a method; `None` if the data do not make sense.
fn branches(memory: &Memory, data: &MethodData, receiver: u64) -> Option<Vec<(u32, Outcomes)>> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut last = 0;
    while at < data.size {
        // A byte of kind, one of flags, the bytecode index; the words follow.
        let [kind, _, low, high] = memory.bytes(data.begin + at);
        let bci = u32::from(u16::from_le_bytes([low, high]));
        if bci < last || bci >= data.code_size {
            return None;
        }
        last = bci;
        let word = |index: u64| memory.u64(data.begin + at + 8 + 8 * index);
        let more = |index: u64| u64::try_from(word(index) as i32).ok();
        let words = match kind {
            tag::BIT => 0,
            tag::COUNTER => 1,
            tag::JUMP => 2,
            tag::RECEIVER | tag::VIRTUAL_CALL => receiver,
            // A counter, and two rows of three.
            tag::RETURN => 7,
            tag::BRANCH => {
                // Taken, where to go on, not taken.
                found.push((bci, [word(0), word(2)]));
                3
            }
            tag::SWITCH => 1 + more(0)?,
            tag::TYPED_CALL => 2 + more(1)?,
            tag::TYPED_VIRTUAL_CALL => receiver + 1 + more(receiver)?,
            _ => return None,
        };
        at += 8 + 8 * words;
    }
    (at == data.size).then_some(found)
}
