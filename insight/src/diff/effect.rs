//! What the change of a method did to the executed work, calls included, and which branch explains it.
//!
//! Work is counted in bytecode instructions. What a call costs is the work of an average activation of the methods
//! that it may reach, with all that they call: their own work from their counts, the rest from the calls that stand in
//! their blocks. Methods without probes cost nothing here; recursion is bounded by the work of the whole run.

use rustc_hash::FxHashMap;
use trodden_profile::Callee;

use super::side::Side;

/// How often costs of calls are handed on from callees to callers; deeper chains of calls cost too little.
const ROUNDS: usize = 40;
/// Most blocks of a method for which expected work is computed exactly.
const EXACT_BLOCKS: usize = 256;
/// Loops that never end in the counts end with this probability per iteration.
const LEAK: f64 = 1e-9;

/// By call: the methods that it may reach, each with its share.
type Targets = FxHashMap<Callee, Vec<(usize, f64)>>;

/// Average costs of the methods of one side.
#[derive(Debug)]
pub struct Costs {
    /// Per method: instructions of one activation, with those of its callees.
    inclusive: Vec<f64>,
    /// Which methods a call reaches, and with which share.
    targets: Targets,
    /// Per method: who calls it, and how often.
    callers: Vec<Vec<(usize, f64)>>,
}

/// The calls of a side's methods, each kind of call under a number.
struct Calls<'t> {
    /// By the number: the methods that it reaches, each with its share.
    reached: Vec<&'t [(usize, f64)]>,
    /// Methods that call others; only these change from round to round.
    methods: Vec<MethodCalls>,
}

struct MethodCalls {
    method: usize,
    /// Number of the call, and how often it was made.
    sites: Vec<(u32, f64)>,
}

impl<'t> Calls<'t> {
    fn new(sides: &[Side], targets: &'t Targets) -> Self {
        let mut numbers: FxHashMap<Callee, u32> = FxHashMap::default();
        let mut calls = Calls {
            reached: Vec::new(),
            methods: Vec::new(),
        };
        for (method, side) in sides.iter().enumerate() {
            let Some(shape) = side.map.shape.as_ref().filter(|shape| !shape.calls.is_empty()) else {
                continue;
            };
            let mut sites: Vec<(u32, f64)> = Vec::new();
            for (callees, &times) in shape.calls_by_block().zip(&side.edges.blocks) {
                for callee in callees {
                    let reached = targets.get(callee).map_or(&[][..], Vec::as_slice);
                    if times == 0 || reached.is_empty() {
                        continue;
                    }
                    let number = *numbers.entry(*callee).or_insert_with(|| {
                        calls.reached.push(reached);
                        calls.reached.len() as u32 - 1
                    });
                    sites.push((number, times as f64));
                }
            }
            if !sites.is_empty() {
                calls.methods.push(MethodCalls { method, sites });
            }
        }
        calls
    }
}

impl Costs {
    pub fn new(sides: &[Side]) -> Self {
        let mut costs = Costs {
            inclusive: sides.iter().map(|s| per(s.work as f64, s.entries)).collect(),
            targets: targets(sides),
            callers: vec![Vec::new(); sides.len()],
        };
        let calls = Calls::new(sides, &costs.targets);
        for of in &calls.methods {
            for &(site, times) in &of.sites {
                for &(method, share) in calls.reached[site as usize] {
                    costs.callers[method].push((of.method, times * share));
                }
            }
        }
        let total: f64 = sides.iter().map(|s| s.work as f64).sum();
        let mut of_several = vec![0.0; calls.reached.len()];
        for _ in 0..ROUNDS {
            // What a call costs that may reach many methods is asked at many places.
            for (cost, reached) in of_several.iter_mut().zip(&calls.reached) {
                if reached.len() > 1 {
                    *cost = reached.iter().map(|&(m, share)| share * costs.inclusive[m]).sum();
                }
            }
            let mut moved = 0.0f64;
            for of in &calls.methods {
                let side = &sides[of.method];
                let of_site = |&(site, times): &(u32, f64)| match calls.reached[site as usize] {
                    [] => 0.0,
                    [(one, share)] => times * share * costs.inclusive[*one],
                    _ => times * of_several[site as usize],
                };
                let sum = side.work as f64 + of.sites.iter().map(of_site).sum::<f64>();
                let new = per(sum, side.entries).min(per(total, side.entries));
                moved = moved.max((new - costs.inclusive[of.method]).abs() / new.max(1.0));
                costs.inclusive[of.method] = new;
            }
            if moved < 1e-6 {
                break;
            }
        }
        costs
    }

    /// Instructions of one execution of a block, with those of its callees.
    pub fn of_block(&self, side: &Side, block: usize) -> f64 {
        let calls = callees(side, block).iter();
        side.length(block) as f64 + calls.map(|&callee| self.of_call(callee)).sum::<f64>()
    }

    fn of_call(&self, callee: Callee) -> f64 {
        let reached = self.reached(callee).iter();
        reached
            .map(|&(method, share)| share * self.inclusive[method])
            .sum()
    }

    /// Methods that one calls, and those that they call, down to a depth; nearer ones first.
    pub fn called_by(&self, side: &Side, depth: usize, sides: &[Side]) -> Vec<usize> {
        let mut called: Vec<usize> = Vec::new();
        let mut level: Vec<&Side> = vec![side];
        for _ in 0..depth {
            let from = called.len();
            for side in level {
                let calls = side.map.shape.iter().flat_map(|shape| &shape.calls);
                let reached = calls.flat_map(|&callee| self.reached(callee));
                for &(method, _) in reached {
                    if !called.contains(&method) {
                        called.push(method);
                    }
                }
            }
            level = called[from..].iter().map(|&method| &sides[method]).collect();
        }
        called
    }

    /// Per method: may a call in this one reach it, directly or not?
    pub fn reachable(&self, from: usize, sides: &[Side]) -> Vec<bool> {
        let mut reached = vec![false; sides.len()];
        let mut open = vec![from];
        while let Some(method) = open.pop() {
            let calls = sides[method].map.shape.iter().flat_map(|shape| &shape.calls);
            for &(callee, _) in calls.flat_map(|&callee| self.reached(callee)) {
                if !std::mem::replace(&mut reached[callee], true) {
                    open.push(callee);
                }
            }
        }
        reached
    }

    /// Methods that call this one, with the number of calls; one may be there several times.
    pub fn callers(&self, method: usize) -> &[(usize, f64)] {
        &self.callers[method]
    }

    /// Methods that a call reaches, each with its share of the calls.
    fn reached(&self, callee: Callee) -> &[(usize, f64)] {
        self.targets.get(&callee).map_or(&[], Vec::as_slice)
    }

    /// Expected work from the begin of each block to the end of the activation.
    pub fn expected(&self, side: &Side) -> Vec<f64> {
        let count = side.map.num_blocks();
        let own: Vec<f64> = (0..count).map(|block| self.of_block(side, block)).collect();
        let rows: Vec<Vec<(usize, f64)>> = (0..count)
            .map(|block| {
                let Some(shares) = side.probabilities(block) else {
                    return Vec::new();
                };
                let to = side.successors(block).iter().map(|b| b.index());
                to.zip(shares.into_iter().map(|p| p * (1.0 - LEAK))).collect()
            })
            .collect();
        if count <= EXACT_BLOCKS {
            solve(&rows, own)
        } else {
            sweep(&rows, own)
        }
    }
}

/// The calls of a block of a method.
fn callees<'s>(side: &'s Side, block: usize) -> &'s [Callee] {
    let shape = side.map.shape.as_ref();
    shape.map_or(&[], |shape| {
        shape.calls_of(trodden_numbering::BlockId::new(block))
    })
}

/// The methods that the calls of all sides may reach: the one that is named if it ran, else all that ran with that
/// name and descriptor (those of subclasses), by how often they ran.
fn targets(sides: &[Side]) -> Targets {
    let mut exact: FxHashMap<Callee, usize> = FxHashMap::default();
    let mut named: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (index, side) in sides.iter().enumerate().filter(|(_, s)| s.entries > 0) {
        let callee = Callee::new(side.class, &side.map.name, &side.map.descriptor);
        exact.insert(callee, index);
        named.entry(callee.method).or_default().push(index);
    }
    let mut targets = Targets::default();
    for shape in sides.iter().filter_map(|s| s.map.shape.as_ref()) {
        for &callee in &shape.calls {
            targets
                .entry(callee)
                .or_insert_with(|| match (exact.get(&callee), named.get(&callee.method)) {
                    (Some(&one), _) => vec![(one, 1.0)],
                    (None, Some(several)) => {
                        let all: f64 = several.iter().map(|&i| sides[i].entries as f64).sum();
                        several
                            .iter()
                            .map(|&i| (i, sides[i].entries as f64 / all))
                            .collect()
                    }
                    (None, None) => Vec::new(),
                });
        }
    }
    targets
}

fn per(work: f64, entries: u64) -> f64 {
    if entries == 0 { 0.0 } else { work / entries as f64 }
}

/// Solves `x = own + rows * x` by elimination.
fn solve(rows: &[Vec<(usize, f64)>], own: Vec<f64>) -> Vec<f64> {
    let n = own.len();
    let mut matrix = vec![0.0; n * n];
    for (i, row) in rows.iter().enumerate() {
        matrix[i * n + i] += 1.0;
        for &(to, share) in row {
            matrix[i * n + to] -= share;
        }
    }
    let mut x = own;
    // Rows are dominated by their diagonals, so no pivoting is needed.
    for i in 0..n {
        let pivot = matrix[i * n + i];
        if pivot.abs() < f64::MIN_POSITIVE {
            continue;
        }
        for j in i + 1..n {
            let factor = matrix[j * n + i] / pivot;
            if factor == 0.0 {
                continue;
            }
            for k in i..n {
                matrix[j * n + k] -= factor * matrix[i * n + k];
            }
            x[j] -= factor * x[i];
        }
    }
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|k| matrix[i * n + k] * x[k]).sum();
        let pivot = matrix[i * n + i];
        x[i] = if pivot.abs() < f64::MIN_POSITIVE {
            0.0
        } else {
            (x[i] - known) / pivot
        };
    }
    x
}

/// The same by going over all blocks again and again, for methods with very many.
fn sweep(rows: &[Vec<(usize, f64)>], own: Vec<f64>) -> Vec<f64> {
    let mut x = own.clone();
    for _ in 0..200 {
        let mut moved = 0.0f64;
        for i in (0..own.len()).rev() {
            let new = own[i] + rows[i].iter().map(|&(to, share)| share * x[to]).sum::<f64>();
            moved = moved.max((new - x[i]).abs() / new.abs().max(1.0));
            x[i] = new;
        }
        if moved < 1e-9 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_of_solving_agree() {
        // Block 0 goes to 1 or 2; 1 is a loop that runs ten times; both end in 3.
        let rows = vec![
            vec![(1, 0.25), (2, 0.75)],
            vec![(1, 0.9), (3, 0.1)],
            vec![(3, 1.0)],
            vec![],
        ];
        let own = vec![1.0, 2.0, 3.0, 4.0];
        let exact = solve(&rows, own.clone());
        let close = |a: f64, b: f64| (a - b).abs() < 1e-6 * b.abs().max(1.0);
        assert!(close(exact[1], 24.0), "{exact:?}");
        assert!(close(exact[0], 1.0 + 0.25 * 24.0 + 0.75 * 7.0), "{exact:?}");
        for (one, other) in sweep(&rows, own).into_iter().zip(exact) {
            assert!(close(one, other));
        }
    }
}
