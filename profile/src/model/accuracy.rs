//! How well an estimated profile predicts an exact one (PEP sections 6.3 and 6.4).

use std::collections::{BTreeMap, BTreeSet};

use trodden_numbering::{BlockId, EdgeRef};

use crate::model::counts::{MethodCounts, add_up};
use crate::model::edges::EdgeProfile;
use crate::model::map::MethodMap;
use crate::model::profile::Profile;
use crate::model::translate::{Renumbering, same_paths};

/// Settings of [`compare`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AccuracyOptions {
    /// A path is hot if its flow is above this share of the whole flow. Default: 0.00125 (PEP section 6.3).
    pub hot_threshold: f64,
    /// How many of the worst methods are listed at most. Default: 20.
    pub worst_methods: usize,
}

impl Default for AccuracyOptions {
    fn default() -> Self {
        AccuracyOptions {
            hot_threshold: 0.00125,
            worst_methods: 20,
        }
    }
}

/// Result of [`compare`]. The three accuracies are from 0 to 1, and `None` where the exact profile has nothing that
/// could be predicted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accuracy {
    /// Wall weight matching (PEP section 6.3): share of the flow on the actual hot paths that the equally many
    /// hottest estimated paths catch, by exact flow.
    pub path_accuracy: Option<f64>,
    /// Relative overlap (PEP section 6.4): agreement of the branches' biases, weighted by exact frequency.
    pub edge_relative_overlap: Option<f64>,
    /// Absolute overlap (PEP section 6.4): agreement of each branch edge's share of all branch edges.
    pub edge_absolute_overlap: Option<f64>,
    /// Number of actual hot paths.
    pub hot_paths: usize,
    /// Exact flow on them.
    pub hot_flow: u64,
    /// Exact flow on all paths that were compared, in branches.
    pub exact_flow: u64,
    /// Estimated flow on all paths that were compared.
    pub estimated_flow: u64,
    /// Number of exactly counted paths that were left out, because one profile's probes do not report them.
    pub unobserved_paths: usize,
    /// Exact flow on these.
    pub unobserved_flow: u64,
    /// Share of these in the exact profile's whole flow, themselves included; 0 if there is no flow.
    pub unobserved_share: f64,
    /// Share of the exact branch executions at branches that the estimate never saw: they count as mispredicted.
    pub unseen_branch_share: f64,
    /// Share of the exact branch executions at branches whose frequencies do not follow from what the estimate's probes
    /// report ([`MethodMap::known_blocks`]): they count as mispredicted too.
    pub unknown_branch_share: f64,
    /// Counts in either profile whose number names no path: left out.
    pub unknown: u64,
    /// Methods with estimated counts whose class bytes or path cuts the exact profile does not have. Their flow
    /// competes for the hottest estimated paths, and can only miss.
    pub unmatched_methods: usize,
    /// The methods whose share of flow differs most, worst first.
    pub methods: Vec<MethodAccuracy>,
}

/// One method's part in [`Accuracy`].
#[derive(Clone, Debug, PartialEq)]
pub struct MethodAccuracy {
    /// Internal class name.
    pub class: String,
    /// Method name.
    pub name: String,
    /// Method descriptor.
    pub descriptor: String,
    /// Exact flow.
    pub exact_flow: u64,
    /// Estimated flow.
    pub estimated_flow: u64,
    /// Share of the whole exact flow.
    pub exact_share: f64,
    /// Share of the whole estimated flow.
    pub estimated_share: f64,
    /// Relative overlap of this method's branches alone.
    pub edge_relative_overlap: Option<f64>,
}

impl MethodAccuracy {
    /// How far the shares are apart.
    pub fn difference(&self) -> f64 {
        (self.exact_share - self.estimated_share).abs()
    }
}

/// Branch flow of a path, `F(p) = freq(p) * branches(p)` (PEP section 6.3). Saturates. 0 for a number that names
/// no path.
pub fn flow(map: &MethodMap, number: u64, times: u64) -> u64 {
    map.branches_on(number)
        .map_or(0, |branches| branches.saturating_mul(times))
}

/// A method in both profiles: name of the class, hash, method, descriptor.
type Key<'a> = (&'a str, [u8; 32], &'a str, &'a str);

/// Counts of a method whose numbers are those of `map`.
struct Side<'a> {
    map: &'a MethodMap,
    counts: MethodCounts,
    unobserved: BTreeSet<u64>,
}

impl Side<'_> {
    /// Its counts of whole paths.
    fn whole_paths(&self) -> MethodCounts {
        MethodCounts {
            paths: self.counts.paths.clone(),
            ..MethodCounts::default()
        }
    }

    /// What its counts tell of blocks and edges. The map may be another profile's, with other paths unobserved.
    fn known(&self) -> Known {
        let mut map = self.map.clone();
        map.unobserved = self.unobserved.iter().copied().collect();
        let blocks = map.known_blocks(&self.whole_paths());
        Known { map, blocks }
    }
}

/// Which blocks and edges of a method have known frequencies.
struct Known {
    map: MethodMap,
    blocks: Vec<bool>,
}

impl Known {
    fn block(&self, block: BlockId) -> bool {
        self.blocks[block.index()]
    }

    fn edge(&self, edge: EdgeRef) -> bool {
        self.map.known_edge(&self.blocks, edge)
    }
}

type Sides<'a> = BTreeMap<Key<'a>, Vec<Side<'a>>>;

/// One path in the estimate or the exact profile: its method (index into a list) and its number.
pub(crate) type PathId = (usize, u64);

/// Compares an estimated profile with an exact one of the same work.
///
/// Only full paths count, not partial ones. Paths that are [`unobserved`](MethodMap::unobserved) in either profile are
/// left out of both, and their share of the exact flow is reported. Where the estimate numbers a method's paths
/// differently they are translated. Overlap of a switch, or of a branch, is the sum over its outcomes of the lesser of
/// both biases: for two outcomes that is PEP's `1 - |taken_act - taken_est|`. A branch without estimate overlaps by 0,
/// and so does one in a loop whose iterations the estimate's probes do not report, whatever its counts seem to say. Where
/// the exact profile itself does not know a branch there is nothing to compare with. Paths of equal flow are ranked by
/// class, method and number.
pub fn compare(exact: &Profile, estimate: &Profile, options: &AccuracyOptions) -> Accuracy {
    let mut result = Accuracy::default();
    let mut exact_sides = sides(exact);
    let mut estimate_sides = sides(estimate);
    let keys: BTreeSet<Key<'_>> = exact_sides.keys().chain(estimate_sides.keys()).copied().collect();

    let mut flows = Flows::default();
    let mut edges = EdgeSums::default();
    let mut methods = Vec::new();
    for key in keys {
        let mut actual = fold(exact_sides.remove(&key).unwrap_or_default(), &mut result.unknown);
        let guessed = fold(
            estimate_sides.remove(&key).unwrap_or_default(),
            &mut result.unknown,
        );
        // Maps that cut differently stay apart: each is a method of its own, unknown to the other profile.
        let mut pairs: Vec<(Option<Side<'_>>, Option<Side<'_>>)> = Vec::new();
        for guess in guessed {
            match actual.iter().position(|a| same_paths(a.map, guess.map)) {
                Some(at) => {
                    let a = actual.swap_remove(at);
                    let guess = renumber(guess, a.map, &mut result.unknown);
                    pairs.push((Some(a), Some(guess)));
                }
                None => {
                    result.unmatched_methods += usize::from(!guess.counts.paths.is_empty());
                    pairs.push((None, Some(guess)));
                }
            }
        }
        pairs.extend(actual.into_iter().map(|a| (Some(a), None)));
        for (a, e) in pairs {
            let method = flows.add(methods.len(), a.as_ref(), e.as_ref(), &mut result);
            let overlap = edges.add(a.as_ref(), e.as_ref());
            methods.push(MethodAccuracy {
                class: key.0.to_owned(),
                name: key.2.to_owned(),
                descriptor: key.3.to_owned(),
                exact_flow: method.0,
                estimated_flow: method.1,
                exact_share: 0.0,
                estimated_share: 0.0,
                edge_relative_overlap: overlap,
            });
        }
    }
    flows.finish(options.hot_threshold, &mut result);
    edges.finish(&mut result);
    for method in &mut methods {
        method.exact_share = share(method.exact_flow, result.exact_flow).unwrap_or(0.0);
        method.estimated_share = share(method.estimated_flow, result.estimated_flow).unwrap_or(0.0);
    }
    methods.retain(|m| m.exact_flow > 0 || m.estimated_flow > 0);
    methods.sort_by(|a, b| b.difference().total_cmp(&a.difference()));
    methods.truncate(options.worst_methods);
    result.methods = methods;
    result
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn sides(profile: &Profile) -> Sides<'_> {
    let mut sides = Sides::new();
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            let key = (&*class.map.name, class.map.sha256, &*map.name, &*map.descriptor);
            sides.entry(key).or_default().push(Side {
                map,
                counts: counts.clone(),
                unobserved: map.unobserved.iter().copied().collect(),
            });
        }
    }
    sides
}

/// Sums up a class that is in a profile more than once (loaded by two loaders).
fn fold<'a>(same: Vec<Side<'a>>, unknown: &mut u64) -> Vec<Side<'a>> {
    let mut folded: Vec<Side<'a>> = Vec::new();
    for side in same {
        let Some(before) = folded.iter_mut().find(|b| same_paths(b.map, side.map)) else {
            folded.push(side);
            continue;
        };
        let side = renumber(side, before.map, unknown);
        add_up(&mut before.counts.paths, &side.counts.paths);
        before.unobserved.extend(side.unobserved);
    }
    folded
}

fn renumber<'a>(side: Side<'a>, target: &'a MethodMap, unknown: &mut u64) -> Side<'a> {
    let numbers = Renumbering::new(side.map, target);
    let mut counts = MethodCounts::default();
    for (&path, &times) in &side.counts.paths {
        match numbers.whole(path) {
            Ok(path) => {
                counts.paths.insert(path, times);
            }
            Err(_) => *unknown = unknown.saturating_add(times),
        }
    }
    let unobserved = side
        .unobserved
        .iter()
        .filter_map(|&p| numbers.whole(p).ok())
        .collect();
    Side {
        map: target,
        counts,
        unobserved,
    }
}

/// The paths of both profiles with their flow, for the hot ones.
#[derive(Default)]
pub(crate) struct Flows {
    pub exact: BTreeMap<PathId, u64>,
    pub estimate: BTreeMap<PathId, u64>,
}

impl Flows {
    /// Adds a method's paths; its (exact, estimated) flow.
    fn add(
        &mut self,
        method: usize,
        exact: Option<&Side<'_>>,
        estimate: Option<&Side<'_>>,
        result: &mut Accuracy,
    ) -> (u64, u64) {
        let hidden = |number: u64| {
            [exact, estimate]
                .into_iter()
                .flatten()
                .any(|side| side.unobserved.contains(&number))
        };
        let (mut exact_flow, mut estimated_flow) = (0u64, 0u64);
        for (side, is_exact) in [(exact, true), (estimate, false)] {
            let Some(side) = side else { continue };
            for (&number, &times) in &side.counts.paths {
                let Ok(branches) = side.map.branches_on(number) else {
                    result.unknown = result.unknown.saturating_add(times);
                    continue;
                };
                let flow = branches.saturating_mul(times);
                match (hidden(number), is_exact) {
                    (true, true) => {
                        result.unobserved_paths += 1;
                        result.unobserved_flow = result.unobserved_flow.saturating_add(flow);
                    }
                    (true, false) => {}
                    (false, true) => {
                        exact_flow = exact_flow.saturating_add(flow);
                        self.exact.insert((method, number), flow);
                    }
                    (false, false) => {
                        estimated_flow = estimated_flow.saturating_add(flow);
                        self.estimate.insert((method, number), flow);
                    }
                }
            }
        }
        result.exact_flow = result.exact_flow.saturating_add(exact_flow);
        result.estimated_flow = result.estimated_flow.saturating_add(estimated_flow);
        (exact_flow, estimated_flow)
    }

    /// Which paths are hot, and how much of their flow the estimate catches.
    pub fn finish(self, hot_threshold: f64, result: &mut Accuracy) {
        let least = result.exact_flow as f64 * hot_threshold;
        let hot: BTreeMap<PathId, u64> = self
            .exact
            .into_iter()
            .filter(|&(_, flow)| flow > 0 && flow as f64 > least)
            .collect();
        result.hot_paths = hot.len();
        result.hot_flow = hot.values().fold(0, |sum, f| sum.saturating_add(*f));
        let mut ranked: Vec<(PathId, u64)> = self.estimate.into_iter().filter(|&(_, f)| f > 0).collect();
        // Stable: paths of equal flow stay in the order of their ids.
        ranked.sort_by_key(|&(_, flow)| std::cmp::Reverse(flow));
        let caught = ranked.iter().take(hot.len()).filter_map(|(id, _)| hot.get(id));
        let caught = caught.fold(0u64, |sum, f| sum.saturating_add(*f));
        result.path_accuracy = share(caught, result.hot_flow);
        let whole = result.exact_flow.saturating_add(result.unobserved_flow);
        result.unobserved_share = share(result.unobserved_flow, whole).unwrap_or(0.0);
    }
}

/// Sums over all branches.
#[derive(Default)]
struct EdgeSums {
    /// Exact branch executions.
    weight: u64,
    /// Those times the branch's overlap.
    agreement: f64,
    /// Exact executions of branches without estimate.
    unseen: u64,
    /// Exact executions of branches of which the estimate cannot say anything.
    unknown: u64,
    /// (exact, estimated) frequency of every branch edge.
    edges: Vec<(u64, u64)>,
}

impl EdgeSums {
    /// Adds a method's branches; their relative overlap.
    fn add(&mut self, exact: Option<&Side<'_>>, estimate: Option<&Side<'_>>) -> Option<f64> {
        let map = exact.or(estimate)?.map;
        let known = |side: Option<&Side<'_>>| side.map(Side::known);
        let (exact_known, estimate_known) = (known(exact), known(estimate));
        let table = |side: Option<&Side<'_>>| match side {
            Some(side) => EdgeProfile::of(map, &side.whole_paths()).branches(map),
            None => EdgeProfile::new(map).branches(map),
        };
        let (mut weight, mut agreement) = (0u64, 0.0);
        for (actual, guess) in table(exact).iter().zip(&table(estimate)) {
            let is_known =
                |known: &Option<Known>| known.as_ref().is_none_or(|known| known.block(actual.block));
            if !is_known(&exact_known) {
                continue;
            }
            let (total, guessed) = (actual.total(), guess.total());
            let both = (0..)
                .zip(actual.outcomes.iter().zip(&guess.outcomes))
                .map(|(index, (a, e))| {
                    let edge = EdgeRef {
                        from: actual.block,
                        index,
                    };
                    let known = estimate_known.as_ref().is_none_or(|known| known.edge(edge));
                    (a.1, if known { e.1 } else { 0 })
                });
            if total > 0 && !is_known(&estimate_known) {
                self.unknown = self.unknown.saturating_add(total);
            } else if total > 0 && guessed > 0 {
                let lesser = |(a, e): (u64, u64)| (a as f64 / total as f64).min(e as f64 / guessed as f64);
                agreement += total as f64 * both.clone().map(lesser).sum::<f64>();
            } else {
                self.unseen = self.unseen.saturating_add(total);
            }
            weight = weight.saturating_add(total);
            self.edges.extend(both.filter(|&both| both != (0, 0)));
        }
        self.weight = self.weight.saturating_add(weight);
        self.agreement += agreement;
        (weight > 0).then(|| agreement / weight as f64)
    }

    fn finish(self, result: &mut Accuracy) {
        if self.weight == 0 {
            return;
        }
        result.edge_relative_overlap = Some(self.agreement / self.weight as f64);
        result.unseen_branch_share = self.unseen as f64 / self.weight as f64;
        result.unknown_branch_share = self.unknown as f64 / self.weight as f64;
        let sum = |side: fn(&(u64, u64)) -> u64| self.edges.iter().map(|e| side(e) as f64).sum::<f64>();
        let (exact, estimate) = (sum(|e| e.0), sum(|e| e.1));
        let lesser = |&(a, e): &(u64, u64)| (a as f64 / exact).min(e as f64 / estimate);
        let overlap = if estimate > 0.0 {
            self.edges.iter().map(lesser).sum()
        } else {
            0.0
        };
        result.edge_absolute_overlap = Some(overlap);
    }
}
