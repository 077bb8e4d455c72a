//! k-iteration paths in bursts by the clock, against brute force: counts by group, and what ends of bursts
//! cut off.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use trodden_analyses::MethodTable;
use trodden_analyses::stream::{KPathsOptions, Pipeline};
use trodden_profile::KPaths;
use trodden_profile::events::{BURST_GROUPS, ThreadInfo, Word};

use crate::stream::class;

/// A group, and the steps of a thread in a burst of it.
type Burst = (u32, Vec<Do>);

#[derive(Clone, Debug)]
enum Do {
    Enter(u32),
    Path(u64),
    Exit,
    Lost,
}

fn bursts() -> impl Strategy<Value = Vec<Burst>> {
    let step = prop_oneof![
        2 => (0..2u32).prop_map(Do::Enter),
        6 => (0..3u64).prop_map(Do::Path),
        2 => Just(Do::Exit),
        1 => Just(Do::Lost),
    ];
    vec((0..BURST_GROUPS as u32, vec(step, 0..25)), 0..12)
}

/// Occurrences and cut ones, by group, of each sequence of a method.
type Truth = BTreeMap<(u32, Vec<u64>), [[u64; 2]; BURST_GROUPS]>;

/// An activation has ended, or what comes next in it is not seen.
fn over(truth: &mut Truth, group: u32, k: usize, (method, paths): &(u32, Vec<u64>), is_cut: bool) {
    for from in 0..paths.len() {
        for to in from + 1..=paths.len().min(from + k) {
            let sequence = truth.entry((*method, paths[from..to].to_vec())).or_default();
            sequence[group as usize][0] += 1;
            // A whole sequence of k paths has nothing after it that would be counted.
            sequence[group as usize][1] += u64::from(is_cut && to == paths.len() && to - from < k);
        }
    }
}

fn recorded(bursts: &[Burst], k: usize, truth: &mut Truth) -> Vec<u64> {
    let mut words = Vec::new();
    for (group, steps) in bursts {
        words.push(Word::burst(1, *group, 0).0);
        let mut open: Vec<(u32, Vec<u64>)> = Vec::new();
        for step in steps {
            match (step, open.last_mut()) {
                (Do::Enter(method), _) => {
                    words.push(Word::enter(*method, None).0);
                    open.push((*method, Vec::new()));
                }
                (Do::Path(path), Some((method, paths))) => {
                    words.push(Word::path_end(*method, *path as u32).0);
                    paths.push(*path);
                }
                (Do::Exit, Some((method, _))) => {
                    words.push(Word::exit(*method).0);
                    over(truth, *group, k, &open.pop().unwrap(), false);
                }
                (Do::Lost, Some(_)) => {
                    words.push(Word::GAP.0);
                    open.drain(..).for_each(|one| over(truth, *group, k, &one, true));
                }
                (Do::Path(_) | Do::Exit | Do::Lost, None) => {}
            }
        }
        open.iter().for_each(|one| over(truth, *group, k, one, true));
    }
    words
}

fn counted(threads: &[Vec<u64>], k: u32, batch: usize) -> KPaths {
    let options = KPathsOptions {
        k,
        timed: Some("jvm:100ms:2ms".parse().unwrap()),
        ..KPathsOptions::default()
    };
    let pipeline = Pipeline::new().with_k_paths(&options).unwrap();
    for (id, words) in (1..).zip(threads) {
        let thread = pipeline.open(ThreadInfo {
            id,
            ..ThreadInfo::default()
        });
        words.chunks(batch).for_each(|batch| thread.consume(batch));
    }
    let mut methods = MethodTable::default();
    methods.insert_class(0, Arc::new(class("A", 2))).unwrap();
    let profile = pipeline.profile(&methods).unwrap();
    // It is written and read back with what was cut.
    let read = trodden_profile::Profile::read(&profile.to_bytes().unwrap()).unwrap();
    assert_eq!(read.kpaths, profile.kpaths);
    profile.kpaths.unwrap()
}

proptest! {
    #[test]
    fn groups_and_cuts_are_those_of_brute_force(threads in vec(bursts(), 1..3), k in 2..5u32, batch in 1..30usize) {
        let mut truth = Truth::new();
        let words: Vec<Vec<u64>> = threads.iter().map(|bursts| recorded(bursts, k as usize, &mut truth)).collect();
        let kpaths = counted(&words, k, batch);
        let sequences: usize = kpaths.methods.values().map(|forest| forest.nodes().len()).sum();
        prop_assert_eq!(sequences, truth.len());
        for ((method, sequence), groups) in &truth {
            let place = (0, *method as usize);
            let forest = &kpaths.methods[&place];
            let node = &forest.nodes()[forest.find(sequence).unwrap()];
            let sum = |at: usize| groups.iter().map(|group| group[at]).sum::<u64>();
            prop_assert_eq!([node.count, node.cut], [sum(0), sum(1)], "{:?}", sequence);
            let [counts, known] = kpaths.by_group(place, sequence).unwrap();
            prop_assert_eq!(counts.0, groups.map(|[count, _]| count));
            prop_assert_eq!(known.0, groups.map(|[count, cut]| count - cut));
        }
    }
}
