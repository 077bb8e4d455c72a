//! Executes the rewritten code along random walks, looking only at the path register and the calls to the
//! shim, and compares with path numbers added up from the P-DAG along the same walk of the original graph;
//! for structure graphs, with those of the library's `Walker`, which the tests of `path-numbering` compare
//! with the paths' definition.
//!
//! Neither the rewriter nor its reader nor the placement (`Plan`) is trusted: code is decoded by `common`,
//! and expected numbers come from `PathDag` values, starts and ends alone.

mod oracle;
mod walk;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use crate::common::{Class, Method, Random};
use oracle::{Expected, Numbers, StructuralNumbers};
use trodden_instrumenter::{
    ClassIds, EventProbes, Filter, Guide, InstrumentOptions, Instrumenter, MethodCode, Preparation,
    ProbeKind, Probes,
};
use trodden_profile::structural::structure_of;
use trodden_profile::{ClassProfile, CounterLayout, MethodCounts, MethodMap, Profile};
use walk::Walk;

const IDS: [ClassIds; 2] = [ClassIds::new(3, 40), ClassIds::new(70_000, 1 << 20)];

/// The guide from a run that took a few random paths.
fn random_guide(options: &InstrumentOptions, bytes: &[u8], random: &mut Random) -> Option<Arc<Guide>> {
    let Ok(Preparation::Ready(prepared)) = Instrumenter::new(options.clone()).prepare(bytes) else {
        return None;
    };
    let mut counts = |method: &MethodMap| {
        let some = (0..3).map(|_| random.below(method.dag.num_paths() as usize) as u64);
        MethodCounts {
            paths: some.zip([1, 20, 300]).collect(),
            ..MethodCounts::default()
        }
    };
    let class = ClassProfile {
        counts: prepared.map().methods.iter().map(&mut counts).collect(),
        map: prepared.map().clone(),
    };
    Some(Arc::new(Guide::new(&Profile {
        classes: vec![class],
        ..Profile::default()
    })))
}

/// Walks every instrumented method of a class with every strategy. Returns methods, and paths ended.
fn check(bytes: &[u8], walks: usize, steps: usize, limit: u64, random: &mut Random) -> (u64, u64) {
    let old = Class::parse(bytes);
    let (mut methods, mut ended) = (0, 0);
    let others = [
        EventProbes::Paths,
        EventProbes::CountedActivations,
        EventProbes::NestedActivations,
    ]
    .map(Probes::from);
    // Coverage has no register, and reports no path.
    let kinds = ProbeKind::ALL
        .into_iter()
        .filter(|kind| *kind != ProbeKind::Coverage);
    let all = kinds.map(Probes::from).chain(others);
    let with_cuts = (Probes::from(ProbeKind::Counters), true);
    for (probes, cuts) in all.map(|probes| (probes, false)).chain([with_cuts]) {
        let kind = probes.kind();
        for ids in IDS {
            let mut options = InstrumentOptions::new(probes);
            options.cut_paths = cuts;
            options.single_path_methods = cuts;
            options.filter = Filter::new(&["*", "java.*", "jdk.*", "sun.*"], &[]).unwrap();
            options.path_limit = limit;
            if ids == IDS[1] {
                options.guide = random_guide(&options, bytes, random);
            }
            let prepared = match Instrumenter::new(options).prepare(bytes) {
                Ok(Preparation::Ready(prepared)) => prepared,
                Ok(Preparation::Unchanged { .. }) => return (methods, ended),
                Err(error) => panic!("{error}"),
            };
            let map = prepared.map();
            let graphs = prepared.graphs();
            let (bytes, codes) = prepared.emit_with_code(ids);
            let new = Class::parse(&bytes);
            let layout = CounterLayout::of(map);
            for (
                position,
                (
                    method,
                    MethodCode {
                        register_slot,
                        pc_map,
                    },
                ),
            ) in map.methods.iter().zip(&codes).enumerate()
            {
                let find = |class: &Class| {
                    let is = |m: &Method| m.name == method.name && m.descriptor == method.descriptor;
                    class
                        .methods
                        .iter()
                        .position(is)
                        .expect("the method is still there")
                };
                let (old_method, new_method) = (&old.methods[find(&old)], &new.methods[find(&new)]);
                assert_eq!(*register_slot, old_method.max_locals);
                let structure = (kind == ProbeKind::Structural)
                    .then(|| structure_of(&method.graph).expect("it was numbered when the probes were made"));
                let expected = || -> Box<dyn Expected + '_> {
                    match &structure {
                        Some(structure) => {
                            let slots = graphs.of_method(position);
                            Box::new(StructuralNumbers::new(
                                method,
                                structure,
                                slots,
                                ids.first_counter.0,
                            ))
                        }
                        None => Box::new(Numbers::new(method)),
                    }
                };
                let deepest = structure.iter().flat_map(|s| s.graphs()).map(|g| g.depth());
                let walk = Walk {
                    class: &new,
                    old: old_method,
                    new: new_method,
                    map: method,
                    old_of: pc_map.iter().copied().collect(),
                    slot: *register_slot,
                    last_register: *register_slot + deepest.max().unwrap_or(0) as u16,
                    base: match kind {
                        ProbeKind::Counters => u64::from(layout.base[position].unwrap_or(0)),
                        _ => 0,
                    },
                    first_slot: i64::from(ids.first_counter.0)
                        + i64::from(layout.base[position].unwrap_or(0)),
                    begun: (layout.begun[position])
                        .filter(|_| kind == ProbeKind::Counters && cuts)
                        .map(i64::from),
                    kind,
                    events: probes.events(),
                    cuts,
                    ids: [
                        i64::from(ids.first_counter.0),
                        i64::from(ids.first_method.0) + position as i64,
                    ],
                };
                methods += 1;
                for _ in 0..walks {
                    ended += walk.run(&mut *expected(), random, steps);
                }
            }
        }
    }
    (methods, ended)
}

#[test]
fn fixtures_report_the_paths_they_walk() {
    let mut random = Random(0x7421);
    let shapes = include_bytes!("../fixtures/Shapes.class");
    let (methods, ended) = check(shapes, 400, 400, i32::MAX as u64, &mut random);
    assert_eq!(methods, 9 * 9 * 2);
    assert!(ended > 30_000, "{ended} paths");
    // With few numbers cut points end paths inside of the methods.
    let (methods, _) = check(shapes, 200, 400, 12, &mut random);
    assert!(methods > 30, "{methods} methods");
    let (methods, _) = check(
        include_bytes!("../fixtures/Small.class"),
        100,
        300,
        i32::MAX as u64,
        &mut random,
    );
    assert_eq!(methods, 10 * 2);
}

fn jdks() -> Vec<PathBuf> {
    let given = std::env::var_os("TRODDEN_TEST_JDKS")
        .map(|homes| std::env::split_paths(&homes).collect())
        .unwrap_or_else(|| {
            std::env::var_os("JAVA_HOME")
                .map(PathBuf::from)
                .into_iter()
                .collect::<Vec<_>>()
        });
    let found = std::fs::read_dir("/usr/lib/jvm")
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path());
    let mut homes: Vec<PathBuf> = if given.is_empty() { found.collect() } else { given };
    homes.retain(|home| home.join("lib/modules").is_file() && home.join("bin/jimage").is_file());
    homes
        .iter_mut()
        .for_each(|h| *h = h.canonicalize().unwrap_or_default());
    homes.sort();
    homes.dedup();
    homes
}

fn classes(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => classes(&path, into),
            path if path.extension().is_some_and(|e| e == "class") => into.push(path),
            _ => {}
        }
    }
}

/// Real code: java.util of each JDK that is found (none is needed, the fixtures are always checked).
#[test]
fn jdk_classes_report_the_paths_they_walk() {
    let mut random = Random(0x900d);
    for home in jdks() {
        let directory = tempfile::tempdir().unwrap();
        let done = Command::new(home.join("bin/jimage"))
            .args(["extract", "--include", "regex:/java.base/java/util/.*", "--dir"])
            .arg(directory.path())
            .arg(home.join("lib/modules"))
            .status()
            .expect("jimage runs");
        assert!(done.success(), "{home:?}");
        let mut paths = Vec::new();
        classes(directory.path(), &mut paths);
        paths.sort();
        let (mut methods, mut ended) = (0, 0);
        for (index, path) in paths.iter().enumerate() {
            let limit = [i32::MAX as u64, 40][index % 2];
            let (m, e) = check(&std::fs::read(path).unwrap(), 4, 250, limit, &mut random);
            methods += m;
            ended += e;
        }
        println!("{}: {methods} methods, {ended} paths", home.display());
        assert!(
            methods > 6_000 && ended > 100_000,
            "{methods} methods, {ended} paths"
        );
    }
}
