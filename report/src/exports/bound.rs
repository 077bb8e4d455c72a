//! Fewer stacks, the same totals.

use super::{Export, Frame, NOTHING, Node, Numbers, VALUES};

/// Tells all stacks together that have less than one part in `parts` of each total, below the deepest stack
/// where they are that much in sum. So there are at most twice `parts` lines for each value, and nothing is
/// lost. 0 parts leave all as they are.
pub(super) fn within(mut export: Export, parts: u128) -> Export {
    if parts == 0 {
        return compact(export);
    }
    let totals = export.totals();
    let is_small =
        |own: Numbers| (0..VALUES).all(|at| u128::from(own[at]) * parts < totals[at] || own[at] == 0);
    let percent = 100.0 / parts as f64;
    let label = export.frame(Frame::group(format!("[{} below {percent} %]", export.leaves)));
    let mut rest = vec![NOTHING; export.nodes.len()];
    let mut of_all = NOTHING;
    let sum = |a: Numbers, b: Numbers| std::array::from_fn(|at| a[at].saturating_add(b[at]));
    // Parents come before their children.
    for at in (0..rest.len()).rev() {
        let node = &mut export.nodes[at];
        let parent = node.parent;
        if is_small(node.own) {
            rest[at] = sum(rest[at], std::mem::take(&mut node.own));
        }
        if rest[at] != NOTHING && !is_small(rest[at]) {
            let together = export.node(Some(at as u32), label);
            export.add(together, rest[at]);
        } else if let Some(parent) = parent {
            rest[parent as usize] = sum(rest[parent as usize], rest[at]);
        } else {
            of_all = sum(of_all, rest[at]);
        }
    }
    if of_all != NOTHING {
        let together = export.node(None, label);
        export.add(together, of_all);
    }
    compact(export)
}

/// Without stacks and frames that nothing is counted for.
fn compact(export: Export) -> Export {
    let mut keep: Vec<bool> = export.nodes.iter().map(|node| node.own != NOTHING).collect();
    for at in (0..keep.len()).rev() {
        if let (true, Some(parent)) = (keep[at], export.nodes[at].parent) {
            keep[parent as usize] = true;
        }
    }
    let mut small = Export {
        values: export.values,
        leaves: export.leaves,
        notes: export.notes,
        ..Export::default()
    };
    let mut places = vec![0u32; keep.len()];
    for (at, node) in export.nodes.iter().enumerate().filter(|&(at, _)| keep[at]) {
        let frame = small.frame(export.frames[node.frame as usize].clone());
        places[at] = small.nodes.len() as u32;
        small.nodes.push(Node {
            parent: node.parent.map(|parent| places[parent as usize]),
            frame,
            own: node.own,
        });
    }
    small
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports::{Unit, Value};

    fn export(nodes: &[(Option<u32>, u64)]) -> Export {
        let mut export = Export {
            values: vec![Value::counted("calls", Unit::Count)],
            leaves: "contexts",
            ..Export::default()
        };
        for (at, &(parent, own)) in nodes.iter().enumerate() {
            let frame = export.frame(Frame::group(format!("f{at}")));
            let node = export.node(parent, frame);
            export.add(node, [own, 0, 0]);
        }
        export
    }

    fn lines(export: &Export) -> Vec<String> {
        let name = |frame: &u32| export.frames[*frame as usize].name.clone();
        let line = |(at, node): (u32, &Node)| {
            let names: Vec<String> = export.stack(at).iter().rev().map(name).collect();
            format!("{} {}", names.join(";"), node.own[0])
        };
        export.samples().map(line).collect()
    }

    #[test]
    fn what_is_rare_is_told_together_and_nothing_is_lost() {
        // Below f1 what is rare is enough for a line; below f2 it is not, and goes up to the program.
        let nodes = [
            (None, 1),
            (Some(0), 900),
            (Some(1), 6),
            (Some(1), 7),
            (Some(0), 80),
            (Some(4), 3),
            (None, 2),
        ];
        let small = within(export(&nodes), 100);
        assert_eq!(
            lines(&small),
            [
                "f0;f1 900",
                "f0;f4 80",
                "f0;f1;[contexts below 1 %] 13",
                "[contexts below 1 %] 6",
            ]
        );
        assert_eq!(small.totals(), export(&nodes).totals());
        assert_eq!(small.frames.len(), 4, "only frames that occur");
        assert_eq!(lines(&within(export(&nodes), 0)).len(), nodes.len());
    }

    #[test]
    fn a_stack_that_one_value_is_not_small_in_stays() {
        let mut export = export(&[(None, 1_000), (None, 1)]);
        export.nodes[1].own[1] = 50;
        let small = within(export, 100);
        assert_eq!(small.nodes[1].own, [1, 50, 0]);
    }

    #[test]
    fn no_count_is_too_large() {
        let small = within(
            export(&[(None, u64::MAX), (Some(0), u64::MAX), (Some(1), 3)]),
            10_000,
        );
        assert_eq!(small.totals()[0], 2 * u128::from(u64::MAX) + 3);
    }
}
