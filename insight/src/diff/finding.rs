//! Which changes matter, the largest first.

use std::collections::{BTreeMap, HashMap};

use trodden_profile::{BlockExit, Profile};

use super::DiffOptions;
use super::amount::Amount;
use super::effect::Costs;
use super::pairing::{self, Matched, Pair, pair};
use super::paths;
use super::repeats::{Repeats, Sided};
use super::side::{Side, sides};
use super::time::{self, TimeChange, TimeDiff};
use crate::decisions::Decision;
use crate::names;
use crate::pattern::MethodPattern;

/// From how many standard errors on a difference between two samples is not explained by chance.
pub const SIGNIFICANT: f64 = 4.0;
/// Paths shown per method.
const MOST_PATHS: usize = 5;

/// The changes between two runs.
#[derive(Debug)]
pub struct Diff {
    /// Sums over all methods.
    pub summary: Summary,
    /// The methods that changed, causes before what they led to, then by effect on the executed work.
    pub methods: Vec<MethodChange>,
    /// How many more have changed by at least the threshold, beyond the number that was asked for.
    pub more: usize,
    /// Runs of either side. All numbers of executions, work and time are means of these.
    pub runs: [usize; 2],
    /// The share of the work (of the CPU time in Java code outside of the JDK, if paths were not counted) that is in methods or
    /// classes of both sides; that of the side where it is larger. 1 if nothing was done.
    pub likeness: f64,
    /// CPU time, if both profiles have samples of it.
    pub time: Option<TimeDiff>,
    /// Which one has samples, 0 or 1, if only one has.
    pub only_timed: Option<usize>,
}

/// Sums over all methods.
#[derive(Debug)]
pub struct Summary {
    /// Executed bytecode instructions in methods with probes, before and after.
    pub work: [u64; 2],
    /// How much of the same the second run did: 2 if twice as much.
    pub scale: f64,
    /// The work that the second run would have been without a change.
    pub expected: f64,
    /// Were all executions counted, before and after?
    pub exact: [bool; 2],
    /// Methods by how they were found again.
    pub matched: BTreeMap<&'static str, usize>,
    /// Were instructions counted? Without shapes in the profiles, work is an estimate from bytes.
    pub shapes: bool,
    /// The smallest change that is listed, as a share of the work.
    pub threshold: f64,
}

/// Why a method is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// An activation does other work than before.
    Behaviour,
    /// It is called more or less often, and no change of a caller explains that.
    Calls,
    /// It is only in one of the profiles.
    Code,
    /// It is called more or less often because another method changed.
    Consequence,
}

/// One method that changed.
#[derive(Debug)]
pub struct MethodChange {
    /// Internal class name, after (before, if it is gone).
    pub class: String,
    /// The class's SourceFile attribute.
    pub source_file: Option<String>,
    /// Method name.
    pub name: String,
    /// Method descriptor.
    pub descriptor: String,
    /// Name it had before, if that was another: `a.b.C.m(int)`.
    pub renamed_from: Option<String>,
    /// How it was found again.
    pub matched: Matched,
    /// Why it is listed.
    pub reason: Reason,
    /// Activations.
    pub entries: [u64; 2],
    /// Executed instructions, without those of callees.
    pub work: [u64; 2],
    /// The effect of the change on the executed work of the whole run, in instructions, with what follows from it in callees.
    pub effect: f64,
    /// The same as a share of the larger run's work.
    pub share: f64,
    /// CPU time with all that it calls, if both profiles have samples.
    pub time: Option<TimeChange>,
    /// The branch that explains the change.
    pub cause: Option<BranchChange>,
    /// Branches whose probabilities changed, the largest effect first.
    pub branches: Vec<BranchChange>,
    /// Paths whose frequency per activation changed most.
    pub paths: Vec<PathChange>,
    /// First lines of blocks that are new in the second build, ascending.
    pub new_lines: Vec<u32>,
    /// First lines, in the first build, of blocks that are gone, ascending.
    pub gone_lines: Vec<u32>,
    /// For [`Reason::Consequence`]: position in [`Diff::methods`] of the change that it follows from.
    pub because_of: Option<usize>,
}

/// A branch whose outcomes have other shares than before.
#[derive(Clone, Debug, PartialEq)]
pub struct BranchChange {
    /// Line in the second build.
    pub line: Option<u32>,
    /// Bytecode index in the second build.
    pub bci: u32,
    /// The condition as the source has it, if it is known.
    pub condition: Option<String>,
    /// The outcome that the probability speaks of, in the condition's own terms.
    pub outcome: String,
    /// Share of that outcome; `None` where the branch was never reached, or was not there.
    pub probability: [Option<f64>; 2],
    /// How often the branch was reached.
    pub reached: [u64; 2],
    /// True if the branch is not in the first build.
    pub is_new: bool,
    /// True if it is not in the second build. Its place is that in the first one.
    pub is_gone: bool,
    /// The effect of its change on the executed work, in instructions.
    pub effect: f64,
    /// The share without the change; of a new branch, that of the way that there was.
    was: f64,
    /// Position of its block among those of the method, before and after, and of the outcome among its edges.
    pub at: [Option<usize>; 2],
    /// The out-edge.
    pub edge: usize,
}

/// A path that is taken more or less often per activation.
#[derive(Clone, Debug, PartialEq)]
pub struct PathChange {
    /// The path in words.
    pub text: String,
    /// Its count.
    pub count: [u64; 2],
    /// Its count per activation.
    pub per_entry: [f64; 2],
}

struct Both<'s, 'p> {
    before: &'s [Side<'p>],
    after: &'s [Side<'p>],
    pairs: &'s [Pair],
    costs: [Costs; 2],
    /// Per side: the pair of each method.
    pair_of: [HashMap<usize, usize>; 2],
    amount: Amount,
    exact: bool,
    repeats: Option<Repeats<'p>>,
}

/// A change on its way into the list.
struct Candidate {
    pair: usize,
    reason: Reason,
    effect: f64,
    branches: Vec<BranchChange>,
    because_of: Option<usize>,
}

/// The changes between the means of the runs of `each` side.
pub fn find(
    [before, after]: [&Profile; 2],
    each: [&[Profile]; 2],
    pattern: Option<&MethodPattern>,
    options: &DiffOptions,
) -> Diff {
    let (b, a) = (sides(before), sides(after));
    let pairs = pair(&b, &a);
    let costs = [Costs::new(&b), Costs::new(&a)];
    let amount = Amount::new([&b, &a], &pairs, [&costs[0], &costs[1]]);
    let repeats = Repeats::new(each, [(&b, &costs[0]), (&a, &costs[1])]);
    let both = Both {
        costs,
        pair_of: [
            pairing::index(&pairs, |p| p.before),
            pairing::index(&pairs, |p| p.after),
        ],
        amount,
        repeats,
        exact: before.run.exact && after.run.exact,
        before: &b,
        after: &a,
        pairs: &pairs,
    };
    let work = [&b, &a].map(|sides| sides.iter().fold(0u64, |sum, s| sum.saturating_add(s.work)));
    let expected = both.expected_work();
    let most = expected.max(work[1] as f64).max(1.0);
    let mut candidates = both.candidates(options.threshold * most);
    candidates.sort_by(|x, y| {
        let key = |c: &Candidate| c.reason == Reason::Consequence;
        key(x)
            .cmp(&key(y))
            .then(y.effect.abs().total_cmp(&x.effect.abs()))
    });
    let wanted = |pair: &Pair| {
        let side = both.named(pair);
        pattern.is_none_or(|p| p.matches(side.class, &side.map.name, &side.map.descriptor))
    };
    let mut chosen: Vec<&Candidate> = candidates.iter().filter(|c| wanted(&pairs[c.pair])).collect();
    let more = chosen.len().saturating_sub(options.top);
    chosen.truncate(options.top);
    // By pair: the position among those that are listed.
    let listed: HashMap<usize, usize> = chosen.iter().zip(0..).map(|(c, at)| (c.pair, at)).collect();
    let of_time = time::Pairs {
        before: &b,
        after: &a,
        pairs: &pairs,
    };
    let timed = time::of_runs([before, after], each, amount, &of_time);
    let methods: Vec<MethodChange> = chosen
        .iter()
        .map(|candidate| {
            let mut change = both.change(candidate, most);
            change.time = timed.as_ref().map(|timed| timed.of_pair(candidate.pair));
            change.because_of = candidate.because_of.and_then(|pair| listed.get(&pair).copied());
            change
        })
        .collect();
    let only_timed = match (&before.cpu, &after.cpu) {
        (Some(_), None) => Some(0),
        (None, Some(_)) => Some(1),
        _ => None,
    };
    let mut matched: BTreeMap<&'static str, usize> = BTreeMap::new();
    for one in [
        Matched::Same,
        Matched::Graph,
        Matched::Partial,
        Matched::New,
        Matched::Gone,
    ] {
        matched.insert(one.name(), pairs.iter().filter(|p| p.matched == one).count());
    }
    Diff {
        summary: Summary {
            work,
            scale: amount.factor,
            expected,
            exact: [before, after].map(|p| p.run.exact),
            matched,
            shapes: b.iter().chain(&a).all(|s| s.map.shape.is_some()),
            threshold: options.threshold,
        },
        methods,
        more,
        runs: each.map(<[Profile]>::len),
        likeness: both.likeness().unwrap_or_else(|| time::likeness(before, after)),
        time: timed.map(|timed| timed.diff(pattern, options, &listed)),
        only_timed,
    }
}

impl MethodChange {
    /// `a.b.C.m(int)`.
    pub fn title(&self) -> String {
        names::title(&self.class, &self.name, &self.descriptor)
    }
}

impl BranchChange {
    /// How often it decided otherwise than it would have before.
    fn flips(&self) -> f64 {
        let side = usize::from(!self.is_gone);
        (self.probability[side].unwrap_or(0.0) - self.was).abs() * self.reached[side] as f64
    }
}

impl<'s, 'p> Both<'s, 'p> {
    /// The side that a pair is named by.
    fn named(&self, pair: &Pair) -> &'s Side<'p> {
        match (pair.after, pair.before) {
            (Some(after), _) => &self.after[after],
            (None, Some(before)) => &self.before[before],
            (None, None) => unreachable!("a pair has a side"),
        }
    }

    fn candidates(&self, least: f64) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = Vec::new();
        for (index, pair) in self.pairs.iter().enumerate() {
            let (reason, effect, branches) = match (pair.before, pair.after) {
                (Some(b), Some(a)) => {
                    let (before, after) = (&self.before[b], &self.after[a]);
                    let branches = self.branches(pair, before, after, &self.costs[1]);
                    (
                        Reason::Behaviour,
                        self.behaviour(pair, before, after, &branches),
                        branches,
                    )
                }
                (None, Some(a)) => (Reason::Code, self.after[a].work as f64, Vec::new()),
                (Some(b), None) => (
                    Reason::Code,
                    -(self.before[b].work as f64) * self.amount.factor,
                    Vec::new(),
                ),
                (None, None) => continue,
            };
            if effect.abs() >= least && effect != 0.0 {
                found.push(Candidate {
                    pair: index,
                    reason,
                    effect,
                    branches,
                    because_of: None,
                });
            }
        }
        let looked_at = found.len();
        found.retain(|candidate| self.is_beyond_runs(candidate, looked_at));
        self.find_origins(&mut found);
        let behaving: Vec<usize> = found.iter().map(|c| c.pair).collect();
        for (index, pair) in self.pairs.iter().enumerate() {
            let (Some(b), Some(a)) = (pair.before, pair.after) else {
                continue;
            };
            let more = self.more_entries(b, a);
            let effect = more * own(&self.after[a]).max(own(&self.before[b]));
            if effect.abs() < least || effect == 0.0 || behaving.contains(&index) || !self.is_certain(b, a) {
                continue;
            }
            let because_of = self.blame(index, more.signum(), &behaving);
            let candidate = Candidate {
                pair: index,
                reason: match because_of {
                    Some(_) => Reason::Consequence,
                    None => Reason::Calls,
                },
                effect,
                branches: Vec::new(),
                because_of,
            };
            if self.is_beyond_runs(&candidate, looked_at) {
                found.push(candidate);
            }
        }
        found
    }

    /// Is it more than what runs of one side differ by? Of one run a side, that is not known.
    fn is_beyond_runs(&self, candidate: &Candidate, looked_at: usize) -> bool {
        let Some(repeats) = &self.repeats else { return true };
        let pair = &self.pairs[candidate.pair];
        let (Some(b), Some(a)) = (pair.before, pair.after) else {
            return true;
        };
        let methods = [&self.before[b], &self.after[a]];
        let cause = cause(&candidate.branches, candidate.effect);
        repeats.differ(looked_at, |which, run: &Sided| {
            let side = run.method(methods[which])?;
            match (candidate.reason, cause) {
                (Reason::Calls | Reason::Consequence, None) => Some(side.entries as f64 / run.factor),
                (_, Some(cause)) if !cause.is_new && !cause.is_gone => {
                    side.probabilities(cause.at[which]?)?.get(cause.edge).copied()
                }
                _ => Some(own(side)),
            }
        })
    }

    /// The work that the second run would have been without a change.
    fn expected_work(&self) -> f64 {
        let of_pair = |pair: &Pair| {
            let Some(before) = pair.before.map(|b| &self.before[b]) else {
                return 0.0;
            };
            let Some(after) = pair.after.map(|a| &self.after[a]) else {
                return before.work as f64 * self.amount.factor;
            };
            Amount::expected(self.amount.bounds(), before.work as f64, after.work as f64)
        };
        self.pairs.iter().map(of_pair).sum()
    }

    /// The share of the work that is in methods of both sides; `None` if paths were not counted.
    fn likeness(&self) -> Option<f64> {
        let all = [self.before, self.after].map(|sides| sides.iter().map(|s| s.work as f64).sum::<f64>());
        let paired = |pair: &&Pair| pair.before.is_some() && pair.after.is_some();
        let common = self.pairs.iter().filter(paired).fold([0.0; 2], |sum, pair| {
            let work = |at: Option<usize>, sides: &[Side]| at.map_or(0.0, |at| sides[at].work as f64);
            [
                sum[0] + work(pair.before, self.before),
                sum[1] + work(pair.after, self.after),
            ]
        });
        all.iter()
            .all(|&all| all > 0.0)
            .then(|| (common[0] / all[0]).max(common[1] / all[1]))
    }

    /// A method whose code is as before may behave differently because of what another one returned to it. If it calls
    /// a method whose code has changed, and that decided otherwise about as often as it did itself, that one leads.
    fn find_origins(&self, found: &mut Vec<Candidate>) {
        for at in 0..found.len() {
            let pair = &self.pairs[found[at].pair];
            let is_same = found[at].reason == Reason::Behaviour && pair.matched == Matched::Same;
            let cause = cause(&found[at].branches, found[at].effect);
            let (true, Some(cause), Some(after)) = (is_same, cause, pair.after) else {
                continue;
            };
            let flips = cause.flips();
            let near = |b: &BranchChange| (flips / 2.0..=flips * 2.0).contains(&b.flips());
            let called = self.costs[1].called_by(&self.after[after], 2, self.after);
            let origin = called.into_iter().find_map(|side| {
                let index = *self.pair_of[1].get(&side)?;
                let (before, after) = (self.pairs[index].before?, &self.after[side]);
                if self.pairs[index].matched == Matched::Same {
                    return None;
                }
                let (pair, before) = (&self.pairs[index], &self.before[before]);
                let mut branches = self.branches(pair, before, after, &self.costs[1]);
                branches.extend(self.gone_branches(pair, before, after));
                let most = branches.iter().position(near)?;
                branches[..=most].rotate_right(1);
                Some((index, branches))
            });
            let Some((origin, mut branches)) = origin else {
                continue;
            };
            let effect = found[at].effect;
            branches[0].effect = effect;
            found[at].because_of = Some(origin);
            found[at].reason = Reason::Consequence;
            match found.iter_mut().find(|c| c.pair == origin) {
                Some(known) => {
                    known.effect += effect;
                    known.branches = branches;
                }
                None => found.push(Candidate {
                    pair: origin,
                    reason: Reason::Behaviour,
                    effect,
                    branches,
                    because_of: None,
                }),
            }
        }
    }

    /// Entries that more of the same would give: as many as there are, if that explains them.
    fn expected_entries(&self, before: usize, after: usize) -> f64 {
        let [before, after] = [&self.before[before], &self.after[after]].map(|side| side.entries as f64);
        Amount::expected(self.amount.bounds(), before, after)
    }

    /// Entries beyond these.
    fn more_entries(&self, before: usize, after: usize) -> f64 {
        self.after[after].entries as f64 - self.expected_entries(before, after)
    }

    /// True if the change of the number of entries is beyond chance.
    fn is_certain(&self, before: usize, after: usize) -> bool {
        if self.exact {
            return true;
        }
        let a = &self.after[after];
        let m = a.entries as f64 * a.density;
        let expected = self.expected_entries(before, after) * a.density;
        (m - expected).abs() > SIGNIFICANT * (m + expected).max(1.0).sqrt()
    }

    /// The effect of the change of a method's behaviour on the work of the second run.
    fn behaviour(&self, pair: &Pair, before: &Side, after: &Side, branches: &[BranchChange]) -> f64 {
        let by_branches: f64 = branches.iter().map(|b| b.effect).sum();
        if before.entries == 0 || after.entries == 0 || !self.exact {
            return by_branches;
        }
        let bounds = self.bounds(before, after);
        let mut effect = 0.0;
        let mut moved = 0.0;
        let mut known = vec![false; before.map.num_blocks()];
        for block in 0..after.map.num_blocks() {
            let was = match pair.blocks.get(block).copied().flatten() {
                Some(block) => {
                    known[block] = true;
                    before.edges.blocks[block] as f64
                }
                None => 0.0,
            };
            let now = after.edges.blocks[block] as f64;
            let cost = self.costs[1].of_block(after, block);
            effect += (now - Amount::expected(bounds, was, now)) * cost;
            moved += now * cost;
        }
        for block in (0..known.len()).filter(|&block| !known[block]) {
            effect -= before.edges.blocks[block] as f64 * bounds[0] * self.costs[0].of_block(before, block);
        }
        // Sums of the same numbers in another order are not quite the same.
        if effect.abs() < 1e-9 * moved { 0.0 } else { effect }
    }

    /// Between which ratios to those before counts within a method are explained by how much was done.
    fn bounds(&self, before: &Side, after: &Side) -> [f64; 2] {
        (self.amount).bounds_within(crate::findings::ratio(after.entries, before.entries))
    }

    /// Branches with other shares than before, the largest effect first.
    fn branches(&self, pair: &Pair, before: &Side, after: &Side, costs: &Costs) -> Vec<BranchChange> {
        let decisions: Vec<(usize, Vec<f64>, Option<Vec<f64>>)> = (0..after.map.num_blocks())
            .filter(|&block| {
                matches!(
                    after.map.blocks[block].exit,
                    BlockExit::Branch | BlockExit::Switch
                )
            })
            .filter_map(|block| {
                let now = after.probabilities(block)?;
                let was = match pair.blocks.get(block).copied().flatten() {
                    Some(other) if before.map.blocks[other].labels.len() == now.len() => {
                        before.probabilities(other)
                    }
                    Some(_) => None,
                    None => self.intended(pair, before, after, block),
                };
                Some((block, now, was))
            })
            .collect();
        let changed = |(_, now, was): &(usize, Vec<f64>, Option<Vec<f64>>)| {
            was.as_ref()
                .is_some_and(|was| now.iter().zip(was).any(|(n, w)| (n - w).abs() > 1e-12))
        };
        if !decisions.iter().any(changed) {
            return Vec::new();
        }
        let expected = costs.expected(after);
        let bounds = self.bounds(before, after);
        // More turns of a loop may be more of the same.
        let is_more = |block: usize| {
            pair.blocks.get(block).copied().flatten().is_some_and(|other| {
                let counts = before.edges.edges[other].iter().zip(&after.edges.edges[block]);
                counts.into_iter().all(|(&was, &now)| {
                    let (was, now) = (was as f64, now as f64);
                    Amount::expected(bounds, was, now) == now
                })
            })
        };
        let mut found: Vec<BranchChange> = decisions
            .iter()
            .filter(|decision| changed(decision) && !is_more(decision.0))
            .filter_map(|(block, now, was)| {
                let was = was.as_ref()?;
                let other = pair.blocks.get(*block).copied().flatten();
                let reached = [
                    other.map_or(0, |other| sum(&before.edges.edges[other])),
                    sum(&after.edges.edges[*block]),
                ];
                let outcome = most_changed(now, was);
                let tested =
                    other.is_none() || self.differs(before, after, reached, was[outcome], now[outcome]);
                if !tested {
                    return None;
                }
                let to = after.successors(*block);
                let shift: f64 = (0..now.len())
                    .map(|i| (now[i] - was[i]) * expected[to[i].index()])
                    .sum();
                let info = &after.map.blocks[*block];
                let edge = names::edge(*block, outcome);
                let before_known = other.is_some() && reached[0] > 0;
                Some(BranchChange {
                    line: after.map.line(info.last),
                    bci: info.last,
                    condition: after.decisions().of(*block).and_then(Decision::phrase),
                    outcome: after.decisions().outcome_or_label(after.map, edge),
                    probability: [before_known.then_some(was[outcome]), Some(now[outcome])],
                    reached,
                    is_new: other.is_none(),
                    is_gone: false,
                    effect: shift * reached[1] as f64,
                    was: was[outcome],
                    at: [other, Some(*block)],
                    edge: outcome,
                })
            })
            .collect();
        found.sort_by(|x, y| y.effect.abs().total_cmp(&x.effect.abs()).then(x.bci.cmp(&y.bci)));
        found
    }

    /// Branches that only the first build has: new ones, looked at from there.
    fn gone_branches(&self, pair: &Pair, before: &Side, after: &Side) -> Vec<BranchChange> {
        let mut blocks = vec![None; before.map.num_blocks()];
        for (block, other) in pair.blocks.iter().enumerate() {
            if let Some(other) = other {
                blocks[*other] = Some(block);
            }
        }
        let reversed = Pair {
            before: pair.after,
            after: pair.before,
            matched: pair.matched,
            blocks,
        };
        let branches = self
            .branches(&reversed, after, before, &self.costs[0])
            .into_iter();
        branches
            .filter(|b| b.is_new)
            .map(|b| BranchChange {
                probability: [b.probability[1], None],
                reached: [b.reached[1], 0],
                is_new: false,
                is_gone: true,
                effect: -b.effect,
                ..b
            })
            .collect()
    }

    /// True if the difference of two shares is beyond chance. Where everything was counted, it is.
    fn differs(&self, before: &Side, after: &Side, reached: [u64; 2], was: f64, now: f64) -> bool {
        if self.exact {
            return true;
        }
        let [n, m] = [
            reached[0] as f64 * before.density,
            reached[1] as f64 * after.density,
        ];
        if n < 1.0 || m < 1.0 {
            return false;
        }
        let share = (was * n + now * m) / (n + m);
        let error = (share * (1.0 - share) * (1.0 / n + 1.0 / m)).sqrt();
        (was - now).abs() > SIGNIFICANT * error
    }

    /// Where a branch that is new leads to the code that was reached without it, its shares were as good as 1 for
    /// that way: what it takes elsewhere is its effect.
    fn intended(&self, pair: &Pair, before: &Side, after: &Side, block: usize) -> Option<Vec<f64>> {
        let target = self.target(pair, before, after, block, 0)?;
        let to = after.successors(block);
        let mut ways = (0..to.len()).filter(|&i| leads(pair, after, to[i].index(), target, 0));
        let way = ways.next()?;
        ways.next()
            .is_none()
            .then(|| (0..to.len()).map(|i| f64::from(u8::from(i == way))).collect())
    }

    /// The old block to which control would have gone in place of a new one.
    fn target(&self, pair: &Pair, before: &Side, after: &Side, block: usize, depth: usize) -> Option<usize> {
        let from = (0..after.map.num_blocks()).find_map(|from| {
            let edge = after.successors(from).iter().position(|to| to.index() == block)?;
            (from != block).then_some((from, edge))
        })?;
        match pair.blocks.get(from.0).copied().flatten() {
            Some(other) => {
                let to = before.successors(other).get(from.1)?.index();
                pair.blocks.iter().position(|&b| b == Some(to))
            }
            None if depth < 8 => self.target(pair, before, after, from.0, depth + 1),
            None => None,
        }
    }

    /// The changed method that more or fewer calls of this one come from.
    fn blame(&self, pair: usize, sign: f64, behaving: &[usize]) -> Option<usize> {
        let mut at = pair;
        let mut seen = vec![at];
        loop {
            let caller = self.main_caller(at, sign)?;
            if behaving.contains(&caller) {
                return Some(caller);
            }
            if seen.contains(&caller) {
                return None;
            }
            seen.push(caller);
            at = caller;
        }
    }

    /// The method whose calls of this one have changed most in that direction.
    fn main_caller(&self, pair: usize, sign: f64) -> Option<usize> {
        let wanted = [self.pairs[pair].before, self.pairs[pair].after];
        let mut changes: BTreeMap<usize, f64> = BTreeMap::new();
        for (which, weight) in [(0, -self.amount.factor), (1, 1.0)] {
            let callers = wanted[which].map_or(&[][..], |side| self.costs[which].callers(side));
            for &(caller, calls) in callers {
                if let Some(&pair) = self.pair_of[which].get(&caller) {
                    *changes.entry(pair).or_default() += calls * weight * sign;
                }
            }
        }
        let (caller, most) = changes.into_iter().max_by(|x, y| x.1.total_cmp(&y.1))?;
        let all = match wanted {
            [Some(b), Some(a)] => self.more_entries(b, a).abs(),
            _ => 0.0,
        };
        (most > 0.0 && most >= all / 3.0).then_some(caller)
    }

    fn change(&self, candidate: &Candidate, most: f64) -> MethodChange {
        let pair = &self.pairs[candidate.pair];
        let side = self.named(pair);
        let before = pair.before.map(|i| &self.before[i]);
        let after = pair.after.map(|i| &self.after[i]);
        let title = |side: &Side| names::title(side.class, &side.map.name, &side.map.descriptor);
        let renamed_from = before.filter(|b| title(b) != title(side)).map(title);
        let cause = cause(&candidate.branches, candidate.effect);
        let (new_lines, gone_lines) = match (before, after) {
            (Some(b), Some(a)) => code_lines(pair, b, a),
            _ => (Vec::new(), Vec::new()),
        };
        MethodChange {
            class: side.class.to_owned(),
            source_file: side.source_file.map(str::to_owned),
            name: side.map.name.clone(),
            descriptor: side.map.descriptor.clone(),
            renamed_from,
            matched: pair.matched,
            reason: candidate.reason,
            entries: [before, after].map(|s| s.map_or(0, |s| s.entries)),
            work: [before, after].map(|s| s.map_or(0, |s| s.work)),
            effect: candidate.effect,
            share: candidate.effect / most,
            time: None,
            cause: cause.cloned(),
            branches: candidate.branches.clone(),
            paths: match (before, after) {
                (Some(b), Some(a)) if candidate.reason == Reason::Behaviour => path_changes(pair, b, a),
                _ => Vec::new(),
            },
            new_lines,
            gone_lines,
            because_of: None,
        }
    }
}

/// The branch that explains an effect: the first with one in the same direction.
fn cause(branches: &[BranchChange], effect: f64) -> Option<&BranchChange> {
    branches.iter().find(|b| b.effect * effect > 0.0)
}

/// True if a way through new blocks alone leads to a block.
fn leads(pair: &Pair, after: &Side, from: usize, target: usize, depth: usize) -> bool {
    let is_new = pair.blocks.get(from).copied().flatten().is_none();
    from == target
        || is_new
            && depth < 8
            && after
                .successors(from)
                .iter()
                .any(|to| leads(pair, after, to.index(), target, depth + 1))
}

/// Instructions of an activation, without callees.
fn own(side: &Side) -> f64 {
    crate::findings::ratio(side.work, side.entries)
}

fn sum(counts: &[u64]) -> u64 {
    counts.iter().fold(0, |sum, &n| sum.saturating_add(n))
}

/// The outcome whose share has changed most; the one that grew, if two did alike.
fn most_changed(now: &[f64], was: &[f64]) -> usize {
    let change = |i: &usize| now[*i] - was[*i];
    let most = (0..now.len()).max_by(|x, y| {
        change(x)
            .abs()
            .total_cmp(&change(y).abs())
            .then(change(x).total_cmp(&change(y)))
    });
    most.unwrap_or(0)
}

fn code_lines(pair: &Pair, before: &Side, after: &Side) -> (Vec<u32>, Vec<u32>) {
    let mut known = vec![false; before.map.num_blocks()];
    pair.blocks
        .iter()
        .flatten()
        .for_each(|&block| known[block] = true);
    let lines = |side: &Side, blocks: Vec<usize>| {
        let mut lines: Vec<u32> = blocks
            .into_iter()
            .filter_map(|b| side.map.line(side.map.blocks[b].start))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    };
    let new = (0..pair.blocks.len())
        .filter(|&b| pair.blocks[b].is_none())
        .collect();
    let gone = (0..known.len()).filter(|&b| !known[b]).collect();
    (lines(after, new), lines(before, gone))
}

/// The paths whose frequency per activation changed most.
fn path_changes(pair: &Pair, before: &Side, after: &Side) -> Vec<PathChange> {
    let per = |count: u64, side: &Side| crate::findings::ratio(count, side.entries);
    let mut changes: Vec<(f64, PathChange)> = paths::of_both(pair, before, after)
        .into_iter()
        .map(|both| {
            let per_entry = [per(both.count[0], before), per(both.count[1], after)];
            let weight = (per_entry[1] - per_entry[0]).abs();
            let change = PathChange {
                text: paths::route(after, &both.path),
                count: both.count,
                per_entry,
            };
            (weight, change)
        })
        .filter(|(weight, _)| *weight > 1e-9)
        .collect();
    changes.sort_by(|x, y| y.0.total_cmp(&x.0).then_with(|| x.1.text.cmp(&y.1.text)));
    changes.truncate(MOST_PATHS);
    changes.into_iter().map(|(_, change)| change).collect()
}
