//! The checker's rules over arbitrary graphs, and over the same graphs with tiny limits.

use proptest::prelude::*;
use trodden_numbering::checker::{CheckOptions, check_graph};
use trodden_numbering::generate::{self, Choices};
use trodden_numbering::{EdgeWeights, FlowGraph};

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..160)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_graph(bytes in bytes(), seed in any::<u64>()) {
        let mut choices = Choices::new(&bytes);
        let graph = generate::graph(&mut choices);
        let weights = generate::weights(&graph, &mut choices);
        let options = CheckOptions { seed, ..CheckOptions::default() };
        prop_assert_eq!(check_graph(&graph, &weights, i32::MAX as u64, &options), Ok(()));
    }

    #[test]
    fn any_graph_with_a_low_limit(bytes in bytes(), seed in any::<u64>(), limit in 1u64..60) {
        let mut choices = Choices::new(&bytes);
        let graph = generate::graph(&mut choices);
        let weights = generate::weights(&graph, &mut choices);
        let options = CheckOptions { seed, ..CheckOptions::default() };
        prop_assert_eq!(check_graph(&graph, &weights, limit, &options), Ok(()));
    }

    #[test]
    fn any_limit(bytes in bytes(), limit in any::<u64>()) {
        let graph = generate::structured(&mut Choices::new(&bytes), 0);
        let weights = EdgeWeights::uniform(&graph);
        prop_assert_eq!(check_graph(&graph, &weights, limit, &CheckOptions::default()), Ok(()));
    }
}

/// The properties are worth something only if the generator makes what it says.
#[test]
fn generator_makes_all_kinds() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut handlers, mut parallel, mut own, mut header_entry, mut exits, mut dead) = (0, 0, 0, 0, 0, 0);
    for _ in 0..500 {
        let bytes = bytes().new_tree(&mut runner).unwrap().current();
        let graph = generate::graph(&mut Choices::new(&bytes));
        let edges: Vec<_> = graph.edges().collect();
        handlers += usize::from(graph.extra_starts().len() > 1);
        own += usize::from(edges.iter().any(|(e, to)| e.from == *to));
        parallel += usize::from(
            edges
                .windows(2)
                .any(|w| w[0].0.from == w[1].0.from && w[0].1 == w[1].1),
        );
        header_entry += usize::from(edges.iter().any(|(_, to)| *to == graph.entry()));
        let blocks = || (0..graph.num_blocks()).map(trodden_numbering::BlockId::new);
        exits += usize::from(blocks().filter(|&b| graph.successors(b).is_empty()).count() > 2);
        dead += usize::from(blocks().any(|b| {
            b != graph.entry() && !graph.extra_starts().contains(&b) && edges.iter().all(|(_, to)| *to != b)
        }));
    }
    for count in [handlers, parallel, own, header_entry, exits, dead] {
        assert!(
            count > 25,
            "{handlers} {parallel} {own} {header_entry} {exits} {dead}"
        );
    }
}
