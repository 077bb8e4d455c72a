//! Where HotSpot has the data of a method, as its library says, and reading them.
//!
//! Every read is checked by the system: an id or a pointer that is not what it is taken for gives nothing.

use std::ffi::CStr;

use jvmti_bindings::sys::jni::jmethodID;

use crate::jvm::Vm;
use crate::jvm::memory::{copy_checked, pointer};
use crate::jvm::tables::Tables;

/// Bytes of the data of one method, at most: methods have at most 65,535 bytes of code.
const MAX_BYTES: usize = 8 << 20;
const WORD: usize = 8;

/// Offsets of fields.
pub struct Layout {
    /// In a method: its code, its counts.
    code: usize,
    counts: usize,
    /// In counts: their method, where they begin, and their number of bytes (`int`).
    owner: usize,
    begin: usize,
    size: usize,
    of_code: CodeLayout,
}

/// Of a method's code and the tables behind it (`ConstMethod`).
struct CodeLayout {
    /// Words of all of it (`int`).
    size: usize,
    /// Bytes of code (`u2`).
    code_size: usize,
    /// Which tables are there: the field and its number of bytes.
    flags: (usize, usize),
    /// Flags of pointers at the end.
    pointers: [u32; 4],
    /// Flags of what is in front of those, from the end on, each with its numbers of two bytes a row.
    tables: [(u32, usize); 4],
    /// The flag of the signature's index, which is behind the tables.
    signature: u32,
}

/// Tables of a method.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct MethodTables {
    /// Range, handler, and index of the caught class.
    pub handlers: Vec<[u16; 4]>,
    /// First bytecode index, length, indices of name and descriptor, slot.
    pub locals: Vec<[u16; 5]>,
}

/// Where a method's data are.
pub struct MethodAt<'l> {
    layout: &'l Layout,
    method: usize,
}

impl Layout {
    /// `None` if this JVM does not say how its data are laid out.
    pub fn new(vm: Vm) -> Option<Self> {
        let tables = Tables::of(vm)?;
        let flags = match tables.offset(c"ConstMethod", c"_flags._flags") {
            // From JDK 21 on.
            Some(at) => (at, 4),
            None => (tables.offset(c"ConstMethod", c"_flags")?, 2),
        };
        let flag = |before: &CStr, now: &CStr| {
            let flag = tables.constant(now).or_else(|| tables.constant(before))?;
            u32::try_from(flag).ok()
        };
        macro_rules! flag {
            ($name:literal) => {
                flag(
                    // Both are texts without zeros in them.
                    CStr::from_bytes_with_nul(concat!("ConstMethod::_has_", $name, "\0").as_bytes()).ok()?,
                    CStr::from_bytes_with_nul(
                        concat!("ConstMethodFlags::_misc_has_", $name, "\0").as_bytes(),
                    )
                    .ok()?,
                )?
            };
        }
        Some(Layout {
            code: tables.offset(c"Method", c"_constMethod")?,
            counts: tables.offset(c"Method", c"_method_data")?,
            owner: tables.offset(c"MethodData", c"_method")?,
            begin: tables.offset(c"MethodData", c"_data[0]")?,
            size: tables.offset(c"MethodData", c"_data_size")?,
            of_code: CodeLayout {
                size: tables.offset(c"ConstMethod", c"_constMethod_size")?,
                code_size: tables.offset(c"ConstMethod", c"_code_size")?,
                flags,
                pointers: [
                    flag!("method_annotations"),
                    flag!("parameter_annotations"),
                    flag!("type_annotations"),
                    flag!("default_annotations"),
                ],
                signature: flag!("generic_signature"),
                tables: [
                    (flag!("method_parameters"), 2),
                    (flag!("checked_exceptions"), 1),
                    (flag!("exception_table"), 4),
                    (flag!("localvariable_table"), 6),
                ],
            },
        })
    }

    /// The method of an id, if it has this number of bytes of code. Its class is held by the caller.
    pub fn method(&self, id: jmethodID, code_length: usize) -> Option<MethodAt<'_>> {
        let method = pointer(id.addr())?;
        let code = pointer(method.checked_add(self.code)?)?;
        let is_it = u16_at(code.checked_add(self.of_code.code_size)?)? as usize == code_length;
        is_it.then_some(MethodAt { layout: self, method })
    }
}

impl MethodAt<'_> {
    /// The counts; `None` if HotSpot has not begun to count.
    pub fn counts(&self) -> Option<Vec<u8>> {
        let counts = pointer(self.method + self.layout.counts)?;
        if pointer(counts.checked_add(self.layout.owner)?)? != self.method {
            return None;
        }
        let size = int_at(counts.checked_add(self.layout.size)?)?;
        bytes_at(counts + self.layout.begin, size)
    }

    /// The tables behind the code; empty if they make no sense.
    pub fn tables(&self) -> MethodTables {
        self.read_tables().unwrap_or_default()
    }

    fn read_tables(&self) -> Option<MethodTables> {
        let layout = &self.layout.of_code;
        let at = pointer(self.method + self.layout.code)?;
        let all = bytes_at(at, int_at(at.checked_add(layout.size)?)?.checked_mul(WORD)?)?;
        let flags = all.get(layout.flags.0..)?.get(..layout.flags.1)?;
        let flags = flags
            .iter()
            .rev()
            .fold(0, |flags, &byte| flags << 8 | u32::from(byte));
        let code_length = all.get(layout.code_size..)?.first_chunk()?;
        layout.tables(&all, flags, u16::from_ne_bytes(*code_length))
    }
}

impl CodeLayout {
    /// The tables at the end of these bytes.
    fn tables(&self, all: &[u8], flags: u32, code_length: u16) -> Option<MethodTables> {
        let pointers = self.pointers.iter().filter(|&&flag| flags & flag != 0).count();
        let mut end = all.len().checked_sub(pointers * WORD)?;
        if flags & self.signature != 0 {
            end = end.checked_sub(2)?;
        }
        let mut found = [const { Vec::new() }; 4];
        for (&(flag, width), rows) in self.tables.iter().zip(&mut found) {
            if flags & flag == 0 {
                continue;
            }
            let numbers = |from: usize| {
                all.get(from..end)?
                    .chunks_exact(2)
                    .map(|n| Some(u16::from_ne_bytes(*n.first_chunk()?)))
                    .collect::<Option<Vec<u16>>>()
            };
            let length = *numbers(end.checked_sub(2)?)?.first()? as usize;
            end = end.checked_sub(2)?;
            let begin = end.checked_sub(length * width * 2)?;
            *rows = all
                .get(begin..end)?
                .chunks_exact(2)
                .map(|n| u16::from_ne_bytes([n[0], n[1]]))
                .collect();
            end = begin;
        }
        let [_, _, handlers, locals] = found;
        let handlers: Vec<[u16; 4]> = handlers
            .chunks_exact(4)
            .map(|row| [row[0], row[1], row[2], row[3]])
            .collect();
        // Signatures are not needed.
        let locals: Vec<[u16; 5]> = locals
            .chunks_exact(6)
            .map(|row| [row[0], row[1], row[2], row[3], row[5]])
            .collect();
        let make_sense = handlers
            .iter()
            .all(|&[from, to, handler, _]| from < to && to <= code_length && handler < code_length)
            && locals
                .iter()
                .all(|&[from, length, ..]| from.checked_add(length).is_some_and(|end| end <= code_length));
        make_sense.then_some(MethodTables { handlers, locals })
    }
}

fn u16_at(at: usize) -> Option<u16> {
    let mut bytes = [0; 2];
    copy_checked(at, &mut bytes).then(|| u16::from_ne_bytes(bytes))
}

/// An `int` that is a size.
fn int_at(at: usize) -> Option<usize> {
    let mut bytes = [0; 4];
    let read = copy_checked(at, &mut bytes);
    read.then(|| usize::try_from(i32::from_ne_bytes(bytes)).ok())
        .flatten()
}

fn bytes_at(at: usize, size: usize) -> Option<Vec<u8>> {
    if size > MAX_BYTES {
        return None;
    }
    let mut bytes = vec![0; size];
    copy_checked(at, &mut bytes).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: CodeLayout = CodeLayout {
        size: 0,
        code_size: 0,
        flags: (0, 2),
        pointers: [1, 2, 4, 8],
        signature: 16,
        tables: [(32, 2), (64, 1), (128, 4), (256, 6)],
    };

    fn bytes(numbers: &[u16]) -> Vec<u8> {
        numbers.iter().flat_map(|n| n.to_ne_bytes()).collect()
    }

    #[test]
    fn tables_are_found_from_the_end() {
        // Locals, handlers, exceptions, parameters, a signature, two pointers.
        let all = bytes(
            &[
                [0, 9, 5, 6, 77, 1].as_slice(),
                &[1],
                &[2, 4, 7, 0, 3, 5, 8, 12],
                &[2],
                &[40, 41],
                &[2],
                &[50, 0],
                &[1],
                &[33],
                &[0; 8],
            ]
            .concat(),
        );
        let flags = 1 | 8 | 16 | 32 | 64 | 128 | 256;
        let found = LAYOUT.tables(&all, flags, 9).unwrap();
        assert_eq!(found.handlers, [[2, 4, 7, 0], [3, 5, 8, 12]]);
        assert_eq!(found.locals, [[0, 9, 5, 6, 1]]);
        assert_eq!(LAYOUT.tables(&all, 0, 9), Some(MethodTables::default()));
        // Beyond the code; more rows than there are bytes.
        assert_eq!(LAYOUT.tables(&all, flags, 8), None);
        assert_eq!(LAYOUT.tables(&all[all.len() - 24..], flags, 9), None);
    }
}
