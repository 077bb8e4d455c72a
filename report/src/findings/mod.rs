//! Findings of a profile: at most ten sentences, each with its evidence, ranked by share of the program's time.
//!
//! First come causes: what takes the time. Of those that say the same one is kept ([`explained`]). Other facts of the counts
//! come after them, as [asides](Finding::aside). Rules that say *never* or *always* hold for exact counts only; of what was
//! sampled, or not counted in part, they say nothing.

mod correlation;
mod not_measured;
mod rules;
mod sarif;
mod select;
mod sentences;
mod under_way;

use trodden_insight::view::MethodView;
use trodden_numbering::BlockId;
use trodden_profile::BlockExit;

pub(crate) use sarif::sarif;
pub(crate) use select::find;

/// Most findings of a report.
pub(crate) const MOST: usize = 10;
/// Most findings of one kind.
const MOST_OF_A_KIND: usize = 3;
/// Executions from which a branch that always goes the same way, or a rare path, is worth a sentence.
const OFTEN: u64 = 1_000;
/// Share of the program's work from which a method is looked at.
const WORTH: f64 = 0.01;

/// The subject of a finding.
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
    pub const fn name(self) -> &'static str {
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
    /// Its subject.
    pub kind: FindingKind,
    /// Position of its method in the view's; `None` if it is about the program, or a method of which no path was counted.
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

/// A method that a rule looks at.
struct About<'a, 'p> {
    index: usize,
    method: &'a MethodView<'p>,
    /// Share of the program's time; without samples, of its work.
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

    /// The extent of a *never*, if that is not everything.
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
