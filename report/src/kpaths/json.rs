//! The key `kpaths` of the JSON report, as `docs/schema` has it.

use std::collections::BTreeMap;

use serde::Serialize;
use trodden_insight::kpaths::{Limits, Tree, TreeNode, Trees};
use trodden_insight::view::{MethodView, View};
use trodden_profile::Key;

use crate::json::path;
use crate::object::object;

/// The key of a node's sequence, from the keys of paths; none if a number in it names no path.
fn sequence(tree: &Tree, node: &TreeNode, keys: &BTreeMap<u64, Key>) -> Option<String> {
    let above = |node: &TreeNode| Some(&tree.nodes[node.parent?]);
    let mut paths = Vec::new();
    let mut next = Some(node);
    while let Some(node) = next {
        paths.push(*keys.get(&node.path)?);
        next = above(node);
    }
    paths.reverse();
    Some(Key::of_sequence(&paths).to_string())
}

pub(crate) fn forests<'a>(view: &'a View, top: usize, limits: &Limits) -> Option<impl Serialize + use<'a>> {
    let kpaths = view.kpaths?;
    let methods = view.methods.iter().take(top);
    let method = |method: &'a MethodView<'_>| {
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
                Err(error) => unreadable.push(object! { "id": id, "error": error.to_string() }),
            }
        }
        let node = |(tree, of_first): (&Tree, Option<(f64, f64)>), (at, n): (usize, &TreeNode)| {
            let interval = n.parent.map_or(of_first, |_| tree.share_interval(at));
            object! {
                "path": n.path,
                "key": sequence(tree, n, &keys),
                "length": n.length,
                "parent": n.parent,
                "count": n.count,
                "at_most": n.at_most,
                "of_parent": n.of_parent,
                "of_root": n.of_root,
                "share_interval": interval,
                "cut": n.count - n.known,
                "hidden": n.hidden.0 as u64,
                "hidden_count": n.hidden.1,
                "ended": n.ended,
            }
        };
        let all = trees.trees.iter().zip(trees.intervals.iter().copied());
        let nodes =
            |tree: (&Tree, _)| -> Vec<_> { tree.0.nodes.iter().enumerate().map(|n| node(tree, n)).collect() };
        let last = trees
            .last
            .iter()
            .map(|&(path, count)| object! { "path": path, "count": count });
        Some(object! {
            "class": method.class,
            "name": &method.map.name,
            "descriptor": &method.map.descriptor,
            "count": trees.total,
            "nodes": trees.sequences as u64,
            "missing": trees.missing,
            "trees": all.map(nodes).collect::<Vec<_>>(),
            "more_trees": trees.more as u64,
            "last": last.collect::<Vec<_>>(),
            "paths": paths,
            "unreadable"?: Some(unreadable).filter(|all| !all.is_empty()),
        })
    };
    Some(object! {
        "k": kpaths.k,
        "exact": kpaths.is_exact(),
        "nodes": kpaths.nodes(),
        "slab_nodes": kpaths.slab_nodes,
        "slab_bytes": kpaths.slab_bytes,
        "budget": kpaths.budget,
        "bursts": kpaths.bursts.as_deref(),
        "orphans": kpaths.orphans,
        "dropped": kpaths.dropped,
        "min_parent": limits.min_parent,
        "min_root": limits.min_root,
        "methods": methods.filter_map(method).collect::<Vec<_>>(),
    })
}
