//! How the view of a profile is made.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::rc::Rc;

use trodden_profile::{
    ClassProfile, Known, MethodConditions, MethodCounts, MethodMap, PathForest, Profile, Skipped,
};

use super::{MethodView, Reasons, Totals, View, clamp, ran};
use crate::left_out::{self, LeftOut};
use crate::memory;
use crate::path_time::{Names, Times, measured};
use crate::pattern::MethodPattern;
use crate::source::Sources;
use crate::structural::StructureView;
use crate::subpaths::SubpathsView;

impl<'p> View<'p> {
    /// Builds the model; `pattern` selects methods, the totals stay those of the whole profile. `bytecode`: decisions
    /// are shown as what the bytecode did.
    pub fn new(
        profile: &'p Profile,
        pattern: Option<&MethodPattern>,
        sources: &Rc<Sources>,
        bytecode: bool,
    ) -> Self {
        let wanted = Wanted {
            profile,
            pattern,
            sources,
            bytecode,
        };
        let (mut methods, idle, totals) = wanted.methods();
        methods.extend(memory::methods(profile, pattern, sources, bytecode));
        // A pattern that names only methods that never ran still finds something to say.
        if methods.is_empty() && pattern.is_some() {
            methods.extend(idle.iter().filter_map(|&(name, map)| {
                let class = profile.classes.iter().find(|c| c.map.name == name)?;
                let counts = MethodCounts::default();
                Some(MethodView::new(class, map, &counts, Rc::clone(sources)))
            }));
        }
        let mut with_row = measured(profile);
        with_row.extend(left_out::names(profile));
        let sampled = (profile.cpu.as_ref()).map(|samples| Times::new(samples, &with_row));
        let times = sampled.as_ref().and_then(Times::if_enough);
        let left_out = times.map_or_else(Vec::new, |times| wanted.set_times(&mut methods, times));
        sort(&mut methods);
        let [skipped, without_call_sites, without_cut_paths] = reasons(profile);
        View {
            profile,
            run: &profile.run,
            basis: profile.count_basis(),
            totals,
            methods,
            idle,
            left_out,
            skipped,
            without_call_sites,
            without_cut_paths,
            kpaths: profile.kpaths.as_ref(),
            contexts: None,
            sampled,
            subpaths: (profile.subpaths.as_ref()).map(|about| SubpathsView::new(about, profile, pattern)),
            sources: Rc::clone(sources),
        }
    }
}

/// What is shown of which profile.
struct Wanted<'a, 'p> {
    profile: &'p Profile,
    pattern: Option<&'a MethodPattern>,
    sources: &'a Rc<Sources>,
    bytecode: bool,
}

/// A class's internal name, and a method of it.
type InClass<'p> = (&'p str, &'p MethodMap);

impl<'p> Wanted<'_, 'p> {
    /// The selected methods that ran, those that did not, and what all that ran add up to.
    fn methods(&self) -> (Vec<MethodView<'p>>, Vec<InClass<'p>>, Totals) {
        let mut sums = [0u128; 4];
        let all = (self.profile.classes.iter()).flat_map(|class| &class.counts);
        // There may be many, and they are large.
        let mut methods = Vec::with_capacity(match self.pattern {
            None => all.filter(|counts| ran(counts)).count(),
            Some(_) => 0,
        });
        let mut idle = Vec::new();
        for (position, class) in self.profile.classes.iter().enumerate() {
            for (index, map) in class.map.methods.iter().enumerate() {
                let is_chosen =
                    (self.pattern).is_none_or(|p| p.matches(&class.map.name, &map.name, &map.descriptor));
                let Some(method) = self.method(class, (position, index)) else {
                    if is_chosen {
                        idle.push((class.map.name.as_str(), map));
                    }
                    continue;
                };
                let unreadable = method.unreadable.iter();
                sums[0] += u128::from(method.count);
                sums[1] += u128::from(method.flow);
                sums[2] += 1;
                sums[3] += unreadable.map(|u| u128::from(u.count)).sum::<u128>();
                if is_chosen {
                    methods.push(method);
                }
            }
        }
        for method in &mut methods {
            method.set_shares(sums[1]);
        }
        let [paths, flow, ran, unreadable] = sums.map(clamp);
        let totals = Totals {
            paths,
            flow,
            methods: ran,
            unreadable,
        };
        (methods, idle, totals)
    }

    /// The method at this class and position, with all that the profile has of it but its time; `None` if it did
    /// not run.
    fn method(&self, class: &'p ClassProfile, at: (usize, usize)) -> Option<MethodView<'p>> {
        let map = &class.map.methods[at.1];
        let forests = self.profile.kpaths.as_ref().map(|k| &k.methods);
        let forest = (forests.and_then(|forests| forests.get(&at))).filter(|forest| !forest.is_empty());
        let roots;
        let counts = match (class.counts.get(at.1).filter(|counts| ran(counts)), forest) {
            (Some(counts), _) => counts,
            // A forest knows the plain profile: it is its first level.
            (None, Some(forest)) => {
                roots = of_roots(forest);
                &roots
            }
            (None, None) => return None,
        };
        let mut method = MethodView::new(class, map, counts, Rc::clone(self.sources));
        let place = (at.0 as u32, at.1 as u32);
        method.conditions = self.conditions(place);
        method.readings = self.profile.run.has_readings_only();
        method.forest = forest.map(|forest| (at, forest));
        let structural = self.profile.structural.as_ref();
        let structure = structural.and_then(|s| s.methods.get(&place));
        method.structure = structure.and_then(|counts| StructureView::new(map, counts));
        let observations = &self.profile.observations;
        let found = observations.binary_search_by_key(&place, |c| (c.class, c.method));
        method.observation = found.ok().map(|at| &observations[at]);
        Some(method)
    }

    fn conditions(&self, place: (u32, u32)) -> Option<&'p MethodConditions> {
        (self.profile.conditions.get(&place)).filter(|_| !self.bytecode)
    }

    /// Gives each method its time. Those with time whose paths are not known are no longer among `methods`, but
    /// returned.
    fn set_times(&self, methods: &mut Vec<MethodView<'p>>, times: &Times<'p>) -> Vec<LeftOut<'p>> {
        methods.iter_mut().for_each(|method| method.set_times(times));
        let counted = methods.iter().filter(|method| method.has_counts());
        let counted: HashSet<Names> = counted.map(MethodView::names).collect();
        let options = (&**self.sources, self.bytecode);
        let left_out = left_out::left_out(self.profile, times, &counted, self.pattern, options);
        let is_left_out = |method: &MethodView| left_out.iter().any(|left| left.names() == method.names());
        methods.retain(|method| method.has_counts() || !is_left_out(method));
        left_out
    }
}

/// The counts of single paths that a forest has.
fn of_roots(forest: &PathForest) -> MethodCounts {
    MethodCounts {
        paths: forest.roots().map(|(_, root)| (root.path, root.count)).collect(),
        ..MethodCounts::default()
    }
}

/// Most time first, then greatest share, then most counts.
fn sort(methods: &mut [MethodView]) {
    methods.sort_by(|a, b| {
        let time = |m: &MethodView| m.time.as_ref().map_or(0, |time| time.near.ns);
        // Of methods of earlier runs only shares can be compared with those of this one.
        let key = |m: &MethodView| (Reverse(time(m)), Reverse(m.share.to_bits()), Reverse(m.count));
        key(a).cmp(&key(b)).then_with(|| {
            (a.class, &a.map.name, &a.map.descriptor).cmp(&(b.class, &b.map.name, &b.map.descriptor))
        })
    });
}

/// Why methods have no probes, why none in front of calls, and why none for cut paths.
fn reasons(profile: &Profile) -> [Reasons<'_>; 3] {
    let mut all = [Reasons::new(), Reasons::new(), Reasons::new()];
    for entry in &profile.skipped {
        let lacks = |what: &str| entry.reason.strip_prefix(what).filter(|_| entry.has_probes());
        let (which, reason) = if let Some(reason) = lacks(Skipped::NO_CALL_SITES) {
            (1, reason)
        } else if let Some(reason) = lacks(Skipped::NO_CUT_PATHS) {
            (2, reason)
        } else if is_of_earlier_runs(profile, entry) {
            continue;
        } else {
            (0, entry.reason.as_str())
        };
        let what = (entry.class.as_str(), entry.method.as_deref());
        all[which].entry(reason).or_default().push(what);
    }
    all
}

/// True for methods that are shown with what earlier runs found.
fn is_of_earlier_runs(profile: &Profile, entry: &Skipped) -> bool {
    entry.method.is_some() && Known::of_reason(&entry.reason).is_some() && profile.memory.is_some()
}
