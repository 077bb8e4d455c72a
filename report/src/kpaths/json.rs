//! The key `kpaths` of the JSON report, as `docs/schema` has it.

use std::collections::BTreeMap;

use serde::Serialize;
use trodden_insight::kpaths::{Limits, Trees};
use trodden_insight::view::View;
use trodden_profile::Key;

use crate::json::{Path, path};

#[derive(Serialize)]
pub(crate) struct Forests<'a> {
    k: u32,
    exact: bool,
    nodes: u64,
    slab_nodes: u64,
    slab_bytes: u64,
    budget: Option<u64>,
    bursts: Option<&'a str>,
    orphans: u64,
    dropped: u64,
    min_parent: f64,
    min_root: f64,
    methods: Vec<Method<'a>>,
}

#[derive(Serialize)]
struct Method<'a> {
    class: &'a str,
    name: &'a str,
    descriptor: &'a str,
    count: u64,
    nodes: u64,
    missing: Vec<u64>,
    trees: Vec<Vec<Node>>,
    more_trees: u64,
    last: Vec<Last>,
    paths: Vec<Path>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<Unreadable>,
}

#[derive(Serialize)]
struct Node {
    path: u64,
    /// Of the sequence; none if a number in it names no path.
    key: Option<String>,
    length: u32,
    parent: Option<usize>,
    count: u64,
    at_most: u64,
    of_parent: f64,
    of_root: f64,
    hidden: u64,
    hidden_count: u64,
    ended: u64,
}

#[derive(Serialize)]
struct Last {
    path: u64,
    count: u64,
}

#[derive(Serialize)]
struct Unreadable {
    id: u64,
    error: String,
}

/// The key of a node's sequence, from the keys of paths.
fn sequence(
    tree: &trodden_insight::kpaths::Tree,
    node: &trodden_insight::kpaths::TreeNode,
    keys: &BTreeMap<u64, Key>,
) -> Option<Key> {
    let above = |node: &trodden_insight::kpaths::TreeNode| Some(&tree.nodes[node.parent?]);
    let mut paths = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next {
        paths.push(*keys.get(&node.path)?);
        next = above(node);
    }
    paths.reverse();
    Some(Key::of_sequence(&paths))
}

pub(crate) fn forests<'a>(view: &'a View, top: usize, limits: &Limits) -> Option<Forests<'a>> {
    let kpaths = view.kpaths?;
    let methods = view.methods.iter().take(top);
    let method = |method: &'a trodden_insight::view::MethodView<'_>| {
        let trees = Trees::new(view.kpaths, method, limits)?;
        let graph = method.map.graph_key();
        let mut keys = BTreeMap::new();
        let (mut paths, mut unreadable) = (Vec::new(), Vec::new());
        for (id, view) in trees.paths {
            match view {
                Ok(view) => {
                    keys.insert(id, view.key(graph));
                    paths.push(path(&view, method.map, graph, method.decisions()));
                }
                Err(error) => unreadable.push(Unreadable {
                    id,
                    error: error.to_string(),
                }),
            }
        }
        let node = |tree: &trodden_insight::kpaths::Tree, n: &trodden_insight::kpaths::TreeNode| Node {
            path: n.path,
            key: sequence(tree, n, &keys).map(|key| key.to_string()),
            length: n.length,
            parent: n.parent,
            count: n.count,
            at_most: n.at_most,
            of_parent: n.of_parent,
            of_root: n.of_root,
            hidden: n.hidden.0 as u64,
            hidden_count: n.hidden.1,
            ended: n.ended,
        };
        Some(Method {
            class: method.class,
            name: &method.map.name,
            descriptor: &method.map.descriptor,
            count: trees.total,
            nodes: trees.sequences as u64,
            missing: trees.missing,
            trees: trees
                .trees
                .iter()
                .map(|t| t.nodes.iter().map(|n| node(t, n)).collect())
                .collect(),
            more_trees: trees.more as u64,
            last: trees
                .last
                .into_iter()
                .map(|(path, count)| Last { path, count })
                .collect(),
            paths,
            unreadable,
        })
    };
    Some(Forests {
        k: kpaths.k,
        exact: kpaths.is_exact(),
        nodes: kpaths.nodes(),
        slab_nodes: kpaths.slab_nodes,
        slab_bytes: kpaths.slab_bytes,
        budget: kpaths.budget,
        bursts: kpaths.bursts.as_deref(),
        orphans: kpaths.orphans,
        dropped: kpaths.dropped,
        min_parent: limits.min_parent,
        min_root: limits.min_root,
        methods: methods.filter_map(method).collect(),
    })
}
