//! Trees for Graphviz, drawn and labelled as in k-BLPP's figures 6 and 9.

use std::fmt::Write;

use trodden_insight::kpaths::{Fold, Limits, Trees};
use trodden_insight::view::MethodView;
use trodden_profile::KPaths;

use super::label_of_line;
use crate::dot::{HOT, quoted};
use crate::words::thousands;

/// One cluster with the trees of a method; nothing if it has none. `index` tells methods apart in node names.
pub(crate) fn cluster(
    out: &mut String,
    kpaths: Option<&KPaths>,
    index: usize,
    method: &MethodView,
    limits: &Limits,
) {
    let Some(trees) = Trees::new(kpaths, method, limits) else {
        return;
    };
    let title = format!("{}\nsequences of up to {} paths", method.title(), trees.k);
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "  subgraph cluster_k{index} {{\n    label={};",
        quoted(&title)
    );
    for (t, tree) in trees.trees.iter().enumerate() {
        let lines = tree.lines(limits.fold(Fold::Runs));
        // The way down that is most frequent at every fork.
        let mut hot = vec![false; lines.len()];
        let mut at = Some(0);
        while let Some(line) = at {
            hot[line] = true;
            at = lines[line].children.first().copied();
        }
        for (i, line) in lines.iter().enumerate() {
            let mut words: Vec<String> = line.steps.iter().map(ToString::to_string).collect();
            if line.parent.is_none() {
                let root = tree.root();
                words.push(format!("{}×", thousands(root.count)));
                words.extend(trees.routes.get(&root.path).cloned());
            }
            let look = if hot[i] { HOT } else { "" };
            let words = quoted(&words.join("\n"));
            let _ = writeln!(out, "    k{index}_t{t}_n{i} [label={words}{look}];");
        }
        for (i, line) in lines.iter().enumerate() {
            let Some(parent) = line.parent else { continue };
            let look = if hot[i] { HOT } else { "" };
            let label = quoted(&label_of_line(&trees, tree, line));
            let _ = writeln!(
                out,
                "    k{index}_t{t}_n{parent} -> k{index}_t{t}_n{i} [label={label}{look}];"
            );
        }
    }
    *out += "  }\n";
}
