//! Any graph, any limit: numbering, regeneration and placement are right by the checker's definition.
#![no_main]

use trodden_numbering::{EdgeWeights, checker, generate, heuristics::HintTable};

libfuzzer_sys::fuzz_target!(|input: (u32, u16, Vec<u8>)| {
    let (limit, seed, bytes) = input;
    let mut choices = generate::Choices::new(&bytes);
    let graph = generate::graph(&mut choices);
    let options = checker::CheckOptions {
        steps: 100,
        enumerate: 300,
        seed: seed.into(),
    };
    for weights in [
        generate::weights(&graph, &mut choices),
        EdgeWeights::heuristic(&graph, &HintTable::default()),
    ] {
        checker::check_graph(&graph, &weights, limit.into(), &options).unwrap();
    }
});
