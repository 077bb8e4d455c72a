//! One side of a comparison: executions per block and edge, per method.

use std::cell::OnceCell;

use trodden_numbering::{BlockId, FlowGraph, Path};
use trodden_profile::{
    ClassProfile, EdgeProfile, ExecutedMethod, MethodConditions, MethodCounts, MethodMap, Profile,
};

use crate::decisions::Decisions;
use crate::view::damage;

/// A method in one of the profiles.
#[derive(Debug)]
pub struct Side<'p> {
    /// Internal name of its class.
    pub class: &'p str,
    /// The class's source file.
    pub source_file: Option<&'p str>,
    /// Its path map.
    pub map: &'p MethodMap,
    /// Its counts.
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
    /// True if the counts are readings of the path register.
    pub readings: bool,
    /// The conditions of its branches, as far as they were recovered.
    pub conditions: Option<&'p MethodConditions>,
    decisions: OnceCell<Decisions>,
}

impl<'p> Side<'p> {
    /// A method of a profile, by its class and its place there, with exact counts of the run or of a part of it; `None`
    /// if it cannot be read.
    pub fn of_part(profile: &'p Profile, place: (u32, u32), counts: &'p MethodCounts) -> Option<Self> {
        Some(Side {
            conditions: profile.conditions.get(&place),
            ..Self::of_class(profile.classes.get(place.0 as usize)?, place.1 as usize, counts)?
        })
    }

    /// A method of a class, with exact counts; nothing is known of its conditions.
    pub fn of_class(class: &'p ClassProfile, index: usize, counts: &'p MethodCounts) -> Option<Self> {
        let map = class.map.methods.get(index)?;
        if damage(map).is_some() {
            return None;
        }
        let ran = ExecutedMethod::new(map, counts);
        Some(Side {
            class: &class.map.name,
            source_file: class.map.source_file.as_deref(),
            map,
            counts,
            edges: ran.edges,
            known_blocks: ran.known_blocks,
            entries: ran.entries,
            work: ran.work,
            density: 1.0,
            readings: false,
            conditions: None,
            decisions: OnceCell::new(),
        })
    }

    /// The conditions of its branches.
    pub fn decisions(&self) -> &Decisions {
        let recovered = |of: &MethodConditions| Decisions::new(self.map, of, None);
        self.decisions
            .get_or_init(|| self.conditions.map(recovered).unwrap_or_default())
    }

    /// All paths with their counts, those that were cut off included.
    pub fn paths(&self) -> impl Iterator<Item = (Path, u64)> + use<'p> {
        let executed = self.map.executed(self.counts).flatten();
        executed.map(|executed| (executed.path, executed.times))
    }

    /// Instructions of a block; in profiles without shapes about as many as its bytes allow.
    pub fn length(&self, block: usize) -> u64 {
        self.map.instructions(block)
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
pub fn sides(profile: &Profile) -> Vec<Side<'_>> {
    let (basis, readings) = (profile.count_basis(), profile.run.has_readings_only());
    let mut sides = Vec::new();
    for (class, position) in profile.classes.iter().zip(0..) {
        for (counts, index) in class.counts.iter().zip(0..) {
            let place = (position, index);
            if let Some(side) = Side::of_part(profile, place, counts) {
                let density = basis.of_method(profile, place).rate().mean();
                sides.push(Side {
                    density,
                    readings,
                    ..side
                });
            }
        }
    }
    sides
}
