//! A method_info with probes (or, for the round trip, without).

use rustc_hash::FxHashMap;

use trodden_numbering::{Plan, SimpleGraph, Update};
use trodden_profile::{BlockExit, BlockInfo};

use super::arrivals::{Arrival, Arrivals};
use super::layout::{Item, Label, Layout, LayoutError, Placed};
use crate::classfile::attributes::{self, Mover};
use crate::classfile::class::{Attribute, Class, Method};
use crate::classfile::code::Code;
use crate::classfile::frames::{Frames, VerificationType, initial_locals};
use crate::classfile::pool::{PoolBuilder, PoolFull};
use crate::classfile::reader::{Fault, put_u2, put_u4};
use crate::probes::{Asm, PathEnd, ProbeStrategy, ProbedMethod};

/// The method to write.
#[derive(Clone, Copy, Debug)]
pub struct MethodInput<'i, 'a> {
    /// Its class.
    pub class: &'i Class<'a>,
    /// The method.
    pub method: &'i Method<'a>,
    /// Its code.
    pub code: &'i Code<'a>,
    /// Its stack map frames, if it has any that count.
    pub frames: Option<&'i Frames>,
    /// Its blocks.
    pub blocks: &'i [BlockInfo],
    /// Its edges.
    pub graph: &'i SimpleGraph,
}

/// The probes to put in.
#[derive(Clone, Copy, Debug)]
pub struct ProbeInput<'i> {
    /// Where.
    pub plan: &'i Plan,
    /// What.
    pub strategy: &'static dyn ProbeStrategy,
    /// For which method.
    pub method: ProbedMethod,
    /// Internal name of the class the probes call.
    pub shim: &'i str,
}

/// What came out.
#[derive(Debug)]
pub struct RewrittenMethod {
    /// The method_info.
    pub bytes: Vec<u8>,
    /// Length of its code.
    pub code_length: u32,
    /// (new, old) bytecode index of each instruction, ascending.
    pub pc_map: Vec<(u32, u32)>,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewriteError {
    /// No room for constants.
    PoolFull,
    /// The code would be too long, or a branch could not reach.
    Layout(LayoutError),
    /// No room for another local variable or stack slot.
    TooManyLocals,
    /// A table of the method is broken.
    Fault(Fault),
}

impl From<PoolFull> for RewriteError {
    fn from(_: PoolFull) -> Self {
        RewriteError::PoolFull
    }
}

impl From<LayoutError> for RewriteError {
    fn from(error: LayoutError) -> Self {
        RewriteError::Layout(error)
    }
}

impl From<Fault> for RewriteError {
    fn from(fault: Fault) -> Self {
        RewriteError::Fault(fault)
    }
}

/// The labels of a block: in front of its path end, behind it, and of the updates before it.
struct BlockLabels {
    head: Label,
    body: Label,
    /// One per distinct way in that changes the register, sorted.
    updates: Vec<(Arrival, Label)>,
}

impl BlockLabels {
    fn of(&self, arrival: Arrival) -> Label {
        match self.updates.binary_search_by_key(&arrival, |&(a, _)| a) {
            Ok(found) => self.updates[found].1,
            Err(_) if arrival.past_restart => self.body,
            Err(_) => self.head,
        }
    }
}

/// Lays the new code out, item by item.
struct Writer<'w, 'i, 'p, 'a> {
    input: &'w MethodInput<'i, 'a>,
    probes: Option<&'w ProbeInput<'i>>,
    pool: &'w mut PoolBuilder<'p, 'a>,
    arrivals: Arrivals,
    labels: Vec<BlockLabels>,
    layout: Layout,
    /// Per block: is there a jump to its body label past a restart?
    body_is_target: Vec<bool>,
}

/// Writes a method.
///
/// # Errors
/// See [`RewriteError`]; the method can then stay as it was.
pub fn rewrite<'i, 'p, 'a>(
    input: &MethodInput<'i, 'a>,
    probes: Option<&ProbeInput<'i>>,
    pool: &mut PoolBuilder<'p, 'a>,
) -> Result<RewrittenMethod, RewriteError> {
    let added = match probes {
        Some(probes) => added_locals(probes, pool)?,
        None => Vec::new(),
    };
    let mut writer = Writer::new(input, probes, pool);
    let entry_end = writer.run(!added.is_empty())?;
    let placed = writer.layout.place(input.code)?;

    let stack = probes.map_or(0, |p| p.strategy.stack());
    let overflow = RewriteError::TooManyLocals;
    let max_stack = input.code.max_stack.checked_add(stack).ok_or(overflow.clone())?;
    let max_locals = input
        .code
        .max_locals
        .checked_add(added.iter().map(|t| t.slots() as u16).sum())
        .ok_or(overflow)?;
    let mut code = Vec::with_capacity(placed.code.len() + input.method.raw.len());
    put_u2(&mut code, max_stack);
    put_u2(&mut code, max_locals);
    put_u4(&mut code, placed.code.len() as u32);
    code.extend_from_slice(&placed.code);
    writer.exception_table(&placed, &mut code);
    writer.code_attributes(&placed, &added, entry_end, &mut code)?;

    let pc_map = input
        .code
        .instructions
        .iter()
        .filter_map(|i| Some((placed.exact(i.pc)?, i.pc)))
        .collect();
    Ok(RewrittenMethod {
        bytes: replace_code(input.method, &code),
        code_length: placed.code.len() as u32,
        pc_map,
    })
}

/// Types of the locals the probes need: the path register, then the strategy's own.
fn added_locals(probes: &ProbeInput, pool: &mut PoolBuilder) -> Result<Vec<VerificationType>, PoolFull> {
    let mut nothing = Vec::new();
    let mut asm = Asm::new(&mut nothing, pool, probes.shim);
    let mut added = vec![VerificationType::Integer];
    added.extend(probes.strategy.locals(&probes.method, &mut asm)?);
    Ok(added)
}

fn replace_code(method: &Method, code: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(method.raw.len() + code.len());
    out.extend_from_slice(&method.raw[..6]);
    put_u2(&mut out, method.attributes.len() as u16);
    for attribute in &method.attributes {
        let content = if attribute.name == b"Code" {
            code
        } else {
            attribute.content
        };
        write_attribute(&mut out, attribute.name_index, content);
    }
    out
}

fn write_attribute(out: &mut Vec<u8>, name_index: u16, content: &[u8]) {
    put_u2(out, name_index);
    put_u4(out, content.len() as u32);
    out.extend_from_slice(content);
}

impl<'w, 'i, 'p, 'a> Writer<'w, 'i, 'p, 'a> {
    fn new(
        input: &'w MethodInput<'i, 'a>,
        probes: Option<&'w ProbeInput<'i>>,
        pool: &'w mut PoolBuilder<'p, 'a>,
    ) -> Self {
        let arrivals = Arrivals::new(input.blocks, input.graph, probes.map(|p| p.plan));
        let mut layout = Layout::default();
        let labels = arrivals
            .jumps
            .iter()
            .map(|jumps| {
                let with_code = jumps.iter().filter(|a| a.update != Update::Keep);
                BlockLabels {
                    head: layout.label(),
                    body: layout.label(),
                    updates: with_code.map(|&a| (a, layout.label())).collect(),
                }
            })
            .collect();
        let body_is_target = arrivals
            .jumps
            .iter()
            .map(|jumps| jumps.iter().any(|a| a.past_restart))
            .collect();
        Writer {
            input,
            probes,
            pool,
            arrivals,
            labels,
            layout,
            body_is_target,
        }
    }

    /// Returns the label at which the register has its first value.
    fn run(&mut self, has_register: bool) -> Result<Option<Label>, RewriteError> {
        let entry_end = if has_register { Some(self.enter()?) } else { None };
        for block in 0..self.input.blocks.len() {
            self.block_front(block)?;
            self.block_body(block)?;
        }
        Ok(entry_end)
    }

    /// Runs the assembler and appends what it wrote.
    fn emit(
        &mut self,
        write: impl FnOnce(&ProbeInput, &mut Asm) -> Result<(), PoolFull>,
    ) -> Result<(), RewriteError> {
        let Some(probes) = self.probes else { return Ok(()) };
        let from = self.layout.inserted.len();
        let mut asm = Asm::new(&mut self.layout.inserted, self.pool, probes.shim);
        write(probes, &mut asm)?;
        self.layout.push_inserted(from);
        Ok(())
    }

    /// Method entry: not part of any exception range, since handlers rely on the added locals.
    fn enter(&mut self) -> Result<Label, RewriteError> {
        self.emit(|probes, asm| probes.strategy.enter(&probes.method, asm))?;
        let update = self.arrivals.falls[0].map_or(Update::Keep, |a| a.update);
        self.update(update)?;
        let label = self.layout.label();
        self.layout.push(Item::Mark(label));
        Ok(label)
    }

    fn update(&mut self, update: Update) -> Result<(), RewriteError> {
        self.emit(|probes, asm| {
            let register = probes.method.register;
            match update {
                Update::Keep => Ok(()),
                Update::Add(value) => asm.add(register, value as i32),
                Update::Set(value) => asm.set(
                    register,
                    (value as u32 + probes.strategy.base(&probes.method)) as i32,
                ),
            }
        })
    }

    /// Everything in front of a block's own code.
    fn block_front(&mut self, block: usize) -> Result<(), RewriteError> {
        self.layout.push(Item::Begin(self.input.blocks[block].start));
        let (head, body) = (self.labels[block].head, self.labels[block].body);
        let mut pending: Vec<Arrival> = self.arrivals.jumps[block]
            .iter()
            .copied()
            .filter(|a| a.update != Update::Keep)
            .collect();
        if let Some(falls) = self.arrivals.falls[block] {
            // Method entry has done its update already, outside of the block.
            if block != 0 {
                if let Some(shared) = pending.iter().position(|&a| a == falls) {
                    self.layout.push(Item::Mark(self.labels[block].of(falls)));
                    pending.remove(shared);
                }
                self.update(falls.update)?;
            }
            if falls.past_restart {
                self.layout.push(Item::Jump(body));
                self.body_is_target[block] = true;
            } else if !pending.is_empty() {
                self.layout.push(Item::Jump(head));
            }
        }
        pending.sort_by_key(|a| !a.past_restart);
        for (index, &arrival) in pending.iter().enumerate() {
            self.layout.push(Item::Mark(self.labels[block].of(arrival)));
            self.update(arrival.update)?;
            if arrival.past_restart {
                self.layout.push(Item::Jump(body));
            } else if index + 1 < pending.len() {
                self.layout.push(Item::Jump(head));
            }
        }
        self.layout.push(Item::Mark(head));
        if let Some(restart) = self.arrivals.restart[block] {
            self.emit(|probes, asm| probes.strategy.path_end(&probes.method, PathEnd::Restart, asm))?;
            self.update(Update::Set(restart))?;
        }
        self.layout.push(Item::Mark(body));
        Ok(())
    }

    fn block_body(&mut self, block: usize) -> Result<(), RewriteError> {
        let BlockInfo {
            start,
            end,
            last,
            exit,
            ..
        } = self.input.blocks[block];
        let code = self.input.code;
        match exit {
            BlockExit::FallThrough => self.old(start, end),
            BlockExit::Return | BlockExit::Throw => {
                self.old(start, last);
                if self.probes.is_some() {
                    if last != start {
                        self.layout.push(Item::Begin(last));
                    }
                    let end = match exit {
                        BlockExit::Throw => PathEnd::Throw,
                        _ => PathEnd::Return,
                    };
                    self.emit(|probes, asm| probes.strategy.path_end(&probes.method, end, asm))?;
                }
                self.old(last, end);
            }
            BlockExit::Goto | BlockExit::Branch => {
                self.old(start, last);
                let target = self.edge_label(block, 0);
                self.layout.push(Item::Branch {
                    pc: last,
                    op: code.bytes[last as usize],
                    target,
                });
            }
            BlockExit::Switch => {
                self.old(start, last);
                self.switch(block, last)?;
            }
        }
        Ok(())
    }

    fn old(&mut self, from: u32, to: u32) {
        if from < to {
            self.layout.push(Item::Old { from, to });
        }
    }

    fn edge_label(&self, block: usize, index: usize) -> Label {
        use trodden_numbering::FlowGraph;
        let to = self
            .input
            .graph
            .successors(trodden_numbering::BlockId::new(block))[index];
        self.labels[to.index()].of(self.arrivals.edges[block][index])
    }

    fn switch(&mut self, block: usize, pc: u32) -> Result<(), RewriteError> {
        use trodden_numbering::FlowGraph;
        let code = self.input.code;
        let at = code
            .instructions
            .binary_search_by_key(&pc, |i| i.pc)
            .expect("a block ends on an instruction");
        let switch = code.switch(&code.instructions[at])?;
        let successors = self
            .input
            .graph
            .successors(trodden_numbering::BlockId::new(block));
        let by_target: FxHashMap<u32, Label> = successors
            .iter()
            .enumerate()
            .map(|(index, to)| (self.input.blocks[to.index()].start, self.edge_label(block, index)))
            .collect();
        self.layout.push(Item::Switch {
            pc,
            op: code.bytes[pc as usize],
            default: by_target[&switch.default],
            cases: switch
                .cases
                .iter()
                .map(|(key, to)| (*key, by_target[to]))
                .collect(),
        });
        Ok(())
    }

    fn exception_table(&self, placed: &Placed, out: &mut Vec<u8>) {
        put_u2(out, self.input.code.handlers.len() as u16);
        let place = |pc: u32| placed.begin(pc).expect("checked when the code was read") as u16;
        for handler in &self.input.code.handlers {
            let block = self.input.blocks.partition_point(|b| b.start < handler.handler);
            let arrival = self.arrivals.handlers[block].expect("every handler is an extra start");
            put_u2(out, place(handler.start));
            put_u2(out, place(handler.end));
            put_u2(out, placed.label(self.labels[block].of(arrival)) as u16);
            put_u2(out, handler.catch_type);
        }
    }

    fn code_attributes(
        &mut self,
        placed: &Placed,
        added: &[VerificationType],
        mut entry_end: Option<Label>,
        out: &mut Vec<u8>,
    ) -> Result<(), RewriteError> {
        // Method entry belongs to the first line and to the arguments' scope.
        // An index inside an instruction (debug tables are not checked by the JVM) moves with the instruction.
        let code = self.input.code;
        let inside = |pc: u32| {
            let start = code.start_of(pc)?;
            Some(placed.exact(start)? + pc - start)
        };
        let begin = |pc: u32| match pc {
            0 => Some(0),
            _ => placed.begin(pc).or_else(|| inside(pc)),
        };
        let exact = |pc: u32| placed.exact(pc).or_else(|| inside(pc));
        let mover = Mover {
            exact: &exact,
            begin: &begin,
        };
        let count_at = out.len();
        put_u2(out, 0);
        let mut count = 0u16;
        for attribute in &self.input.code.attributes {
            let content = match attribute.name {
                b"LineNumberTable" => attributes::line_numbers(attribute.reader(), &mover)?,
                b"LocalVariableTable" => {
                    // There may be several tables, but no two entries for one variable.
                    let extra = self.register_variable(placed, entry_end.take())?;
                    attributes::local_variables(attribute.reader(), &mover, &extra)?
                }
                b"LocalVariableTypeTable" => attributes::local_variables(attribute.reader(), &mover, &[])?,
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    attributes::type_annotations(attribute.reader(), &mover)?
                }
                b"StackMapTable" => match self.frames(attribute, placed, added)? {
                    Some(content) => content,
                    None => continue,
                },
                // CLDC's frames: HotSpot never reads them, and they would be wrong now.
                b"StackMap" if self.probes.is_some() => continue,
                _ => attribute.content.to_vec(),
            };
            write_attribute(out, attribute.name_index, &content);
            count += 1;
        }
        out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    fn register_variable(
        &mut self,
        placed: &Placed,
        entry_end: Option<Label>,
    ) -> Result<Vec<[u16; 5]>, RewriteError> {
        let (Some(probes), Some(label)) = (self.probes, entry_end) else {
            return Ok(Vec::new());
        };
        if !probes.strategy.register_is_visible() {
            return Ok(Vec::new());
        }
        let start = placed.label(label) as u16;
        let name = self.pool.utf8(b"$trodden")?;
        let descriptor = self.pool.utf8(b"I")?;
        Ok(vec![[
            start,
            placed.code.len() as u16 - start,
            name,
            descriptor,
            probes.method.register,
        ]])
    }

    fn frames(
        &mut self,
        attribute: &Attribute,
        placed: &Placed,
        added: &[VerificationType],
    ) -> Result<Option<Vec<u8>>, RewriteError> {
        let exact = |pc: u32| placed.exact(pc).expect("checked when the method was prepared");
        let Some(frames) = self.input.frames else {
            // Frames that the JVM does not read (class files before version 50).
            return Ok(self.probes.is_none().then(|| attribute.content.to_vec()));
        };
        if added.is_empty() {
            return Ok(Some(frames.write_moved(&exact)));
        }
        let class = self.input.class;
        let method = self.input.method;
        let this = match (method.access & 0x0008 != 0, method.name) {
            // The initialiser is static whatever its flags say, in old class files.
            (true, _) | (_, b"<clinit>") => None,
            (false, b"<init>") => Some(VerificationType::UninitializedThis),
            (false, _) => Some(VerificationType::Object(class.this_class)),
        };
        let pool = &mut *self.pool;
        let malformed = |message: &str| Fault {
            offset: attribute.offset,
            message: message.to_owned(),
        };
        let initial = match frames.starts_full() {
            true => Vec::new(),
            false => initial_locals(method.descriptor, this, |name| pool.class(name))?
                .ok_or_else(|| malformed("the method's descriptor is malformed"))?,
        };
        let blocks = self.input.blocks;
        let places = |pc: u32| {
            let block = blocks.partition_point(|b| b.start < pc);
            if blocks.get(block).is_none_or(|b| b.start != pc) {
                return vec![exact(pc)];
            }
            let labels = &self.labels[block];
            let mut places: Vec<u32> = labels.updates.iter().map(|&(_, l)| placed.label(l)).collect();
            places.push(placed.label(labels.head));
            if self.body_is_target[block] {
                places.push(placed.label(labels.body));
            }
            places.sort_unstable();
            places.dedup();
            places
        };
        let first_slot = self.input.code.max_locals;
        let written = frames.write_with_locals(initial, first_slot, added, places, &exact);
        written.map(Some).ok_or(RewriteError::TooManyLocals)
    }
}
