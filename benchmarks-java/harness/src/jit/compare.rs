//! Two runs held against each other, call site by call site.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::log::Compilation;

/// A call in the program's own code.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site {
    /// The method that the call is in.
    pub caller: String,
    /// Bytecode index of the call in the class file; `None` where it is not known, which makes one site of
    /// all calls of the same method in a caller.
    pub bci: Option<u32>,
    /// The method called.
    pub callee: String,
}

/// What was decided about a call site, over all code that it is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// In how many pieces of code it was inlined,
    pub inlined: u32,
    /// and in how many not.
    pub refused: u32,
    /// The greatest count of calls that was known at a decision.
    pub count: i64,
    /// Is it inlined by the profile, not by an annotation or as an intrinsic?
    pub by_profile: bool,
    /// Why not, with how often.
    reasons: BTreeMap<String, u32>,
}

impl Tally {
    /// Is the call inlined in at least half of the code that it is in?
    pub fn is_inlined(&self) -> bool {
        self.inlined > 0 && self.inlined >= self.refused
    }

    /// A call that the profile knows and that C2 inlines for it.
    pub fn is_hot(&self) -> bool {
        self.is_inlined() && self.by_profile && self.count > 0
    }

    /// The reason that was given most often.
    pub fn reason(&self) -> &str {
        let most = self.reasons.iter().max_by_key(|(_, times)| **times);
        most.map_or("", |(reason, _)| reason)
    }

    fn add(&mut self, other: &Tally) {
        self.inlined += other.inlined;
        self.refused += other.refused;
        self.count = self.count.max(other.count);
        self.by_profile |= other.by_profile;
        for (reason, times) in &other.reasons {
            *self.reasons.entry(reason.clone()).or_default() += times;
        }
    }
}

/// What C2 did in a run.
#[derive(Clone, Debug, Default)]
pub struct Compiled {
    /// Per call site.
    pub sites: FxHashMap<Site, Tally>,
    /// Methods that were compiled, or inlined into what was.
    parsed: FxHashSet<String>,
    /// Bytes of code per method that has a compilation of its own.
    pub methods: BTreeMap<String, u64>,
}

/// Not the program's: what probes call.
fn is_shim(method: &str) -> bool {
    method.starts_with("java.lang.Trodden")
}

/// Is the name the same in each run? Hidden classes have numbers in theirs.
fn has_lasting_name(method: &str) -> bool {
    !["/0x", "+0x", "$$Lambda", "LambdaForm$"]
        .iter()
        .any(|part| method.contains(part))
}

impl Compiled {
    /// Of each method the last compilation counts (the last one per loop where it is entered): those before
    /// were thrown away.
    pub fn new(compilations: Vec<Compilation>) -> Compiled {
        let mut last: FxHashMap<(String, Option<u32>), Compilation> = FxHashMap::default();
        for compilation in compilations.into_iter().filter(|c| c.code > 0) {
            let place = last
                .entry((compilation.method.clone(), compilation.osr))
                .or_default();
            if compilation.id >= place.id {
                *place = compilation;
            }
        }
        let mut compiled = Compiled::default();
        for compilation in last.into_values() {
            if has_lasting_name(&compilation.method) && !is_shim(&compilation.method) {
                *compiled.methods.entry(compilation.method.clone()).or_default() += compilation.code;
            }
            compiled.parsed.insert(compilation.method);
            for decision in compilation.decisions {
                let names = [&decision.caller, &decision.callee];
                if !names.into_iter().all(|n| has_lasting_name(n) && !is_shim(n)) {
                    continue;
                }
                if decision.inlined {
                    compiled.parsed.insert(decision.callee.clone());
                }
                let by_annotation = ["intrinsic", "force inline by annotation"];
                let tally = compiled
                    .sites
                    .entry(Site {
                        caller: decision.caller,
                        bci: Some(decision.bci),
                        callee: decision.callee,
                    })
                    .or_default();
                tally.count = tally.count.max(decision.count);
                if decision.inlined {
                    tally.inlined += 1;
                    tally.by_profile |= !by_annotation.contains(&decision.reason.as_str());
                } else {
                    tally.refused += 1;
                    *tally.reasons.entry(decision.reason).or_default() += 1;
                }
            }
        }
        compiled
    }

    /// All bytes of code.
    pub fn code(&self) -> u64 {
        self.methods.values().sum()
    }

    /// The same with the calls of these callers known by their callees alone.
    fn by_callee(&self, callers: &FxHashSet<&str>) -> FxHashMap<Site, Tally> {
        let mut sites: FxHashMap<Site, Tally> = FxHashMap::default();
        for (site, tally) in &self.sites {
            let mut site = site.clone();
            if callers.contains(site.caller.as_str()) {
                site.bci = None;
            }
            sites.entry(site).or_default().add(tally);
        }
        sites
    }

    /// Puts the class files' bytecode indices in place of those of rewritten code. Callers that it has no
    /// index for are known by their callees from then on.
    pub fn map(&mut self, original: impl Fn(&str, u32) -> Option<u32>) {
        let mut lost: FxHashSet<String> = FxHashSet::default();
        let mut sites: FxHashMap<Site, Tally> = FxHashMap::default();
        for (site, tally) in std::mem::take(&mut self.sites) {
            let bci = site.bci.and_then(|bci| original(&site.caller, bci));
            if bci.is_none() {
                lost.insert(site.caller.clone());
            }
            sites.entry(Site { bci, ..site }).or_default().add(&tally);
        }
        self.sites = sites;
        let lost = lost.iter().map(String::as_str).collect();
        self.sites = self.by_callee(&lost);
    }
}

/// A hot call site that is inlined in one run and refused in another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Which.
    pub site: Site,
    /// How often it was called, as far as it was counted.
    pub count: i64,
    /// Why it is refused.
    pub reason: String,
}

/// A run held against one without an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// Call sites that the first run inlined for their counts.
    pub hot: usize,
    /// Those of them that the other run decided about too.
    pub decided: usize,
    /// Of these, those that it did not inline; most called first.
    pub lost: Vec<Lost>,
    /// Call sites that are hot in the other run, and refused in the first.
    pub gained: usize,
    /// Hot call sites in code that C2 compiled in the first run only, or took for dead in the other.
    pub absent: usize,
    /// Methods with a compilation of their own in the first run only, and in the other only.
    pub only: [usize; 2],
    /// Call sites known by their callees alone.
    pub by_callee: usize,
}

impl Difference {
    /// Of `other` to `plain`.
    pub fn of(plain: &Compiled, other: &Compiled) -> Difference {
        let unknown = other.sites.keys().chain(plain.sites.keys());
        let callers: FxHashSet<&str> = unknown
            .filter(|s| s.bci.is_none())
            .map(|s| s.caller.as_str())
            .collect();
        let (first, second) = (plain.by_callee(&callers), other.by_callee(&callers));
        let mut difference = Difference::default();
        for (site, tally) in first.iter().filter(|(_, t)| t.is_hot()) {
            difference.hot += 1;
            difference.by_callee += usize::from(site.bci.is_none());
            let Some(then) = second.get(site) else {
                difference.absent += 1;
                continue;
            };
            difference.decided += 1;
            if !then.is_inlined() {
                difference.lost.push(Lost {
                    site: site.clone(),
                    count: tally.count,
                    reason: then.reason().to_owned(),
                });
            }
        }
        let hot_then = second.iter().filter(|(_, t)| t.is_hot());
        difference.gained = hot_then
            .filter(|(site, _)| first.get(*site).is_some_and(|t| !t.is_inlined()))
            .count();
        difference
            .lost
            .sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.site.cmp(&b.site)));
        let missing = |a: &Compiled, b: &Compiled| {
            let names = a.methods.keys();
            names.filter(|m| !b.methods.contains_key(*m)).count()
        };
        difference.only = [missing(plain, other), missing(other, plain)];
        difference
    }

    /// How often each reason was given, most frequent first.
    pub fn reasons(&self) -> Vec<(&str, usize)> {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for lost in &self.lost {
            *times.entry(&lost.reason).or_default() += 1;
        }
        let mut sorted: Vec<_> = times.into_iter().collect();
        sorted.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
        sorted
    }
}

#[cfg(test)]
mod tests {
    use super::super::log::{Decision, read};
    use super::*;

    fn decision(bci: u32, callee: &str, inlined: bool, reason: &str) -> Decision {
        Decision {
            caller: "a.A.run()V".to_owned(),
            bci,
            callee: callee.to_owned(),
            count: 100,
            inlined,
            reason: reason.to_owned(),
        }
    }

    fn compiled(method: &str, id: u32, decisions: Vec<Decision>) -> Compilation {
        Compilation {
            method: method.to_owned(),
            osr: None,
            id,
            code: 1000,
            decisions,
        }
    }

    fn plain() -> Compiled {
        Compiled::new(vec![compiled(
            "a.A.run()V",
            1,
            vec![
                decision(3, "a.A.b()V", true, "inline (hot)"),
                decision(9, "a.A.b()V", true, "inline (hot)"),
                decision(15, "a.A.c()V", true, "accessor"),
                decision(21, "a.A.d()V", false, "too big"),
                decision(27, "java.lang.Math.min(II)I", true, "intrinsic"),
                decision(33, "a.A.gone()V", true, "inline (hot)"),
            ],
        )])
    }

    #[test]
    fn what_is_no_longer_inlined_is_lost() {
        let mut other = Compiled::new(vec![compiled(
            "a.A.run()V",
            1,
            vec![
                decision(5, "java.lang.Trodden.counters(I)J", true, "inline (hot)"),
                decision(13, "a.A.b()V", true, "inline (hot)"),
                decision(19, "a.A.b()V", false, "hot method too big"),
                decision(25, "a.A.c()V", true, "accessor"),
                decision(31, "a.A.d()V", true, "inline (hot)"),
            ],
        )]);
        other.map(|caller, bci| (caller == "a.A.run()V").then(|| bci - 10));
        let found = Difference::of(&plain(), &other);
        assert_eq!((found.hot, found.decided, found.absent), (4, 3, 1));
        assert_eq!(found.gained, 1);
        assert_eq!(found.reasons(), [("hot method too big", 1)]);
        assert_eq!((found.lost[0].site.bci, found.lost[0].count), (Some(9), 100));
        assert_eq!(found.by_callee, 0);
        let same = Difference::of(&plain(), &plain());
        assert_eq!((same.hot, same.lost.len(), same.absent), (4, 0, 0));
    }

    #[test]
    fn without_a_map_a_call_is_known_by_its_callee() {
        let mut other = Compiled::new(vec![compiled(
            "a.A.run()V",
            1,
            vec![
                decision(13, "a.A.b()V", true, "inline (hot)"),
                decision(19, "a.A.b()V", true, "inline (hot)"),
                decision(25, "a.A.c()V", false, "too big"),
            ],
        )]);
        // One index that is not known is enough.
        other.map(|_, bci| (bci != 25).then_some(bci));
        let found = Difference::of(&plain(), &other);
        assert_eq!(
            (found.hot, found.by_callee, found.decided, found.lost.len()),
            (3, 3, 2, 1)
        );
    }

    #[test]
    fn the_last_compilation_counts() {
        let first = compiled("a.A.run()V", 1, vec![decision(3, "a.A.b()V", false, "too big")]);
        let last = compiled(
            "a.A.run()V",
            7,
            vec![decision(3, "a.A.b()V", true, "inline (hot)")],
        );
        for order in [[first.clone(), last.clone()], [last, first]] {
            let compiled = Compiled::new(order.to_vec());
            assert!(compiled.sites.values().all(Tally::is_hot));
            assert_eq!(compiled.code(), 1000);
        }
    }

    /// The whole way, on logs of both JDKs: the same method before and after a callee was found too big.
    #[test]
    fn recorded_logs() {
        for log in [
            include_str!("recorded/heapsort-17.xml"),
            include_str!("recorded/heapsort-25.xml"),
        ] {
            let without = Compiled::new(read(log.as_bytes()).unwrap());
            let refused = log.replace(
                "inline_success reason='inline (hot)'",
                "inline_fail reason='too big'",
            );
            let with = Compiled::new(read(refused.as_bytes()).unwrap());
            let found = Difference::of(&without, &with);
            assert!(found.hot >= 2, "{found:?}");
            assert_eq!(found.lost.len(), found.decided);
            assert_eq!(found.reasons()[0].0, "too big");
        }
    }
}
