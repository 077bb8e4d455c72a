//! Hot subpaths, ready to be shown: blocks with source lines, repetitions folded.

mod fold;

use std::collections::HashMap;

use trodden_profile::{ClassProfile, MethodMap, Profile, Subpath, Subpaths, facts};

pub use fold::Part;

use crate::pattern::MethodPattern;

/// The subpaths of a profile.
#[derive(Debug)]
pub struct SubpathsView<'p> {
    /// How they were sampled.
    pub about: &'p Subpaths,
    /// The selected ones, each with its rank among all: those first that were sampled ten times or more, then by frequency.
    pub chosen: Vec<(usize, &'p Subpath)>,
    /// Subpaths that were left out of the profile, and how often they were in the sample.
    pub left_out: (u64, u64),
    /// Where all were counted: how many came once, so that they are not listed.
    pub once: u64,
    classes: &'p [ClassProfile],
}

/// A block of a subpath.
#[derive(Clone, Copy, Debug)]
pub struct BlockStep<'p> {
    /// Internal class name.
    pub class: &'p str,
    /// The method.
    pub method: &'p MethodMap,
    /// Bytecode index of the block's first instruction.
    pub bci: u32,
    /// Its line, if that is known.
    pub line: Option<u32>,
    /// True for a loop's header.
    pub header: bool,
}

/// A subpath with its blocks.
pub struct Shown<'p> {
    /// From 1, the hottest first.
    pub rank: usize,
    /// The subpath.
    pub subpath: &'p Subpath,
    /// Share of all counted.
    pub share: f64,
    /// Its different blocks.
    pub steps: Vec<BlockStep<'p>>,
    /// The sequence of these, by index.
    pub parts: Vec<Part>,
    /// Blocks at its end that are not known.
    pub missing: u32,
}

impl<'p> SubpathsView<'p> {
    /// The subpaths of a profile, without those that touch no chosen method.
    pub fn new(about: &'p Subpaths, profile: &'p Profile, pattern: Option<&MethodPattern>) -> Self {
        let classes = &profile.classes;
        let wanted = |subpath: &Subpath| {
            pattern.is_none_or(|pattern| {
                subpath.runs.iter().any(|run| {
                    let found = classes
                        .get(run.class)
                        .and_then(|c| Some((c, c.map.methods.get(run.method)?)));
                    found.is_some_and(|(class, method)| {
                        pattern.matches(&class.map.name, &method.name, &method.descriptor)
                    })
                })
            })
        };
        let ranked = (about.ranking().into_iter())
            .enumerate()
            .map(|(at, subpath)| (at + 1, subpath));
        SubpathsView {
            about,
            chosen: ranked.filter(|(_, subpath)| wanted(subpath)).collect(),
            left_out: profile.subpaths_left_out(),
            once: profile.run.facts.get(facts::SUBPATHS_EXECUTED_ONCE).unwrap_or(0),
            classes,
        }
    }

    /// Subpaths in the sample, with and without repetitions, those that were left out included.
    pub fn sampled(&self) -> (u64, u64) {
        let (sampled, distinct) = self.about.sampled();
        let (subpaths, samples) = self.left_out;
        (sampled.saturating_add(samples), distinct.saturating_add(subpaths))
    }

    /// The hottest, at most this number.
    pub fn shown(&self, top: usize) -> impl Iterator<Item = Shown<'p>> + '_ {
        let chosen = self.chosen.iter().take(top);
        chosen.map(|&(rank, subpath)| self.show(rank, subpath))
    }

    fn show(&self, rank: usize, subpath: &'p Subpath) -> Shown<'p> {
        let (mut steps, mut sequence) = (Vec::new(), Vec::new());
        let mut known: HashMap<(usize, usize, usize), u32> = HashMap::new();
        let mut missing = subpath.missing;
        for run in &subpath.runs {
            let class = self.classes.get(run.class);
            let found = class.and_then(|class| {
                let map = class.map.methods.get(run.method)?;
                Some((class, map, run.blocks_in(map)?))
            });
            let Some((class, map, (blocks, header))) = found else {
                // A path that the path map does not know: nothing after it can be told either.
                let there = sequence.len() as u32;
                missing = subpath.length.saturating_sub(there);
                break;
            };
            let begin = sequence.len();
            for (at, &block) in blocks.iter().enumerate() {
                let step = *known.entry((run.class, run.method, block)).or_insert_with(|| {
                    let bci = map.blocks.get(block).map_or(0, |block| block.start);
                    steps.push(BlockStep {
                        class: &class.map.name,
                        method: map,
                        bci,
                        line: map.line(bci),
                        header: header && at == 0,
                    });
                    steps.len() as u32 - 1
                });
                sequence.push(step);
            }
            let end = sequence.len();
            (1..run.times).for_each(|_| sequence.extend_from_within(begin..end));
        }
        let mut parts = fold::fold(&sequence);
        if let [Part::Times(_, body)] = &mut parts[..] {
            // Repeated throughout: then it is the same subpath wherever the repetition is taken to begin, and a loop is best
            // read from its header on.
            let header = |part: &Part| matches!(part, Part::One(step) if steps[*step as usize].header);
            let first = body.iter().position(header).unwrap_or(0);
            body.rotate_left(first);
        }
        Shown {
            rank,
            subpath,
            share: self.about.share(subpath),
            steps,
            parts,
            missing,
        }
    }
}

/// Distance of the bounds from the estimate, as a share of it: the larger one.
pub fn error(subpath: &Subpath) -> f64 {
    let apart = (subpath.estimate - subpath.low.min(subpath.estimate))
        .max(subpath.high.saturating_sub(subpath.estimate));
    apart as f64 / subpath.estimate.max(1) as f64
}
