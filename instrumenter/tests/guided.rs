//! Profile-guided probes (PEP section 3.4): a former profile decides which edges carry no register update.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::common::{Class, Method, Random};
use trodden_instrumenter::{
    ClassIds, Guide, InstrumentOptions, Instrumenter, Preparation, Prepared, ProbeKind,
};
use trodden_numbering::BlockId;
use trodden_profile::{ClassMap, ClassProfile, EdgeProfile, MethodCounts, Profile, merge};

const SHAPES: &[u8] = include_bytes!("fixtures/Shapes.class");
const SMALL: &[u8] = include_bytes!("fixtures/Small.class");

fn prepare(bytes: &[u8], probe: ProbeKind, guide: Option<Guide>) -> Box<Prepared<'_>> {
    prepare_with(bytes, InstrumentOptions::new(probe), guide)
}

fn prepare_with(bytes: &[u8], options: InstrumentOptions, guide: Option<Guide>) -> Box<Prepared<'_>> {
    let options = InstrumentOptions {
        guide: guide.map(Arc::new),
        ..options
    };
    match Instrumenter::new(options).prepare(bytes).unwrap() {
        Preparation::Ready(prepared) => prepared,
        Preparation::Unchanged { skipped } => panic!("{skipped:?}"),
    }
}

fn profile(map: &Arc<ClassMap>, mut counts: impl FnMut(usize) -> BTreeMap<u64, u64>) -> Profile {
    let counts = (0..map.methods.len()).map(|method| MethodCounts {
        paths: counts(method),
        ..MethodCounts::default()
    });
    Profile {
        classes: vec![ClassProfile {
            counts: counts.collect(),
            map: map.clone(),
        }],
        ..Profile::default()
    }
}

/// Random counts of random paths, but none of those that the probes do not report.
fn any_profile(map: &Arc<ClassMap>, random: &mut Random) -> Profile {
    let mut paths = |method: usize| {
        let method = &map.methods[method];
        let some = (0..4).map(|_| random.below(method.dag.num_paths() as usize) as u64);
        let some: Vec<u64> = some.filter(|n| !method.unobserved.contains(n)).collect();
        let counted = some.into_iter().map(|n| (n, 1 + random.below(1000) as u64));
        counted.collect()
    };
    profile(map, &mut paths)
}

/// How often an edge with a register update was followed.
fn updates(profile: &Profile) -> u64 {
    let mut sum = 0;
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            for (block, row) in EdgeProfile::of(map, counts).edges.iter().enumerate() {
                let values = map.dag.values(BlockId::new(block));
                let updated = row.iter().zip(values).filter(|&(_, &value)| value != 0);
                sum += updated.map(|(times, _)| times).sum::<u64>();
            }
        }
    }
    sum
}

/// A profile's counts under the numbers of another map of the class.
fn renumbered(profile: &Profile, map: &Arc<ClassMap>) -> Profile {
    let class = &profile.classes[0];
    self::profile(map, |method| {
        let (old, new) = (&class.map.methods[method], &map.methods[method]);
        let number = |number| {
            let path = old.dag.regenerate(&old.graph, number).unwrap();
            let mut starts = new.dag.starts().iter();
            let start = starts
                .find(|s| (s.kind, s.block) == (path.start, path.first))
                .unwrap();
            start.value + path.edges.iter().map(|&edge| new.dag.value(edge)).sum::<u64>()
        };
        let counts = class.counts[method].paths.iter();
        counts.map(|(&old, &count)| (number(old), count)).collect()
    })
}

/// Limits on bytecode, of those by which HotSpot decides what to inline, that each method of a path map is
/// beyond.
fn limits_passed(prepared: &Prepared) -> Vec<usize> {
    let bytes = prepared.emit(ClassIds::new(0, 0));
    let class = Class::parse(&bytes);
    let methods = prepared.map().methods.iter().map(|map| {
        let same = |method: &&Method| method.name == map.name && method.descriptor == map.descriptor;
        let length = class.methods.iter().find(same).unwrap().code.len();
        [35, 325].into_iter().filter(|&limit| length > limit).count()
    });
    methods.collect()
}

#[test]
fn hottest_edges_carry_no_update() {
    let mut random = Random(0x9d1e);
    let (mut before, mut after, mut kept) = (0, 0, 0);
    let plain = prepare(SHAPES, ProbeKind::Counters, None);
    let passed = limits_passed(&plain);
    for _ in 0..200 {
        let former = any_profile(plain.map(), &mut random);
        let guide = Guide::new(&former);
        assert!(guide.methods() > 0);
        let known = guide.methods();
        let guided = prepare(SHAPES, ProbeKind::Counters, Some(guide));
        let renumbered = renumbered(&former, guided.map());
        assert_eq!(renumbered.classes.len(), 1);
        let [was, is] = [&former, &renumbered].map(updates);
        assert!(is <= was, "{is} updates after {was}");
        (before, after) = (before + was, after + is);
        let mut as_they_were = 0;
        let methods = guided.map().methods.iter().zip(&plain.map().methods);
        for ((map, plain), counts) in methods.zip(&renumbered.classes[0].counts) {
            let hottest_are_free =
                EdgeProfile::of(map, counts)
                    .edges
                    .iter()
                    .enumerate()
                    .all(|(block, row)| {
                        let most = row.iter().max().copied().unwrap_or(0);
                        let zero = map.dag.values(BlockId::new(block)).iter().position(|&v| v == 0);
                        most == 0 || row[zero.unwrap()] == most
                    });
            if !hottest_are_free {
                assert_eq!(map.dag, plain.dag, "{}: {counts:?}", map.name);
                as_they_were += 1;
            }
        }
        // A method may keep numbers that happen to leave the hottest edges free.
        assert!(
            as_they_were <= known - guided.guided(),
            "{as_they_were} of {known}"
        );
        kept += known - guided.guided();
        // Nothing is inlined less than with the numbers of the heuristics.
        let with_guide = limits_passed(&guided);
        assert!(
            with_guide.iter().zip(&passed).all(|(is, was)| is <= was),
            "{with_guide:?}, {passed:?}"
        );
    }
    assert!(after < before * 4 / 5, "{after} of {before} updates are left");
    // Some would be pushed over a limit, so the check above can fail.
    assert!(kept > 0);
}

#[test]
fn without_a_count_all_stays_as_it_was() {
    let plain = prepare(SHAPES, ProbeKind::Counters, None);
    let empty = Guide::new(&profile(plain.map(), |_| BTreeMap::new()));
    assert_eq!(empty.methods(), 0);
    let guided = prepare(SHAPES, ProbeKind::Counters, Some(empty));
    assert_eq!((guided.guided(), guided.map()), (0, plain.map()));
}

#[test]
fn other_code_under_the_same_name_is_not_guided() {
    let plain = prepare(SHAPES, ProbeKind::Counters, None);
    let mut foreign = (**plain.map()).clone();
    // As if another version of the class had one more block boundary elsewhere.
    for method in &mut foreign.methods {
        method.blocks[0].end += 1;
    }
    let counts = |_| BTreeMap::from([(0, 9)]);
    let guide = Guide::new(&profile(&Arc::new(foreign), counts));
    assert!(guide.methods() > 0);
    let guided = prepare(SHAPES, ProbeKind::Counters, Some(guide));
    assert_eq!((guided.guided(), guided.map()), (0, plain.map()));
    let guide = Guide::new(&profile(plain.map(), counts));
    assert_eq!(prepare(SMALL, ProbeKind::Counters, Some(guide)).guided(), 0);
}

#[test]
fn loaders_with_the_same_class_are_added_up() {
    let plain = prepare(SHAPES, ProbeKind::Counters, None);
    let mut random = Random(0xadd);
    let [a, b] = [(); 2].map(|()| any_profile(plain.map(), &mut random));
    let mut both = a.clone();
    both.classes.extend(b.classes.clone());
    let maps = [both, merge([&a, &b]).unwrap()].map(|profile| {
        prepare(SHAPES, ProbeKind::Counters, Some(Guide::new(&profile)))
            .map()
            .clone()
    });
    assert_eq!(maps[0], maps[1]);
}

/// Iterations of a loop with one path are not reported where such loops have no probe. That its back edge was
/// never seen does not mean that it was never taken.
#[test]
fn what_probes_do_not_report_is_not_believed_to_be_cold() {
    let without_probes = || InstrumentOptions {
        skip_single_path_loops: true,
        ..InstrumentOptions::new(ProbeKind::Yieldpoint)
    };
    let plain = prepare_with(SHAPES, without_probes(), None);
    let silent = |map: &ClassMap| map.methods.iter().filter(|m| !m.unobserved.is_empty()).count();
    assert!(silent(plain.map()) > 0);
    // Everything that is reported, alike; and everything that there is, iterations of those loops far more
    // often.
    let reported = profile(plain.map(), |m| {
        let method = &plain.map().methods[m];
        (0..method.dag.num_paths().min(500))
            .filter(|n| !method.unobserved.contains(n))
            .map(|n| (n, 1))
            .collect()
    });
    let guided = prepare_with(SHAPES, without_probes(), Some(Guide::new(&reported)));
    for (old, new) in plain.map().methods.iter().zip(&guided.map().methods) {
        for &number in &old.unobserved {
            for edge in old.dag.regenerate(&old.graph, number).unwrap().edges {
                assert_eq!(
                    old.dag.value(edge) == 0,
                    new.dag.value(edge) == 0,
                    "{} {edge:?}",
                    old.name
                );
            }
        }
    }
}

#[test]
fn fingerprints_tell_guides_apart() {
    let plain = prepare(SHAPES, ProbeKind::Counters, None);
    let mut random = Random(0xf1);
    let [a, b] = [(); 2].map(|()| any_profile(plain.map(), &mut random));
    assert_eq!(Guide::new(&a).fingerprint(), Guide::new(&a.clone()).fingerprint());
    assert_ne!(Guide::new(&a).fingerprint(), Guide::new(&b).fingerprint());
}
