//! One side of a comparison: executions per block and edge, per method.

use std::cell::OnceCell;

use trodden_numbering::{BlockId, FlowGraph, Path, StartKind};
use trodden_profile::{
    ClassProfile, EdgeProfile, MethodConditions, MethodCounts, MethodMap, Observation, Profile, facts,
};

use crate::decisions::Decisions;
use crate::findings::instructions;
use crate::view::damage;

/// A method in one of the profiles.
#[derive(Debug)]
pub(crate) struct Side<'p> {
    /// Internal name of its class.
    pub class: &'p str,
    pub source_file: Option<&'p str>,
    pub map: &'p MethodMap,
    pub counts: &'p MethodCounts,
    /// Executions of blocks and edges.
    pub edges: EdgeProfile,
    /// Per block: do the counts say how often it ran?
    pub known_blocks: Vec<bool>,
    /// Activations that were counted.
    pub entries: u64,
    /// Executed bytecode instructions.
    pub work: u64,
    /// Counted events for each execution that the counts speak of: 1 if all were counted.
    pub density: f64,
    /// Are the counts readings of the path register?
    pub readings: bool,
    /// What its branches decide, as far as it was recovered.
    pub conditions: Option<&'p MethodConditions>,
    decisions: OnceCell<Decisions>,
}

impl<'p> Side<'p> {
    pub fn new(class: &'p ClassProfile, index: usize, density: f64) -> Option<Self> {
        Self::of_counts(class, index, class.counts.get(index)?, density)
    }

    /// The same with counts of a part of the run.
    pub fn of_counts(
        class: &'p ClassProfile,
        index: usize,
        counts: &'p MethodCounts,
        density: f64,
    ) -> Option<Self> {
        let map = class.map.methods.get(index)?;
        if damage(map).is_some() {
            return None;
        }
        let mut side = Side {
            class: &class.map.name,
            source_file: class.map.source_file.as_deref(),
            map,
            counts,
            edges: EdgeProfile::new(map),
            known_blocks: map.known_blocks(counts),
            entries: 0,
            work: 0,
            density,
            readings: false,
            conditions: None,
            decisions: OnceCell::new(),
        };
        for (path, times) in side.paths() {
            if path.start == StartKind::Entry {
                side.entries = side.entries.saturating_add(times);
            }
            side.edges.add(map, &path, times);
        }
        side.work = (0..map.num_blocks()).fold(0u64, |sum, block| {
            sum.saturating_add(side.edges.blocks[block].saturating_mul(side.length(block)))
        });
        Some(side)
    }

    /// What its branches decide.
    pub fn decisions(&self) -> &Decisions {
        let recovered = |of: &MethodConditions| Decisions::new(self.map, of, None);
        self.decisions
            .get_or_init(|| self.conditions.map(recovered).unwrap_or_default())
    }

    /// All paths with their counts, those that were cut off included.
    pub fn paths(&self) -> impl Iterator<Item = (Path, u64)> + use<'p> {
        let map = self.map;
        let whole = self.counts.paths.iter().filter_map(move |(&number, &times)| {
            let path = map.dag.regenerate(&map.graph, number).ok()?;
            Some((path, times))
        });
        let partial = self
            .counts
            .partial
            .iter()
            .filter_map(move |(&(block, number), &times)| {
                let stopped = BlockId::new(block as usize);
                let path = map.dag.regenerate_partial(&map.graph, number, stopped).ok()?;
                Some((path, times))
            });
        whole.chain(partial).filter(|&(_, times)| times > 0)
    }

    /// Instructions of a block; in profiles without shapes about as many as its bytes allow.
    pub fn length(&self, block: usize) -> u64 {
        instructions(self.map, block)
    }

    /// How often a block was left by each of its edges, as shares; `None` if it never ran, or if the probes do not report
    /// all that went through it.
    pub fn probabilities(&self, block: usize) -> Option<Vec<f64>> {
        if !self.known_blocks[block] {
            return None;
        }
        let edges = &self.edges.edges[block];
        let total: f64 = edges.iter().map(|&n| n as f64).sum();
        (total > 0.0).then(|| edges.iter().map(|&n| n as f64 / total).collect())
    }

    /// Successors of a block.
    pub fn successors(&self, block: usize) -> &[BlockId] {
        self.map.graph.successors(BlockId::new(block))
    }
}

/// All methods of a profile that can be read, in the profile's order.
pub(crate) fn sides(profile: &Profile) -> Vec<Side<'_>> {
    let mut sides = Vec::new();
    let sampled = sampled_share(profile);
    for (position, class) in profile.classes.iter().enumerate() {
        for index in 0..class.map.methods.len() {
            let place = (position as u32, index as u32);
            let partly = (profile.observations)
                .binary_search_by_key(&place, |o| (o.class, o.method))
                .ok()
                .map(|at| &profile.observations[at]);
            let density = partly.map_or(sampled, |o| counted_share(o, class, index));
            if let Some(mut side) = Side::new(class, index, density) {
                side.conditions = profile.conditions.get(&place);
                side.readings = profile.run.has_readings_only();
                sides.push(side);
            }
        }
    }
    sides
}

/// Of a method that had probes for a part of the run.
fn counted_share(observation: &Observation, class: &ClassProfile, index: usize) -> f64 {
    let all = class.counts.get(index).map_or(0, MethodCounts::total);
    match all {
        0 => 1.0,
        all => (observation.counted as f64 / all as f64).min(1.0),
    }
}

/// Samples for each path end that the counts speak of; 1 where every one was counted.
fn sampled_share(profile: &Profile) -> f64 {
    if profile.run.exact || profile.run.probe == "auto" {
        return 1.0;
    }
    let counts = profile.classes.iter().flat_map(|c| &c.counts);
    let all: f64 = counts
        .map(|c| c.total() as f64 + c.partial.values().sum::<u64>() as f64)
        .sum();
    match profile.run.facts.get(facts::SAMPLES) {
        Some(samples) if all > 0.0 => (samples as f64 / all).min(1.0),
        // Nothing is said of how the counts came about: they are taken for samples.
        _ => 1.0,
    }
}
