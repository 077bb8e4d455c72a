//! StackMapTable (JVMS 4.7.4): read, moved, locals added, written, frame by frame without a copy in between.

use super::class::Attribute;
use super::code::{Marks, mark};
use super::reader::{Read, Reader, fault, put_u2};

/// A verification type. Only those that descriptors and probes have; the others are copied as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerificationType {
    /// Nothing that can be used.
    Top,
    /// int and smaller.
    Integer,
    /// float.
    Float,
    /// double: two slots.
    Double,
    /// long: two slots.
    Long,
    /// `this` before `super()`.
    UninitializedThis,
    /// An object of the class at this pool index.
    Object(u16),
}

impl VerificationType {
    /// Local variable or stack slots that a value of this type takes.
    pub fn slots(self) -> usize {
        match self {
            Self::Long | Self::Double => 2,
            _ => 1,
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        out.push(match self {
            Self::Top => 0,
            Self::Integer => 1,
            Self::Float => 2,
            Self::Double => 3,
            Self::Long => 4,
            Self::UninitializedThis => 6,
            Self::Object(_) => 7,
        });
        if let Self::Object(class) = self {
            put_u2(out, class);
        }
    }
}

const UNINITIALIZED_THIS: u8 = 6;
const OBJECT: u8 = 7;
const UNINITIALIZED: u8 = 8;

/// Reads a type; returns the bytecode index of the `new` of an uninitialised one.
#[inline]
fn skip_type(reader: &mut Reader) -> Read<Option<u32>> {
    let at = reader.offset();
    match reader.u1()? {
        0..=6 => Ok(None),
        OBJECT => reader.u2().map(|_| None),
        UNINITIALIZED => Ok(Some(u32::from(reader.u2()?))),
        other => fault(at, format!("unknown verification type {other}")),
    }
}

/// Copies a type, with the `new` at its new place; returns the number of slots that it takes.
#[inline]
fn copy_type(reader: &mut Reader, exact: &[u32], out: &mut Vec<u8>) -> Read<usize> {
    let tag = reader.u1()?;
    out.push(tag);
    match tag {
        OBJECT => put_u2(out, reader.u2()?),
        UNINITIALIZED => put_u2(out, exact[usize::from(reader.u2()?)] as u16),
        _ => {}
    }
    Ok(1 + usize::from(matches!(tag, 3 | 4)))
}

/// How a frame is written, relative to the one before. Types still have to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Same { extended: bool },
    SameLocals1 { extended: bool },
    Chop(u8),
    Append(u8),
    Full,
}

/// Reads a frame's first byte and offset.
#[inline]
fn read_shape(reader: &mut Reader) -> Read<(u16, Shape)> {
    let at = reader.offset();
    let kind = reader.u1()?;
    Ok(match kind {
        0..=63 => (u16::from(kind), Shape::Same { extended: false }),
        64..=127 => (u16::from(kind - 64), Shape::SameLocals1 { extended: false }),
        247 => (reader.u2()?, Shape::SameLocals1 { extended: true }),
        248..=250 => (reader.u2()?, Shape::Chop(251 - kind)),
        251 => (reader.u2()?, Shape::Same { extended: true }),
        252..=254 => (reader.u2()?, Shape::Append(kind - 251)),
        255 => (reader.u2()?, Shape::Full),
        reserved => return fault(at, format!("reserved stack map frame type {reserved}")),
    })
}

/// Where a frame holds, given where the one before does.
#[inline]
fn next_pc(previous: &mut Option<u32>, delta: u16) -> u32 {
    let pc = previous.map_or(0, |pc| pc + 1) + u32::from(delta);
    *previous = Some(pc);
    pc
}

/// Checks the attribute, and notes where frames hold.
pub fn check(attribute: &Attribute, marks: &mut Marks) -> Read<()> {
    let mut reader = attribute.reader();
    let mut previous = None;
    let mut no_new = None;
    for _ in 0..reader.u2()? {
        let at = reader.offset();
        let (delta, shape) = read_shape(&mut reader)?;
        let mut types = |count: u16, reader: &mut Reader| -> Read<()> {
            for _ in 0..count {
                if let Some(pc) = skip_type(reader)?
                    && !marks.is_start(pc)
                {
                    no_new = no_new.or(Some(pc));
                }
            }
            Ok(())
        };
        match shape {
            Shape::Same { .. } | Shape::Chop(_) => {}
            Shape::SameLocals1 { .. } => types(1, &mut reader)?,
            Shape::Append(count) => types(u16::from(count), &mut reader)?,
            Shape::Full => {
                for _ in 0..2 {
                    let count = reader.u2()?;
                    types(count, &mut reader)?;
                }
            }
        }
        let pc = next_pc(&mut previous, delta);
        if !marks.is_start(pc) {
            return fault(
                at,
                format!("stack map frame at {pc}, where no instruction starts"),
            );
        }
        marks.add(pc, mark::FRAME);
    }
    reader.finish("the StackMapTable")?;
    match no_new {
        None => Ok(()),
        Some(pc) => fault(
            attribute.offset,
            format!("a stack map frame names a 'new' at {pc}, which is no instruction"),
        ),
    }
}

/// Returns true if the first frame states all its locals itself, so that the locals on entry are not needed.
pub fn starts_full(attribute: &Attribute) -> bool {
    matches!(attribute.content, [0, 0, ..] | [_, _, 255, ..])
}

/// Writes checked frames unchanged, each at its new place; `exact` gives the new place of each old
/// bytecode index.
pub fn write_moved(attribute: &Attribute, exact: &[u32], out: &mut Vec<u8>) -> Read<()> {
    let mut reader = attribute.reader();
    let count = reader.u2()?;
    put_u2(out, count);
    let (mut old, mut new) = (None, None);
    for _ in 0..count {
        let (delta, shape) = read_shape(&mut reader)?;
        let delta = new_delta(&mut new, exact[next_pc(&mut old, delta) as usize]);
        match shape {
            Shape::Same { extended } => write_same(out, delta, extended),
            Shape::SameLocals1 { extended } => {
                start_same_1(out, delta, extended);
                copy_type(&mut reader, exact, out)?;
            }
            Shape::Chop(count) => {
                out.push(251 - count);
                put_u2(out, delta);
            }
            Shape::Append(count) => {
                out.push(251 + count);
                put_u2(out, delta);
                for _ in 0..count {
                    copy_type(&mut reader, exact, out)?;
                }
            }
            Shape::Full => {
                out.push(255);
                put_u2(out, delta);
                for _ in 0..2 {
                    let count = reader.u2()?;
                    put_u2(out, count);
                    for _ in 0..count {
                        copy_type(&mut reader, exact, out)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// The locals of a frame in the form in which they are written. The memory is used again.
#[derive(Debug, Default)]
pub struct Locals {
    bytes: Vec<u8>,
    /// Per type: where it ends in `bytes`, and how many slots all up to it take.
    ends: Vec<(u32, u32)>,
}

impl Locals {
    /// No locals.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Adds a type.
    pub fn push(&mut self, local: VerificationType) {
        local.write(&mut self.bytes);
        self.end(local.slots());
    }

    fn end(&mut self, slots: usize) {
        let before = self.slots();
        self.ends.push((self.bytes.len() as u32, before + slots as u32));
    }

    fn slots(&self) -> u32 {
        self.ends.last().map_or(0, |end| end.1)
    }

    fn copy(&mut self, count: u16, reader: &mut Reader, exact: &[u32]) -> Read<()> {
        for _ in 0..count {
            let slots = copy_type(reader, exact, &mut self.bytes)?;
            self.end(slots);
        }
        Ok(())
    }

    fn chop(&mut self, count: u8) {
        let left = self.ends.len().saturating_sub(usize::from(count));
        self.ends.truncate(left);
        let bytes = self.ends.last().map_or(0, |end| end.0);
        self.bytes.truncate(bytes as usize);
    }
}

/// Memory for writing frames, used again.
#[derive(Debug, Default)]
pub struct FrameScratch {
    /// To be set to the locals on entry.
    pub locals: Locals,
    full: Locals,
    stack: Vec<u8>,
    added: Vec<u8>,
    places: Vec<u32>,
}

/// Locals and frames that are added to those of a method.
#[derive(Clone, Copy, Debug)]
pub struct Added<'a> {
    /// The first slot of the added locals.
    pub first_slot: u16,
    /// The added locals.
    pub locals: &'a [VerificationType],
    /// A place in front of all frames where locals are still those on entry, and nothing is on the stack.
    pub entry: Option<u32>,
    /// Frames behind all others.
    pub frames: &'a [FullFrame],
}

/// Writes checked frames with locals and frames added. `scratch.locals` are those on entry.
///
/// `places` lists, for the frame at an old bytecode index, all new places that need it, ascending: the block
/// itself and the code in front of it that only some of its edges run through. `false` if the result would be
/// absurdly large: full frames of a method with tens of thousands of locals, whose number the class file
/// states in two bytes.
pub fn write_with_locals(
    attribute: &Attribute,
    added: &Added,
    mut places: impl FnMut(u32, &mut Vec<u32>),
    exact: &[u32],
    scratch: &mut FrameScratch,
    out: &mut Vec<u8>,
) -> Read<bool> {
    let FrameScratch {
        locals,
        full,
        stack,
        added: added_bytes,
        places: at_places,
    } = scratch;
    added_bytes.clear();
    added.locals.iter().for_each(|t| t.write(added_bytes));
    let from = out.len();
    put_u2(out, 0);
    let mut count = 0u16;
    let (mut old, mut new) = (None, None);
    // The frame before the first one is the implicit one of method entry, which lacks the added locals.
    let mut same_as_previous = false;
    if let Some(at) = added.entry {
        write_same(out, new_delta(&mut new, at), false);
        count += 1;
    }
    let mut reader = attribute.reader();
    for _ in 0..reader.u2()? {
        let (delta, shape) = read_shape(&mut reader)?;
        let pc = next_pc(&mut old, delta);
        stack.clear();
        let mut stack_len = 0;
        match shape {
            Shape::Same { .. } => {}
            Shape::SameLocals1 { .. } => {
                stack_len = 1;
                copy_type(&mut reader, exact, stack)?;
            }
            Shape::Chop(count) => {
                locals.chop(count);
                same_as_previous = false;
            }
            Shape::Append(count) => {
                locals.copy(u16::from(count), &mut reader, exact)?;
                same_as_previous = false;
            }
            Shape::Full => {
                full.clear();
                let count = reader.u2()?;
                full.copy(count, &mut reader, exact)?;
                // No type's bytes begin like those of another, so lists with the same bytes are the same.
                same_as_previous &= full.bytes == locals.bytes;
                std::mem::swap(full, locals);
                stack_len = reader.u2()?;
                for _ in 0..stack_len {
                    copy_type(&mut reader, exact, stack)?;
                }
            }
        }
        at_places.clear();
        places(pc, at_places);
        for &at in &*at_places {
            let delta = new_delta(&mut new, at);
            match stack_len {
                0 if same_as_previous => write_same(out, delta, false),
                1 if same_as_previous => {
                    start_same_1(out, delta, false);
                    out.extend_from_slice(stack);
                }
                _ => {
                    let gap = usize::from(added.first_slot).saturating_sub(locals.slots() as usize);
                    out.push(255);
                    put_u2(out, delta);
                    put_u2(out, (locals.ends.len() + gap + added.locals.len()) as u16);
                    out.extend_from_slice(&locals.bytes);
                    out.resize(out.len() + gap, 0);
                    out.extend_from_slice(added_bytes);
                    put_u2(out, stack_len);
                    out.extend_from_slice(stack);
                }
            }
            same_as_previous = true;
            count += 1;
            if out.len() - from > MAX_FRAME_BYTES {
                return Ok(false);
            }
        }
    }
    for frame in added.frames {
        frame.write(&mut new, out);
        count += 1;
    }
    out[from..from + 2].copy_from_slice(&count.to_be_bytes());
    Ok(true)
}

/// A frame of our own, behind all others, written in full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullFrame {
    /// Where it holds, in the new code.
    pub at: u32,
    /// Its locals.
    pub locals: Vec<VerificationType>,
    /// Pool index of the class of the one object on the stack.
    pub on_stack: u16,
}

impl FullFrame {
    fn write(&self, previous: &mut Option<u32>, out: &mut Vec<u8>) {
        out.push(255);
        put_u2(out, new_delta(previous, self.at));
        put_u2(out, self.locals.len() as u16);
        self.locals.iter().for_each(|local| local.write(out));
        put_u2(out, 1);
        VerificationType::Object(self.on_stack).write(out);
    }
}

/// Writes the contents of an attribute that has only frames of our own, the first one with the locals on
/// entry.
pub fn write_own(entry: Option<u32>, frames: &[FullFrame], out: &mut Vec<u8>) {
    put_u2(out, frames.len() as u16 + u16::from(entry.is_some()));
    let mut previous = None;
    if let Some(at) = entry {
        write_same(out, new_delta(&mut previous, at), false);
    }
    frames.iter().for_each(|frame| frame.write(&mut previous, out));
}

/// Calls back with the place of each checked frame of a constructor, and whether its first local is `this`
/// before `super()`. `false` if more would have to be known than this finds out.
pub fn each_this(attribute: &Attribute, mut each: impl FnMut(u32, bool)) -> Read<bool> {
    let mut reader = attribute.reader();
    let mut pc = None;
    let mut uninitialized = true;
    for _ in 0..reader.u2()? {
        let (delta, shape) = read_shape(&mut reader)?;
        let at = next_pc(&mut pc, delta);
        let types = |count: u16, reader: &mut Reader| -> Read<Option<u8>> {
            let first = (count > 0).then(|| { *reader }.u1()).transpose()?;
            for _ in 0..count {
                skip_type(reader)?;
            }
            Ok(first)
        };
        match shape {
            Shape::Same { .. } => {}
            // `this` may be among what goes.
            Shape::Chop(_) if uninitialized => return Ok(false),
            Shape::Chop(_) => {}
            Shape::SameLocals1 { .. } => {
                types(1, &mut reader)?;
            }
            Shape::Append(count) => {
                types(u16::from(count), &mut reader)?;
            }
            Shape::Full => {
                let count = reader.u2()?;
                // No locals at all: this one was never `this`, as far as later appended ones go.
                let Some(first) = types(count, &mut reader)? else {
                    return Ok(false);
                };
                uninitialized = first == UNINITIALIZED_THIS;
                let count = reader.u2()?;
                types(count, &mut reader)?;
            }
        }
        each(at, uninitialized);
    }
    Ok(true)
}

/// Most bytes of a StackMapTable that is written with added locals.
const MAX_FRAME_BYTES: usize = 1 << 25;

#[inline]
fn new_delta(previous: &mut Option<u32>, at: u32) -> u16 {
    let delta = match *previous {
        None => at,
        Some(previous) => at - previous - 1,
    };
    *previous = Some(at);
    delta as u16
}

#[inline]
fn write_same(out: &mut Vec<u8>, delta: u16, extended: bool) {
    if delta < 64 && !extended {
        out.push(delta as u8);
    } else {
        out.push(251);
        put_u2(out, delta);
    }
}

#[inline]
fn start_same_1(out: &mut Vec<u8>, delta: u16, extended: bool) {
    if delta < 64 && !extended {
        out.push(64 + delta as u8);
    } else {
        out.push(247);
        put_u2(out, delta);
    }
}

/// The locals on method entry, from descriptor and flags. `this_class` is the pool index of the class itself.
/// Object arguments need a class entry each; `class_index` finds or adds it. `false` if the descriptor is
/// malformed.
pub fn initial_locals<E>(
    descriptor: &[u8],
    this: Option<VerificationType>,
    mut class_index: impl FnMut(&[u8]) -> Result<u16, E>,
    mut push: impl FnMut(VerificationType),
) -> Result<bool, E> {
    this.into_iter().for_each(&mut push);
    let Some((b'(', mut rest)) = descriptor.split_first() else {
        return Ok(false);
    };
    loop {
        let Some(&first) = rest.first() else {
            return Ok(false);
        };
        let len = match first {
            b')' => return Ok(true),
            b'L' | b'[' => {
                let dims = rest.iter().take_while(|&&c| c == b'[').count();
                match rest.get(dims) {
                    Some(b'L') => match rest.iter().position(|&c| c == b';') {
                        Some(end) => end + 1,
                        None => return Ok(false),
                    },
                    Some(_) => dims + 1,
                    None => return Ok(false),
                }
            }
            _ => 1,
        };
        let (argument, after) = rest.split_at(len);
        push(match first {
            b'Z' | b'B' | b'C' | b'S' | b'I' => VerificationType::Integer,
            b'F' => VerificationType::Float,
            b'J' => VerificationType::Long,
            b'D' => VerificationType::Double,
            b'L' => VerificationType::Object(class_index(&argument[1..len - 1])?),
            b'[' => VerificationType::Object(class_index(argument)?),
            _ => return Ok(false),
        });
        rest = after;
    }
}
