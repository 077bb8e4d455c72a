//! Collapsed (folded) stacks: `frame;frame;frame COUNT`, as flame graph viewers read them.

use super::Export;

/// A line per stack that has a number of its own, sorted. A semicolon in a name is a colon here: there is no
/// way to write it.
pub(crate) fn write(export: &Export) -> String {
    let names: Vec<String> = export
        .frames
        .iter()
        .map(|frame| frame.name.replace(';', ":"))
        .collect();
    let mut lines = Vec::new();
    for (at, node) in export.samples().filter(|(_, node)| node.own[0] > 0) {
        let stack = export.stack(at);
        let names: Vec<&str> = stack.iter().rev().map(|&frame| &*names[frame as usize]).collect();
        lines.push(format!("{} {}\n", names.join(";"), node.own[0]));
    }
    lines.sort_unstable();
    lines.concat()
}
