//! What a profile has to say, before anybody asks: at most ten sentences, each with its evidence, the weightiest first.
//!
//! A finding is a fact of the counts. Rules that say *never* or *always* hold for exact counts only; of what was sampled,
//! or not counted in part, they say nothing.

mod correlation;
mod not_measured;
mod rules;
mod slow_path;
mod under_way;

use trodden_numbering::BlockId;
use trodden_profile::{BlockExit, MethodMap};

use crate::view::{MethodView, View};
use crate::words;

/// Most findings of a report.
pub(crate) const MOST: usize = 10;
/// Most findings of one kind.
const MOST_OF_A_KIND: usize = 3;
/// Executions from which a branch that always goes the same way, or a rare path, is worth a sentence.
const OFTEN: u64 = 1_000;
/// Share of the program's work from which a method is looked at.
const WORTH: f64 = 0.01;

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// A method that takes time, though none of its paths came to an end.
    UnderWay,
    /// A path that takes much more of its method's time than of its calls.
    SlowPath,
    /// The methods that make up the work.
    Work,
    /// A method that is called often, but was left as it was.
    NotMeasured,
    /// A path that is rare and costs much.
    RarePath,
    /// Sequences of iterations that alternate.
    Alternates,
    /// A condition that an earlier one always decides.
    Correlated,
    /// A branch that never went one way.
    OneWay,
    /// Exceptions that a method catches again and again.
    Exceptions,
    /// A hot method that is too big for the JIT compiler.
    TooBig,
}

impl FindingKind {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::UnderWay => "under-way",
            FindingKind::SlowPath => "slow-path",
            FindingKind::Work => "work",
            FindingKind::NotMeasured => "not-measured",
            FindingKind::RarePath => "rare-path",
            FindingKind::Alternates => "alternates",
            FindingKind::Correlated => "correlated",
            FindingKind::OneWay => "one-way",
            FindingKind::Exceptions => "exceptions",
            FindingKind::TooBig => "too-big",
        }
    }
}

/// One thing that the counts say.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// Position of its method in [`View::methods`]; `None` if it is about the program, or a method of which no path was
    /// counted.
    pub method: Option<usize>,
    /// The method of which no path was counted: class, then name and descriptor.
    pub not_measured: Option<(String, String)>,
    /// Where in the source, if that is known.
    pub line: Option<u32>,
    /// One sentence.
    pub text: String,
    /// The numbers behind it.
    pub evidence: String,
    /// Share of the program's executed work that it is about, 0 to 1; `None` if that is not known. Of a
    /// [slow path](FindingKind::SlowPath) and of what is [under way](FindingKind::UnderWay): of its CPU time.
    pub share: Option<f64>,
}

/// Executed bytecode instructions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Work {
    /// Per method of the view.
    pub methods: Vec<u64>,
    /// Of all of them.
    pub total: u64,
}

impl Work {
    /// Of all methods of a view.
    pub fn of(view: &View) -> Work {
        let methods: Vec<u64> = view.methods.iter().map(work_of).collect();
        let total = methods.iter().fold(0u64, |sum, &n| sum.saturating_add(n));
        Work { methods, total }
    }

    /// A method's share.
    pub fn share(&self, method: usize) -> f64 {
        ratio(self.methods[method], self.total)
    }
}

fn work_of(view: &MethodView) -> u64 {
    let blocks = view.edges.blocks.iter().enumerate();
    blocks.fold(0u64, |sum, (block, &times)| {
        sum.saturating_add(times.saturating_mul(instructions(view.map, block)))
    })
}

/// Instructions of a block; in profiles without shapes about as many as its bytes allow.
pub(crate) fn instructions(map: &MethodMap, block: usize) -> u64 {
    match map.shape.as_ref().and_then(|shape| shape.blocks.get(block)) {
        Some(shape) => u64::from(shape.instructions),
        None => {
            let block = &map.blocks[block];
            u64::from(block.end.saturating_sub(block.start).div_ceil(2))
        }
    }
}

pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// All findings, the weightiest first.
pub(crate) fn find(view: &View) -> Vec<Finding> {
    if !view.counts_paths() {
        return Vec::new();
    }
    let mut all = under_way::under_way(view);
    let work = Work::of(view);
    if work.total == 0 {
        return all;
    }
    let mut rest = Vec::new();
    for (index, method) in view.methods.iter().enumerate() {
        let share = work.share(index);
        if share < WORTH || !method.unreadable.is_empty() {
            continue;
        }
        let about = About {
            index,
            method,
            share,
            work: work.methods[index],
            // What was not counted in part never says *never*.
            exact: view.run.exact && method.unobserved.is_empty() && method.observation.is_none(),
            whole: words::not_counted(view.run).is_none(),
        };
        rest.extend(rules::rare_path(&about));
        rest.extend(rules::alternates(&about));
        rest.extend(correlation::correlated(&about));
        rest.extend(rules::one_way(&about));
        rest.extend(rules::exceptions(&about));
        rest.extend(rules::too_big(&about));
    }
    rest.sort_by(|a, b| {
        b.share
            .unwrap_or(0.0)
            .total_cmp(&a.share.unwrap_or(0.0))
            .then(a.kind.cmp(&b.kind))
            .then(a.line.cmp(&b.line))
    });
    all.extend(slow_path::slow_paths(view).into_iter().take(MOST_OF_A_KIND));
    all.extend(rules::work(view, &work));
    all.extend(not_measured::not_measured(view));
    for finding in rest {
        let same = all.iter().filter(|f| f.kind == finding.kind).count();
        if all.len() < MOST && same < MOST_OF_A_KIND {
            all.push(finding);
        }
    }
    all
}

/// A method that a rule looks at.
struct About<'a, 'p> {
    index: usize,
    method: &'a MethodView<'p>,
    /// Of the program's work.
    share: f64,
    /// Executed instructions.
    work: u64,
    /// Was everything counted, but for what [`whole`](Self::whole) says?
    exact: bool,
    /// Were paths counted, too, that an exception or the end of the program cut off?
    whole: bool,
}

impl About<'_, '_> {
    fn finding(
        &self,
        kind: FindingKind,
        block: Option<usize>,
        share: f64,
        text: String,
        evidence: String,
    ) -> Finding {
        let line = block.and_then(|block| self.method.map.line(self.method.map.blocks[block].last));
        Finding {
            kind,
            method: Some(self.index),
            not_measured: None,
            line,
            text,
            evidence,
            share: Some(share),
        }
    }

    /// `Order.price`, with the line of a bytecode index.
    fn at(&self, bci: u32) -> String {
        let place = words::place_of(self.method.map, bci);
        format!("{}, {place}", self.method.short_name())
    }

    /// What *never* is said of, if that is not everything.
    fn caveat(&self) -> &'static str {
        if self.whole {
            ""
        } else {
            " (on paths that came to their end)"
        }
    }

    /// Blocks that end with a decision of the source.
    fn decisions(&self) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.method.map.blocks.iter().enumerate();
        let decides = blocks.filter(|(_, info)| matches!(info.exit, BlockExit::Branch | BlockExit::Switch));
        let made = |block: &usize| self.method.decisions().made(*block).is_some();
        decides.map(|(block, _)| block).filter(move |block| !made(block))
    }

    /// Where an edge of a block leads.
    fn target(&self, block: usize, edge: usize) -> usize {
        use trodden_numbering::FlowGraph;
        self.method.map.graph.successors(BlockId::new(block))[edge].index()
    }
}
