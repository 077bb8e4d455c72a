//! The cost of numbering a method: `cargo bench -p trodden-numbering`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use trodden_numbering::generate::{self, Choices};
use trodden_numbering::heuristics::HintTable;
use trodden_numbering::{EdgeWeights, FlowGraph, NumberingOptions, PathDag, Plan, SimpleGraph};

/// A structured graph of about 120 blocks, and a row of diamonds that has to be cut.
fn graphs() -> Vec<(&'static str, SimpleGraph)> {
    let bytes: Vec<u8> = (0..400u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let structured = (0..200)
        .map(|from| generate::structured(&mut Choices::new(&bytes[from..]), 0))
        .max_by_key(|graph| graph.num_blocks())
        .expect("200 graphs");
    let diamonds: Vec<_> = (0..600)
        .flat_map(|i| {
            let at = 3 * i;
            [(at, at + 1), (at, at + 2), (at + 1, at + 3), (at + 2, at + 3)]
        })
        .collect();
    vec![
        ("structured", structured),
        ("diamonds", SimpleGraph::new(1801, &diamonds)),
    ]
}

fn numbering(c: &mut Criterion) {
    let mut group = c.benchmark_group("numbering");
    for (name, graph) in graphs() {
        group.throughput(Throughput::Elements(graph.num_blocks() as u64));
        let weights = EdgeWeights::heuristic(&graph, &HintTable::default());
        let build = || PathDag::build(&graph, &weights, &NumberingOptions::default()).expect("limit is high");
        let dag = build();
        let with = |step: &str| BenchmarkId::new(step, name);
        group.bench_function(with("heuristic"), |b| {
            b.iter(|| EdgeWeights::heuristic(&graph, &HintTable::default()))
        });
        group.bench_function(with("build"), |b| b.iter(build));
        group.bench_function(with("plan"), |b| b.iter(|| Plan::new(&graph, &dag, true)));
        group.bench_function(with("regenerate"), |b| {
            b.iter(|| dag.regenerate(&graph, dag.num_paths() - 1))
        });
    }
    group.finish();
}

criterion_group!(benches, numbering);
criterion_main!(benches);
