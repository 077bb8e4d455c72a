//! Deciding what of a class can carry probes, and writing it.

use std::borrow::Cow;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use trodden_numbering::{EdgeWeights, FlowGraph, NumberingOptions, PathDag, Plan};
use trodden_profile::{BlockExit, ClassMap, CounterLayout, LineEntry, MethodMap, Skipped};

use crate::cfg::{self, Cfg};
use crate::classfile::class::{Class, Head, Method};
use crate::classfile::code::Code;
use crate::classfile::frames::Frames;
use crate::classfile::pool::{PoolBuilder, PoolFull};
use crate::classfile::reader::{Fault, Read, fault, put_u2};
use crate::error::{ClassError, SkipReason};
use crate::hints::hints;
use crate::options::InstrumentOptions;
use crate::probes::{ProbeStrategy, ProbedMethod, strategy};
use crate::rewrite::{MethodInput, ProbeInput, RewriteError, RewrittenMethod, rewrite};

/// Newest class file version that is known to hold nothing new inside Code (JDK 27).
const NEWEST_MAJOR: u16 = 71;
/// First version whose methods must have stack map frames.
const FRAMES_REQUIRED: u16 = 51;
/// First version whose stack map frames are read.
const FRAMES_READ: u16 = 50;
/// HotSpot never compiles a method with more bytecode than this (`HugeMethodLimit`).
const HUGE_METHOD_LIMIT: u32 = 8_000;
/// Locals the probes of any strategy may need.
const MAX_ADDED_LOCALS: u16 = 4;

/// The identity that an emitted class's probes carry, given out by whoever collects the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassIds {
    /// First counter slot of the class; as many as its [`CounterLayout`] says are its own.
    pub first_counter: u32,
    /// Index of the first method of the path map; the others follow.
    pub first_method: u32,
}

impl ClassIds {
    /// Ids as wide as any: what is found to fit with them fits with all.
    const WIDEST: ClassIds = ClassIds {
        first_counter: 1 << 30,
        first_method: 1 << 30,
    };
}

mod bound;

/// What there is to do for a class.
#[derive(Debug)]
pub enum Preparation<'a> {
    /// Some method takes probes.
    Ready(Box<Prepared<'a>>),
    /// Nothing to do, or nothing that can be done.
    Unchanged {
        /// What was left alone although it has branches, and why.
        skipped: Vec<Skipped>,
    },
}

/// Where a rewritten method keeps what, for whoever reads its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodCode {
    /// Local variable slot of the path register.
    pub register_slot: u16,
    /// (new, old) bytecode index of each instruction, ascending. A new index between two entries belongs to a
    /// probe in front of the second.
    pub pc_map: Vec<(u32, u32)>,
}

/// A class that is ready to be written with probes.
#[derive(Debug)]
pub struct Prepared<'a> {
    class: Class<'a>,
    methods: Vec<Candidate<'a>>,
    map: Arc<ClassMap>,
    skipped: Vec<Skipped>,
    options: Arc<InstrumentOptions>,
}

/// A method that takes probes.
#[derive(Debug)]
struct Candidate<'a> {
    /// Position in the class file.
    index: usize,
    code: Code<'a>,
    frames: Option<Frames>,
    plan: Plan,
    /// Does an activation end at most one path?
    one_end: bool,
}

/// What became of a method.
enum Verdict<'a> {
    Takes(Box<(Candidate<'a>, MethodMap)>),
    /// Only one path: nothing to tell apart.
    Trivial,
    Skip(SkipReason),
}

pub(crate) fn prepare<'a>(
    options: &Arc<InstrumentOptions>,
    bytes: &'a [u8],
) -> Result<Preparation<'a>, ClassError> {
    let outside = |fault: Fault| ClassError::new(None, None, fault);
    let head = Head::read(bytes).map_err(outside)?;
    let name = decode(head.name).into_owned();
    if !options.filter.class(&name) {
        return Ok(Preparation::Unchanged { skipped: Vec::new() });
    }
    let class = head
        .rest()
        .map_err(|fault| ClassError::new(Some(&name), None, fault))?;
    let whole_class = |reason: SkipReason| Preparation::Unchanged {
        skipped: vec![Skipped {
            class: name.clone(),
            method: None,
            reason: reason.text().to_owned(),
        }],
    };
    if class.major > NEWEST_MAJOR {
        return Ok(whole_class(SkipReason::UnknownVersion));
    }

    let mut skipped = Vec::new();
    let mut methods = Vec::new();
    let mut maps = Vec::new();
    for (index, method) in class.methods.iter().enumerate() {
        if !options.filter.method(&name, &decode(method.name)) {
            continue;
        }
        let verdict = judge(options, &class, index, method)
            .map_err(|fault| ClassError::new(Some(&name), Some(signature(method)), fault))?;
        match verdict {
            Verdict::Takes(taken) => {
                let (candidate, map) = *taken;
                methods.push(candidate);
                maps.push(map);
            }
            Verdict::Trivial => {}
            Verdict::Skip(reason) => skipped.push(skip(&name, method, reason)),
        }
    }
    // The mark that `emit` leaves.
    if !methods.is_empty() && class.pool.find_utf8(options.shim.class.as_bytes()).is_some() {
        return Ok(whole_class(SkipReason::AlreadyInstrumented));
    }
    drop_what_does_not_fit(options, &class, &name, &mut methods, &mut maps, &mut skipped);
    if methods.is_empty() {
        return Ok(Preparation::Unchanged { skipped });
    }
    let map = ClassMap {
        name,
        sha256: Sha256::digest(bytes).into(),
        source_file: class.source_file.map(|text| decode(text).into_owned()),
        methods: maps,
    };
    let map = Arc::new(map);
    Ok(Preparation::Ready(Box::new(Prepared {
        class,
        methods,
        map,
        skipped,
        options: options.clone(),
    })))
}

fn judge<'a>(
    options: &InstrumentOptions,
    class: &Class<'a>,
    index: usize,
    method: &Method<'a>,
) -> Read<Verdict<'a>> {
    let Some(attribute) = method.code() else {
        return Ok(Verdict::Trivial);
    };
    let code = Code::read(attribute, &class.pool)?;
    let shape = cfg::shape(&code);
    if !shape.branches && code.handlers.is_empty() {
        return Ok(Verdict::Trivial);
    }
    if shape.subroutines {
        return Ok(Verdict::Skip(SkipReason::Subroutines));
    }
    if code.max_locals > u16::MAX - MAX_ADDED_LOCALS || code.max_stack > u16::MAX - 5 {
        return Ok(Verdict::Skip(SkipReason::TooManyLocals));
    }
    let cfg = Cfg::build(&code)?;
    let weights = EdgeWeights::heuristic(&cfg.graph, &hints(&code, &cfg));
    let Cfg {
        blocks,
        graph,
        jump_target,
        ..
    } = cfg;
    let limit = options.path_limit.min(i32::MAX as u64);
    let Ok(dag) = PathDag::build(&graph, &weights, &NumberingOptions { limit, smart: true }) else {
        return Ok(Verdict::Skip(SkipReason::TooManyPaths));
    };
    if dag.num_paths() < 2 {
        return Ok(Verdict::Trivial);
    }
    let frames = read_frames(class, &code)?;
    let unframed = || {
        (0..blocks.len()).any(|b| jump_target[b] && !frames.as_ref().is_some_and(|f| f.has(blocks[b].start)))
    };
    if (class.major >= FRAMES_REQUIRED || frames.is_some()) && unframed() {
        return Ok(Verdict::Skip(SkipReason::MissingFrame));
    }
    let plan = Plan::new(&graph, &dag, options.skip_single_path_loops);
    // A throw may be caught in the same activation, whose next path starts there.
    let throws_to_itself =
        !graph.extra_starts().is_empty() && blocks.iter().any(|b| b.exit == BlockExit::Throw);
    let one_end = !throws_to_itself && graph.edges().all(|(_, to)| dag.end_cause(to).is_none());
    let mut unobserved: Vec<u64> = plan.silent.iter().map(|s| s.path).collect();
    unobserved.sort_unstable();
    let map = MethodMap {
        name: decode(method.name).into_owned(),
        descriptor: decode(method.descriptor).into_owned(),
        code_length: code.len(),
        blocks,
        graph,
        dag,
        lines: lines(&code)?,
        unobserved,
    };
    let candidate = Candidate {
        index,
        code,
        frames,
        plan,
        one_end,
    };
    Ok(Verdict::Takes(Box::new((candidate, map))))
}

fn read_frames(class: &Class, code: &Code) -> Read<Option<Frames>> {
    let attribute = code.attributes.iter().find(|a| a.name == b"StackMapTable");
    let Some(attribute) = attribute.filter(|_| class.major >= FRAMES_READ) else {
        return Ok(None);
    };
    let frames = Frames::read(attribute.reader(), code)?;
    match frames.check_uninitialized(code) {
        Ok(()) => Ok(Some(frames)),
        Err(pc) => fault(
            attribute.offset,
            format!("a stack map frame names a 'new' at {pc}, which is no instruction"),
        ),
    }
}

fn lines(code: &Code) -> Read<Vec<LineEntry>> {
    let mut lines = Vec::new();
    for table in code.attributes.iter().filter(|a| a.name == b"LineNumberTable") {
        let mut reader = table.reader();
        for _ in 0..reader.u2()? {
            let bci = u32::from(reader.u2()?);
            lines.push(LineEntry {
                bci,
                line: u32::from(reader.u2()?),
            });
        }
    }
    // The first of several entries for one place is the one that HotSpot shows.
    lines.sort_by_key(|e| e.bci);
    lines.dedup_by_key(|e| e.bci);
    Ok(lines)
}

/// Takes probes back from methods that they would make too large. A method that is far from every limit
/// (nearly all are) is believed without being written. Dropping one moves the counters of the others, so it is
/// done again until all fit.
fn drop_what_does_not_fit(
    options: &InstrumentOptions,
    class: &Class,
    name: &str,
    methods: &mut Vec<Candidate>,
    maps: &mut Vec<MethodMap>,
    skipped: &mut Vec<Skipped>,
) {
    let constants: usize = methods
        .iter()
        .zip(maps.iter())
        .map(|(c, m)| bound::constants(c, m))
        .sum();
    let pool_has_room = class.pool.len() + constants + bound::SHIM_CONSTANTS < u16::MAX as usize;
    loop {
        let layout = CounterLayout::of_path_counts(maps.iter().map(MethodMap::num_paths));
        let job = Job {
            options,
            class,
            layout: &layout,
            ids: ClassIds::WIDEST,
        };
        let mut pool = PoolBuilder::new(&class.pool);
        let marked = mark(options, &mut pool);
        let mut keep = Vec::with_capacity(methods.len());
        for (position, (candidate, map)) in methods.iter().zip(maps.iter()).enumerate() {
            let descriptor = class.methods[candidate.index].descriptor;
            if pool_has_room && bound::fits(candidate, map, descriptor) {
                keep.push(true);
                continue;
            }
            let rewritten = match marked {
                Ok(()) => job.rewrite(position, candidate, map, &mut pool),
                Err(full) => Err(full.into()),
            };
            let verdict = match rewritten {
                Ok(new)
                    if candidate.code.len() <= HUGE_METHOD_LIMIT && new.code_length > HUGE_METHOD_LIMIT =>
                {
                    Some(SkipReason::HugeMethodLimit)
                }
                Ok(_) => None,
                Err(RewriteError::PoolFull) => Some(SkipReason::ConstantPoolFull),
                Err(RewriteError::Layout(_)) => Some(SkipReason::CodeTooLarge),
                Err(RewriteError::TooManyLocals) => Some(SkipReason::TooManyLocals),
                Err(RewriteError::Fault(_)) => Some(SkipReason::BrokenTable),
            };
            keep.push(verdict.is_none());
            if let Some(reason) = verdict {
                skipped.push(skip(name, &class.methods[candidate.index], reason));
            }
        }
        if keep.iter().all(|&keep| keep) {
            return;
        }
        let mut kept = keep.iter();
        methods.retain(|_| *kept.next().expect("one verdict per method"));
        let mut kept = keep.iter();
        maps.retain(|_| *kept.next().expect("one verdict per method"));
    }
}

/// What all methods of a class being written share.
struct Job<'j, 'a> {
    options: &'j InstrumentOptions,
    class: &'j Class<'a>,
    layout: &'j CounterLayout,
    ids: ClassIds,
}

impl<'j, 'a> Job<'j, 'a> {
    fn rewrite(
        &self,
        position: usize,
        candidate: &Candidate<'a>,
        map: &MethodMap,
        pool: &mut PoolBuilder<'j, 'a>,
    ) -> Result<RewrittenMethod, RewriteError> {
        let input = MethodInput {
            class: self.class,
            method: &self.class.methods[candidate.index],
            code: &candidate.code,
            frames: candidate.frames.as_ref(),
            blocks: &map.blocks,
            graph: &map.graph,
        };
        let method = ProbedMethod {
            first_counter: self.ids.first_counter,
            method_id: self.ids.first_method + position as u32,
            counter_base: self.layout.base[position],
            register: candidate.code.max_locals,
            one_end: candidate.one_end,
        };
        let strategy: &'static dyn ProbeStrategy = strategy(self.options);
        let probes = ProbeInput {
            plan: &candidate.plan,
            strategy,
            method,
            shim: &self.options.shim.class,
        };
        rewrite(&input, Some(&probes), pool)
    }
}

impl Prepared<'_> {
    /// The path map of the methods that will carry probes.
    pub fn map(&self) -> &Arc<ClassMap> {
        &self.map
    }

    /// What is left alone although it has branches.
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The class with probes. Deterministic: same bytes, options and ids give the same result.
    pub fn emit(&self, ids: ClassIds) -> Vec<u8> {
        self.emit_with_code(ids).0
    }

    /// The class with probes, and per method of the path map where its register is and where its instructions
    /// went.
    pub fn emit_with_code(&self, ids: ClassIds) -> (Vec<u8>, Vec<MethodCode>) {
        let class = &self.class;
        let layout = CounterLayout::of(&self.map);
        let mut pool = PoolBuilder::new(&class.pool);
        let job = Job {
            options: &self.options,
            class,
            layout: &layout,
            ids,
        };
        let mut methods: Vec<Cow<[u8]>> = class.methods.iter().map(|m| Cow::Borrowed(m.raw)).collect();
        let mut codes = Vec::with_capacity(self.methods.len());
        for (position, (candidate, map)) in self.methods.iter().zip(&self.map.methods).enumerate() {
            let register_slot = candidate.code.max_locals;
            // It was written once already, with the widest ids. Should it fail all the same, the method stays
            // as it was and is never counted.
            let pc_map = match job.rewrite(position, candidate, map, &mut pool) {
                Ok(new) => {
                    methods[candidate.index] = Cow::Owned(new.bytes);
                    new.pc_map
                }
                Err(error) => {
                    debug_assert!(false, "{}.{}: {error:?}", self.map.name, map.name);
                    Vec::new()
                }
            };
            codes.push(MethodCode {
                register_slot,
                pc_map,
            });
        }
        let marked = mark(&self.options, &mut pool);
        debug_assert!(marked.is_ok(), "{}: no room for the mark", self.map.name);
        (write_class(class, &pool, &methods), codes)
    }
}

/// Puts the shim's name into the pool, by which a class is known to be instrumented. Probes that call the shim have
/// put it there themselves; those of `safepoint` call nothing, so this is all that tells.
fn mark(options: &InstrumentOptions, pool: &mut PoolBuilder) -> Result<(), PoolFull> {
    pool.utf8(options.shim.class.as_bytes()).map(drop)
}

fn write_class(class: &Class, pool: &PoolBuilder, methods: &[Cow<[u8]>]) -> Vec<u8> {
    let size: usize = methods.iter().map(|m| m.len()).sum();
    let mut out =
        Vec::with_capacity(size + class.middle.len() + class.tail.len() + class.pool.bytes().len() + 1024);
    out.extend_from_slice(class.head);
    pool.write(&mut out);
    out.extend_from_slice(class.middle);
    put_u2(&mut out, methods.len() as u16);
    methods.iter().for_each(|m| out.extend_from_slice(m));
    out.extend_from_slice(class.tail);
    out
}

/// Reads a class and writes it again without probes: every instruction, branch, frame and table goes through the
/// same code as with probes. For tests: the result must be the same bytes.
///
/// # Errors
/// If the bytes are not a well-formed class file.
pub fn round_trip(bytes: &[u8]) -> Result<Vec<u8>, ClassError> {
    let class = Class::read(bytes).map_err(|fault| ClassError::new(None, None, fault))?;
    let name = decode(class.name);
    let mut pool = PoolBuilder::new(&class.pool);
    let mut methods: Vec<Cow<[u8]>> = Vec::with_capacity(class.methods.len());
    for method in &class.methods {
        let mut again = || -> Read<Cow<[u8]>> {
            let Some(attribute) = method.code() else {
                return Ok(Cow::Borrowed(method.raw));
            };
            let code = Code::read(attribute, &class.pool)?;
            if cfg::shape(&code).subroutines {
                return Ok(Cow::Borrowed(method.raw));
            }
            let Cfg { blocks, graph, .. } = Cfg::build(&code)?;
            let frames = read_frames(&class, &code)?;
            let input = MethodInput {
                class: &class,
                method,
                code: &code,
                frames: frames.as_ref(),
                blocks: &blocks,
                graph: &graph,
            };
            match rewrite(&input, None, &mut pool) {
                Ok(new) => Ok(Cow::Owned(new.bytes)),
                Err(RewriteError::Fault(fault)) => Err(fault),
                Err(other) => fault(attribute.offset, format!("cannot be written again: {other:?}")),
            }
        };
        let again = again().map_err(|fault| ClassError::new(Some(&name), Some(signature(method)), fault))?;
        methods.push(again);
    }
    Ok(write_class(&class, &pool, &methods))
}

/// The internal name of the class in these bytes.
///
/// # Errors
/// If they do not begin like a class file.
pub fn class_name(bytes: &[u8]) -> Result<String, ClassError> {
    let head = Head::read(bytes).map_err(|fault| ClassError::new(None, None, fault))?;
    Ok(decode(head.name).into_owned())
}

fn skip(class: &str, method: &Method, reason: SkipReason) -> Skipped {
    Skipped {
        class: class.to_owned(),
        method: Some(signature(method)),
        reason: reason.text().to_owned(),
    }
}

fn signature(method: &Method) -> String {
    format!("{}{}", decode(method.name), decode(method.descriptor))
}

/// Modified UTF-8 to text; what is not valid becomes a replacement character.
fn decode(raw: &[u8]) -> Cow<'_, str> {
    cesu8::from_java_cesu8(raw).unwrap_or_else(|_| String::from_utf8_lossy(raw))
}
