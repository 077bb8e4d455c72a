//! Deciding what of a class can carry probes, and writing it.

use std::cell::LazyCell;
use std::ops::Deref;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use trodden_numbering::{BlockId, CoveragePlan, EdgeRef, FlowGraph, PathDag, Plan};
use trodden_profile::structural::GraphLayout;
use trodden_profile::{ClassMap, CounterLayout, MethodMap, Pages, Skipped};

use crate::cfg::{Cfg, CfgError};
use crate::classfile::class::{Attribute, Class, Head, Method};
use crate::classfile::code::Code;
use crate::classfile::decode;
use crate::classfile::opcodes::kind;
use crate::classfile::pool::{PoolBuilder, PoolFull};
use crate::classfile::reader::{Fault, Read, fault, put_u2};
use crate::error::{ClassError, SkipReason};
use crate::ids::{CounterSlot, MethodId};
use crate::leave::Left;
use crate::options::{InstrumentOptions, Shim};
use crate::probes::coverage::ClassCoverage;
use crate::probes::structural::StructuralCode;
use crate::probes::{CutPaths, ProbeStrategy, ProbedMethod, strategy};
use crate::rewrite::{
    MethodInput, ProbeInput, RewriteError, RewriteScratch, calls_other_constructor, rewrite,
};
use crate::scratch::{Scratch, Shared};
use crate::shape::shape;
use judge::{Verdict, judge};
pub(crate) use judge::{is_empty_finalizer, lacks_frames, read_frames};
use lines::Lines;

/// Newest class file version that is known to hold nothing new inside Code (JDK 27).
const NEWEST_MAJOR: u16 = 71;
/// Parts of Trodden that a program calls: they must add nothing to its counts.
const CALLED_BY_PROGRAMS: [&str; 3] = ["trodden/PathFeedback", "trodden/Span", "trodden/Span$Recorder"];

/// HotSpot never compiles a method with more bytecode than this (`HugeMethodLimit`).
pub(crate) const HUGE_METHOD_LIMIT: u32 = 8_000;

/// The identity that an emitted class's probes carry, given out by the collector of the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassIds {
    /// First counter slot of the class; as many as its [`CounterLayout`] says are its own (with structure
    /// graphs: [`Prepared::graphs`]).
    pub first_counter: CounterSlot,
    /// Id of the first method of the path map; the others follow.
    pub first_method: MethodId,
}

/// Classes that the shim calls. With probes in all of their methods, those would call themselves for ever.
const USED_BY_PROBES: [&str; 8] = [
    "java/lang/Object",
    "java/lang/Thread",
    "java/lang/ThreadLocal",
    "java/lang/ThreadLocal$ThreadLocalMap",
    "java/lang/ThreadLocal$ThreadLocalMap$Entry",
    "java/lang/ref/Reference",
    "java/lang/ref/WeakReference",
    "jdk/internal/misc/Unsafe",
];

impl Candidate<'_> {
    /// Counts no cut paths, if it does, for a reason.
    fn leave_cut_paths_out(&mut self, reason: SkipReason) -> bool {
        let does = self.cut_paths != CutPaths::None;
        if does {
            self.cut_paths = CutPaths::None;
            self.without_cut_paths = Some(reason);
        }
        does
    }

    /// Takes away the probes in front of calls, if it has them, for a reason.
    fn leave_call_sites_out(&mut self, map: &MethodMap, reason: SkipReason) -> bool {
        let Some(strategy) = self.strategy.without_call_sites() else {
            return false;
        };
        if self.strategy.keeps_register() && !strategy.keeps_register() {
            self.plan = Plan::idle(&map.graph);
        }
        self.strategy = strategy;
        self.calls = map.graph.extra_starts().len();
        self.without_call_sites = Some(reason);
        true
    }

    /// Returns true for a class initialiser without loops. That is interpreted, and over: no compiler minds
    /// its length.
    fn runs_once(&self, class: &Class, map: &MethodMap) -> bool {
        let ahead = |(edge, to): (EdgeRef, BlockId)| to.index() > edge.from.index();
        class.methods[self.index].name == b"<clinit>" && map.graph.edges().all(ahead)
    }

    /// Why it cannot take its probes, given how long it is with them, or why it could not be written.
    fn why_not(
        &self,
        rewritten: Result<u32, RewriteError>,
        class: &Class,
        map: &MethodMap,
    ) -> Option<SkipReason> {
        match rewritten {
            Ok(length) => {
                let crosses = self.code.len() <= HUGE_METHOD_LIMIT && length > HUGE_METHOD_LIMIT;
                (crosses && !self.runs_once(class, map)).then_some(SkipReason::HugeMethodLimit)
            }
            Err(RewriteError::PoolFull) => Some(SkipReason::ConstantPoolFull),
            Err(RewriteError::Layout(_)) => Some(SkipReason::CodeTooLarge),
            Err(RewriteError::TooManyLocals) => Some(SkipReason::TooManyLocals),
            Err(RewriteError::Fault(_)) => Some(SkipReason::BrokenTable),
        }
    }
}

impl ClassIds {
    /// Ids of a class whose counters and methods begin with these numbers.
    pub const fn new(first_counter: u32, first_method: u32) -> Self {
        ClassIds {
            first_counter: CounterSlot(first_counter),
            first_method: MethodId(first_method),
        }
    }

    /// Ids as narrow as any.
    const NARROWEST: ClassIds = ClassIds::new(0, 0);
    /// Ids as wide as any: what is found to fit with them fits with all.
    const WIDEST: ClassIds = ClassIds::new(1 << 30, 1 << 30);
}

mod bound;
mod inlining;
mod judge;
mod lines;

/// The work to be done for a class.
#[derive(Debug)]
pub enum Preparation<'a> {
    /// Some method takes probes.
    Ready(Box<Prepared<'a>>),
    /// Nothing to do, or nothing that can be done.
    Unchanged {
        /// Methods that were left alone although they have branches, and why.
        skipped: Vec<Skipped>,
    },
}

/// Layout of a rewritten method, for readers of its frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodCode {
    /// Local variable slot of the path register.
    pub register_slot: u16,
    /// (new, old) bytecode index of each instruction, ascending. A new index between two entries belongs to a
    /// probe in front of the second. Empty for a method without probes, and for one whose probes see calls
    /// but do not report their sites: walks of the stack do not report them either.
    pub pc_map: Vec<(u32, u32)>,
}

/// A class that is ready to be written with probes.
#[derive(Debug)]
pub struct Prepared<'a> {
    class: Class<'a>,
    methods: Vec<Candidate<'a>>,
    map: Arc<ClassMap>,
    skipped: Vec<Skipped>,
    shared: Arc<Shared>,
}

/// A method that takes probes.
#[derive(Debug)]
struct Candidate<'a> {
    /// Position in the class file.
    index: usize,
    code: Code<'a>,
    /// Checked.
    frames: Option<Attribute<'a>>,
    strategy: &'static dyn ProbeStrategy,
    plan: Plan,
    /// True if an activation ends at most one path.
    one_end: bool,
    /// True if its counts are [apart](CounterLayout::apart).
    is_caller: bool,
    /// Places with a probe because of calls: every call, or if call sites are not reported, every catch.
    calls: usize,
    /// Why its probes do not report call sites though others do.
    without_call_sites: Option<SkipReason>,
    /// The treatment of paths that an exception cuts off.
    cut_paths: CutPaths,
    /// Why nothing is though it was asked for.
    without_cut_paths: Option<SkipReason>,
    /// The purpose of the probes.
    subject: Subject,
    /// True if it was numbered by frequencies of a former run.
    guided: bool,
    /// How it would be numbered without them, until it is decided; for methods that HotSpot may inline.
    unguided: Option<Box<Numbers>>,
}

/// The purpose of a method's probes.
#[derive(Debug)]
enum Subject {
    /// Its paths.
    Paths,
    /// Its structure graphs.
    Graphs(Box<StructuralCode>),
    /// Coverage: the places of its probes.
    Coverage(Box<CoveragePlan>),
}

impl Subject {
    /// The structure graphs, if these are the subject.
    fn graphs(&self) -> Option<&StructuralCode> {
        match self {
            Subject::Graphs(graphs) => Some(graphs),
            Subject::Paths | Subject::Coverage(_) => None,
        }
    }
}

/// How a method is numbered, and what its probes do for that.
#[derive(Debug)]
struct Numbers {
    dag: PathDag,
    plan: Plan,
}

pub(crate) fn prepare<'a>(shared: &Arc<Shared>, bytes: &'a [u8]) -> Result<Preparation<'a>, ClassError> {
    let options = &shared.options;
    let outside = |fault: Fault| ClassError::new(None, None, fault);
    let head = Head::read(bytes).map_err(outside)?;
    let name = decode(head.name).into_owned();
    if !options.filter.class(&name) || CALLED_BY_PROGRAMS.contains(&name.as_str()) {
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

    if strategy(options).sees_calls()
        && options.probes.change_code()
        && USED_BY_PROBES.contains(&name.as_str())
    {
        return Ok(whole_class(SkipReason::UsedByProbes));
    }

    let digest = LazyCell::new(|| <[u8; 32]>::from(Sha256::digest(bytes)));
    let mut scratch = shared.scratch();
    let mut judged = judge_all(options, (&class, &name), &digest, &mut scratch)?;
    // The mark that `emit` leaves.
    let marked = |mark: &str| class.pool.find_utf8(mark.as_bytes()).is_some();
    let is_marked = || Shim::MARKS.into_iter().any(marked) || marked(&options.shim.class);
    if !judged.methods.is_empty() && !options.marked_classes && is_marked() {
        return Ok(whole_class(SkipReason::AlreadyInstrumented));
    }
    if options.probes.change_code() {
        let Judged { methods, maps, .. } = &mut judged;
        inlining::keep(options, &class, methods, maps, &mut scratch.rewrite);
        drop_what_does_not_fit(options, (&class, &name), &mut judged, &mut scratch.rewrite);
    }
    drop(scratch);
    let Judged {
        methods,
        maps,
        mut skipped,
    } = judged;
    for candidate in &methods {
        let partly = [
            (Skipped::NO_CALL_SITES, candidate.without_call_sites),
            (Skipped::NO_CUT_PATHS, candidate.without_cut_paths),
        ];
        for (what, reason) in partly {
            let Some(reason) = reason else { continue };
            let method = skip(&name, &class.methods[candidate.index], reason);
            skipped.push(Skipped {
                reason: what.to_owned() + &method.reason,
                ..method
            });
        }
    }
    if methods.is_empty() {
        return Ok(Preparation::Unchanged { skipped });
    }
    let map = ClassMap {
        name,
        sha256: *digest,
        source_file: class.source_file.map(|text| decode(text).into_owned()),
        methods: maps,
    };
    let map = Arc::new(map);
    Ok(Preparation::Ready(Box::new(Prepared {
        class,
        methods,
        map,
        skipped,
        shared: shared.clone(),
    })))
}

/// The methods of a class that take probes, with their maps, and why others take none.
#[derive(Default)]
struct Judged<'a> {
    methods: Vec<Candidate<'a>>,
    maps: Vec<MethodMap>,
    skipped: Vec<Skipped>,
}

/// Judges the methods of a class that the filter wants. Those that are to be left alone are, if their class,
/// or their code, is still the same.
fn judge_all<'a>(
    options: &InstrumentOptions,
    (class, name): (&Class<'a>, &str),
    digest: &impl Deref<Target = [u8; 32]>,
    scratch: &mut Scratch,
) -> Result<Judged<'a>, ClassError> {
    let source_map = Lines::text(class);
    let file = class.source_file.map(decode).unwrap_or_default();
    let mut lines = Lines::new(&source_map, name, &file);
    let left = options.leave.as_ref().and_then(|leave| leave.class(name));
    if options.shapes || left.is_some() {
        scratch.shape.reset(&class.pool);
    }
    let mut judged = Judged::default();
    for (index, method) in class.methods.iter().enumerate() {
        if !options.filter.method(name, &decode(method.name)) {
            continue;
        }
        let left = left.and_then(|left| left.get(signature(method).as_str()));
        if let Some(left) = left.filter(|left| **digest == left.sha256) {
            judged.skipped.push(skip(name, method, left.reason));
            continue;
        }
        let verdict = judge(options, (class, name, &mut lines), index, method, scratch)
            .map_err(|fault| ClassError::new(Some(name), Some(signature(method)), fault))?;
        match verdict {
            Verdict::Takes(candidate, map) => {
                let same = |left: &&Left| {
                    let scratch = &mut scratch.shape;
                    shape(&class.pool, &candidate.code, &map.blocks, &map.graph, scratch).code == left.code
                };
                if let Some(left) = left.filter(same) {
                    judged.skipped.push(skip(name, method, left.reason));
                    continue;
                }
                judged.methods.push(candidate);
                judged.maps.push(map);
            }
            Verdict::Trivial => {}
            Verdict::Skip(reason) => judged.skipped.push(skip(name, method, reason)),
        }
    }
    Ok(judged)
}

/// Takes probes back from methods that they would make too large: those in front of calls if there are any,
/// else all. A method that is far from every limit (nearly all are) is believed without being written.
/// Dropping one moves the counters of the others, so it is done again until all fit.
fn drop_what_does_not_fit(
    options: &InstrumentOptions,
    (class, name): (&Class, &str),
    judged: &mut Judged,
    scratch: &mut RewriteScratch,
) {
    let Judged {
        methods,
        maps,
        skipped,
    } = judged;
    let constants: usize = methods
        .iter()
        .zip(maps.iter())
        .map(|(c, m)| bound::constants(c, m))
        .sum();
    let pool_has_room = class.pool.len() + constants + bound::SHIM_CONSTANTS < u16::MAX as usize;
    let surely_fits =
        |candidate: &Candidate, map: &MethodMap| pool_has_room && bound::fits(class, candidate, map);
    if methods.iter().zip(maps.iter()).all(|(c, m)| surely_fits(c, m)) {
        return;
    }
    let mut written = Vec::new();
    loop {
        let layout = counter_layout(options, methods, maps);
        let graphs = graph_layout(methods);
        let job = Job {
            shim: &options.shim.class,
            class,
            layout: &layout,
            graphs: &graphs,
            ids: ClassIds::WIDEST,
        };
        let mut pool = PoolBuilder::new(&class.pool);
        let marked = mark(options, &mut pool);
        let mut keep = Vec::with_capacity(methods.len());
        let mut all_fit = true;
        for (position, (candidate, map)) in methods.iter_mut().zip(maps.iter()).enumerate() {
            if surely_fits(candidate, map) {
                keep.push(true);
                continue;
            }
            let rewritten = match marked {
                Ok(()) => {
                    written.clear();
                    job.rewrite(position, candidate, map, &mut pool, scratch, &mut written)
                }
                Err(full) => Err(full.into()),
            };
            let Some(reason) = candidate.why_not(rewritten, class, map) else {
                keep.push(true);
                continue;
            };
            all_fit = false;
            keep.push(candidate.leave_cut_paths_out(reason) || candidate.leave_call_sites_out(map, reason));
            if keep.last() == Some(&false) {
                skipped.push(skip(name, &class.methods[candidate.index], reason));
            }
        }
        if all_fit {
            return;
        }
        let mut kept = keep.iter();
        methods.retain(|_| *kept.next().expect("one verdict per method"));
        let mut kept = keep.iter();
        maps.retain(|_| *kept.next().expect("one verdict per method"));
    }
}

/// Where the methods' counters are, or their probes of coverage.
fn counter_layout(options: &InstrumentOptions, methods: &[Candidate], maps: &[MethodMap]) -> CounterLayout {
    match class_coverage(methods) {
        Some(coverage) => {
            let (firsts, slots) = coverage.layout();
            CounterLayout {
                base: firsts.into_iter().map(Some).collect(),
                begun: vec![None; methods.len()],
                slots,
                pages: Pages::Any,
            }
        }
        None if options.callers_apart => CounterLayout::apart(maps, |at| methods[at].is_caller),
        None => CounterLayout::of_methods(maps),
    }
}

fn class_coverage(methods: &[Candidate]) -> Option<ClassCoverage> {
    let plan = |candidate: &Candidate| match &candidate.subject {
        Subject::Coverage(plan) => Some(CoveragePlan::clone(plan)),
        Subject::Paths | Subject::Graphs(_) => None,
    };
    let methods: Option<Vec<CoveragePlan>> = methods.iter().map(plan).collect();
    methods.map(|methods| ClassCoverage { methods })
}

fn graph_layout(methods: &[Candidate]) -> GraphLayout {
    GraphLayout::of(
        methods
            .iter()
            .map(|candidate| candidate.subject.graphs().map_or(&[][..], StructuralCode::paths)),
    )
}

/// Data that all methods of a class being written share.
struct Job<'j, 'a> {
    shim: &'j str,
    class: &'j Class<'a>,
    layout: &'j CounterLayout,
    graphs: &'j GraphLayout,
    ids: ClassIds,
}

impl<'j, 'a> Job<'j, 'a> {
    /// Appends the method to `out`; returns the length of its code.
    fn rewrite(
        &self,
        position: usize,
        candidate: &Candidate<'a>,
        map: &MethodMap,
        pool: &mut PoolBuilder<'j, 'a>,
        scratch: &mut RewriteScratch,
        out: &mut Vec<u8>,
    ) -> Result<u32, RewriteError> {
        let input = MethodInput {
            class: self.class,
            method: &self.class.methods[candidate.index],
            code: &candidate.code,
            frames: candidate.frames.as_ref(),
            blocks: &map.blocks,
            graph: &map.graph,
        };
        let (part, counter_base) = self.layout.in_part(position);
        let method = ProbedMethod {
            first_counter: self.ids.first_counter.plus(part),
            method_id: self.ids.first_method.at(position),
            counter_base,
            begun: (self.layout.begun[position])
                .filter(|_| calls_other_constructor(self.class, input.method, input.code))
                .map(|slot| slot as i32 - part as i32),
            register: candidate.code.max_locals,
            one_end: candidate.one_end,
            cut_paths: candidate.cut_paths,
            is_initialiser: self.class.methods[candidate.index].name == b"<clinit>",
            graphs: self.graphs.of_method(position),
        };
        let probes = ProbeInput {
            plan: &candidate.plan,
            strategy: candidate.strategy,
            structural: candidate.subject.graphs(),
            method,
            shim: self.shim,
        };
        rewrite(&input, Some(&probes), pool, scratch, out)
    }
}

impl Prepared<'_> {
    /// The path map of the methods that will carry probes.
    pub fn map(&self) -> &Arc<ClassMap> {
        &self.map
    }

    /// Where the structure graphs of its methods have their slots; empty for probes that are not about them.
    pub fn graphs(&self) -> GraphLayout {
        graph_layout(&self.methods)
    }

    /// Where its methods have their counters.
    pub fn layout(&self) -> CounterLayout {
        counter_layout(&self.shared.options, &self.methods, &self.map.methods)
    }

    /// Where its methods have their probes of coverage; `None` for other probes.
    pub fn coverage(&self) -> Option<ClassCoverage> {
        class_coverage(&self.methods).filter(|coverage| !coverage.methods.is_empty())
    }

    /// Methods that were numbered by frequencies of a former run ([`InstrumentOptions::guide`]).
    pub fn guided(&self) -> usize {
        self.methods.iter().filter(|m| m.guided).count()
    }

    /// Methods that are left alone although they have branches, and methods with probes that report no call
    /// sites or count no cut paths ([`has_probes`](Skipped::has_probes)).
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// The class with probes. Deterministic: same bytes, options and ids give the same result. Not for probes
    /// that [do not change code](crate::Probes::change_code).
    pub fn emit(&self, ids: ClassIds) -> Vec<u8> {
        self.emit_to(ids, |_| true, |_, _| ())
    }

    /// The class with probes in some methods only: `wanted` is asked for each position in the path map. Ids
    /// and layout are those of [`emit`](Self::emit), so what was counted before keeps its meaning.
    pub fn emit_where(&self, ids: ClassIds, wanted: impl Fn(usize) -> bool) -> Vec<u8> {
        self.emit_to(ids, wanted, |_, _| ())
    }

    /// The class with probes, and per method of the path map where its register is and where its instructions
    /// went.
    pub fn emit_with_code(&self, ids: ClassIds) -> (Vec<u8>, Vec<MethodCode>) {
        self.emit_where_with_code(ids, |_| true)
    }

    /// Like [`emit_with_code`](Self::emit_with_code), but with probes in some methods only, as in
    /// [`emit_where`](Self::emit_where). The other methods have no register and an empty map of instructions.
    pub fn emit_where_with_code(
        &self,
        ids: ClassIds,
        wanted: impl Fn(usize) -> bool,
    ) -> (Vec<u8>, Vec<MethodCode>) {
        let mut codes = Vec::with_capacity(self.methods.len());
        let out = self.emit_to(ids, wanted, |Candidate { code, strategy, .. }, scratch| {
            let reports = strategy.reports_call_sites() || !strategy.sees_calls();
            codes.push(MethodCode {
                register_slot: code.max_locals,
                pc_map: scratch
                    .filter(|_| reports)
                    .map_or_else(Vec::new, |scratch| scratch.pc_map(code)),
            });
        });
        (out, codes)
    }

    /// Writes the class; calls back for each method right after it was written, or with nothing if it was
    /// not.
    fn emit_to(
        &self,
        ids: ClassIds,
        wanted: impl Fn(usize) -> bool,
        mut after: impl FnMut(&Candidate, Option<&RewriteScratch>),
    ) -> Vec<u8> {
        let class = &self.class;
        let layout = self.layout();
        let graphs = self.graphs();
        let mut pool = PoolBuilder::new(&class.pool);
        let job = Job {
            shim: &self.shared.options.shim.class,
            class,
            layout: &layout,
            graphs: &graphs,
            ids,
        };
        let mut scratch = self.shared.scratch();
        let Scratch { rewrite, methods, .. } = &mut *scratch;
        methods.clear();
        let mut done = 0;
        for (position, (candidate, map)) in self.methods.iter().zip(&self.map.methods).enumerate() {
            class.methods[done..candidate.index]
                .iter()
                .for_each(|m| methods.extend_from_slice(m.raw));
            done = candidate.index + 1;
            if !wanted(position) {
                methods.extend_from_slice(class.methods[candidate.index].raw);
                after(candidate, None);
                continue;
            }
            // It was written once already, with the widest ids. Should it fail all the same, the method stays
            // unchanged and is never counted.
            match job.rewrite(position, candidate, map, &mut pool, rewrite, methods) {
                Ok(_) => after(candidate, Some(rewrite)),
                Err(error) => {
                    debug_assert!(false, "{}.{}: {error:?}", self.map.name, map.name);
                    methods.extend_from_slice(class.methods[candidate.index].raw);
                    after(candidate, None);
                }
            }
        }
        class.methods[done..]
            .iter()
            .for_each(|m| methods.extend_from_slice(m.raw));
        let marked = mark(&self.shared.options, &mut pool);
        debug_assert!(marked.is_ok(), "{}: no room for the mark", self.map.name);
        write_class(class, &pool, methods)
    }
}

/// Puts the mark into the pool by which a class is known to be instrumented. Probes that call the agent's
/// shim have put it there themselves; those of `safepoint` call nothing, and other shims have other names.
fn mark(options: &InstrumentOptions, pool: &mut PoolBuilder) -> Result<(), PoolFull> {
    pool.utf8(options.shim.mark().as_bytes()).map(drop)
}

pub(crate) fn write_class(class: &Class, pool: &PoolBuilder, methods: &[u8]) -> Vec<u8> {
    let around = class.head.len() + pool.written_len() + class.middle.len() + 2 + class.tail.len();
    let mut out = Vec::with_capacity(around + methods.len());
    out.extend_from_slice(class.head);
    pool.write(&mut out);
    out.extend_from_slice(class.middle);
    put_u2(&mut out, class.methods.len() as u16);
    out.extend_from_slice(methods);
    out.extend_from_slice(class.tail);
    out
}

/// Reads a class and writes it again without probes: every instruction, branch, frame and table goes through
/// the same code as with probes. For tests: the result must be the same bytes.
///
/// # Errors
/// If the bytes are not a well-formed class file.
pub fn round_trip(bytes: &[u8]) -> Result<Vec<u8>, ClassError> {
    let class = Class::read(bytes).map_err(|fault| ClassError::new(None, None, fault))?;
    let name = decode(class.name);
    let mut pool = PoolBuilder::new(&class.pool);
    let mut methods = Vec::new();
    let mut scratch = Scratch::default();
    for method in &class.methods {
        let mut again = || -> Read<()> {
            let Some(attribute) = &method.code else {
                methods.extend_from_slice(method.raw);
                return Ok(());
            };
            let code = Code::read(attribute, &class.pool, &mut scratch.marks)?;
            if code.kinds & kind::SUBROUTINE != 0 {
                methods.extend_from_slice(method.raw);
                return Ok(());
            }
            let Cfg { blocks, graph } = match Cfg::build(&code, &mut scratch.marks, &mut scratch.cfg) {
                Ok(cfg) => cfg,
                Err(CfgError::Fault(fault)) => return Err(fault),
                Err(CfgError::RunsOffTheEnd) => {
                    methods.extend_from_slice(method.raw);
                    return Ok(());
                }
            };
            let frames = read_frames(&class, &code, &mut scratch.marks)?;
            let input = MethodInput {
                class: &class,
                method,
                code: &code,
                frames: frames.as_ref(),
                blocks: &blocks,
                graph: &graph,
            };
            match rewrite(&input, None, &mut pool, &mut scratch.rewrite, &mut methods) {
                Ok(_) => Ok(()),
                Err(RewriteError::Fault(fault)) => Err(fault),
                Err(other) => fault(attribute.offset, format!("cannot be written again: {other:?}")),
            }
        };
        again().map_err(|fault| ClassError::new(Some(&name), Some(signature(method)), fault))?;
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

pub(crate) fn signature(method: &Method) -> String {
    format!("{}{}", decode(method.name), decode(method.descriptor))
}
