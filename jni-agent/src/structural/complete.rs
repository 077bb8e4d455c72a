//! From windows to a profile: local counts, global ones by coefficients, and Ball-Larus paths from these.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use trodden_instrumenter::MethodId;
use trodden_numbering::structure::{Node, Structure};
use trodden_profile::structural::{GraphCounts, MethodStructure, Structural, structure_of};
use trodden_profile::{ClassProfile, MethodCounts, Profile, facts};

use super::Windows;
use super::graph::Graph;
use crate::host::Host;
use crate::threads::Hashed;

/// Entries that must have been seen for a loop to be scaled by how often it is entered. With fewer, its own
/// rate is better known.
const ENTRIES: u64 = 20;
/// Path ends for each entry up to which a loop is scaled by how often it is entered. A window of a loop that
/// runs for longer seldom sees an entry, and the number of paths that such a window represents decides the
/// scale.
const MAX_ENDS_PER_ENTRY: u64 = 100;

/// A table of path numbers per structure graph.
type Tables<T> = Vec<BTreeMap<u64, T>>;

impl Windows {
    /// Fills the counts of a profile that has none yet. `first_methods`: of each class, the number of its
    /// first method; `hashed`: all hashed counts; `missing`: estimated path ends of a
    /// method in the time without probes, by [`key`](super::key).
    pub fn complete(
        &mut self,
        host: &Host,
        profile: &mut Profile,
        first_methods: &[MethodId],
        window: Option<NonZeroU32>,
        hashed: &[(Hashed, i64)],
        missing: impl Fn(MethodId) -> Option<BTreeMap<u64, f64>>,
    ) {
        self.settle(host, window, hashed, true);
        let now = self.time.now();
        let paces = self.pace.steps();
        let mut structural = Structural {
            window,
            ..Structural::default()
        };
        let (mut unmapped, mut ends, mut silent) = (0.0, 0.0, 0.0);
        let (mut filled, mut counted, mut seen) = (0, 0, 0u64);
        for (index, (class, &first)) in profile.classes.iter_mut().zip(first_methods).enumerate() {
            let ClassProfile { map, counts } = class;
            for (position, (map, counts)) in map.methods.iter().zip(counts).enumerate() {
                let method = first.at(position);
                let Some(graphs) = self.graphs_of(method) else {
                    continue;
                };
                let local: Tables<u64> = graphs.iter().map(Graph::local).collect();
                if local.iter().all(BTreeMap::is_empty) {
                    continue;
                }
                let Ok(structure) = structure_of(&map.graph) else {
                    continue;
                };
                let without = |graph: &Graph| graph.without_probes(now, &paces);
                let all = estimated(graphs, missing(method).unwrap_or_default(), without);
                ends += all.iter().flat_map(BTreeMap::values).sum::<f64>();
                silent += graphs.iter().map(without).sum::<f64>();
                let (global, by_rate) = global(&structure, &local, &all);
                let mapped = structure.ball_larus(&map.graph, &map.dag, &global);
                let mapped = mapped.unwrap_or_default();
                unmapped += mapped.unmapped;
                *counts = MethodCounts {
                    paths: rounded(&mapped.paths),
                    partial: BTreeMap::new(),
                };
                let parts = graphs.iter().zip(local).zip(&global).zip(by_rate);
                let graphs = parts.map(|(((graph, local), global), by_rate)| {
                    filled += graph.windows();
                    counted += local.values().sum::<u64>();
                    seen += u64::from(!local.is_empty());
                    GraphCounts {
                        windows: graph.windows(),
                        local,
                        global: rounded(global),
                        by_rate,
                    }
                });
                let graphs = graphs.collect();
                structural
                    .methods
                    .insert((index as u32, position as u32), MethodStructure { graphs });
            }
        }
        let facts = &mut profile.run.facts;
        facts.set(facts::STRUCTURE_GRAPHS, self.graphs.len() as u64);
        facts.set(facts::STRUCTURE_GRAPHS_RUN, seen);
        facts.set(facts::WINDOWS_FILLED, filled);
        facts.set(facts::WINDOW_PATH_ENDS, counted);
        facts.set(facts::SPANS, self.spans);
        facts.set(facts::STRUCTURAL_PATHS_ESTIMATED, ends.round() as u64);
        facts.set(facts::WITHOUT_PROBES_ESTIMATED, silent.round() as u64);
        let is_unknown = silent > 0.0 && !paces.is_known();
        facts.set(facts::PACE_NOT_KNOWN, u64::from(is_unknown));
        facts.set(facts::UNMAPPED_PATHS_ESTIMATED, unmapped.round() as u64);
        profile.structural = Some(structural);
    }

    fn graphs_of(&self, method: MethodId) -> Option<&[Graph]> {
        self.graphs.get(self.methods.get(&method)?.clone())
    }
}

/// Path ends of the whole run: those of the time with probes, and of each graph those of the time without,
/// in the proportions of what is `missing`, by [`key`](super::key).
fn estimated(graphs: &[Graph], missing: BTreeMap<u64, f64>, without: impl Fn(&Graph) -> f64) -> Tables<f64> {
    let mut all: Tables<f64> = graphs.iter().map(|graph| graph.estimated().collect()).collect();
    let mut sums = vec![0.0; graphs.len()];
    let graph_of = |key: u64| (key >> 32) as usize;
    for (&key, count) in &missing {
        if let Some(sum) = sums.get_mut(graph_of(key)) {
            *sum += count;
        }
    }
    let scales: Vec<f64> = (graphs.iter().zip(sums))
        .map(|(graph, sum)| if sum > 0.0 { without(graph) / sum } else { 0.0 })
        .collect();
    for (key, count) in missing {
        if let Some(table) = all.get_mut(graph_of(key)) {
            *table.entry(key & 0xffff_ffff).or_default() += count * scales[graph_of(key)];
        }
    }
    all
}

/// Global counts, and which graphs' are by their own rates. A loop's are scaled so that it is entered as
/// often as the graph around it goes through it (SPP figure 7), if it was seen to be entered often enough.
fn global(
    structure: &Structure,
    local: &[BTreeMap<u64, u64>],
    all: &[BTreeMap<u64, f64>],
) -> (Tables<f64>, Vec<bool>) {
    let mut entries = vec![0.0; all.len()];
    let mut global = Tables::new();
    let mut by_rate = Vec::new();
    for (index, (graph, counts)) in structure.graphs().iter().zip(all).enumerate() {
        let paths: BTreeMap<u64, _> = (counts.keys())
            .filter_map(|&path| Some((path, graph.path(path).ok()?)))
            .collect();
        let enters = |path: &u64| paths.get(path).is_some_and(|path| path.enters());
        let seen: u64 = (local[index].iter())
            .filter(|(path, _)| enters(path))
            .map(|(_, n)| n)
            .sum();
        let estimated: f64 = (counts.iter())
            .filter(|(path, _)| enters(path))
            .map(|(_, n)| n)
            .sum();
        let few = seen < ENTRIES || seen.saturating_mul(MAX_ENDS_PER_ENTRY) < local[index].values().sum();
        let rate = graph.parent().is_none() || few || estimated <= 0.0 || entries[index] <= 0.0;
        let scale = if rate { 1.0 } else { entries[index] / estimated };
        let scaled: BTreeMap<u64, f64> = counts.iter().map(|(&path, n)| (path, n * scale)).collect();
        for (number, path) in &paths {
            for node in &path.nodes {
                if let Node::Loop(inner) = *node {
                    entries[inner] += scaled[number];
                }
            }
        }
        global.push(scaled);
        by_rate.push(rate);
    }
    (global, by_rate)
}

fn rounded(counts: &BTreeMap<u64, f64>) -> BTreeMap<u64, u64> {
    let counts = counts.iter().map(|(&path, count)| (path, count.round() as u64));
    counts.filter(|&(_, count)| count > 0).collect()
}

#[cfg(test)]
mod tests {
    use trodden_numbering::SimpleGraph;

    use super::*;

    /// `while (a) { … }` with a loop of two ways inside: 0 → 1 → 2 ⇄ 3, 2 → 1, 1 → 4.
    fn structure() -> Structure {
        let graph = SimpleGraph::new(5, &[(0, 1), (1, 2), (1, 4), (2, 3), (2, 1), (3, 2)]);
        structure_of(&graph).unwrap()
    }

    fn number(structure: &Structure, graph: usize, text: &str) -> u64 {
        let of = &structure.graphs()[graph];
        (0..of.dag().num_paths())
            .find(|&n| of.path(n).unwrap().to_string() == text)
            .unwrap_or_else(|| panic!("{text}"))
    }

    /// The inner loop was seen to be entered 30 times where the outer one goes through it 60 times:
    /// everything in it counts twice. With a handful of entries seen, its own rate is taken.
    #[test]
    fn loops_are_scaled_by_how_often_they_are_entered() {
        let structure = structure();
        let n = |graph, text| number(&structure, graph, text);
        let outer = [
            (n(1, "E1-1-L2-(1)"), 30),
            (n(1, "(1)-1-L2-(1)"), 30),
            (n(1, "(1)-1-X4"), 30),
        ];
        let tables =
            |inner: [(u64, u64); 3]| -> Tables<u64> { vec![[(0, 30)].into(), outer.into(), inner.into()] };
        let float = |tables: &Tables<u64>| -> Tables<f64> {
            let table = |t: &BTreeMap<u64, u64>| t.iter().map(|(&path, &n)| (path, n as f64)).collect();
            tables.iter().map(table).collect()
        };
        let paths = ["E2-2-3-(2)", "(2)-2-3-(2)", "(2)-2-X1"].map(|text| n(2, text));
        let many = tables([(paths[0], 30), (paths[1], 70), (paths[2], 30)]);
        let (counts, by_rate) = global(&structure, &many, &float(&many));
        assert_eq!(by_rate, [true, false, false]);
        assert_eq!(paths.map(|path| counts[2][&path]), [60.0, 140.0, 60.0]);
        let few = tables([(paths[0], 3), (paths[1], 900), (paths[2], 3)]);
        let (counts, by_rate) = global(&structure, &few, &float(&few));
        assert_eq!(by_rate, [true, false, true]);
        assert_eq!(paths.map(|path| counts[2][&path]), [3.0, 900.0, 3.0]);
        // Most windows saw none.
        let long = tables([(paths[0], 30), (paths[1], 9_000), (paths[2], 30)]);
        let (counts, by_rate) = global(&structure, &long, &float(&long));
        assert_eq!(by_rate, [true, false, true]);
        assert_eq!(paths.map(|path| counts[2][&path]), [30.0, 9_000.0, 30.0]);
    }
}
