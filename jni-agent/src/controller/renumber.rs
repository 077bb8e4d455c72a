//! Profile-guided probes by the run's own counts (PEP section 3.4; SPP figure 5 for the controller).
//!
//! *In*: path counts of the first seconds. *Out*: the classes for which other numbers save more than they
//! take, sent through the hook once more. Each of their methods is numbered by the frequencies of its edges,
//! so that the hottest ones carry no register update. A class has two sets of counters then; an activation of
//! a method at that moment continues with the old ones, and a dump adds both up, path by path.

use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use trodden_instrumenter::Guide;
use trodden_numbering::{EdgeWeights, FlowGraph, NumberingOptions, PathDag, Plan, Update};
use trodden_profile::{ClassProfile, EdgeProfile, MethodCounts, MethodMap, Profile};

use super::budget;
use super::counts::entered;
use super::watch::runs_long;
use crate::classes::retransform;
use crate::host::Host;
use crate::jvm::{Jni, JvmError};
use crate::log::debug;
use crate::settings::Settings;

/// Seconds that a register update takes which is on a hot path: an addition to a local variable.
const UPDATE: f64 = 0.3e-9;
/// Seconds within which updates that are saved must have made up for what a class loses until it is compiled
/// again.
const WITHIN: f64 = 60.0;

/// Numbers hot classes again, once.
pub struct Renumber {
    begun: Instant,
    after: Duration,
}

impl Renumber {
    /// A time after now.
    pub fn after(after: Duration) -> Self {
        Renumber {
            begun: Instant::now(),
            after,
        }
    }

    /// True when it is time.
    pub fn is_due(&self) -> bool {
        self.begun.elapsed() >= self.after
    }

    /// Picks among the classes, with their counts so far, and sends them through the hook.
    ///
    /// # Errors
    /// If the counts cannot be had. Then everything stays unchanged.
    pub fn renumber(
        self,
        host: &Host,
        classes: Vec<ClassProfile>,
        settings: &Settings,
        jni: Jni<'_>,
    ) -> Result<(), JvmError> {
        let seconds = self.begun.elapsed().as_secs_f64();
        let skip = settings.instrumenter.options().skip_single_path_loops;
        let limit = settings.instrumenter.options().path_limit;
        let worth = |class: &ClassProfile| {
            let methods = class.map.methods.iter().zip(&class.counts);
            let blocked = methods.clone().any(|(map, counts)| is_long(map, counts, seconds));
            let saved = methods.map(|(map, counts)| saving(map, counts, limit, skip).max(0.0));
            !blocked && saved.sum::<f64>() / seconds * UPDATE * WITHIN > budget::SLOW
        };
        let classes: Vec<ClassProfile> = classes.into_iter().filter(worth).collect();
        let names: FxHashSet<String> = classes.iter().map(|class| class.map.name.clone()).collect();
        debug!("renumber: {} classes", names.len());
        let guide = Guide::new(&Profile {
            classes,
            ..Profile::default()
        });
        let renumbered = settings.renumber(guide, names);
        if renumbered.classes.is_empty() {
            return Ok(());
        }
        let wanted = |name: &str| renumbered.classes.contains(name);
        let done = retransform(host.jvmti, jni, &host.registry, wanted);
        // Set here only: this is done once.
        let _ = renumbered.sent.set((done.classes, done.took));
        Ok(())
    }
}

/// Register updates on the edges that were followed: those of the present numbers, less those of numbers by
/// these frequencies.
fn saving(map: &MethodMap, counts: &MethodCounts, limit: u64, skip_single_path_loops: bool) -> f64 {
    let weights = EdgeWeights::from_parts(EdgeProfile::of(map, counts).frequencies());
    let updates = |dag: &PathDag| -> f64 {
        let plan = Plan::new(&map.graph, dag, skip_single_path_loops);
        let updated = |edge: &_| !matches!(plan.op(*edge).update, Update::Keep);
        let edges = map.graph.edges().map(|(edge, _)| edge);
        edges.filter(updated).map(|edge| weights.get(edge)).sum()
    };
    let options = NumberingOptions { limit, smart: true };
    match PathDag::build(&map.graph, &weights, &options) {
        Ok(dag) => updates(&map.dag) - updates(&dag),
        Err(_) => 0.0,
    }
}

/// True if an activation of the method would stay in the interpreter for long after a change of its class.
fn is_long(map: &MethodMap, counts: &MethodCounts, seconds: f64) -> bool {
    let (activations, inside) = entered(map, &counts.paths);
    runs_long(activations, inside, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trodden_numbering::{BlockId, SimpleGraph};
    use trodden_profile::{BlockExit, BlockInfo, EdgeLabel};

    /// 0 goes to 1 or 2, both go to 3.
    fn diamond() -> MethodMap {
        let successors = vec![vec![1, 2], vec![3], vec![3], vec![]];
        let ids = |row: Vec<usize>| row.into_iter().map(BlockId::new).collect();
        let graph = SimpleGraph::from_parts(
            BlockId::new(0),
            successors.into_iter().map(ids).collect(),
            Vec::new(),
        );
        let weights = EdgeWeights::uniform(&graph);
        let block = |edges: usize| BlockInfo {
            start: 0,
            end: 1,
            last: 0,
            exit: BlockExit::Return,
            labels: vec![EdgeLabel::Goto; edges].into(),
        };
        let dag = PathDag::build(&graph, &weights, &NumberingOptions::default()).unwrap();
        MethodMap {
            name: "diamond".to_owned(),
            descriptor: "()V".to_owned(),
            code_length: 0,
            blocks: [2, 1, 1, 0].map(block).to_vec(),
            graph,
            dag,
            lines: Vec::new(),
            unobserved: Vec::new(),
            inlined: Vec::new(),
            shape: None,
        }
    }

    #[test]
    fn a_hot_edge_with_an_update_is_worth_a_new_number() {
        let map = diamond();
        let counts = |zero: u64, one: u64| MethodCounts {
            paths: [(0, zero), (1, one)].into(),
            ..MethodCounts::default()
        };
        // One of both ways has an update. Path 0 is the one without.
        let limit = i32::MAX as u64;
        assert_eq!(saving(&map, &counts(10, 1_000), limit, false), 990.0);
        assert_eq!(saving(&map, &counts(1_000, 10), limit, false), 0.0);
        assert_eq!(saving(&map, &counts(0, 0), limit, false), 0.0);
    }

    #[test]
    fn straight_methods_do_not_run_long() {
        let counts = MethodCounts {
            paths: [(0, 1_000_000_000)].into(),
            ..MethodCounts::default()
        };
        assert!(!is_long(&diamond(), &counts, 1.0));
    }
}
