//! Generators of arbitrary profiles, and small hand-made maps.
#![allow(dead_code, missing_docs)]

pub mod conditions;
pub mod cpu;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use trodden_numbering::{BlockId, EdgeWeights, FlowGraph, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::options::ContextWeight;
use trodden_profile::{
    BURST_GROUPS, BlockExit, BlockInfo, BlockShape, BurstGroups, ByGroup, Callee, ClassMap, ClassProfile,
    ContextNode, ContextRow, ContextTree, Contexts, EdgeLabel, Forests, HotSpotBranch, HotSpotMethod,
    InlinedCode, KPaths, LineEntry, MethodCounts, MethodMap, MethodShape, Observation, PathForest, Profile,
    RunInfo, Skipped,
};

/// A method over a graph: bytecode indices 10 apart, exits and labels as the number of successors demands.
pub fn method_over(name: &str, graph: SimpleGraph, weights: &EdgeWeights, limit: u64) -> Option<MethodMap> {
    let options = NumberingOptions { limit, smart: true };
    let dag = PathDag::build(&graph, weights, &options).ok()?;
    let block = |index: usize| {
        let successors = graph.successors(BlockId::new(index)).len();
        let (exit, labels) = match successors {
            0 if index.is_multiple_of(2) => (BlockExit::Return, vec![]),
            0 => (BlockExit::Throw, vec![]),
            1 if index.is_multiple_of(2) => (BlockExit::Goto, vec![EdgeLabel::Goto]),
            1 => (BlockExit::FallThrough, vec![EdgeLabel::FallThrough]),
            2 => (BlockExit::Branch, vec![EdgeLabel::Taken, EdgeLabel::NotTaken]),
            n => {
                let label = |i: usize| EdgeLabel::Switch {
                    keys: vec![i32::MIN, i as i32, i32::MAX][..(i + 1).min(3)].to_vec(),
                    default: i + 1 == n,
                };
                (BlockExit::Switch, (0..n).map(label).collect())
            }
        };
        let start = index as u32 * 10;
        BlockInfo {
            start,
            end: start + 10,
            last: start + 7,
            exit,
            labels: labels.into(),
        }
    };
    let blocks: Vec<BlockInfo> = (0..graph.num_blocks()).map(block).collect();
    Some(MethodMap {
        name: name.to_owned(),
        descriptor: "()V".to_owned(),
        code_length: blocks.len() as u32 * 10,
        lines: (0..blocks.len() as u32)
            .map(|i| LineEntry {
                bci: i * 10,
                line: 100 + (i * 7) % 5,
            })
            .collect(),
        blocks,
        graph,
        dag,
        unobserved: Vec::new(),
        inlined: Vec::new(),
        shape: None,
    })
}

/// if (a) x else y; if (b) z else w; return: four paths, 2 branches each. With uniform weights path 0 takes both
/// branches, 1 only the first, 2 only the second, 3 none.
pub fn two_ifs(name: &str, weights: Option<[[f64; 2]; 2]>) -> MethodMap {
    let edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6)];
    let graph = SimpleGraph::new(7, &edges);
    let mut w = EdgeWeights::uniform(&graph);
    if let Some([first, second]) = weights {
        for (block, pair) in [(0, first), (3, second)] {
            for (index, weight) in pair.into_iter().enumerate() {
                let from = BlockId::new(block);
                w.set(
                    trodden_numbering::EdgeRef {
                        from,
                        index: index as u32,
                    },
                    weight,
                );
            }
        }
    }
    method_over(name, graph, &w, 1000).unwrap()
}

pub fn paths(counts: &[(u64, u64)]) -> MethodCounts {
    MethodCounts {
        paths: counts.iter().copied().collect(),
        partial: BTreeMap::new(),
    }
}

pub fn class(name: &str, hash: u8, methods: Vec<(MethodMap, MethodCounts)>) -> ClassProfile {
    let (methods, counts) = methods.into_iter().unzip();
    let map = ClassMap {
        name: name.to_owned(),
        sha256: [hash; 32],
        source_file: Some("A.java".to_owned()),
        methods,
    };
    ClassProfile {
        map: Arc::new(map),
        counts,
    }
}

pub fn profile(classes: Vec<ClassProfile>) -> Profile {
    Profile {
        classes,
        ..Profile::default()
    }
}

/// A file or trace with every section stored plainly, after `change` to the payload of each tag; with right checksums.
/// `unpack` gives the payload of a section that is stored otherwise, from its bytes and its plain length.
pub fn with_plain_sections(
    bytes: &[u8],
    unpack: impl Fn(&[u8], usize) -> Vec<u8>,
    mut change: impl FnMut(&[u8], &mut Vec<u8>),
) -> Vec<u8> {
    let mut out = bytes[..10].to_vec();
    let mut rest = &bytes[10..];
    while !rest.is_empty() {
        let (header, body) = rest.split_at(17);
        let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().unwrap()) as usize;
        let (stored, behind) = body.split_at(number(5));
        let mut plain = match header[4] {
            0 => stored.to_vec(),
            _ => unpack(stored, number(9)),
        };
        change(&header[..4], &mut plain);
        out.extend(section(header[..4].try_into().unwrap(), &plain));
        rest = behind;
    }
    out
}

/// A section that is stored plainly.
pub fn section(tag: &[u8; 4], plain: &[u8]) -> Vec<u8> {
    let mut out = tag.to_vec();
    out.push(0);
    out.extend((plain.len() as u32).to_le_bytes());
    out.extend((plain.len() as u32).to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&out);
    crc.update(plain);
    out.extend(crc.finalize().to_le_bytes());
    out.extend(plain);
    out
}

pub fn any_graph() -> impl Strategy<Value = SimpleGraph> {
    (1..9usize).prop_flat_map(|n| {
        let successors = vec(vec((0..n).prop_map(BlockId::new), 0..4), n);
        let handlers = btree_set(0..n, 0..2);
        (Just(n), successors, handlers).prop_map(|(n, mut successors, handlers)| {
            // The last block leaves, so that most walks come to an end.
            successors[n - 1].clear();
            let handlers = handlers
                .into_iter()
                .filter(|&h| h != 0)
                .map(BlockId::new)
                .collect();
            SimpleGraph::from_parts(BlockId::new(0), successors, handlers)
        })
    })
}

/// Weights that make the smart numbering differ from run to run.
pub fn any_weights(graph: &SimpleGraph) -> impl Strategy<Value = EdgeWeights> + use<> {
    let shape: Vec<usize> = (0..graph.num_blocks())
        .map(|b| graph.successors(BlockId::new(b)).len())
        .collect();
    let rows: Vec<_> = shape.into_iter().map(|n| vec(0.0..10.0f64, n)).collect();
    rows.prop_map(EdgeWeights::from_parts)
}

pub fn any_method(name: &'static str) -> impl Strategy<Value = MethodMap> {
    any_graph()
        .prop_flat_map(|graph| {
            let weights = any_weights(&graph);
            (Just(graph), weights, prop_oneof![Just(20u64), Just(1 << 31)])
        })
        .prop_filter_map("paths", move |(graph, weights, limit)| {
            method_over(name, graph, &weights, limit)
        })
}

/// Counts of paths that exist, full and partial.
pub fn any_counts(map: &MethodMap) -> impl Strategy<Value = MethodCounts> + use<> {
    let map = map.clone();
    let most = map.num_paths().max(1);
    (
        btree_map(0..most, 0..1000u64, 0..6),
        btree_map(0..most, 1..9u64, 0..3),
    )
        .prop_map(move |(paths, partial)| {
            let stop = |(number, times): (u64, u64)| {
                let path = map.dag.regenerate(&map.graph, number).unwrap();
                let block = *path.blocks(&map.graph).last()?;
                let numbered = map.dag.regenerate_partial(&map.graph, number, block).is_ok();
                // What the register holds at the top of that block.
                let start = map
                    .dag
                    .starts()
                    .iter()
                    .find(|s| s.kind == path.start && s.block == path.first)?;
                let on_the_way = path.edges.iter().take_while(|e| e.from != block);
                let register = start.value + on_the_way.map(|e| map.dag.value(*e)).sum::<u64>();
                numbered.then_some(((block.index() as u32, register), times))
            };
            MethodCounts {
                paths,
                partial: partial.into_iter().filter_map(stop).collect(),
            }
        })
}

fn any_shape(blocks: usize) -> impl Strategy<Value = MethodShape> {
    let callee = (any::<u32>(), any::<u32>()).prop_map(|(owner, method)| Callee { owner, method });
    let block = (any::<u32>(), 1..40u32, proptest::collection::vec(callee, 0..3));
    let known = any::<bool>();
    (any::<u64>(), proptest::collection::vec(block, blocks), known).prop_map(|(code, blocks, known)| {
        let mut shape = MethodShape {
            code,
            ..MethodShape::default()
        };
        for (opcodes, instructions, calls) in blocks {
            shape.blocks.push(BlockShape {
                opcodes,
                instructions,
                calls: calls.len() as u32,
                // Known of all blocks of a method, or of none.
                allocations: known.then_some(opcodes % 5),
            });
            shape.calls.extend(calls);
        }
        shape
    })
}

/// Pieces of inlined code in a method of so many bytes.
fn any_inlined(bytes: u32) -> impl Strategy<Value = Vec<InlinedCode>> {
    let piece = (0..20u32, 1..9u32, 1..5000u32, 0..3usize);
    proptest::collection::vec(piece, 0..4).prop_map(move |pieces| {
        let mut end = 0;
        let mut all = Vec::new();
        for (gap, length, line, name) in pieces {
            let start = end + gap;
            end = start + length;
            if end <= bytes {
                let (file, class) = [("A.kt", "a/AKt"), ("A.kt", "a/A$b"), ("B.kt", "a/AKt")][name];
                all.push(InlinedCode {
                    start,
                    end,
                    line,
                    file: file.into(),
                    class: class.into(),
                });
            }
        }
        all
    })
}

pub fn any_class(name: &'static str) -> impl Strategy<Value = ClassProfile> {
    let with_counts = |name| {
        any_method(name).prop_flat_map(|map| {
            let counts = any_counts(&map);
            let unobserved = btree_set(0..map.num_paths().max(1), 0..3);
            let shape = proptest::option::of(any_shape(map.num_blocks()));
            let inlined = any_inlined(map.code_length);
            (Just(map), counts, unobserved, shape, inlined).prop_map(
                |(mut map, counts, unobserved, shape, inlined)| {
                    map.inlined = inlined;
                    map.unobserved = unobserved.into_iter().collect();
                    map.shape = shape;
                    (map, counts)
                },
            )
        })
    };
    (
        with_counts("run"),
        proptest::option::of(with_counts("<init>")),
        any::<u8>(),
    )
        .prop_map(move |(a, b, hash)| class(name, hash, std::iter::once(a).chain(b).collect()))
}

/// Activations of a method: sequences of path numbers that exist.
pub fn any_streams(map: &MethodMap) -> impl Strategy<Value = Vec<Vec<u64>>> + use<> {
    vec(vec(0..map.num_paths().clamp(1, 4), 0..12), 0..4)
}

/// The forest of some activations, by counting every sequence of up to `k` paths.
pub fn grams(streams: &[Vec<u64>], k: usize) -> PathForest {
    let mut counts = BTreeMap::new();
    for stream in streams {
        for from in 0..stream.len() {
            for to in from + 1..=stream.len().min(from + k) {
                *counts.entry(&stream[from..to]).or_insert(0u64) += 1;
            }
        }
    }
    // Sorted sequences are in preorder.
    let rows = counts
        .into_iter()
        .map(|(sequence, count)| (sequence.len() as u32, *sequence.last().unwrap(), count));
    PathForest::from_preorder(rows).unwrap()
}

pub fn kpaths(k: u32, methods: impl IntoIterator<Item = ((usize, usize), PathForest)>) -> KPaths {
    KPaths {
        k,
        slab_nodes: 7,
        slab_bytes: 300,
        methods: methods.into_iter().collect(),
        ..KPaths::default()
    }
}

pub fn any_kpaths(classes: &[ClassProfile]) -> impl Strategy<Value = KPaths> + use<> {
    let mut forests = Vec::new();
    for (c, class) in classes.iter().enumerate() {
        for (m, map) in class.map.methods.iter().enumerate() {
            let missing = vec(0..3u64, 0..3);
            forests.push((Just((c, m)), any_streams(map), missing));
        }
    }
    let facts = (
        any::<u64>(),
        any::<u64>(),
        any::<Option<u64>>(),
        proptest::option::of("[a-z:]{1,9}"),
        any::<u64>(),
        any::<u64>(),
    );
    (4..8u32, facts, forests, any::<bool>()).prop_map(|(k, facts, forests, of_bursts)| {
        let (slab_nodes, slab_bytes, budget, bursts, orphans, dropped) = facts;
        let all = KPaths {
            k,
            slab_nodes,
            slab_bytes,
            budget,
            bursts,
            orphans,
            dropped,
            ..KPaths::default()
        };
        if of_bursts {
            return all.with_groups(dealt(&forests, k as usize)).unwrap();
        }
        let forest = |streams: &[Vec<u64>], missing| grams(streams, k as usize).with_missing(missing);
        let forests = forests.into_iter();
        KPaths {
            methods: forests
                .map(|(key, streams, missing)| (key, forest(&streams, missing)))
                .collect(),
            ..all
        }
    })
}

/// A method's place, its streams, and what is missing.
type StreamsOfMethod = ((usize, usize), Vec<Vec<u64>>, Vec<u64>);

/// The streams of methods, dealt to groups of bursts in turn. Every other one is cut off.
fn dealt(forests: &[StreamsOfMethod], k: usize) -> Vec<Forests> {
    let group = |group: usize| {
        let of_group = |(key, streams, _): &(_, Vec<Vec<u64>>, _)| {
            let own: Vec<Vec<u64>> = streams
                .iter()
                .skip(group)
                .step_by(BURST_GROUPS)
                .cloned()
                .collect();
            let forest = grams(&own, k);
            let cut = own.iter().step_by(2).filter(|stream| !stream.is_empty());
            let cut = cut.map(|stream| (&stream[stream.len() - 1..], 1));
            (*key, forest.with_cuts(cut))
        };
        forests.iter().map(of_group).collect()
    };
    (0..BURST_GROUPS).map(group).collect()
}

pub fn any_contexts(classes: &[ClassProfile]) -> impl Strategy<Value = Contexts> + use<> {
    let methods: Vec<(u32, u32)> = (0u32..)
        .zip(classes)
        .flat_map(|(class, of)| (0..of.map.methods.len() as u32).map(move |method| (class, method)))
        .collect();
    let row = (
        any::<u8>(),
        any::<u8>(),
        proptest::option::of(0..3u16),
        proptest::option::of((0..9u64, 0..3u64)),
    );
    (
        vec(row, 0..20),
        proptest::option::of((1..=99u8, 1..=99u8)),
        any::<[u32; 6]>(),
    )
        .prop_map(
            move |(rows, thresholds, [more, absent, peak_nodes, peak_bytes, dropped, orphans])| {
                let exact = thresholds.is_none();
                let rows = rows.into_iter().filter(|_| !methods.is_empty()).enumerate();
                let rows: Vec<ContextRow> = rows
                    .map(|(at, (parent, method, site, calls))| {
                        let (class, method) = methods[method as usize % methods.len()];
                        let calls = calls.map(|(least, more)| (least, least + if exact { 0 } else { more }));
                        ContextRow {
                            parent: (at > 0).then(|| u32::from(parent) % (at as u32 + 1)),
                            node: ContextNode {
                                depth: 0,
                                class,
                                method,
                                site,
                                prefix: None,
                                calls,
                            },
                        }
                    })
                    .collect();
                let tree = ContextTree::from_rows(&rows);
                let least: u64 = tree.nodes().iter().map(ContextNode::estimate).sum();
                let bursts = more % 2 == 0;
                // Some contexts have no groups, though they have calls.
                let grouped = (0u32..).zip(tree.nodes()).filter(|(at, _)| at % 3 > 0);
                let grouped = grouped
                    .filter_map(|(at, node)| Some((at, node.calls?.0)).filter(|&(_, calls)| calls > 0));
                let groups = bursts.then(|| BurstGroups {
                    all: ByGroup(std::array::from_fn(|group| u64::from(more) >> group)),
                    contexts: grouped
                        .map(|(at, calls)| (at, ByGroup(std::array::from_fn(|group| calls >> (group % 5)))))
                        .collect(),
                });
                Contexts {
                    weight: ContextWeight::default(),
                    algorithm: if exact { "exact" } else { "lss" }.to_owned(),
                    thresholds: thresholds.map(|(phi, share)| {
                        let phi = f64::from(phi) / 100.0;
                        (phi, phi * f64::from(share) / 100.0)
                    }),
                    bursts: bursts.then(|| "static:100:10".to_owned()),
                    calls: least + u64::from(more),
                    absent: if exact { 0 } else { absent.into() },
                    peak_nodes: peak_nodes.into(),
                    peak_bytes: peak_bytes.into(),
                    dropped: dropped.into(),
                    orphans: orphans.into(),
                    tree,
                    groups,
                }
            },
        )
}

pub fn any_run() -> impl Strategy<Value = RunInfo> {
    // No plus sign: merged texts are listed with " + " between them, which a value must not look like.
    let text = || "[ -*,-~äö→]{0,12}";
    let facts = btree_map("[a-z]{1,6}", text(), 0..4);
    (
        (text(), text(), any::<u64>(), 0.0..1e9f64, text()),
        (
            proptest::option::of(text()),
            any::<Option<u64>>(),
            any::<bool>(),
            text(),
            text(),
            facts,
        ),
    )
        .prop_map(|((jvm, command, started_ms, seconds, probe), rest)| {
            let (schedule, interval_ns, exact, options, version, facts) = rest;
            let facts = facts.into_iter().collect();
            RunInfo {
                jvm,
                command,
                started_ms,
                seconds,
                probe,
                schedule,
                interval_ns,
                exact,
                options,
                version,
                facts,
            }
        })
}

pub fn any_profile() -> impl Strategy<Value = Profile> {
    let skipped = ("[a-z/]{1,9}", proptest::option::of("[a-z]{1,5}"), "[a-z ]{0,9}");
    let skipped = skipped.prop_map(|(class, method, reason)| Skipped {
        class,
        method,
        reason,
    });
    (
        any_run(),
        vec(prop_oneof![any_class("a/B"), any_class("c/D")], 0..4),
        vec(skipped, 0..3),
    )
        .prop_flat_map(|(run, classes, skipped)| {
            let forests = proptest::option::of(any_kpaths(&classes));
            let observations = any_observations(&classes);
            let contexts = proptest::option::of(any_contexts(&classes));
            let cpu = proptest::option::of(cpu::any_cpu());
            (
                Just((run, classes, skipped)),
                forests,
                contexts,
                observations,
                cpu,
                any_hotspot(),
            )
                .prop_map(
                    |((run, classes, skipped), kpaths, contexts, observations, cpu, hotspot)| Profile {
                        hotspot,
                        run,
                        classes,
                        skipped,
                        kpaths,
                        observations,
                        contexts,
                        cpu,
                        ..Profile::default()
                    },
                )
        })
}

/// Methods of two classes, some of whose branches HotSpot counted.
pub fn any_hotspot() -> impl Strategy<Value = Vec<HotSpotMethod>> {
    let method = |class: &'static str, name: &'static str| {
        any_method(name).prop_flat_map(move |map| {
            let conditions = conditions::any_conditions(&map);
            (Just(map), conditions, vec(proptest::option::of(0..1000u64), 64)).prop_map(
                move |(map, conditions, counts)| {
                    let is_branch = |block: &usize| {
                        matches!(map.blocks[*block].exit, BlockExit::Branch | BlockExit::Switch)
                    };
                    let blocks = (0..map.blocks.len()).filter(is_branch);
                    let branches = blocks.zip(counts).filter_map(|(block, count)| {
                        let edges = map.graph.successors(BlockId::new(block)).len() as u64;
                        Some(HotSpotBranch {
                            block: block as u32,
                            outcomes: (0..edges)
                                .map(|edge| count.map(|n| n * edge))
                                .collect::<Option<_>>()?,
                        })
                    });
                    HotSpotMethod {
                        class: class.to_owned(),
                        source_file: (class == "a/B").then(|| "B.java".to_owned()),
                        branches: branches.collect(),
                        conditions,
                        map,
                    }
                },
            )
        })
    };
    let all = (method("a/B", "m"), method("a/B", "n"), method("c/D", "m"));
    (all, any::<[bool; 3]>()).prop_map(|((a, b, c), there)| {
        let all = [a, b, c].into_iter().zip(there);
        all.filter_map(|(method, is_there)| is_there.then_some(method))
            .collect()
    })
}

/// Some of the methods counted partly.
fn any_observations(classes: &[ClassProfile]) -> impl Strategy<Value = Vec<Observation>> + use<> {
    let methods = |(class, c): (usize, &ClassProfile)| {
        let methods = 0..c.map.methods.len() as u32;
        methods
            .map(move |method| (class as u32, method))
            .collect::<Vec<_>>()
    };
    let all: Vec<(u32, u32)> = classes.iter().enumerate().flat_map(methods).collect();
    let numbers = (
        any::<bool>(),
        any::<u64>(),
        0.0..1e6f64,
        0.0..1e6f64,
        any::<u32>(),
        "[a-z]{1,8}",
    );
    vec(numbers, all.len()).prop_map(move |numbers| {
        type Numbers = (bool, u64, f64, f64, u32, String);
        let record = |(&(class, method), (there, counted, seconds, until, windows, reason)): (
            &(u32, u32),
            Numbers,
        )| {
            let record = Observation {
                class,
                method,
                counted,
                seconds,
                until,
                windows,
                reason,
            };
            there.then_some(record)
        };
        all.iter().zip(numbers).filter_map(record).collect()
    })
}

/// The profile of the golden file and of the example in `docs/file-format.md`.
pub fn example() -> Profile {
    let graph = SimpleGraph::new(4, &[(0, 1), (0, 2), (1, 3), (2, 3)]);
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let block = |start, end, last, exit, labels: &[EdgeLabel]| BlockInfo {
        start,
        end,
        last,
        exit,
        labels: labels.to_vec().into(),
    };
    let map = MethodMap {
        name: "abs".to_owned(),
        descriptor: "(I)I".to_owned(),
        code_length: 11,
        blocks: vec![
            block(
                0,
                4,
                1,
                BlockExit::Branch,
                &[EdgeLabel::Taken, EdgeLabel::NotTaken],
            ),
            block(4, 9, 6, BlockExit::Goto, &[EdgeLabel::Goto]),
            block(9, 10, 9, BlockExit::FallThrough, &[EdgeLabel::FallThrough]),
            block(10, 11, 10, BlockExit::Return, &[]),
        ],
        graph,
        dag,
        lines: vec![LineEntry { bci: 0, line: 3 }, LineEntry { bci: 9, line: 5 }],
        unobserved: vec![],
        inlined: Vec::new(),
        shape: None,
    };
    let run = RunInfo {
        jvm: "OpenJDK 17".to_owned(),
        command: "Abs".to_owned(),
        started_ms: 1,
        seconds: 0.5,
        probe: "counters".to_owned(),
        exact: true,
        version: "0.1.0".to_owned(),
        ..RunInfo::default()
    };
    Profile {
        run,
        classes: vec![class("Abs", 0xab, vec![(map, paths(&[(0, 300), (1, 7)]))])],
        skipped: vec![Skipped {
            class: "Old".to_owned(),
            method: None,
            reason: "jsr".to_owned(),
        }],
        ..Profile::default()
    }
}
