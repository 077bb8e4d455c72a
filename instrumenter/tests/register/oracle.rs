//! The contents of path registers and the paths that end, along a walk of the original graph.

use trodden_numbering::structure::{Structure, Walker};
use trodden_numbering::{BlockId, EdgeRef, FlowGraph, PathEnd, StartKind};
use trodden_profile::MethodMap;
use trodden_profile::structural::GraphSlots;

/// A path that is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The id of a structure graph (its first counter slot); else 0.
    pub graph: usize,
    /// Its number.
    pub path: u64,
    /// The block in which an exception cut it off, if one did.
    pub cut: Option<u32>,
}

/// Follows a walk of the original graph.
pub trait Expected {
    /// The method is entered, or control appears at a handler.
    fn start(&mut self, kind: StartKind, block: BlockId);
    /// An edge is followed. Returns where it leads.
    fn follow(&mut self, from: BlockId, index: u32) -> BlockId;
    /// An exception comes in this block, and the path that it cuts off is counted.
    fn cut(&mut self, block: BlockId);
    /// The method is left behind this block.
    fn exit(&mut self, block: BlockId);
    /// The expected contents of the path registers that are in use, by their distance from the first.
    fn registers(&self) -> Vec<(u16, u64)>;
    /// Paths that must have been reported so far, in order.
    fn reports(&self) -> &[Report];
    /// Paths that ended so far, including those that are not reported.
    fn ended(&self) -> u64;
}

/// Expectations from the P-DAG.
pub struct Numbers<'m> {
    map: &'m MethodMap,
    number: u64,
    /// First block and edges since the path's start; checked against regeneration.
    first: BlockId,
    edges: Vec<EdgeRef>,
    reports: Vec<Report>,
    ended: u64,
}

impl<'m> Numbers<'m> {
    /// Before the entry.
    pub fn new(map: &'m MethodMap) -> Self {
        Numbers {
            map,
            number: 0,
            first: BlockId::new(0),
            edges: Vec::new(),
            reports: Vec::new(),
            ended: 0,
        }
    }

    fn end(&mut self, end: PathEnd) {
        let path = self
            .map
            .dag
            .regenerate(&self.map.graph, self.number)
            .expect("a path of that number");
        assert_eq!(
            (path.first, &path.edges, path.end),
            (self.first, &self.edges, end)
        );
        self.ended += 1;
        if self.map.unobserved.binary_search(&self.number).is_err() {
            let path = self.number;
            self.reports.push(Report {
                graph: 0,
                path,
                cut: None,
            });
        }
    }

    fn arrive(&mut self, block: BlockId) {
        if let Some(cause) = self.map.dag.end_cause(block) {
            self.end(PathEnd::At(block, cause));
            self.number = self
                .map
                .dag
                .restart(block)
                .expect("paths restart where they end")
                .value;
            self.first = block;
            self.edges.clear();
        }
    }
}

impl Expected for Numbers<'_> {
    fn start(&mut self, kind: StartKind, block: BlockId) {
        let start = self
            .map
            .dag
            .starts()
            .iter()
            .find(|s| s.kind == kind && s.block == block);
        self.number = start
            .unwrap_or_else(|| panic!("no {kind:?} start at {block:?}"))
            .value;
        self.first = block;
        self.edges.clear();
        self.arrive(block);
    }

    fn follow(&mut self, from: BlockId, index: u32) -> BlockId {
        let edge = EdgeRef { from, index };
        self.number += self.map.dag.value(edge);
        self.edges.push(edge);
        let to = self.map.graph.successors(from)[index as usize];
        self.arrive(to);
        to
    }

    fn cut(&mut self, block: BlockId) {
        let path = self
            .map
            .dag
            .regenerate_partial(&self.map.graph, self.number, block)
            .expect("a prefix that stops there");
        assert_eq!(
            (path.first, &path.edges, path.end),
            (self.first, &self.edges, PathEnd::Stopped(block))
        );
        self.reports.push(Report {
            graph: 0,
            path: self.number,
            cut: Some(block.index() as u32),
        });
    }

    fn exit(&mut self, block: BlockId) {
        self.end(PathEnd::Exit(block));
    }

    fn registers(&self) -> Vec<(u16, u64)> {
        vec![(0, self.number)]
    }

    fn reports(&self) -> &[Report] {
        &self.reports
    }

    fn ended(&self) -> u64 {
        self.ended
    }
}

/// Expectations from the structure graphs.
pub struct StructuralNumbers<'m> {
    map: &'m MethodMap,
    walker: Walker,
    /// Per graph: loops around it.
    depths: Vec<u16>,
    /// Per graph: its name in reports.
    names: Vec<usize>,
    reports: Vec<Report>,
}

impl<'m> StructuralNumbers<'m> {
    /// Before the entry; `slots` are the graphs' and `first_counter` the class's.
    pub fn new(map: &'m MethodMap, structure: &Structure, slots: &[GraphSlots], first_counter: u32) -> Self {
        assert_eq!(slots.len(), structure.graphs().len(), "{}", map.name);
        StructuralNumbers {
            map,
            walker: Walker::new(structure, &map.graph),
            depths: structure.graphs().iter().map(|g| g.depth() as u16).collect(),
            names: slots.iter().map(|s| (first_counter + s.first) as usize).collect(),
            reports: Vec::new(),
        }
    }
}

/// Takes down paths of graphs by the graphs' names.
fn report(names: &[usize], reports: &mut Vec<Report>) -> impl FnMut(usize, u64) {
    |graph, path| {
        let graph = names[graph];
        reports.push(Report {
            graph,
            path,
            cut: None,
        });
    }
}

impl Expected for StructuralNumbers<'_> {
    fn start(&mut self, kind: StartKind, block: BlockId) {
        let ended = report(&self.names, &mut self.reports);
        match kind {
            StartKind::Entry => self.walker.enter(ended),
            _ => self.walker.handler(block, ended),
        }
    }

    fn follow(&mut self, from: BlockId, index: u32) -> BlockId {
        let ended = report(&self.names, &mut self.reports);
        self.walker.follow(EdgeRef { from, index }, ended);
        self.map.graph.successors(from)[index as usize]
    }

    fn cut(&mut self, _: BlockId) {
        unreachable!("structure graphs count no cut paths")
    }

    fn exit(&mut self, block: BlockId) {
        self.walker.exit(block, report(&self.names, &mut self.reports));
    }

    fn registers(&self) -> Vec<(u16, u64)> {
        let under_way = self.depths.iter().zip(self.walker.registers());
        under_way
            .filter_map(|(&depth, &number)| Some((depth, number?)))
            .collect()
    }

    fn reports(&self) -> &[Report] {
        &self.reports
    }

    fn ended(&self) -> u64 {
        self.reports.len() as u64
    }
}
