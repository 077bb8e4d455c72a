//! From the event stream to blocks.

use std::sync::Arc;

use trodden_analyses::MethodTable;
use trodden_analyses::subpaths::*;
use trodden_numbering::{EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::events::{Event, Word};
use trodden_profile::options::SubpathIdentity;
use trodden_profile::{BlockExit, BlockInfo, ClassMap, EdgeLabel, MethodMap};

/// A method with these edges; block `n` is at bytecode indices from `10 n` on.
fn method(name: &str, blocks: usize, edges: &[(usize, usize)]) -> MethodMap {
    let graph = SimpleGraph::new(blocks, edges);
    let options = NumberingOptions {
        smart: false,
        ..NumberingOptions::default()
    };
    let dag = PathDag::build(&graph, &EdgeWeights::uniform(&graph), &options).unwrap();
    let block = |n: usize| {
        let out = edges.iter().filter(|edge| edge.0 == n).count();
        let (exit, labels) = match out {
            0 => (BlockExit::Return, vec![]),
            1 => (BlockExit::Goto, vec![EdgeLabel::Goto]),
            _ => (BlockExit::Branch, vec![EdgeLabel::Taken, EdgeLabel::NotTaken]),
        };
        let start = 10 * n as u32;
        BlockInfo {
            start,
            end: start + 10,
            last: start + 9,
            exit,
            labels: labels.into(),
        }
    };
    MethodMap {
        name: name.to_owned(),
        descriptor: "()V".to_owned(),
        code_length: 10 * blocks as u32,
        blocks: (0..blocks).map(block).collect(),
        graph,
        dag,
        lines: Vec::new(),
        unobserved: Vec::new(),
        inlined: Vec::new(),
        shape: None,
    }
}

/// Method 0: 0, then a loop of 1 and either 2 or 3 and then 4; 5 at the end. Method 1: 0 and either 1 or 2.
pub fn shapes() -> MethodShapes {
    let mut table = MethodTable::default();
    table.add_class(class()).unwrap();
    MethodShapes::new(Arc::new(table))
}

/// The class with these two methods.
pub fn class() -> Arc<ClassMap> {
    let outer = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5)];
    let methods = vec![method("outer", 6, &outer), method("inner", 3, &[(0, 1), (0, 2)])];
    let class = ClassMap {
        name: "A".to_owned(),
        sha256: [0; 32],
        source_file: None,
        methods,
    };
    Arc::new(class)
}

/// The number of the path with these blocks; `to_header`: it ends on arrival at the loop's header.
pub fn number(shapes: &MethodShapes, method: u32, blocks: &[u32]) -> u32 {
    let has = |&path: &u32| {
        let mut found = Vec::new();
        shapes.blocks(method, path, 0, u32::MAX, &mut found);
        found == blocks
    };
    (0..20).find(has).unwrap()
}

/// Keeps all blocks; `None` for a hole. Checks headers and shapes on the way.
#[derive(Default)]
struct Blocks(Vec<Option<(u32, u32)>>);

impl BlockStream for Blocks {
    fn run(&mut self, shapes: &impl PathShapes, run: Run, header: bool) {
        let mut blocks = Vec::new();
        shapes.blocks(run.method, run.path, run.from, run.blocks, &mut blocks);
        assert_eq!(blocks.len() as u32, run.blocks);
        assert_eq!(header, (run.method, blocks[0]) == (0, 1));
        for _ in 0..run.times {
            self.0
                .extend(blocks.iter().map(|&block| Some((run.method, block))));
        }
    }

    fn hole(&mut self) {
        self.0.push(None);
    }
}

fn blocks(order: Order, shapes: &MethodShapes, words: &[Word]) -> (Vec<Option<(u32, u32)>>, OrderTally) {
    let words: Vec<u64> = words.iter().map(|word| word.0).collect();
    let mut out = Blocks::default();
    let mut state = WordOrder::new(order);
    for batch in words.chunks(3) {
        state.consume(batch, shapes, &mut out);
    }
    let mut whole = Blocks::default();
    WordOrder::new(order).consume(&words, shapes, &mut whole);
    assert_eq!(out.0, whole.0, "it is all the same where a batch ends");
    (out.0, state.tally())
}

fn of(method: u32, blocks: &[u32]) -> Vec<Option<(u32, u32)>> {
    blocks.iter().map(|&block| Some((method, block))).collect()
}

fn prefix(method: u32, register: u32) -> Word {
    Event::Prefix { method, register }.word()
}

#[test]
fn lengths_and_headers_are_those_of_the_paths() {
    let shapes = shapes();
    let shape = |blocks: &[u32]| shapes.shape(0, number(&shapes, 0, blocks)).unwrap();
    assert_eq!(
        shape(&[0]),
        Shape {
            blocks: 1,
            header: false
        }
    );
    assert_eq!(
        shape(&[1, 2, 4]),
        Shape {
            blocks: 3,
            header: true
        }
    );
    assert_eq!(
        shape(&[1, 3, 4, 5]),
        Shape {
            blocks: 4,
            header: true
        }
    );
    assert_eq!(shapes.shape(0, 1000), None);
    assert_eq!(shapes.shape(7, 0), None);
    assert!(shapes.bytes() > 0);
}

#[test]
fn callees_come_before_or_inside() {
    let shapes = shapes();
    let path = |blocks: &[u32]| number(&shapes, 0, blocks);
    let inner = |blocks: &[u32]| number(&shapes, 1, blocks);
    // 0 (end of path) 1 2 [call in 2: 0 1] 4 1 3 4 [call in 4: 0 2] 5
    let last = path(&[1, 3, 4, 5]);
    let words = [
        Word::enter(0, None),
        Word::path_end(0, path(&[0])),
        prefix(0, path(&[1, 2, 4])), // up to 2 it is the same, and so is the register
        Word::enter(1, Some(25)),
        Word::last_path(1, inner(&[0, 1])),
        Word::path_end(0, path(&[1, 2, 4])),
        prefix(0, path(&[1, 3, 4])), // 4's way out is not yet decided: the register of its first edge, which adds 0
        Word::enter(1, Some(40)),
        Word::last_path(1, inner(&[0, 2])),
        Word::last_path(0, last),
    ];
    let (ends, tally) = blocks(Order::PathEnds, &shapes, &words);
    let expected = [
        of(0, &[0]),
        of(1, &[0, 1]),
        of(0, &[1, 2, 4]),
        of(1, &[0, 2]),
        of(0, &[1, 3, 4, 5]),
    ]
    .concat();
    assert_eq!((ends, tally), (expected, OrderTally::default()));
    let (calls, tally) = blocks(Order::Calls, &shapes, &words);
    let expected = [
        of(0, &[0, 1, 2]),
        of(1, &[0, 1]),
        of(0, &[4, 1, 3, 4]),
        of(1, &[0, 2]),
        of(0, &[5]),
    ];
    assert_eq!((calls, tally), (expected.concat(), OrderTally::default()));
    // Without the words of calls, by path ends.
    let without: Vec<Word> = (words.iter().copied())
        .filter(|word| (word.0 >> 60) != 7)
        .collect();
    assert_eq!(
        blocks(Order::Calls, &shapes, &without),
        blocks(Order::PathEnds, &shapes, &without)
    );
}

#[test]
fn exceptions_and_gaps() {
    let shapes = shapes();
    let path = |blocks: &[u32]| number(&shapes, 0, blocks);
    let turn = path(&[1, 2, 4]);
    let words = [
        Word::unwound(3), // three activations were there before
        Word::enter(0, None),
        Word::path_end(0, path(&[0])),
        prefix(0, turn),
        Word::enter(0, Some(25)), // recursion, in block 2
        Word::path_end(0, path(&[0])),
        Word::unwound(4),        // the callee has thrown, the caller catches
        Word::path_end(0, turn), // and continues
        Word::unwound(2),        // all known ones are gone, and one more
        Word::path_end(0, turn),
        Word::path_end(0, turn),
        Word::GAP,
        Word(0xf << 60),
        Word::only_path(1, 0),
        Word::only_path(9, 0), // there is no such method
        Word::only_path(1, 77),
        Word::exit(0),
    ];
    let (calls, tally) = blocks(Order::Calls, &shapes, &words);
    let expected = [
        of(0, &[0, 1, 2]),
        of(0, &[0]),
        of(0, &[4]),
        of(0, &[1, 2, 4, 1, 2, 4]),
        vec![None],
    ]
    .concat();
    assert_eq!(calls[..expected.len()], expected);
    assert_eq!(calls[expected.len() + 2..], [None, None]);
    assert_eq!(
        tally,
        OrderTally {
            unknown: 2,
            gaps: 1,
            bad_words: 1
        }
    );
    let (ends, again) = blocks(Order::PathEnds, &shapes, &words);
    let expected = [of(0, &[0, 0]), of(0, &[1, 2, 4].repeat(3)), vec![None]].concat();
    assert_eq!(ends[..expected.len()], expected);
    assert_eq!(again, tally);
}

#[test]
fn no_words_make_it_panic() {
    let shapes = shapes();
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut words = Vec::new();
    for _ in 0..20_000 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Mostly of known methods, with small arguments.
        let small = state & 0xf000_0001_0000_000f;
        words.push(if state >> 20 & 7 == 0 { state } else { small });
    }
    for order in [Order::PathEnds, Order::Calls] {
        let options = SubpathOptions {
            start: 3,
            ..SubpathOptions::default()
        };
        let mut sampler = super::sampler(&options, 0);
        let mut exact = ExactSubpaths::new(&[2, 4, 8], SubpathIdentity::Rotation, usize::MAX);
        let mut state = WordOrder::new(order);
        state.consume(&words, &shapes, &mut sampler);
        WordOrder::new(order).consume(&words, &shapes, &mut exact);
        assert_eq!(sampler.blocks() as u64, exact.blocks());
        let tally = state.tally();
        assert!(tally.gaps > 0 && tally.unknown > 0 && tally.bad_words > 0);
    }
}
