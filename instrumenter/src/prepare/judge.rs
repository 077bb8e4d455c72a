//! The decision whether a method can carry probes.

use trodden_numbering::{
    BlockId, CoveragePlan, EdgeRef, FlowGraph, Numbering, NumberingOptions, Plan, SimpleGraph,
};
use trodden_profile::{BlockExit, BlockInfo, MethodMap};

use super::lines::Lines;
use super::{Candidate, Numbers, Subject, inlining};
use crate::cfg::{Cfg, CfgError};
use crate::classfile::class::{Attribute, Class, Method};
use crate::classfile::code::{Code, Marks, mark};
use crate::classfile::decode;
use crate::classfile::frames;
use crate::classfile::opcodes::{KIND, kind};
use crate::classfile::reader::Read;
use crate::error::SkipReason;
use crate::hints::Hints;
use crate::options::InstrumentOptions;
use crate::probes::structural::StructuralCode;
use crate::probes::{CutPaths, strategy};
use crate::rewrite::{covered, cuts};
use crate::scratch::Scratch;
use crate::shape::shape;

/// First version whose methods must have stack map frames.
const FRAMES_REQUIRED: u16 = 51;
/// First version whose stack map frames are read.
const FRAMES_READ: u16 = 50;
/// Locals the probes of any strategy may need.
const MAX_ADDED_LOCALS: u16 = 5;
/// Stack slots the probes of any strategy may need.
const MAX_ADDED_STACK: u16 = 6;

/// The outcome for a method.
#[expect(
    clippy::large_enum_variant,
    reason = "lives for a moment, on the stack; a box would cost an allocation per method"
)]
pub enum Verdict<'a> {
    /// It takes probes.
    Takes(Candidate<'a>, MethodMap),
    /// Only one path: nothing to distinguish.
    Trivial,
    /// It is left alone.
    Skip(SkipReason),
}

/// Reads, numbers and plans a method.
pub fn judge<'a>(
    options: &InstrumentOptions,
    (class, class_name, lines): (&Class<'a>, &str, &mut Lines),
    index: usize,
    method: &Method<'a>,
    scratch: &mut Scratch,
) -> Read<Verdict<'a>> {
    let Some(attribute) = &method.code else {
        return Ok(Verdict::Trivial);
    };
    let Scratch {
        marks,
        cfg: cfg_scratch,
        numbering,
        shape: shape_scratch,
        ..
    } = scratch;
    let code = Code::read(attribute, &class.pool, marks)?;
    let probes = strategy(options);
    let one_path_too = probes.sees_calls() || probes.is_coverage() || options.single_path_methods;
    if !one_path_too && code.kinds & (kind::BRANCH | kind::SWITCH) == 0 && code.handlers().len() == 0 {
        return Ok(Verdict::Trivial);
    }
    if let Some(reason) = no_probes(options, method, &code) {
        return Ok(Verdict::Skip(reason));
    }
    let cfg = match Cfg::build(&code, marks, cfg_scratch) {
        Ok(cfg) => cfg,
        Err(CfgError::Fault(fault)) => return Err(fault),
        Err(CfgError::RunsOffTheEnd) => return Ok(Verdict::Skip(SkipReason::RunsOffTheEnd)),
    };
    let hints = Hints {
        code: &code,
        cfg: &cfg,
        contents: &cfg_scratch.contents,
    };
    let numbering_options = NumberingOptions {
        limit: options.path_limit.min(i32::MAX as u64),
        smart: true,
    };
    let measured = options.guide.as_ref().and_then(|guide| {
        let (name, descriptor) = (decode(method.name), decode(method.descriptor));
        guide.weights(class_name, &name, &descriptor, &cfg.blocks, &cfg.graph)
    });
    let numbered = match measured {
        Some(measured) => numbering.number_measured(&cfg.graph, &hints, measured, &numbering_options),
        None => numbering.number(&cfg.graph, &hints, &numbering_options),
    };
    let Ok(numbered) = numbered else {
        return Ok(Verdict::Skip(SkipReason::TooManyPaths));
    };
    let guided = measured.is_some();
    if numbered.dag.num_paths() < 2 && !one_path_too {
        return Ok(Verdict::Trivial);
    }
    let frames = if options.probes.change_code() {
        read_frames(class, &code, marks)?
    } else {
        None
    };
    if options.probes.change_code() && lacks_frames(class, frames.as_ref(), &cfg.blocks, marks) {
        return Ok(Verdict::Skip(SkipReason::MissingFrame));
    }
    let (subject, Numbers { dag, plan }) = match subject(options, class, &code, &cfg, numbered) {
        Ok(found) => found,
        Err(reason) => return Ok(Verdict::Skip(reason)),
    };
    let counts_paths = probes.keeps_register() && subject.graphs().is_none();
    let unguided = (guided && counts_paths && inlining::matters(code.len())).then(|| {
        let mut numbered = numbering.number(&cfg.graph, &hints, &numbering_options).ok()?;
        let plan = numbered.plan(options.skip_single_path_loops);
        let dag = numbered.dag;
        Some(Box::new(Numbers { dag, plan }))
    });
    let Cfg { blocks, graph } = cfg;
    let shape = options
        .shapes
        .then(|| shape(&class.pool, &code, &blocks, &graph, shape_scratch));
    let (lines, inlined) = lines.read(class, &code)?;
    let map = MethodMap {
        name: decode(method.name).into_owned(),
        descriptor: decode(method.descriptor).into_owned(),
        code_length: code.len(),
        blocks,
        graph,
        dag,
        lines,
        inlined,
        unobserved: unobserved(&plan),
        shape,
    };
    let (cut_paths, without_cut_paths) = if probes.counts_cut_paths() {
        cut_paths(class, method, &code, frames.as_ref(), &map)?
    } else {
        (CutPaths::None, None)
    };
    let candidate = Candidate {
        index,
        frames,
        cut_paths,
        without_cut_paths,
        strategy: probes,
        plan,
        one_end: one_end(&map),
        is_caller: options.callers_apart && is_caller(&code, &map),
        calls: if probes.reports_call_sites() {
            count_calls(&code)
        } else {
            0
        },
        code,
        without_call_sites: None,
        subject,
        guided,
        unguided: unguided.flatten(),
    };
    Ok(Verdict::Takes(candidate, map))
}

/// Why a method takes no probes, whatever its graph is like.
fn no_probes(options: &InstrumentOptions, method: &Method, code: &Code) -> Option<SkipReason> {
    let changes = options.probes.change_code();
    let is_full =
        code.max_locals > u16::MAX - MAX_ADDED_LOCALS || code.max_stack > u16::MAX - MAX_ADDED_STACK;
    if changes && is_empty_finalizer(method, code) {
        Some(SkipReason::EmptyFinalizer)
    } else if code.kinds & kind::SUBROUTINE != 0 {
        Some(SkipReason::Subroutines)
    } else {
        (changes && is_full).then_some(SkipReason::TooManyLocals)
    }
}

/// The subject of these options' probes in a method, and how they count it.
fn subject(
    options: &InstrumentOptions,
    class: &Class,
    code: &Code,
    cfg: &Cfg,
    mut numbered: Numbering<'_, SimpleGraph>,
) -> Result<(Subject, Numbers), SkipReason> {
    let probes = strategy(options);
    let (subject, plan) = if probes.is_structural() {
        let graphs = StructuralCode::new(&cfg.graph);
        let (code_of_graphs, plan) = graphs.map_err(|_| SkipReason::TooManyPaths)?;
        if code.max_locals.checked_add(code_of_graphs.registers()).is_none() {
            return Err(SkipReason::TooManyLocals);
        }
        (Subject::Graphs(Box::new(code_of_graphs)), plan)
    } else if probes.is_coverage() {
        let completes = cfg
            .blocks
            .iter()
            .map(|block| !options.coverage_by_map && !cuts::may_throw(code, &class.pool, block));
        let code_of_probes = CoveragePlan::new(&cfg.graph, completes.collect());
        let plan = code_of_probes.plan(&cfg.graph);
        (Subject::Coverage(Box::new(code_of_probes)), plan)
    } else if probes.keeps_register() {
        (Subject::Paths, numbered.plan(options.skip_single_path_loops))
    } else {
        (Subject::Paths, Plan::idle(&cfg.graph))
    };
    let dag = numbered.dag;
    Ok((subject, Numbers { dag, plan }))
}

/// Which paths that exceptions cut off need probes, and why they have none.
fn cut_paths(
    class: &Class,
    method: &Method,
    code: &Code,
    frames: Option<&Attribute>,
    map: &MethodMap,
) -> Read<(CutPaths, Option<SkipReason>)> {
    let needed = cuts::needs(code, &class.pool, &map.blocks);
    if needed != CutPaths::None && covered(class, method, code, frames)?.is_empty() {
        return Ok((CutPaths::None, Some(SkipReason::UnknownSuperCall)));
    }
    Ok((needed, None))
}

/// Returns true if an activation ends at most one path.
pub fn one_end(map: &MethodMap) -> bool {
    // A throw may be caught in the same activation, whose next path starts there.
    let throws_to_itself =
        !map.graph.extra_starts().is_empty() && map.blocks.iter().any(|b| b.exit == BlockExit::Throw);
    !throws_to_itself && map.graph.edges().all(|(_, to)| map.dag.end_cause(to).is_none())
}

/// Numbers of the paths that no probe reports.
pub fn unobserved(plan: &Plan) -> Vec<u64> {
    let mut paths: Vec<u64> = plan.silent.iter().map(|s| s.path).collect();
    paths.sort_unstable();
    paths
}

/// HotSpot registers no object with the finalizer whose class has a `finalize()` of nothing but a return.
pub fn is_empty_finalizer(method: &Method, code: &Code) -> bool {
    method.name == b"finalize" && method.descriptor == b"()V" && code.len() == 1
}

fn count_calls(code: &Code) -> usize {
    let opcodes = code.instructions(0, code.len());
    opcodes
        .filter(|&(_, op)| KIND[op as usize] & kind::CALL != 0)
        .count()
}

/// Returns true if the method calls others, and does so in each round of each of its loops.
fn is_caller(code: &Code, map: &MethodMap) -> bool {
    let has_call = |block: &BlockInfo| {
        code.instructions(block.start, block.end)
            .any(|(_, op)| KIND[op as usize] & kind::CALL != 0)
    };
    let calls: Vec<bool> = map.blocks.iter().map(has_call).collect();
    if !calls.contains(&true) {
        return false;
    }
    // Without the blocks that call there is no cycle left: each block is taken away once nothing leads to it.
    let mut into = vec![0; calls.len()];
    let within = |(edge, to): &(EdgeRef, BlockId)| !calls[edge.from.index()] && !calls[to.index()];
    for (_, to) in map.graph.edges().filter(within) {
        into[to.index()] += 1;
    }
    let mut ready: Vec<usize> = (0..calls.len())
        .filter(|&block| !calls[block] && into[block] == 0)
        .collect();
    let mut left = calls.iter().filter(|&&calls| !calls).count();
    while let Some(block) = ready.pop() {
        left -= 1;
        for &to in map.graph.successors(BlockId::new(block)) {
            if !calls[to.index()] {
                into[to.index()] -= 1;
                if into[to.index()] == 0 {
                    ready.push(to.index());
                }
            }
        }
    }
    left == 0
}

/// Returns true if a branch target has no frame where the JVM wants one. The frames were
/// [read](read_frames).
pub fn lacks_frames(class: &Class, frames: Option<&Attribute>, blocks: &[BlockInfo], marks: &Marks) -> bool {
    let is_bare =
        |block: &BlockInfo| marks.has(block.start, mark::TARGET) && !marks.has(block.start, mark::FRAME);
    (class.major >= FRAMES_REQUIRED || frames.is_some()) && blocks.iter().any(is_bare)
}

/// The method's frames, if it has any that count; they are checked, and marked.
pub fn read_frames<'a>(class: &Class<'a>, code: &Code<'a>, marks: &mut Marks) -> Read<Option<Attribute<'a>>> {
    if class.major < FRAMES_READ {
        return Ok(None);
    }
    let attribute = code.attributes(&class.pool).find(|a| a.name == b"StackMapTable");
    if let Some(attribute) = &attribute {
        frames::check(attribute, marks)?;
    }
    Ok(attribute)
}
