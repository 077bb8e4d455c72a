//! What stands out in a profile: at most ten sentences, each with its evidence, ranked by share of the program's time.
//!
//! First come causes: what takes the time. Of those that say the same one is kept ([`explained`]). Other facts of the counts
//! come after them, as [asides](Finding::aside). Rules that say *never* or *always* hold for exact counts only; of what was
//! sampled, or not counted in part, they say nothing.

mod causes;
mod correlation;
mod explained;
mod not_measured;
mod overlap;
mod rules;
mod sentences;
mod under_way;

use trodden_numbering::BlockId;
use trodden_profile::{BlockExit, MethodMap};

use crate::view::{MethodView, View};
use crate::words;

/// Most findings of a report.
pub(crate) const MOST: usize = 10;
/// Most causes among them.
const MOST_CAUSES: usize = 7;
/// Most methods among these that are there for their time alone: the list of hot methods has the others.
const MOST_HOT_METHODS: usize = 2;
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
    /// An outcome of a decision that takes much more of the time than of the decision's executions.
    SlowOutcome,
    /// A path that takes much more of the time than of its method's calls.
    SlowPath,
    /// A method that has much of the time itself, on no way in particular.
    HotMethod,
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
            FindingKind::SlowOutcome => "slow-outcome",
            FindingKind::SlowPath => "slow-path",
            FindingKind::HotMethod => "hot-method",
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
    /// The decision that it is about, in the source's terms if these are known.
    pub condition: Option<String>,
    /// The outcome of that decision; `throw` of a path that ends with one.
    pub outcome: Option<String>,
    /// The number of a whole path to look at.
    pub path: Option<u64>,
    /// One sentence.
    pub text: String,
    /// The numbers behind it.
    pub evidence: String,
    /// Share of the program's CPU time that it is about, 0 to 1; without samples of its executed work. `None` if that is not
    /// known.
    pub share: Option<f64>,
    /// A fact that explains no time: it comes after all causes.
    pub aside: bool,
}

impl Finding {
    /// A fact about the program, without a place.
    fn new(kind: FindingKind, text: String, evidence: String, share: Option<f64>) -> Self {
        Finding {
            kind,
            method: None,
            not_measured: None,
            line: None,
            condition: None,
            outcome: None,
            path: None,
            text,
            evidence,
            share,
            aside: true,
        }
    }
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
        // Work of an earlier run is none of this one's.
        let work_of = |method: &MethodView| method.earlier.map_or_else(|| work_of(method), |_| 0);
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

/// All findings: slow outcomes and paths, other causes, then asides; the largest share first in each.
pub(crate) fn find(view: &View) -> Vec<Finding> {
    if !view.counts_paths() {
        return Vec::new();
    }
    let work = Work::of(view);
    let mut found = sentences::causes(view);
    let timed: Vec<Option<usize>> = found.iter().map(|finding| finding.method).collect();
    let mut idle = under_way::under_way(view);
    idle.retain(|idle| found.iter().all(|cause| cause.not_measured != idle.not_measured));
    found.extend(idle);
    found.extend(not_measured::not_measured(view));
    for (index, method) in view.methods.iter().enumerate() {
        let (share, own) = match method.earlier {
            Some(earlier) => (earlier.about.decisions, work_of(method)),
            None => (work.share(index), work.methods[index]),
        };
        let time = method.time.as_ref().map_or(0.0, |time| time.share);
        if share.max(time) < WORTH || !method.unreadable.is_empty() {
            continue;
        }
        let about = About {
            index,
            method,
            share: if view.times.is_some() { time } else { share },
            timed: view.times.is_some(),
            work: own,
            // What was not counted in part never says *never*.
            exact: view.run.exact
                && method.earlier.is_none()
                && method.unobserved.is_empty()
                && method.observation.is_none(),
            whole: words::not_counted(view.run).is_none(),
        };
        // What its slow way says, its rare one says again.
        found.extend(rules::rare_path(&about).filter(|_| !timed.contains(&Some(index))));
        found.extend(rules::alternates(&about));
        found.extend(correlation::correlated(&about));
        found.extend(rules::one_way(&about));
        found.extend(rules::exceptions(&about, view));
        found.extend(rules::too_big(&about));
    }
    found.sort_by(|a, b| {
        let share = |finding: &Finding| finding.share.unwrap_or(0.0);
        // The list of hot methods says where the time is; which way it came says more.
        let says_way =
            |finding: &Finding| matches!(finding.kind, FindingKind::SlowOutcome | FindingKind::SlowPath);
        (a.aside.cmp(&b.aside))
            .then(says_way(b).cmp(&says_way(a)))
            .then(share(b).total_cmp(&share(a)))
            .then(a.kind.cmp(&b.kind))
            .then(a.line.cmp(&b.line))
    });
    found.extend(rules::work(view, &work));
    let mut all: Vec<Finding> = Vec::new();
    for finding in found {
        let same = all.iter().filter(|f| f.kind == finding.kind).count();
        let (most, room) = match finding.kind {
            FindingKind::HotMethod => (MOST_HOT_METHODS, MOST_CAUSES),
            _ if finding.aside => (MOST_OF_A_KIND, MOST),
            _ => (MOST_CAUSES, MOST_CAUSES),
        };
        if same < most && all.len() < room {
            all.push(finding);
        }
    }
    for finding in &mut all {
        let method = finding.method.and_then(|index| view.methods.get(index));
        if let Some(earlier) = method.and_then(|method| method.earlier) {
            finding.evidence += &format!(" ({})", earlier.run());
        }
    }
    all
}

/// A method that a rule looks at.
struct About<'a, 'p> {
    index: usize,
    method: &'a MethodView<'p>,
    /// Of the program's time; without samples of its work.
    share: f64,
    /// Was CPU time sampled?
    timed: bool,
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
            method: Some(self.index),
            line,
            ..Finding::new(kind, text, evidence, Some(share))
        }
    }

    /// What *never* is said of, if that is not everything.
    fn caveat(&self) -> &'static str {
        if self.whole {
            ""
        } else {
            " (paths that were cut off are not counted)"
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
