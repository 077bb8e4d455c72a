//! StackMapTable (JVMS 4.7.4): decode, move, add locals, encode.

use super::code::Code;
use super::reader::{Read, Reader, fault, put_u2};

/// A verification type. `Uninitialized` holds the bytecode index of the `new`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerificationType {
    /// Nothing known; also what follows a gap.
    Top,
    /// int and smaller.
    Integer,
    /// float.
    Float,
    /// double: two slots.
    Double,
    /// long: two slots.
    Long,
    /// The null type.
    Null,
    /// `this` before `super()`.
    UninitializedThis,
    /// An object of the class at this pool index.
    Object(u16),
    /// Created by the `new` at this bytecode index, not yet initialised.
    Uninitialized(u32),
}

impl VerificationType {
    fn read(reader: &mut Reader) -> Read<Self> {
        let at = reader.offset();
        Ok(match reader.u1()? {
            0 => Self::Top,
            1 => Self::Integer,
            2 => Self::Float,
            3 => Self::Double,
            4 => Self::Long,
            5 => Self::Null,
            6 => Self::UninitializedThis,
            7 => Self::Object(reader.u2()?),
            8 => Self::Uninitialized(u32::from(reader.u2()?)),
            other => return fault(at, format!("unknown verification type {other}")),
        })
    }

    pub fn slots(self) -> usize {
        if matches!(self, Self::Long | Self::Double) {
            2
        } else {
            1
        }
    }

    fn write(self, out: &mut Vec<u8>, new_pc: &impl Fn(u32) -> u32) {
        match self {
            Self::Top => out.push(0),
            Self::Integer => out.push(1),
            Self::Float => out.push(2),
            Self::Double => out.push(3),
            Self::Long => out.push(4),
            Self::Null => out.push(5),
            Self::UninitializedThis => out.push(6),
            Self::Object(class) => {
                out.push(7);
                put_u2(out, class);
            }
            Self::Uninitialized(pc) => {
                out.push(8);
                put_u2(out, new_pc(pc) as u16);
            }
        }
    }
}

/// How a frame is written, relative to the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    Same {
        extended: bool,
    },
    SameLocals1 {
        extended: bool,
        stack: VerificationType,
    },
    Chop(u8),
    Append(Vec<VerificationType>),
    Full {
        locals: Vec<VerificationType>,
        stack: Vec<VerificationType>,
    },
}

/// A frame at a bytecode index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where it holds.
    pub pc: u32,
    shape: Shape,
}

/// A decoded StackMapTable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    frames: Vec<Frame>,
}

impl Frames {
    /// Decodes the attribute's content.
    pub fn read(mut reader: Reader, code: &Code) -> Read<Self> {
        let count = reader.u2()?;
        let mut frames: Vec<Frame> = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let at = reader.offset();
            let kind = reader.u1()?;
            let (delta, shape) = match kind {
                0..=63 => (u16::from(kind), Shape::Same { extended: false }),
                64..=127 => {
                    let stack = VerificationType::read(&mut reader)?;
                    (
                        u16::from(kind - 64),
                        Shape::SameLocals1 {
                            extended: false,
                            stack,
                        },
                    )
                }
                247 => {
                    let delta = reader.u2()?;
                    (
                        delta,
                        Shape::SameLocals1 {
                            extended: true,
                            stack: VerificationType::read(&mut reader)?,
                        },
                    )
                }
                248..=250 => (reader.u2()?, Shape::Chop(251 - kind)),
                251 => (reader.u2()?, Shape::Same { extended: true }),
                252..=254 => {
                    let delta = reader.u2()?;
                    let types = (251..kind).map(|_| VerificationType::read(&mut reader));
                    (delta, Shape::Append(types.collect::<Read<_>>()?))
                }
                255 => {
                    let delta = reader.u2()?;
                    let mut list = || {
                        let count = reader.u2()?;
                        (0..count)
                            .map(|_| VerificationType::read(&mut reader))
                            .collect::<Read<Vec<_>>>()
                    };
                    let locals = list()?;
                    (
                        delta,
                        Shape::Full {
                            locals,
                            stack: list()?,
                        },
                    )
                }
                reserved => return fault(at, format!("reserved stack map frame type {reserved}")),
            };
            let pc = match frames.last() {
                None => u32::from(delta),
                Some(last) => last.pc + u32::from(delta) + 1,
            };
            if !code.is_start(pc) {
                return fault(
                    at,
                    format!("stack map frame at {pc}, where no instruction starts"),
                );
            }
            frames.push(Frame { pc, shape });
        }
        reader.finish("the StackMapTable")?;
        Ok(Frames { frames })
    }

    /// Does the first frame say all its locals itself, so that the locals on entry are not needed?
    pub fn starts_full(&self) -> bool {
        let first = self.frames.first();
        first.is_none_or(|f| matches!(f.shape, Shape::Full { .. }))
    }

    /// Is there a frame at this bytecode index?
    pub fn has(&self, pc: u32) -> bool {
        self.frames.binary_search_by_key(&pc, |f| f.pc).is_ok()
    }

    /// Does any local or stack type of a frame name a `new` that is not an instruction?
    pub fn check_uninitialized(&self, code: &Code) -> Result<(), u32> {
        let bad = |types: &[VerificationType]| {
            types.iter().find_map(|t| match t {
                VerificationType::Uninitialized(pc) if !code.is_start(*pc) => Some(*pc),
                _ => None,
            })
        };
        let found = self.frames.iter().find_map(|frame| match &frame.shape {
            Shape::Same { .. } | Shape::Chop(_) => None,
            Shape::SameLocals1 { stack, .. } => bad(std::slice::from_ref(stack)),
            Shape::Append(locals) => bad(locals),
            Shape::Full { locals, stack } => bad(locals).or_else(|| bad(stack)),
        });
        found.map_or(Ok(()), Err)
    }

    /// Writes the frames as they were, each at its new place.
    pub fn write_moved(&self, new_pc: &impl Fn(u32) -> u32) -> Vec<u8> {
        let mut out = Vec::new();
        put_u2(&mut out, self.frames.len() as u16);
        let mut previous = None;
        for frame in &self.frames {
            let at = new_pc(frame.pc);
            let delta = delta(&mut previous, at);
            match &frame.shape {
                Shape::Same { extended } => write_same(&mut out, delta, *extended),
                Shape::SameLocals1 { extended, stack } => {
                    write_same_1(&mut out, delta, *extended, *stack, new_pc)
                }
                Shape::Chop(count) => {
                    out.push(251 - count);
                    put_u2(&mut out, delta);
                }
                Shape::Append(types) => {
                    out.push(251 + types.len() as u8);
                    put_u2(&mut out, delta);
                    types.iter().for_each(|t| t.write(&mut out, new_pc));
                }
                Shape::Full { locals, stack } => write_full(&mut out, delta, locals, stack, new_pc),
            }
        }
        out
    }

    /// Writes the frames with locals added from slot `first_slot` on.
    ///
    /// `places` gives, for the frame at an old bytecode index, all new places that need it, ascending: besides
    /// the block itself the code in front of it that only some of its edges run through.
    /// `initial` are the locals on entry. `None` if the result would be absurdly large: full frames of a method with
    /// tens of thousands of locals, whose number the class file states in two bytes.
    pub fn write_with_locals(
        &self,
        initial: Vec<VerificationType>,
        first_slot: u16,
        added: &[VerificationType],
        places: impl Fn(u32) -> Vec<u32>,
        new_pc: &impl Fn(u32) -> u32,
    ) -> Option<Vec<u8>> {
        let mut out = vec![0, 0];
        let mut count = 0u16;
        let mut previous = None;
        let mut locals = initial;
        // The frame before the first one is the implicit one of method entry, which lacks the added locals.
        let mut same_as_previous = false;
        for frame in &self.frames {
            let mut stack: &[VerificationType] = &[];
            match &frame.shape {
                Shape::Same { .. } => {}
                Shape::SameLocals1 { stack: top, .. } => stack = std::slice::from_ref(top),
                Shape::Chop(count) => {
                    locals.truncate(locals.len().saturating_sub(*count as usize));
                    same_as_previous = false;
                }
                Shape::Append(types) => {
                    locals.extend_from_slice(types);
                    same_as_previous = false;
                }
                Shape::Full {
                    locals: new,
                    stack: new_stack,
                } => {
                    same_as_previous &= locals == *new;
                    locals.clone_from(new);
                    stack = new_stack;
                }
            }
            for at in places(frame.pc) {
                let delta = delta(&mut previous, at);
                match stack {
                    [] if same_as_previous => write_same(&mut out, delta, false),
                    [top] if same_as_previous => write_same_1(&mut out, delta, false, *top, new_pc),
                    _ => write_full(
                        &mut out,
                        delta,
                        &with_added(&locals, first_slot, added),
                        stack,
                        new_pc,
                    ),
                }
                same_as_previous = true;
                count += 1;
                if out.len() > MAX_FRAME_BYTES {
                    return None;
                }
            }
        }
        out[..2].copy_from_slice(&count.to_be_bytes());
        Some(out)
    }
}

/// Most bytes of a StackMapTable that is written with added locals.
const MAX_FRAME_BYTES: usize = 1 << 25;

fn with_added(
    locals: &[VerificationType],
    first_slot: u16,
    added: &[VerificationType],
) -> Vec<VerificationType> {
    let mut all = locals.to_vec();
    let used: usize = locals.iter().map(|t| t.slots()).sum();
    all.extend(std::iter::repeat_n(
        VerificationType::Top,
        (first_slot as usize).saturating_sub(used),
    ));
    all.extend_from_slice(added);
    all
}

fn delta(previous: &mut Option<u32>, at: u32) -> u16 {
    let delta = match *previous {
        None => at,
        Some(previous) => at - previous - 1,
    };
    *previous = Some(at);
    delta as u16
}

fn write_same(out: &mut Vec<u8>, delta: u16, extended: bool) {
    if delta < 64 && !extended {
        out.push(delta as u8);
    } else {
        out.push(251);
        put_u2(out, delta);
    }
}

fn write_same_1(
    out: &mut Vec<u8>,
    delta: u16,
    extended: bool,
    stack: VerificationType,
    new_pc: &impl Fn(u32) -> u32,
) {
    if delta < 64 && !extended {
        out.push(64 + delta as u8);
    } else {
        out.push(247);
        put_u2(out, delta);
    }
    stack.write(out, new_pc);
}

fn write_full(
    out: &mut Vec<u8>,
    delta: u16,
    locals: &[VerificationType],
    stack: &[VerificationType],
    new_pc: &impl Fn(u32) -> u32,
) {
    out.push(255);
    put_u2(out, delta);
    for list in [locals, stack] {
        put_u2(out, list.len() as u16);
        list.iter().for_each(|t| t.write(out, new_pc));
    }
}

/// The locals on method entry, from descriptor and flags. `this_class` is the pool index of the class itself.
/// Object arguments need a class entry each; `class_index` finds or adds it.
pub fn initial_locals<E>(
    descriptor: &[u8],
    this: Option<VerificationType>,
    mut class_index: impl FnMut(&[u8]) -> Result<u16, E>,
) -> Result<Option<Vec<VerificationType>>, E> {
    let mut locals: Vec<VerificationType> = this.into_iter().collect();
    let Some((b'(', mut rest)) = descriptor.split_first() else {
        return Ok(None);
    };
    loop {
        let Some(&first) = rest.first() else {
            return Ok(None);
        };
        let len = match first {
            b')' => return Ok(Some(locals)),
            b'L' | b'[' => {
                let dims = rest.iter().take_while(|&&c| c == b'[').count();
                match rest.get(dims) {
                    Some(b'L') => match rest.iter().position(|&c| c == b';') {
                        Some(end) => end + 1,
                        None => return Ok(None),
                    },
                    Some(_) => dims + 1,
                    None => return Ok(None),
                }
            }
            _ => 1,
        };
        let (argument, after) = rest.split_at(len);
        locals.push(match first {
            b'Z' | b'B' | b'C' | b'S' | b'I' => VerificationType::Integer,
            b'F' => VerificationType::Float,
            b'J' => VerificationType::Long,
            b'D' => VerificationType::Double,
            b'L' => VerificationType::Object(class_index(&argument[1..len - 1])?),
            b'[' => VerificationType::Object(class_index(argument)?),
            _ => return Ok(None),
        });
        rest = after;
    }
}
