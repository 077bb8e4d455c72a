//! The data of the icicle: chains of calls, the larger ones, and what each method did itself and had done.

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::Serialize;
use trodden_insight::contexts::ContextsView;

use super::collapsed::{Frames, Stacks};
use crate::html::embed::Exact;

/// Chains in the page at most.
const MOST_CHAINS: usize = 20_000;
/// Methods in the table at most.
const MOST_METHODS: usize = 20_000;

/// The chains of calls of a profile.
pub(super) struct Icicle {
    stacks: Stacks,
    /// Those with a call, by what they had done, then name.
    pub methods: Vec<Totals>,
    /// Chains with less are not in the picture.
    pub least: u64,
    /// How many these are.
    pub left_out: u64,
    /// The sum over all chains.
    pub counted: u64,
    /// True if every chain has its number. If not, one with none is not known, and sums are lower bounds.
    pub whole: bool,
}

/// A method's sums over all chains.
pub(super) struct Totals {
    name: u32,
    /// Its own.
    pub own: u64,
    /// And those of all that it called; what it called itself by recursion counts once.
    pub inclusive: u64,
}

/// The data that the script draws.
#[derive(Serialize)]
pub(super) struct Data<'a> {
    unit: &'static str,
    total: Exact,
    whole: bool,
    names: &'a [String],
    /// Position of the caller or -1, name, own, and what was left out below it.
    chains: Vec<(i64, u32, Exact, Exact)>,
    /// Name, own, inclusive.
    methods: Vec<(u32, Exact, Exact)>,
}

impl Icicle {
    pub fn of(view: &ContextsView) -> Self {
        let stacks = Stacks::of(view, Frames::Signatures);
        let mut sizes: Vec<u64> = stacks.nodes.iter().map(|stack| stack.inclusive).collect();
        sizes.sort_unstable_by_key(|&size| Reverse(size));
        // Of chains of the same size there are all or none: the choice must not depend on their order.
        let least = match sizes.get(MOST_CHAINS) {
            Some(&next) => next.saturating_add(1),
            None => 1,
        };
        let left_out = sizes.iter().filter(|&&size| size > 0 && size < least).count() as u64;
        let methods = totals(&stacks);
        let first = stacks.nodes.iter().filter(|stack| stack.parent.is_none());
        let counted = first.fold(0u64, |sum, stack| sum.saturating_add(stack.inclusive));
        Icicle {
            stacks,
            methods,
            least,
            left_out,
            counted,
            whole: view.contexts.is_exact() && view.options.phi.is_none() && view.pattern.is_none(),
        }
    }

    pub fn name(&self, method: &Totals) -> &str {
        &self.stacks.names[method.name as usize]
    }

    pub fn data(&self, view: &ContextsView) -> Data<'_> {
        let mut places: Vec<i64> = Vec::with_capacity(self.stacks.nodes.len());
        let mut chains: Vec<(i64, u32, Exact, Exact)> = Vec::new();
        for stack in &self.stacks.nodes {
            let parent = stack.parent.map_or(-1, |parent| places[parent as usize]);
            if stack.inclusive >= self.least {
                places.push(chains.len() as i64);
                chains.push((parent, stack.name, Exact(stack.calls), Exact(0)));
                continue;
            }
            places.push(-1);
            // Below one that is left out there is nothing that is not: its size has all of them.
            let above = stack.parent.map(|parent| places[parent as usize]);
            if let Some(above) = above.filter(|&above| above >= 0) {
                let left_out = &mut chains[above as usize].3;
                left_out.0 = left_out.0.saturating_add(stack.inclusive);
            }
        }
        let methods = self.methods.iter().take(MOST_METHODS);
        Data {
            unit: view.contexts.weight.unit(),
            total: Exact(view.contexts.calls),
            whole: self.whole,
            names: &self.stacks.names,
            chains,
            methods: methods
                .map(|method| (method.name, Exact(method.own), Exact(method.inclusive)))
                .collect(),
        }
    }
}

fn totals(stacks: &Stacks) -> Vec<Totals> {
    let mut by_name: HashMap<u32, Totals> = HashMap::new();
    for stack in &stacks.nodes {
        let totals = by_name.entry(stack.name).or_insert(Totals {
            name: stack.name,
            own: 0,
            inclusive: 0,
        });
        totals.own = totals.own.saturating_add(stack.calls);
        let mut above = stack.parent;
        while let Some(caller) = above.map(|at| &stacks.nodes[at as usize]) {
            if caller.name == stack.name {
                break;
            }
            above = caller.parent;
        }
        if above.is_none() {
            totals.inclusive = totals.inclusive.saturating_add(stack.inclusive);
        }
    }
    let mut all: Vec<Totals> = by_name
        .into_values()
        .filter(|totals| totals.inclusive > 0)
        .collect();
    all.sort_by(|a, b| {
        let names = stacks.names[a.name as usize].cmp(&stacks.names[b.name as usize]);
        b.inclusive.cmp(&a.inclusive).then(names)
    });
    all
}
