//! Calling contexts: which chains of calls are hot (HCCT, D'Elia et al., PLDI 2011). One model, drawn by each format.

mod time;

use trodden_numbering::{Path, StartKind};
use trodden_profile::{ContextNode, Contexts, CpuTime, Key, MethodMap, PhiOutOfRange, Profile, path_key};

pub use time::ContextTimes;

use crate::decisions::{Decision, Decisions};
use crate::names;
use crate::pattern::MethodPattern;
use crate::source::below;

/// How to show calling contexts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContextsOptions {
    /// From which share of all calls on a context is hot; `None`: as it was counted (1e-4 if all were). Cannot be smaller
    /// than that. Collapsed stacks show all that was counted unless it is given.
    pub phi: Option<f64>,
    /// Collapsed stacks and flame graph: tell call sites of the same method apart by their source lines.
    pub call_sites: bool,
}

/// Contexts that take so much of the CPU time are shown, however seldom they are called.
const LEAST_TIME: f64 = 0.005;

/// A profile's contexts, and which of them are hot.
#[derive(Debug)]
pub struct ContextsView<'p> {
    /// The profile itself.
    pub profile: &'p Profile,
    /// The section.
    pub contexts: &'p Contexts,
    /// From how many calls on a context is hot.
    pub threshold: u64,
    /// Per context: is it hot (by the most calls that it may have had), and of a method that was chosen?
    pub hot: Vec<bool>,
    /// Per context, the one that it was called from.
    pub parents: Vec<Option<u32>>,
    /// CPU time of each context, if the profile has samples.
    pub times: Option<ContextTimes>,
    /// As asked for.
    pub options: ContextsOptions,
    /// Chooses methods.
    pub pattern: Option<MethodPattern>,
    /// Are decisions shown as what the bytecode did?
    bytecode: bool,
}

impl<'p> ContextsView<'p> {
    /// The contexts of a profile, if it has any. `bytecode`: decisions are shown as what the bytecode did.
    ///
    /// # Errors
    /// If `phi` is out of range.
    pub fn new(
        profile: &'p Profile,
        options: ContextsOptions,
        pattern: Option<&MethodPattern>,
        bytecode: bool,
    ) -> Result<Option<Self>, PhiOutOfRange> {
        let Some(contexts) = &profile.contexts else {
            return Ok(None);
        };
        let threshold = contexts.threshold(options.phi)?;
        let mut view = ContextsView {
            profile,
            contexts,
            threshold,
            hot: Vec::new(),
            parents: contexts.tree.parents(),
            times: None,
            options,
            pattern: pattern.cloned(),
            bytecode,
        };
        let is_hot = |node: &ContextNode| node.calls.is_some_and(|(_, most)| most >= threshold);
        let nodes = contexts.tree.nodes().iter();
        view.hot = nodes.map(|node| is_hot(node) && view.is_chosen(node)).collect();
        view.times = ContextTimes::of(profile, contexts.tree.nodes(), &view.parents);
        Ok(Some(view))
    }

    fn is_chosen(&self, node: &ContextNode) -> bool {
        let (class, method) = self.method(node);
        let pattern = self.pattern.as_ref();
        pattern.is_none_or(|pattern| pattern.matches(class, &method.name, &method.descriptor))
    }

    /// All contexts.
    pub fn nodes(&self) -> &'p [ContextNode] {
        self.contexts.tree.nodes()
    }

    /// Class and method that a context runs.
    pub fn method(&self, node: &ContextNode) -> (&'p str, &'p MethodMap) {
        let class = &self.profile.classes[node.class as usize].map;
        (&class.name, &class.methods[node.method as usize])
    }

    /// Source file of the method that a context runs, `demo/App.java`, and the method's first line.
    pub fn place(&self, node: &ContextNode) -> (Option<String>, Option<u32>) {
        let class = &self.profile.classes[node.class as usize].map;
        let file = class.source_file.as_deref();
        let file = file
            .and_then(|file| below(&class.name, file))
            .map(|path| path.display().to_string());
        let lines = &class.methods[node.method as usize].lines;
        (file, lines.iter().map(|entry| entry.line).min())
    }

    /// Source line of the call that began a context.
    pub fn call_line(&self, at: usize) -> Option<u32> {
        let caller = &self.nodes()[self.parents[at]? as usize];
        self.method(caller).1.line(u32::from(self.nodes()[at].site?))
    }

    /// The caller of a context with its map, and the path that it took to the call, where that was recorded and the number
    /// names one.
    pub fn path_to_call(&self, at: usize) -> Option<(&'p ContextNode, &'p MethodMap, Path)> {
        let node = &self.nodes()[at];
        let (register, site) = (node.prefix?, node.site?);
        let from = &self.nodes()[self.parents[at]? as usize];
        let (_, caller) = self.method(from);
        let block = caller.block_at(site.into())?;
        let path = caller
            .dag
            .regenerate_partial(&caller.graph, register.into(), block);
        Some((from, caller, path.ok()?))
    }

    /// The key of a context, from its caller's.
    pub fn key(&self, at: usize, caller: Option<Key>) -> Key {
        let node = &self.nodes()[at];
        let (class, method) = self.method(node);
        let along = self.path_to_call(at);
        let along = along.map(|(_, caller, path)| path_key(caller.graph_key(), &path));
        Key::of_context(
            caller,
            (class, &method.name, &method.descriptor),
            node.site,
            along,
        )
    }

    /// The decisions of the method that a context runs.
    pub fn decisions(&self, node: &ContextNode) -> Decisions {
        let place = (node.class, node.method);
        match self.profile.conditions.get(&place).filter(|_| !self.bytecode) {
            Some(conditions) => Decisions::new(self.method(node).1, conditions, None),
            None => Decisions::default(),
        }
    }

    /// That path in words: where it began if not at the caller's beginning, and each decision on it.
    pub fn call_path_text(&self, at: usize) -> Option<String> {
        let (from, caller, path) = self.path_to_call(at)?;
        let decisions = self.decisions(from);
        let description = caller.describe_path(&path);
        let is_later = description.start_kind != StartKind::Entry;
        let start = is_later.then(|| decisions.starts(caller, &description));
        let edges = caller.decided(&path.edges);
        let own = edges.filter(|edge| decisions.made(edge.from.index()).is_none());
        let steps = own.map(|edge| {
            let place = names::place_of(caller, caller.blocks[edge.from.index()].last);
            match decisions.of(edge.from.index()).and_then(Decision::phrase) {
                // It names its place itself.
                None if decisions
                    .outcome(edge.from.index(), edge.index as usize)
                    .is_some() =>
                {
                    decisions.followed(caller, edge)
                }
                _ => format!("{place} {}", decisions.followed(caller, edge)),
            }
        });
        let parts: Vec<String> = start.into_iter().chain(steps).collect();
        Some(if parts.is_empty() {
            "straight".to_owned()
        } else {
            parts.join(", ")
        })
    }

    /// `a.b.C.m(int)`.
    pub fn title(&self, node: &ContextNode) -> String {
        let (class, method) = self.method(node);
        names::title(class, &method.name, &method.descriptor)
    }

    /// Share of all calls.
    pub fn share(&self, calls: u64) -> f64 {
        calls as f64 / self.contexts.calls.max(1) as f64
    }

    /// Where the share would lie, 95 times of 100, had bursts fallen at other times, by how groups of bursts differ. `None`: there
    /// were none, or too few.
    pub fn share_interval(&self, at: usize) -> Option<[f64; 2]> {
        let groups = self.contexts.groups.as_ref()?;
        let (low, high) = groups.of(at)?.share_interval(&groups.all)?;
        Some([low, high])
    }

    /// Is there a context whose share has an interval?
    pub fn has_intervals(&self) -> bool {
        let groups = self.contexts.groups.as_ref();
        groups.is_some_and(|groups| groups.all.share_interval(&groups.all).is_some())
    }

    /// The hottest contexts, at most so many, by estimate; those of the same estimate in order.
    pub fn hottest(&self, top: usize) -> Vec<usize> {
        let nodes = self.nodes();
        let mut hot: Vec<usize> = (0..nodes.len()).filter(|&at| self.hot[at]).collect();
        hot.sort_by_key(|&at| std::cmp::Reverse(nodes[at].estimate()));
        hot.truncate(top);
        hot
    }

    /// What is shown: the [`hottest`](Self::hottest) contexts, and those that take most CPU time in themselves, at most so many of
    /// each.
    pub fn chosen(&self, top: usize) -> Vec<usize> {
        let mut chosen = self.hottest(top);
        if let Some(times) = &self.times {
            let least = times.total.ns as f64 * LEAST_TIME;
            let mut slow: Vec<usize> = (0..times.own.len())
                .filter(|&at| times.own[at].ns as f64 >= least && self.is_chosen(&self.nodes()[at]))
                .collect();
            slow.sort_by_key(|&at| std::cmp::Reverse(times.own[at].ns));
            slow.truncate(top);
            slow.retain(|at| !chosen.contains(at));
            chosen.extend(slow);
        }
        chosen
    }

    /// CPU time of a context as shares of all that was sampled: its own, and with all that it calls. `None`: there are no samples.
    pub fn time_shares(&self, at: usize) -> Option<[f64; 2]> {
        let times = self.times.as_ref()?;
        let share = |time: CpuTime| time.ns as f64 / times.total.ns.max(1) as f64;
        Some([share(times.own[at]), share(times.whole[at])])
    }

    /// These and all above them, in order, each with the position of its caller in the list.
    pub fn with_callers(&self, chosen: &[usize]) -> Vec<(usize, Option<usize>)> {
        let mut keep = vec![false; self.nodes().len()];
        for &at in chosen {
            let mut at = Some(at);
            while let Some(node) = at.filter(|&node| !std::mem::replace(&mut keep[node], true)) {
                at = self.parents[node].map(|parent| parent as usize);
            }
        }
        let mut places = vec![0; keep.len()];
        let mut list: Vec<(usize, Option<usize>)> = Vec::new();
        for at in (0..keep.len()).filter(|&at| keep[at]) {
            places[at] = list.len();
            list.push((at, self.parents[at].map(|parent| places[parent as usize])));
        }
        list
    }
}
