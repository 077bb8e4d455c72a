//! From a profile to rows.

use std::collections::BTreeSet;
use std::sync::Arc;

use trodden_profile::{
    ContextNode, Contexts, CountBasis, EdgeProfile, Key, MethodCounts, MethodMap, Profile, facts,
};

use super::about::{About, counts_all_paths};
use super::classes::{Class, Classes, Number};
use super::requests::RequestRows;
use super::signatures::Signature;

/// The row of a window.
#[derive(Clone, Debug)]
pub(crate) struct WindowRow {
    pub about: About,
    pub exact: bool,
    pub complete: bool,
    pub probe: String,
    pub java: String,
    pub command: String,
    pub path_ends: u64,
    pub lost: u64,
    pub cpu_ns: Option<u64>,
}

/// A count of a path in one window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathRow {
    pub signature: Signature,
    pub graph: Key,
    pub path: Key,
    pub count: u64,
    pub exact: bool,
    /// Half of the interval's width, as a share of the count.
    pub error: Option<f64>,
}

/// A count of an edge; none: it was not counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeRow {
    pub signature: Signature,
    pub graph: Key,
    pub edge: Key,
    pub count: Option<u64>,
    pub exact: bool,
}

/// Work of a method.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MethodRow {
    pub signature: Signature,
    pub paths: u64,
    pub decisions: u64,
    /// Nanoseconds and samples.
    pub cpu: Option<(u64, u64)>,
}

/// Calls in a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContextRow {
    pub context: Key,
    /// Position of the caller among the rows.
    pub parent: Option<u32>,
    pub signature: Signature,
    pub site: Option<u16>,
    pub along: Option<Key>,
    pub depth: u32,
    pub count: u64,
    pub exact: bool,
}

/// All rows of a profile.
#[derive(Debug)]
pub(crate) struct Extract {
    pub window: WindowRow,
    pub paths: Vec<PathRow>,
    pub edges: Vec<EdgeRow>,
    pub methods: Vec<MethodRow>,
    pub contexts: Vec<ContextRow>,
    pub requests: RequestRows,
    /// Paths with a count: class and method by position, number.
    pub counted: Vec<(u32, u32, Number)>,
    /// Parallel to the profile's.
    pub classes: Vec<Arc<Class>>,
}

impl Extract {
    pub fn of(profile: &Profile, about: About, classes: &Classes) -> Extract {
        let run = &profile.run;
        let lost = run.facts.get(facts::LOST).unwrap_or(0);
        let time = profile.cpu.as_ref().map(|cpu| cpu.total().plus(cpu.lost).ns);
        let mut extract = Extract {
            window: WindowRow {
                about,
                exact: run.exact && lost == 0,
                complete: run.exact && lost == 0 && counts_all_paths(&run.facts),
                probe: run.probe.clone(),
                java: run.jvm.clone(),
                command: run.command.clone(),
                path_ends: 0,
                lost,
                cpu_ns: time,
            },
            paths: Vec::new(),
            edges: Vec::new(),
            methods: Vec::new(),
            contexts: Vec::new(),
            requests: RequestRows::default(),
            counted: Vec::new(),
            classes: profile
                .classes
                .iter()
                .map(|class| classes.of(&class.map))
                .collect(),
        };
        let basis = profile.count_basis();
        for position in 0..profile.classes.len() {
            for method in 0..profile.classes[position].map.methods.len() {
                extract.add_method(profile, (position, method), (basis, lost > 0), classes);
            }
        }
        extract.add_covered(profile);
        extract.add_time(profile, classes);
        extract.add_ran(profile);
        extract.requests = RequestRows::of(profile, &extract.classes, classes);
        if let Some(contexts) = &profile.contexts {
            extract.add_contexts(profile, contexts, classes);
        }
        extract
    }

    fn add_method(
        &mut self,
        profile: &Profile,
        (position, method): (usize, usize),
        (basis, has_losses): (CountBasis, bool),
        classes: &Classes,
    ) {
        let class = Arc::clone(&self.classes[position]);
        let map = &profile.classes[position].map.methods[method];
        let counted = profile.classes[position].counts.get(method);
        let is_counted = |counts: &&MethodCounts| {
            counts
                .paths
                .values()
                .chain(counts.partial.values())
                .any(|&n| n > 0)
        };
        // A forest of sequences knows the counts of their first paths.
        let roots = || {
            let forest = profile.kpaths.as_ref()?.methods.get(&(position, method))?;
            let paths = forest.roots().map(|(_, root)| (root.path, root.count)).collect();
            Some(MethodCounts {
                paths,
                ..MethodCounts::default()
            })
        };
        let other;
        let counts = match counted.filter(is_counted) {
            Some(counts) => counts,
            None => match roots() {
                Some(roots) => {
                    other = roots;
                    &other
                }
                None => return,
            },
        };
        let of = &class.methods[method];
        let basis = basis.of_method(profile, (position as u32, method as u32));
        let accuracy = Accuracy::of(basis, has_losses);
        let mut row = MethodRow {
            signature: of.signature,
            paths: 0,
            decisions: 0,
            cpu: profile.cpu.as_ref().map(|_| (0, 0)),
        };
        let mut ways = vec![0u64; of.ways.len()];
        let whole = counts
            .paths
            .iter()
            .map(|(&number, &count)| ((number, None), count));
        let partial = counts
            .partial
            .iter()
            .map(|(&(block, number), &count)| ((number, Some(block)), count));
        for (number, count) in whole.chain(partial).filter(|&(_, count)| count > 0) {
            let Some(path) = classes.path(&class, method, number) else {
                // It names no path: of these it is only known that they ran.
                self.window.lost = self.window.lost.saturating_add(count);
                (self.window.exact, self.window.complete) = (false, false);
                continue;
            };
            for &way in &path.ways {
                let sum = &mut ways[way as usize];
                *sum = sum.saturating_add(count);
            }
            row.paths = row.paths.saturating_add(count);
            row.decisions = row
                .decisions
                .saturating_add(count.saturating_mul(path.ways.len() as u64));
            self.window.path_ends = self.window.path_ends.saturating_add(count);
            self.counted.push((position as u32, method as u32, number));
            self.paths.push(PathRow {
                signature: of.signature,
                graph: of.graph,
                path: path.key,
                count,
                exact: accuracy.exact,
                error: accuracy.error(count),
            });
        }
        self.methods.push(row);
        let known = Known::of(map, counts);
        for (way, &count) in of.ways.iter().zip(&ways) {
            let is_known = known.as_ref().is_none_or(|known| known.edge(map, way.edge));
            if count > 0 || !is_known {
                self.edges.push(EdgeRow {
                    signature: of.signature,
                    graph: of.graph,
                    edge: way.key,
                    count: is_known.then_some(count),
                    exact: is_known && accuracy.exact,
                });
            }
        }
    }

    /// Adds what ran, where it was not counted how often.
    fn add_covered(&mut self, profile: &Profile) {
        let Some(coverage) = &profile.coverage else {
            return;
        };
        for (&(position, method), covered) in &coverage.methods {
            let class = Arc::clone(&self.classes[position as usize]);
            let (map, of) = (
                &class.map.methods[method as usize],
                &class.methods[method as usize],
            );
            let edges: EdgeProfile = covered.edge_profile(map);
            let followed = of.ways.iter().filter(|way| edges.count(way.edge) > 0);
            self.edges.extend(followed.map(|way| EdgeRow {
                signature: of.signature,
                graph: of.graph,
                edge: way.key,
                count: None,
                exact: false,
            }));
        }
    }

    /// Adds methods of which nothing else is known than that they ran.
    fn add_ran(&mut self, profile: &Profile) {
        let known: BTreeSet<Signature> = self.methods.iter().map(|row| row.signature).collect();
        let mut ran: BTreeSet<(usize, usize)> = profile.methods_that_ran().into_iter().collect();
        let contexts = profile.contexts.iter();
        let nodes = contexts.flat_map(|contexts| contexts.tree.nodes());
        ran.extend(nodes.map(|node| (node.class as usize, node.method as usize)));
        for (class, method) in ran {
            let signature = self.classes[class].methods[method].signature;
            if !known.contains(&signature) {
                self.methods.push(MethodRow {
                    signature,
                    paths: 0,
                    decisions: 0,
                    cpu: profile.cpu.as_ref().map(|_| (0, 0)),
                });
            }
        }
    }

    /// Time by method, the JDK's too.
    fn add_time(&mut self, profile: &Profile, classes: &Classes) {
        let Some(cpu) = &profile.cpu else {
            return;
        };
        let mut own = vec![(0u64, 0u64); cpu.frames.len()];
        for node in cpu.tree.nodes() {
            if let Some((ns, samples)) = own.get_mut(node.frame as usize) {
                *ns = ns.saturating_add(node.own.ns);
                *samples = samples.saturating_add(node.own.samples);
            }
        }
        for (frame, time) in cpu.frames.iter().zip(own).filter(|(_, time)| *time != (0, 0)) {
            self.methods.push(MethodRow {
                signature: classes
                    .signatures
                    .number(&frame.class, &frame.name, &frame.descriptor),
                paths: 0,
                decisions: 0,
                cpu: Some(time),
            });
        }
    }

    fn add_contexts(&mut self, profile: &Profile, contexts: &Contexts, classes: &Classes) {
        if contexts.weight != trodden_profile::options::ContextWeight::Calls {
            return;
        }
        let is_exact = contexts.is_exact() && contexts.bursts.is_none() && profile.run.exact;
        let nodes = contexts.tree.nodes();
        for (node, parent) in nodes.iter().zip(contexts.tree.parents()) {
            let class = &self.classes[node.class as usize];
            let names = &class.map.methods[node.method as usize];
            let caller = parent.map(|parent| &nodes[parent as usize]);
            let along = caller.and_then(|caller| self.along(node, caller, classes));
            let key = Key::of_context(
                parent.map(|parent| self.contexts[parent as usize].context),
                (&class.map.name, &names.name, &names.descriptor),
                node.site,
                along,
            );
            self.contexts.push(ContextRow {
                context: key,
                parent,
                signature: class.methods[node.method as usize].signature,
                site: node.site,
                along,
                depth: node.depth,
                count: node.estimate(),
                exact: is_exact && node.calls.is_some_and(|(least, most)| least == most),
            });
        }
    }

    /// The path that the caller took to the call.
    fn along(&self, node: &ContextNode, caller: &ContextNode, classes: &Classes) -> Option<Key> {
        let class = &self.classes[caller.class as usize];
        let method = caller.method as usize;
        let block = class.map.methods[method].block_at(node.site?.into())?;
        let number = (u64::from(node.prefix?), Some(block.index() as u32));
        Some(classes.path(class, method, number)?.key)
    }
}

/// Which ways out of branches have known counts, where probes leave loops out.
pub(super) struct Known(Vec<bool>);

impl Known {
    pub fn of(map: &MethodMap, counts: &MethodCounts) -> Option<Known> {
        (!map.unobserved.is_empty()).then(|| Known(map.known_blocks(counts)))
    }

    pub fn edge(&self, map: &MethodMap, edge: trodden_numbering::EdgeRef) -> bool {
        map.known_edge(&self.0, edge)
    }
}

/// How good counts are.
struct Accuracy {
    exact: bool,
    /// Counted events per count, and the share of the count that is estimated from them.
    drawn: Option<(f64, f64)>,
}

impl Accuracy {
    /// `has_losses`: an unknown part of the counts is missing.
    fn of(basis: CountBasis, has_losses: bool) -> Self {
        let drawn = match basis {
            CountBasis::Exact => None,
            CountBasis::Sampled(rate) | CountBasis::Weighted(rate) => rate.of_each().map(|rate| (rate, 1.0)),
            CountBasis::Estimated(rate) => rate.of_each().map(|rate| (rate, 1.0 - rate)),
        };
        Accuracy {
            exact: basis == CountBasis::Exact && !has_losses,
            drawn: drawn.filter(|_| !has_losses),
        }
    }

    /// 1.96 standard errors of a draw of that number of events, as a share.
    fn error(&self, count: u64) -> Option<f64> {
        if self.exact {
            return Some(0.0);
        }
        let (rate, estimated) = self.drawn?;
        let events = count as f64 * rate;
        (events > 0.0).then(|| estimated * 1.96 / events.sqrt())
    }
}
