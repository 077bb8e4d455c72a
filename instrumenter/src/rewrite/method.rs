//! A method_info with probes (or, for the round trip, without).

use rustc_hash::FxHashMap;

use trodden_numbering::{BlockId, FlowGraph, Plan, SimpleGraph, Update};
use trodden_profile::{BlockExit, BlockInfo};

use super::arrivals::{Arrival, Arrivals, Label};
use super::layout::{Layout, LayoutError};
use super::with_calls::Unwind;
use crate::classfile::attributes::{self, Mover};
use crate::classfile::class::{Attribute, Class, Method};
use crate::classfile::code::{Code, padding};
use crate::classfile::frames::{self, FrameScratch, FullFrame, VerificationType, initial_locals};
use crate::classfile::opcodes as op;
use crate::classfile::pool::{PoolBuilder, PoolFull};
use crate::classfile::reader::{Fault, put_u2, put_u4};
use crate::options::Shim;
use crate::probes::structural::StructuralCode;
use crate::probes::{Asm, PathEnd, ProbeStrategy, ProbedMethod};

/// First version whose stack map frames are read.
const FRAMES_READ: u16 = 50;
/// First version whose code can have classes as constants.
const CLASS_CONSTANTS: u16 = 49;
/// Descriptors of the methods by which class loaders are asked for a class: the one that the JVM calls, and
/// the one that this calls.
const LOAD_CLASS: [&[u8]; 2] = [
    b"(Ljava/lang/String;)Ljava/lang/Class;",
    b"(Ljava/lang/String;Z)Ljava/lang/Class;",
];

/// The method to write.
#[derive(Clone, Copy, Debug)]
pub struct MethodInput<'i, 'a> {
    /// Its class.
    pub class: &'i Class<'a>,
    /// The method.
    pub method: &'i Method<'a>,
    /// Its code.
    pub code: &'i Code<'a>,
    /// Its stack map frames, checked, if it has any that count.
    pub frames: Option<&'i Attribute<'a>>,
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
    /// The code of the probes.
    pub strategy: &'static dyn ProbeStrategy,
    /// The steps that the plan's updates name, if it is about structure graphs.
    pub structural: Option<&'i StructuralCode>,
    /// For which method.
    pub method: ProbedMethod<'i>,
    /// Internal name of the class the probes call.
    pub shim: &'i str,
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

/// Memory for rewriting, used again from method to method.
#[derive(Debug, Default)]
pub struct RewriteScratch {
    pub(super) arrivals: Arrivals,
    pub(super) layout: Layout,
    frames: FrameScratch,
    pending: Vec<(Label, Arrival)>,
    switch: FxHashMap<u32, Label>,
    pub(super) unwind: Vec<Unwind>,
}

impl RewriteScratch {
    /// (new, old) bytecode index of each instruction of the method that was written last, ascending.
    pub fn pc_map(&self, code: &Code) -> Vec<(u32, u32)> {
        let instructions = code.instructions(0, code.len());
        instructions
            .map(|(pc, _)| (self.layout.exact[pc as usize], pc))
            .collect()
    }
}

/// Writes the code, and what comes with it.
pub(super) struct Writer<'w, 'i, 'p, 'a> {
    pub(super) input: &'w MethodInput<'i, 'a>,
    pub(super) probes: Option<&'w ProbeInput<'i>>,
    pub(super) pool: &'w mut PoolBuilder<'p, 'a>,
    pub(super) scratch: &'w mut RewriteScratch,
    pub(super) out: &'w mut Vec<u8>,
}

/// Appends the method to `out`; returns the length of its code.
///
/// # Errors
/// See [`RewriteError`]; nothing is appended then, and the method can stay unchanged.
pub fn rewrite<'a>(
    input: &MethodInput<'_, 'a>,
    probes: Option<&ProbeInput>,
    pool: &mut PoolBuilder<'_, 'a>,
    scratch: &mut RewriteScratch,
    out: &mut Vec<u8>,
) -> Result<u32, RewriteError> {
    let before = out.len();
    let written = Writer {
        input,
        probes,
        pool,
        scratch,
        out,
    }
    .method();
    if written.is_err() {
        out.truncate(before);
    }
    written
}

/// Types of the locals the probes need: the path register, then the strategy's own.
fn added_locals(probes: &ProbeInput, pool: &mut PoolBuilder) -> Result<Vec<VerificationType>, PoolFull> {
    let mut nothing = Vec::new();
    let mut asm = Asm::new(&mut nothing, pool, probes.shim);
    let register = probes.strategy.keeps_register();
    let mut added: Vec<_> = register
        .then_some(VerificationType::Integer)
        .into_iter()
        .collect();
    added.extend(probes.strategy.locals(&probes.method, &mut asm)?);
    added.extend(probes.structural.into_iter().flat_map(StructuralCode::locals));
    Ok(added)
}

/// Leaves room for a four-byte length.
fn start_length(out: &mut Vec<u8>) -> usize {
    put_u4(out, 0);
    out.len()
}

/// Fills in the length of what was written since.
fn end_length(out: &mut [u8], from: usize) {
    let len = (out.len() - from) as u32;
    out[from - 4..from].copy_from_slice(&len.to_be_bytes());
}

impl Writer<'_, '_, '_, '_> {
    fn method(&mut self) -> Result<u32, RewriteError> {
        let added = match self.probes {
            Some(probes) => added_locals(probes, self.pool)?,
            None => Vec::new(),
        };
        let MethodInput { method, code, .. } = *self.input;
        // Everything up to the length of the Code attribute, which is the one that changes.
        let attribute = method.code.as_ref().expect("a method with code");
        let content = attribute.offset - method.offset;
        self.out.reserve(method.raw.len() * 3 / 2);
        self.out.extend_from_slice(&method.raw[..content - 4]);
        let attribute_from = start_length(self.out);

        let stack = self.probes.map_or(0, |p| p.strategy.stack());
        let overflow = RewriteError::TooManyLocals;
        let max_stack = code.max_stack.checked_add(stack).ok_or(overflow.clone())?;
        let max_locals = code
            .max_locals
            .checked_add(added.iter().map(|t| t.slots() as u16).sum())
            .ok_or(overflow)?;
        put_u2(self.out, max_stack);
        put_u2(self.out, max_locals);
        let code_from = start_length(self.out);
        let plan = self.probes.map(|p| p.plan);
        let cuts = self.counts_cuts();
        self.scratch
            .arrivals
            .find(self.input.blocks, self.input.graph, plan, cuts);
        self.scratch.layout.reset(code.len());
        let covered = self.covered()?;
        let entry_end = loop {
            let labels = self.scratch.arrivals.num_labels();
            self.scratch.layout.start(self.out, labels);
            let entry_end = self.code(!added.is_empty() || self.sees_calls() || self.is_coverage())?;
            self.unwind(&covered, entry_end.unwrap_or(0))?;
            if self.scratch.layout.finish(code.len(), self.out)? {
                break entry_end;
            }
            self.out.truncate(code_from);
        };
        end_length(self.out, code_from);
        let code_length = (self.out.len() - code_from) as u32;
        self.exception_table();
        self.code_attributes(code_length, &added, entry_end)?;
        end_length(self.out, attribute_from);
        self.out
            .extend_from_slice(&method.raw[content + attribute.content.len()..]);
        Ok(code_length)
    }

    /// Returns true for a class loader's method that the JVM calls for the shim's class, since a probe of a
    /// class of that loader names it. Then the shim is the answer, and the method's own code does not run: in
    /// the program without probes it is not called.
    fn answers_for_shim(&self) -> bool {
        let method = self.input.method;
        self.probes.is_some_and(|p| p.shim == Shim::AT_LOAD)
            && method.access & 0x0008 == 0
            && method.name == b"loadClass"
            && LOAD_CLASS.contains(&method.descriptor)
            && self.input.class.major >= CLASS_CONSTANTS
    }

    /// Returns the bytecode index behind method entry, where the register has its first value.
    fn code(&mut self, has_entry: bool) -> Result<Option<u32>, RewriteError> {
        if self.answers_for_shim() {
            self.emit(|_, asm| asm.answer_for_shim())?;
        }
        let entry_end = if has_entry { Some(self.enter()?) } else { None };
        for block in 0..self.input.blocks.len() {
            self.block_front(block)?;
            self.block_body(block)?;
        }
        Ok(entry_end)
    }

    /// Where the method's own code begins, if there is a jump to it.
    fn entry_frame(&self) -> Option<u32> {
        self.answers_for_shim().then_some(Asm::SHIM_ANSWERED)
    }

    /// Runs the assembler.
    #[inline]
    pub(super) fn emit(
        &mut self,
        write: impl FnOnce(&ProbeInput, &mut Asm) -> Result<(), PoolFull>,
    ) -> Result<(), RewriteError> {
        let Some(probes) = self.probes else { return Ok(()) };
        write(probes, &mut Asm::new(self.out, self.pool, probes.shim))?;
        Ok(())
    }

    /// Method entry: not part of any exception range, since handlers rely on the added locals.
    fn enter(&mut self) -> Result<u32, RewriteError> {
        self.emit(|probes, asm| match probes.structural {
            Some(structural) => structural.enter(&probes.method, asm),
            None => probes.strategy.enter(&probes.method, asm),
        })?;
        let falls = self.scratch.arrivals.blocks[0].falls;
        self.update(falls.map_or(Update::Keep, |a| a.update))?;
        self.cuts_at_entry()?;
        Ok(self.scratch.layout.here(self.out))
    }

    /// Returns true if probes report coverage. They keep no local, but there may be one at method entry.
    fn is_coverage(&self) -> bool {
        self.probes.is_some_and(|p| p.strategy.is_coverage())
    }

    fn update(&mut self, update: Update) -> Result<(), RewriteError> {
        self.emit(|probes, asm| {
            let register = probes.method.register;
            match update {
                Update::Keep => Ok(()),
                Update::Run(program) => match probes.structural {
                    Some(structural) => structural.emit(program, &probes.method, asm),
                    None => probes.strategy.run(&probes.method, program, asm),
                },
                Update::Add(value) => asm.add(register, value as i32),
                Update::Set(value) => asm.set(
                    register,
                    (value as u32 + probes.strategy.base(&probes.method)) as i32,
                ),
            }
        })
    }

    /// The method is left behind this block.
    fn exit(&mut self, block: usize, end: PathEnd) -> Result<(), RewriteError> {
        self.emit(|probes, asm| match probes.structural {
            Some(structural) => structural.exit(block, &probes.method, asm),
            None => probes.strategy.path_end(&probes.method, end, asm),
        })
    }

    fn path_end(&mut self, end: PathEnd) -> Result<(), RewriteError> {
        self.emit(|probes, asm| probes.strategy.path_end(&probes.method, end, asm))
    }

    /// The label is here.
    fn mark(&mut self, label: Label) {
        self.scratch.layout.mark(label, self.out);
    }

    fn jump(&mut self, label: Label) {
        self.scratch.layout.jump(op::GOTO, label, self.out);
    }

    /// Everything in front of a block's own code.
    fn block_front(&mut self, block: usize) -> Result<(), RewriteError> {
        self.scratch
            .layout
            .begin(self.input.blocks[block].start, self.out);
        let arrivals = &self.scratch.arrivals;
        let (head, body) = (arrivals.head(block), arrivals.body(block));
        let way = arrivals.blocks[block];
        let mut pending = std::mem::take(&mut self.scratch.pending);
        pending.clear();
        pending.extend(arrivals.updates(block));
        if let Some(falls) = way.falls {
            // Method entry has done its update already, outside of the block.
            if block != 0 {
                if let Some(shared) = pending.iter().position(|&(_, a)| a == falls) {
                    self.mark(pending[shared].0);
                    pending.remove(shared);
                }
                self.update(falls.update)?;
            }
            if falls.past_restart {
                self.jump(body);
                self.scratch.arrivals.blocks[block].body_is_target = true;
            } else if !pending.is_empty() {
                self.jump(head);
            }
        }
        pending.sort_by_key(|(_, a)| !a.past_restart);
        for (index, &(label, arrival)) in pending.iter().enumerate() {
            self.mark(label);
            if arrival.cut {
                self.cut_at_handler(label)?;
            }
            self.update(arrival.update)?;
            if arrival.past_restart {
                self.jump(body);
            } else if index + 1 < pending.len() {
                self.jump(head);
            }
        }
        self.scratch.pending = pending;
        self.mark(head);
        if let Some(restart) = way.restart {
            self.path_end(PathEnd::Restart)?;
            self.update(Update::Set(restart))?;
        }
        self.mark(body);
        self.caught(block)?;
        self.block_runs(block)
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
            BlockExit::FallThrough => self.old(block, start, end)?,
            BlockExit::Return | BlockExit::Throw => {
                if self.probes.is_none() {
                    self.copy(start, end);
                    return Ok(());
                }
                self.old(block, start, last)?;
                if last != start {
                    self.scratch.layout.begin(last, self.out);
                }
                let how = match exit {
                    BlockExit::Throw => PathEnd::Throw,
                    _ => PathEnd::Return,
                };
                self.exit(block, how)?;
                if how == PathEnd::Throw {
                    self.path_is_counted()?;
                }
                self.copy(last, end);
            }
            BlockExit::Goto | BlockExit::Branch => {
                self.old(block, start, last)?;
                self.scratch.layout.old(last, end, self.out);
                let target = self.edge_label(block, 0);
                let op = code.bytes[last as usize];
                self.scratch.layout.jump(op, target, self.out);
            }
            BlockExit::Switch => {
                self.old(block, start, last)?;
                self.switch(block, last, end);
            }
        }
        Ok(())
    }

    /// Old code: no branches inside, but perhaps calls.
    #[inline]
    fn old(&mut self, block: usize, from: u32, to: u32) -> Result<(), RewriteError> {
        if self.probes.is_some_and(|p| p.strategy.reports_call_sites()) {
            self.with_calls(block, from, to)
        } else {
            self.copy(from, to);
            Ok(())
        }
    }

    /// Old code, copied.
    #[inline]
    pub(super) fn copy(&mut self, from: u32, to: u32) {
        self.scratch.layout.old(from, to, self.out);
        self.out
            .extend_from_slice(&self.input.code.bytes[from as usize..to as usize]);
    }

    fn edge_label(&self, block: usize, index: usize) -> Label {
        let edge = self.input.graph.first_edge(BlockId::new(block)) + index;
        self.scratch.arrivals.edge(edge)
    }

    fn switch(&mut self, block: usize, pc: u32, end: u32) {
        let MethodInput {
            code, graph, blocks, ..
        } = *self.input;
        let mut labels = std::mem::take(&mut self.scratch.switch);
        labels.clear();
        for (index, to) in graph.successors(BlockId::new(block)).iter().enumerate() {
            labels.insert(blocks[to.index()].start, self.edge_label(block, index));
        }
        let switch = code.switch(pc);
        let op = code.bytes[pc as usize];
        let (layout, out) = (&mut self.scratch.layout, &mut *self.out);
        layout.old(pc, end, out);
        let from = out.len();
        let pad = padding(layout.here(out));
        out.push(op);
        out.resize(from + 1 + pad, 0);
        layout.offset(from, labels[&switch.default()], out);
        if op == op::TABLESWITCH {
            // First and last key stay.
            let keys = pc as usize + 1 + padding(pc) + 4;
            out.extend_from_slice(&code.bytes[keys..keys + 8]);
        } else {
            put_u4(out, switch.len() as u32);
        }
        for (key, target) in switch.cases() {
            if op == op::LOOKUPSWITCH {
                put_u4(out, key as u32);
            }
            layout.offset(from, labels[&target], out);
        }
        self.scratch.switch = labels;
    }

    fn exception_table(&mut self) {
        let RewriteScratch { layout, arrivals, .. } = &*self.scratch;
        let handlers = self.input.code.handlers();
        let own = &self.scratch.unwind;
        put_u2(self.out, (handlers.len() + own.len()) as u16);
        let place = |pc: u32| layout.begin[pc as usize] as u16;
        for handler in handlers {
            let block = self.input.blocks.partition_point(|b| b.start < handler.handler);
            put_u2(self.out, place(handler.start));
            put_u2(self.out, place(handler.end));
            let label = arrivals.blocks[block].handler;
            let label = label.expect("every handler is an extra start");
            put_u2(self.out, layout.label(label) as u16);
            put_u2(self.out, handler.catch_type);
        }
        // Last, so that the method's own come first.
        for unwind in own {
            for place in [unwind.start, unwind.end, unwind.at] {
                put_u2(self.out, place as u16);
            }
            put_u2(self.out, 0);
        }
    }

    fn code_attributes(
        &mut self,
        code_length: u32,
        added: &[VerificationType],
        mut entry_end: Option<u32>,
    ) -> Result<(), RewriteError> {
        // Method entry belongs to the first line and to the arguments' scope.
        self.scratch.layout.begin[0] = 0;
        let count_at = self.out.len();
        put_u2(self.out, 0);
        let mut count = 0u16;
        let own_frames = self.unwind_frames(added)?;
        let mut has_frames = false;
        let pool = &self.input.class.pool;
        for attribute in self.input.code.attributes(pool) {
            // CLDC's frames: HotSpot never reads them, and they would be wrong now.
            if attribute.name == b"StackMap" && self.probes.is_some() {
                continue;
            }
            let before = self.out.len();
            put_u2(self.out, attribute.name_index);
            let from = start_length(self.out);
            let written = self.code_attribute(&attribute, code_length, added, &own_frames, &mut entry_end)?;
            if !written {
                self.out.truncate(before);
                continue;
            }
            has_frames |= attribute.name == b"StackMapTable";
            end_length(self.out, from);
            count += 1;
        }
        // Where the class file has jumps without frames, the JVM does not read any.
        let entry_frame = self.entry_frame();
        if (entry_frame.is_some() || !own_frames.is_empty())
            && !has_frames
            && self.input.class.major >= FRAMES_READ
        {
            let name = self.pool.utf8(b"StackMapTable")?;
            put_u2(self.out, name);
            let from = start_length(self.out);
            frames::write_own(entry_frame, &own_frames, self.out);
            end_length(self.out, from);
            count += 1;
        }
        self.out[count_at..count_at + 2].copy_from_slice(&count.to_be_bytes());
        Ok(())
    }

    /// Writes an attribute's content; `false` if the attribute is to be left out.
    fn code_attribute(
        &mut self,
        attribute: &Attribute,
        code_length: u32,
        added: &[VerificationType],
        own_frames: &[FullFrame],
        entry_end: &mut Option<u32>,
    ) -> Result<bool, RewriteError> {
        let extra = match (attribute.name, entry_end.as_ref()) {
            // There may be several tables, but no two entries for one variable.
            (b"LocalVariableTable", Some(_)) => self.register_variable(code_length, entry_end.take())?,
            _ => None,
        };
        let Layout { exact, begin, .. } = &self.scratch.layout;
        let mover = Mover { exact, begin };
        let out = &mut *self.out;
        match attribute.name {
            b"LineNumberTable" => attributes::line_numbers(attribute.reader(), &mover, out)?,
            b"LocalVariableTable" => {
                attributes::local_variables(attribute.reader(), &mover, extra.as_slice(), out)?;
            }
            b"LocalVariableTypeTable" => {
                attributes::local_variables(attribute.reader(), &mover, &[], out)?;
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                attributes::type_annotations(attribute.reader(), &mover, out)?;
            }
            b"StackMapTable" => return self.frames(attribute, added, own_frames),
            _ => out.extend_from_slice(attribute.content),
        }
        Ok(true)
    }

    fn register_variable(
        &mut self,
        code_length: u32,
        entry_end: Option<u32>,
    ) -> Result<Option<[u16; 5]>, RewriteError> {
        let (Some(probes), Some(start)) = (self.probes, entry_end) else {
            return Ok(None);
        };
        if !probes.strategy.register_is_visible() {
            return Ok(None);
        }
        let start = start as u16;
        let name = self.pool.utf8(b"$trodden")?;
        let descriptor = self.pool.utf8(b"I")?;
        Ok(Some([
            start,
            code_length as u16 - start,
            name,
            descriptor,
            probes.method.register,
        ]))
    }

    fn frames(
        &mut self,
        attribute: &Attribute,
        added: &[VerificationType],
        own: &[FullFrame],
    ) -> Result<bool, RewriteError> {
        let Some(frames) = self.input.frames else {
            // Frames that the JVM does not read (class files before version 50).
            self.out.extend_from_slice(attribute.content);
            return Ok(self.probes.is_none());
        };
        let entry_frame = self.entry_frame();
        let RewriteScratch {
            arrivals,
            layout,
            frames: scratch,
            ..
        } = &mut *self.scratch;
        // Probes that keep no local are still in front of instructions that are jumped to.
        if self.probes.is_none() {
            frames::write_moved(frames, &layout.exact, self.out)?;
            return Ok(true);
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
        scratch.locals.clear();
        if !frames::starts_full(frames) {
            let locals = &mut scratch.locals;
            let known = initial_locals(
                method.descriptor,
                this,
                |name| pool.class(name),
                |t| locals.push(t),
            )?;
            if !known {
                return Err(RewriteError::Fault(Fault {
                    offset: attribute.offset,
                    message: "the method's descriptor is malformed".to_owned(),
                }));
            }
        }
        // Frames come in the order of the code, as blocks do.
        let mut block = 0;
        let blocks = self.input.blocks;
        let layout = &*layout;
        let places = |pc: u32, places: &mut Vec<u32>| {
            while blocks.get(block).is_some_and(|b| b.start < pc) {
                block += 1;
            }
            if blocks.get(block).is_none_or(|b| b.start != pc) {
                places.push(layout.exact[pc as usize]);
                return;
            }
            for (label, arrival) in arrivals.updates(block) {
                places.push(layout.label(label));
                if arrival.cut {
                    places.push(layout.label(arrivals.past_cut(label)));
                }
            }
            places.push(layout.label(arrivals.head(block)));
            if arrivals.blocks[block].body_is_target {
                places.push(layout.label(arrivals.body(block)));
            }
            places.sort_unstable();
            places.dedup();
        };
        let added = frames::Added {
            first_slot: self.input.code.max_locals,
            locals: added,
            entry: entry_frame,
            frames: own,
        };
        if frames::write_with_locals(frames, &added, places, &layout.exact, scratch, self.out)? {
            Ok(true)
        } else {
            Err(RewriteError::TooManyLocals)
        }
    }
}
