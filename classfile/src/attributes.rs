//! Attributes of Code that speak of bytecode indices: copied, with every index moved.

use super::class::Attribute;
use super::code::Code;
use super::pool::Pool;
use super::reader::{Read, Reader, fault, put_u2};

/// Moves bytecode indices from old code to new. Both tables have an entry per byte of the old code and one
/// for its end; an index inside an instruction (debug tables are not checked by the JVM) moves with the
/// instruction.
#[derive(Clone, Copy, Debug)]
pub struct Mover<'m> {
    /// New index of an old instruction's own code.
    pub exact: &'m [u32],
    /// New index of the code inserted in front of an old instruction (its own, if there is none).
    pub begin: &'m [u32],
}

impl Mover<'_> {
    #[inline]
    fn exact(&self, pc: u16, at: usize) -> Read<u16> {
        moved(self.exact, pc, at)
    }

    #[inline]
    fn begin(&self, pc: u16, at: usize) -> Read<u16> {
        moved(self.begin, pc, at)
    }

    /// A range `start, length`.
    fn range(&self, reader: &mut Reader, out: &mut Vec<u8>) -> Read<()> {
        let at = reader.offset();
        let start = reader.u2()?;
        let length = reader.u2()?;
        let Some(end) = start.checked_add(length) else {
            return fault(
                at,
                format!("range {start}+{length} runs past the end of the code"),
            );
        };
        let new_start = self.begin(start, at)?;
        let new_end = self.begin(end, at)?;
        put_u2(out, new_start);
        put_u2(out, new_end - new_start);
        Ok(())
    }
}

#[inline]
fn moved(table: &[u32], old: u16, at: usize) -> Read<u16> {
    match table.get(usize::from(old)) {
        Some(&new) => Ok(new as u16),
        None => fault(at, format!("bytecode index {old} is not on an instruction")),
    }
}

/// Returns true if the attribute is sure to be moved without an error, as far as its first bytes show.
pub fn can_move(attribute: &Attribute, code: &Code) -> bool {
    let entry = match attribute.name {
        b"LineNumberTable" => 4,
        b"LocalVariableTable" | b"LocalVariableTypeTable" => 10,
        b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => return false,
        _ => return true,
    };
    let Some((count, entries)) = attribute.content.split_at_checked(2) else {
        return false;
    };
    let count = usize::from(u16::from_be_bytes([count[0], count[1]]));
    let inside = |entry: &[u8]| {
        let start = u32::from(u16::from_be_bytes([entry[0], entry[1]]));
        let length = match entry.len() {
            10 => u32::from(u16::from_be_bytes([entry[2], entry[3]])),
            _ => 1,
        };
        start + length <= code.len()
    };
    entries.len() == count * entry && entries.chunks_exact(entry).all(inside)
}

/// LineNumberTable.
pub fn line_numbers(mut reader: Reader, mover: &Mover, out: &mut Vec<u8>) -> Read<()> {
    out.reserve(reader.remaining());
    let count = reader.u2()?;
    put_u2(out, count);
    for _ in 0..count {
        let at = reader.offset();
        let start = mover.begin(reader.u2()?, at)?;
        put_u2(out, start);
        put_u2(out, reader.u2()?);
    }
    reader.finish("the LineNumberTable")?;
    Ok(())
}

/// LocalVariableTable and LocalVariableTypeTable. `extra` entries are appended unchanged, if there is room.
pub fn local_variables(mut reader: Reader, mover: &Mover, extra: &[[u16; 5]], out: &mut Vec<u8>) -> Read<()> {
    out.reserve(reader.remaining());
    let count = reader.u2()?;
    let extra = match count.checked_add(extra.len() as u16) {
        Some(all) => {
            put_u2(out, all);
            extra
        }
        None => {
            put_u2(out, count);
            &[]
        }
    };
    for _ in 0..count {
        mover.range(&mut reader, out)?;
        out.extend_from_slice(reader.bytes(6)?);
    }
    reader.finish("the LocalVariableTable")?;
    for entry in extra {
        entry.iter().for_each(|&field| put_u2(out, field));
    }
    Ok(())
}

/// RuntimeVisibleTypeAnnotations and RuntimeInvisibleTypeAnnotations of Code.
pub fn type_annotations(mut reader: Reader, mover: &Mover, out: &mut Vec<u8>) -> Read<()> {
    let count = reader.u2()?;
    put_u2(out, count);
    for _ in 0..count {
        let at = reader.offset();
        let target = reader.u1()?;
        out.push(target);
        match target {
            0x40 | 0x41 => {
                let ranges = reader.u2()?;
                put_u2(out, ranges);
                for _ in 0..ranges {
                    mover.range(&mut reader, out)?;
                    put_u2(out, reader.u2()?);
                }
            }
            0x42 => put_u2(out, reader.u2()?),
            0x43..=0x46 => put_u2(out, mover.exact(reader.u2()?, at)?),
            0x47..=0x4B => {
                put_u2(out, mover.exact(reader.u2()?, at)?);
                out.push(reader.u1()?);
            }
            other => return fault(at, format!("unknown type annotation target {other:#x} in code")),
        }
        let from = reader;
        let path = reader.u1()? as usize;
        reader.bytes(path * 2)?;
        annotation(&mut reader, 0)?;
        let len = reader.offset() - from.offset();
        out.extend_from_slice({ from }.bytes(len)?);
    }
    reader.finish("the type annotations")?;
    Ok(())
}

/// Descriptors of the types of annotations (RuntimeVisibleAnnotations, RuntimeInvisibleAnnotations); of those
/// in front of the first malformed one.
pub fn annotation_types<'a>(attribute: &Attribute<'a>, pool: &Pool<'a>) -> Vec<&'a [u8]> {
    let mut reader = attribute.reader();
    let mut types = Vec::new();
    for _ in 0..reader.u2().unwrap_or(0) {
        let mut ahead = reader;
        types.extend(ahead.u2().ok().and_then(|index| pool.utf8(index)));
        if annotation(&mut reader, 0).is_err() {
            break;
        }
    }
    types
}

/// Deepest nesting of annotations that is followed.
const MAX_NESTING: u32 = 64;

fn annotation(reader: &mut Reader, depth: u32) -> Read<()> {
    reader.u2()?;
    for _ in 0..reader.u2()? {
        reader.u2()?;
        element_value(reader, depth)?;
    }
    Ok(())
}

fn element_value(reader: &mut Reader, depth: u32) -> Read<()> {
    let at = reader.offset();
    if depth > MAX_NESTING {
        return fault(at, "annotations are nested too deeply");
    }
    match reader.u1()? {
        b'e' => reader.bytes(4).map(|_| ()),
        b'@' => annotation(reader, depth + 1),
        b'[' => {
            for _ in 0..reader.u2()? {
                element_value(reader, depth + 1)?;
            }
            Ok(())
        }
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' | b's' | b'c' => reader.bytes(2).map(|_| ()),
        other => fault(at, format!("unknown annotation element tag {other}")),
    }
}
