//! The branches and paths of one method in words, for whoever keeps them beside their keys.

use trodden_insight::decisions::{Decision, Decisions};
use trodden_insight::names;
use trodden_insight::route::route;
use trodden_insight::view::{PathView, damage};
use trodden_numbering::{BlockId, EdgeRef, Path, PathEnd};
use trodden_profile::{BlockExit, MethodConditions, MethodMap, printable};

/// A method whose branches and paths are wanted in words: the same as in reports that know no source files.
pub struct InWords<'p> {
    map: &'p MethodMap,
    decisions: Decisions,
}

/// One way out of a branch or switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayOut {
    /// The edge.
    pub edge: EdgeRef,
    /// Bytecode index of the branch.
    pub bci: u32,
    /// Its line, if the class file tells.
    pub line: Option<u32>,
    /// The condition in the source's terms, if that is known: `hit != null`.
    pub condition: Option<String>,
    /// The meaning of this way: `yes`, `again`, `case "GET"`; `taken`, `not-taken`, `case 3` where that is all that is known.
    pub outcome: String,
    /// True if the compiler made the decision on its own.
    pub made: bool,
}

impl<'p> InWords<'p> {
    /// A method with the decisions that are known. `None`: its path map is damaged.
    pub fn new(map: &'p MethodMap, conditions: Option<&MethodConditions>) -> Option<Self> {
        if damage(map).is_some() {
            return None;
        }
        let decisions = conditions.map(|conditions| Decisions::new(map, conditions, None));
        Some(InWords {
            map,
            decisions: decisions.unwrap_or_default(),
        })
    }

    /// All ways out of its branches and switches, in the order of the bytecode.
    pub fn ways_out(&self) -> Vec<WayOut> {
        let decides = |exit| matches!(exit, BlockExit::Branch | BlockExit::Switch);
        let blocks = self.map.blocks.iter().enumerate();
        let ways = blocks
            .filter(|(_, block)| decides(block.exit))
            .flat_map(|(index, block)| {
                let decision = self.decisions.of(index);
                let condition = decision
                    .filter(|decision| decision.text.is_some())
                    .and_then(Decision::phrase);
                let made = decision.is_some_and(|decision| decision.made.is_some());
                block.labels.iter().enumerate().map(move |(way, label)| WayOut {
                    edge: EdgeRef {
                        from: BlockId::new(index),
                        index: way as u32,
                    },
                    bci: block.last,
                    line: self.map.line(block.last),
                    condition: condition.clone(),
                    outcome: match self.decisions.outcome(index, way).filter(|text| !text.is_empty()) {
                        Some(outcome) => outcome,
                        None => names::decision(label),
                    },
                    made,
                })
            });
        ways.collect()
    }

    /// A path's way: `7 · 8–9 hit != null → no · 12`; with ` · cut short` where it was.
    pub fn path(&self, path: &Path) -> String {
        let cut_short = matches!(path.end, PathEnd::Stopped(_));
        let view = PathView::new(self.map, path.clone(), 0, 0);
        let route = route(&view, self.map, &self.decisions);
        let ending = if cut_short { " · cut short" } else { "" };
        printable(&format!("{route}{ending}")).into_owned()
    }

    /// The line of its first instruction, if the class file tells.
    pub fn line(&self) -> Option<u32> {
        self.map.line(0)
    }
}
