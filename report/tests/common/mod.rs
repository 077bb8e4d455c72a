//! A small made-up profile: a loop with a choice, a switch, a handler, a loop with a single path, names that
//! need escaping.
#![allow(dead_code, missing_docs)]

pub mod cpu;
pub mod requests;

use std::path::PathBuf;
use std::sync::Arc;

use trodden_numbering::{BlockId, EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return, Switch, Throw};
use trodden_profile::facts::Facts;
use trodden_profile::{
    BlockExit, BlockInfo, ClassMap, ClassProfile, ContextNode, ContextTree, Contexts, EdgeLabel, LineEntry,
    MethodCounts, MethodMap, Profile, RunInfo, Skipped,
};

/// Where the sources of the made-up classes are.
pub fn sources() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/common/sources")
}

pub struct Method {
    name: String,
    descriptor: String,
    blocks: Vec<(Vec<u32>, BlockExit, Vec<usize>)>,
    handlers: Vec<usize>,
    cases: Vec<EdgeLabel>,
    pub counts: MethodCounts,
}

impl Method {
    pub fn new(name: &str, descriptor: &str) -> Self {
        Method {
            name: name.into(),
            descriptor: descriptor.into(),
            blocks: Vec::new(),
            handlers: Vec::new(),
            cases: Vec::new(),
            counts: MethodCounts::default(),
        }
    }

    /// Adds a block of four bytes per line; no lines make a block of four bytes without line numbers.
    pub fn block(mut self, lines: &[u32], exit: BlockExit, targets: &[usize]) -> Self {
        self.blocks.push((lines.to_vec(), exit, targets.to_vec()));
        self
    }

    pub fn rename(&mut self, name: &str) {
        self.name = name.to_owned();
    }

    pub fn handler(mut self, block: usize) -> Self {
        self.handlers.push(block);
        self
    }

    /// The labels of its switch.
    pub fn cases(mut self, cases: &[(&[i32], bool)]) -> Self {
        self.cases = cases
            .iter()
            .map(|&(keys, default)| EdgeLabel::Switch {
                keys: keys.to_vec(),
                default,
            })
            .collect();
        self
    }

    pub fn map(&self) -> MethodMap {
        let mut bci = 0;
        let mut lines = Vec::new();
        let mut blocks = Vec::new();
        let mut edges = Vec::new();
        for (index, (block_lines, exit, targets)) in self.blocks.iter().enumerate() {
            let start = bci;
            for &line in block_lines {
                lines.push(LineEntry { bci, line });
                bci += 4;
            }
            bci = bci.max(start + 4);
            edges.extend(targets.iter().map(|&to| (index, to)));
            let labels = match exit {
                FallThrough => vec![EdgeLabel::FallThrough],
                Goto => vec![EdgeLabel::Goto],
                Branch => vec![EdgeLabel::Taken, EdgeLabel::NotTaken],
                Switch => self.cases.clone(),
                Return | Throw => vec![],
            };
            blocks.push(BlockInfo {
                start,
                end: bci,
                last: bci - 1,
                exit: *exit,
                labels: labels.into(),
            });
        }
        let graph = SimpleGraph::new(blocks.len(), &edges).with_extra_starts(&self.handlers);
        let dag = PathDag::build(
            &graph,
            &EdgeWeights::uniform(&graph),
            &NumberingOptions::default(),
        )
        .unwrap();
        MethodMap {
            name: self.name.clone(),
            descriptor: self.descriptor.clone(),
            code_length: bci,
            blocks,
            graph,
            dag,
            lines,
            unobserved: Vec::new(),
            inlined: Vec::new(),
            shape: None,
        }
    }

    /// The number of the path through exactly these blocks.
    pub fn number(&self, blocks: &[usize]) -> u64 {
        let map = self.map();
        let wanted: Vec<BlockId> = blocks.iter().map(|&b| BlockId::new(b)).collect();
        (0..map.num_paths())
            .find(|&n| map.describe(n).unwrap().blocks == wanted)
            .unwrap_or_else(|| panic!("no path through {blocks:?}"))
    }

    pub fn count(mut self, blocks: &[usize], count: u64) -> Self {
        let number = self.number(blocks);
        self.counts.paths.insert(number, count);
        self
    }
}

/// `Shop.price`: loop with if/else and a short-circuit, then a try with a handler.
pub fn price() -> Method {
    Method::new("price", "([II)I")
        .block(&[6, 7], FallThrough, &[1])
        .block(&[7], Branch, &[7, 2])
        .block(&[8, 9], Branch, &[5, 3])
        .block(&[9], Branch, &[5, 4])
        .block(&[10], Goto, &[6])
        .block(&[12], FallThrough, &[6])
        .block(&[7], Goto, &[1])
        .block(&[16], Goto, &[9])
        .block(&[17, 18], FallThrough, &[9])
        .block(&[20], Return, &[])
        .handler(8)
}

fn grade() -> Method {
    Method::new("grade", "(I)Ljava/lang/String;")
        .cases(&[(&[1], false), (&[2, 3], false), (&[], true)])
        .block(&[24], Switch, &[1, 2, 3])
        .block(&[25], Return, &[])
        .block(&[27], Return, &[])
        .block(&[30], Branch, &[5, 4])
        .block(&[31], Throw, &[])
        .block(&[33], Return, &[])
}

/// `Shop.fill`: a loop with a single path, which carries no counter.
fn fill() -> Method {
    Method::new("fill", "([B)V")
        .block(&[37], FallThrough, &[1])
        .block(&[37], Branch, &[3, 2])
        .block(&[38, 37], Goto, &[1])
        .block(&[41], Return, &[])
}

pub fn class(name: &str, source: Option<&str>, methods: Vec<Method>) -> ClassProfile {
    ClassProfile {
        map: Arc::new(ClassMap {
            name: name.into(),
            sha256: [7; 32],
            source_file: source.map(str::to_owned),
            methods: methods.iter().map(Method::map).collect(),
        }),
        counts: methods.into_iter().map(|m| m.counts).collect(),
    }
}

pub fn run(exact: bool) -> RunInfo {
    RunInfo {
        jvm: "OpenJDK 64-Bit Server VM 17.0.9".into(),
        command: "demo.Main --sort <input> & more".into(),
        started_ms: 1_700_000_000_000,
        seconds: 12.25,
        probe: if exact { "counters" } else { "yieldpoint" }.into(),
        schedule: (!exact).then(|| "sag:64:17".into()),
        interval_ns: (!exact).then_some(20_000_000),
        exact,
        options: "probe=counters".into(),
        version: "0.1.0".into(),
        facts: Facts::from_iter([("cpus".into(), "2".into())]),
    }
}

pub fn profile() -> Profile {
    let price = price()
        .count(&[0], 1_000)
        .count(&[1, 2, 3, 4, 6], 640_000)
        .count(&[1, 2, 5, 6], 310_500)
        .count(&[1, 2, 3, 5, 6], 4_200)
        .count(&[1, 7, 9], 988)
        .count(&[8, 9], 12);
    let grade = grade()
        .count(&[0, 2], 52_000)
        .count(&[0, 1], 9_000)
        .count(&[0, 3, 5], 38_000)
        .count(&[0, 3, 4], 3);
    let fill = fill().count(&[0], 700).count(&[1, 3], 700);
    let silent = fill.number(&[1, 2]);
    let straight = Method::new("<init>", "()V")
        .block(&[], Return, &[])
        .count(&[0], 5);
    let bare = Method::new("a\"b</script>", "(Lx/Y;)V")
        .block(&[], Branch, &[2, 1])
        .block(&[], Return, &[])
        .block(&[], Return, &[])
        .count(&[0, 2], 40_000)
        .count(&[0, 1], 10_000);
    let idle = Method::new("never", "()V").block(&[3], Return, &[]);
    let mut shop = class("demo/Shop", Some("Shop.java"), vec![price, grade, fill]);
    Arc::get_mut(&mut shop.map).unwrap().methods[2].unobserved = vec![silent];
    Profile {
        run: run(true),
        classes: vec![shop, class("we<i>rd/A&B$<T>", None, vec![straight, bare, idle])],
        skipped: vec![
            Skipped {
                class: "demo/Huge".into(),
                method: Some("parse()V".into()),
                reason: "would exceed 8000 bytes".into(),
            },
            Skipped {
                class: "demo/Old".into(),
                method: None,
                reason: "class version <50".into(),
            },
        ],
        ..Profile::default()
    }
}

/// So many small methods in some packages and classes, each of which ran.
pub fn many_methods(methods: usize) -> Profile {
    const OF_A_CLASS: usize = 20;
    let method = |at: usize| {
        let mut method = Method::new(&format!("method{at}"), "(ILjava/lang/String;)V")
            .block(&[3], Branch, &[2, 1])
            .block(&[4], Return, &[])
            .block(&[5], Return, &[]);
        method.counts.paths.insert(0, 2 * (methods - at) as u64);
        method.counts.paths.insert(1, 1);
        method
    };
    let classes = (0..methods).step_by(OF_A_CLASS).map(|first| {
        let name = format!("demo/part{}/Class{first}", first / OF_A_CLASS % 9);
        let last = (first + OF_A_CLASS).min(methods);
        class(&name, None, (first..last).map(method).collect())
    });
    Profile {
        run: run(true),
        classes: classes.collect(),
        ..Profile::default()
    }
}

/// So many methods with a hundred decisions each, and many paths.
pub fn large_methods(methods: usize) -> Profile {
    let method = |at: usize| {
        let mut method = Method::new(&format!("large{at}"), "()V");
        for i in 0..100 {
            let (b, line) = (i * 3, i as u32 * 2 + 1);
            method = method
                .block(&[line], Branch, &[b + 2, b + 1])
                .block(&[line + 1], FallThrough, &[b + 2])
                .block(&[], FallThrough, &[b + 3]);
        }
        method = method.block(&[401], Return, &[]);
        method
            .counts
            .paths
            .extend((0..30).map(|path| (path, 1_000 - path)));
        method
    };
    Profile {
        run: run(true),
        classes: vec![class("demo/Large", None, (0..methods).map(method).collect())],
        ..Profile::default()
    }
}

/// `price` calls `grade`; `fill`, which no one calls, does so too.
pub fn contexts() -> Profile {
    let node = |depth, method, calls| ContextNode {
        depth,
        class: 0,
        method,
        site: None,
        prefix: None,
        calls: Some((calls, calls)),
    };
    let nodes = vec![node(1, 0, 10), node(2, 1, 60), node(1, 2, 20), node(2, 1, 10)];
    Profile {
        contexts: Some(Contexts {
            algorithm: "exact".to_owned(),
            calls: 100,
            tree: ContextTree::from_preorder(nodes).unwrap(),
            ..Contexts::default()
        }),
        ..profile()
    }
}

/// A linear congruential generator: the same changes each time.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
