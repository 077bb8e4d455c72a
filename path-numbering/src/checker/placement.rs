//! Rule 8: the placement machine.

use super::{
    CheckOptions, Random, Rule, SlowWalk, Violation, begin, check_partial, close, extend, graph_end,
    number_of,
};
use crate::dag::{EndCause, PathDag, StartKind};
use crate::graph::{BlockId, EdgeRef, FlowGraph};
use crate::plan::{EdgeOp, Plan, Update};
use crate::regenerate::{Path, PathEnd};

/// The machine of rule 8.
struct Machine<'a, G> {
    graph: &'a G,
    dag: &'a PathDag,
    /// `None`: nothing usable.
    register: Option<u64>,
    /// The current path, as far as it has been walked.
    path: Path,
}

impl<G: FlowGraph> Machine<'_, G> {
    /// Executes `op` and returns the number that it reports.
    fn apply(&mut self, op: EdgeOp) -> Result<Option<u64>, Violation> {
        match op.update {
            Update::Keep => {}
            Update::Set(value) => self.register = Some(value),
            Update::Add(value) => {
                ensure!(value != 0, Placement, "an addition of 0");
                self.register = self.register.and_then(|r| r.checked_add(value));
            }
            Update::Run(_) => ensure!(false, Placement, "a program in a plan for one register"),
        }
        let Some(next) = op.restart else { return Ok(None) };
        let reported = self.register;
        ensure!(
            reported.is_some(),
            Placement,
            "nothing to report at the end of {:?}",
            self.path
        );
        self.register = Some(next);
        Ok(reported)
    }

    /// Checks the number that was `reported` on arrival. `silent`: the stated path of a silent edge.
    fn arrived(&mut self, reported: Option<u64>, silent: Option<u64>) -> Result<(), Violation> {
        let ended = close(self.graph, self.dag, &self.path);
        let number = number_of(self.dag, &ended);
        match ended.end {
            PathEnd::At(block, cause) => {
                let (seen, how) = match silent {
                    Some(path) => (Some(path), "the silent edge states"),
                    None => (reported, "reported is"),
                };
                ensure!(
                    seen == number,
                    Placement,
                    "{how} {seen:?}, walked was {number:?} {ended:?}"
                );
                ensure!(
                    silent.is_none() || reported.is_none(),
                    Placement,
                    "a silent edge reports"
                );
                let kind = match cause {
                    EndCause::Header => StartKind::Header,
                    EndCause::Cut => StartKind::Cut,
                };
                self.path = begin(kind, block);
                let restart = number_of(self.dag, &self.path);
                ensure!(
                    self.register == restart,
                    Placement,
                    "{block:?} restarts with {:?}, not {restart:?}",
                    self.register
                );
            }
            PathEnd::Exit(_) | PathEnd::Stopped(_) => {
                ensure!(
                    reported.is_none() && silent.is_none(),
                    Placement,
                    "reported {reported:?}, silent {silent:?}, in the middle of {:?}",
                    self.path
                );
                ensure!(
                    self.register == number,
                    Placement,
                    "register {:?}, expected {number:?} after {:?}",
                    self.register,
                    self.path
                );
            }
        }
        check_partial(self.graph, self.dag, &self.path, graph_end(&self.path))
    }

    fn appear(&mut self, kind: StartKind, block: BlockId, op: EdgeOp) -> Result<(), Violation> {
        self.register = None;
        self.path = begin(kind, block);
        let reported = self.apply(op)?;
        self.arrived(reported, None)
    }
}

/// Rule 8.
///
/// # Errors
/// What the machine reported or held wrongly, and where.
pub fn check_plan(
    graph: &impl FlowGraph,
    dag: &PathDag,
    plan: &Plan,
    options: &CheckOptions,
) -> Result<(), Violation> {
    let mut random = Random(options.seed ^ 0x5157);
    let blocks: Vec<BlockId> = plan.extra_starts.iter().map(|s| s.0).collect();
    ensure!(
        blocks == graph.extra_starts(),
        Placement,
        "extra starts {blocks:?}"
    );
    let walk = SlowWalk::new(graph);
    for silent in &plan.silent {
        let to = graph.successors(silent.edge.from)[silent.edge.index as usize];
        ensure!(
            walk.retreating(silent.edge.from, to),
            Placement,
            "silent {silent:?} is not retreating"
        );
        let last = dag
            .regenerate(graph, silent.path)
            .ok()
            .and_then(|p| p.edges.last().copied());
        ensure!(
            last == Some(silent.edge),
            Placement,
            "the path of {silent:?} ends with {last:?}"
        );
    }
    let mut machine = Machine {
        graph,
        dag,
        register: None,
        path: begin(StartKind::Entry, graph.entry()),
    };
    machine.appear(StartKind::Entry, graph.entry(), plan.entry)?;
    for _ in 0..options.steps {
        let at = graph_end(&machine.path);
        let successors = graph.successors(at);
        let throws = !plan.extra_starts.is_empty() && random.below(10) == 0;
        if throws {
            let (block, op) = plan.extra_starts[random.below(plan.extra_starts.len())];
            machine.appear(StartKind::Handler, block, op)?;
        } else if successors.is_empty() || random.below(40) == 0 {
            machine.appear(StartKind::Entry, graph.entry(), plan.entry)?;
        } else {
            let index = random.below(successors.len());
            machine.path = extend(graph, &machine.path, at, index);
            let edge = EdgeRef {
                from: at,
                index: index as u32,
            };
            let silent = plan.silent.iter().find(|s| s.edge == edge).map(|s| s.path);
            let reported = machine.apply(plan.op(edge))?;
            machine.arrived(reported, silent)?;
        }
    }
    Ok(())
}
