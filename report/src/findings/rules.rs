//! The rules, one function each.

use std::collections::BTreeMap;

use trodden_insight::findings::{Work, ratio};
use trodden_insight::path_time::Times;
use trodden_insight::view::{PathView, View};
use trodden_numbering::{BlockId, StartKind};

use super::{About, Finding, FindingKind, OFTEN, WORTH};
use crate::words::{percent, thousands};

/// HotSpot's `FreqInlineSize`: a hot method with more bytes of bytecode is not inlined.
const INLINED: u32 = 325;
/// HotSpot's `HugeMethodLimit`: a method with more bytes of bytecode is not compiled.
const COMPILED: u32 = 8_000;

/// Which methods make up the work.
pub(super) fn work(view: &View, work: &Work) -> Option<Finding> {
    if work.total == 0 {
        return None;
    }
    let mut order: Vec<usize> = (0..work.methods.len()).collect();
    order.sort_by_key(|&m| std::cmp::Reverse(work.methods[m]));
    let mut sum = 0u64;
    let enough = order.iter().position(|&m| {
        sum = sum.saturating_add(work.methods[m]);
        ratio(sum, work.total) >= 0.8
    })? + 1;
    let names: Vec<String> = order
        .iter()
        .take(enough.min(3))
        .map(|&m| view.methods[m].short_name())
        .collect();
    let more = enough - names.len();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let ran = view.totals.methods;
    let partly = view
        .methods
        .iter()
        .filter(|m| m.known_blocks.contains(&false))
        .count() as u64;
    let verb = if enough == 1 { "does" } else { "do" };
    Some(Finding::new(
        FindingKind::Work,
        format!(
            "{}{more} {verb} {} of the work{}",
            names.join(", "),
            percent(ratio(sum, work.total)),
            if partly > 0 { " that was counted" } else { "" }
        ),
        format!(
            "{} of {} methods that ran; work is executed bytecode instructions, {} in all{}",
            enough,
            thousands(ran),
            thousands(work.total),
            match partly {
                0 => String::new(),
                1 => "; loops that are not counted, of 1 method, are not in it".to_owned(),
                partly => format!(
                    "; loops that are not counted, of {} methods, are not in it",
                    thousands(partly)
                ),
            }
        ),
        Some(ratio(sum, work.total)),
    ))
}

/// A path that is rare and costs much.
pub(super) fn rare_path(about: &About) -> Option<Finding> {
    let method = about.method;
    if method.map.num_paths() < 2 || method.count < OFTEN {
        return None;
    }
    let cost = |path: &PathView| -> u64 {
        let blocks = path.description.blocks.iter();
        let one: u64 = blocks.map(|block| method.map.instructions(block.index())).sum();
        one.saturating_mul(path.count)
    };
    let of_start = |path: &PathView| {
        let same = method
            .paths
            .iter()
            .filter(|p| p.description.start == path.description.start);
        same.map(|p| p.count).sum::<u64>()
    };
    let rare = |path: &&PathView| ratio(path.count, of_start(path)) < 0.02;
    let path = method.paths.iter().filter(rare).max_by_key(|path| cost(path))?;
    let (share, work) = (ratio(path.count, of_start(path)), ratio(cost(path), about.work));
    if work < 0.2 {
        return None;
    }
    let last = path.description.blocks.last()?.index();
    let found = about.finding(
        FindingKind::RarePath,
        Some(last),
        about.share * work,
        format!(
            "{}: one path, {} of those from its start, does {} of the method's work",
            method.short_with_file(),
            percent(share),
            percent(work)
        ),
        super::sentences::path_evidence(method, path),
    );
    Some(Finding {
        path: Some(path.number),
        // Where there is time, work is no cause.
        aside: about.timed,
        ..found
    })
}

/// Iterations that follow each other in turns: `a b a b`, or with a longer period.
pub(super) fn alternates(about: &About) -> Option<Finding> {
    let (_, forest) = about.method.forest?;
    let roots: BTreeMap<u64, (usize, u64)> = forest
        .roots()
        .map(|(index, root)| (root.path, (index, root.count)))
        .collect();
    // What comes next nearly always, if it is another path.
    let next = |path: u64| -> Option<u64> {
        let &(index, count) = roots.get(&path)?;
        let (_, after) = forest.children(index).max_by_key(|(_, child)| child.count)?;
        let known = forest.nodes()[index].known();
        (count >= OFTEN && after.path != path && ratio(after.count, known) >= 0.95).then_some(after.path)
    };
    for &start in roots.keys() {
        let mut cycle = vec![start];
        while let Some(after) = cycle.last().and_then(|&path| next(path)) {
            if after == start {
                let times = cycle.iter().map(|path| roots[path].1).min()?;
                let all: u64 = cycle.iter().map(|path| roots[path].1).sum();
                let share = about.share * ratio(all, forest.total());
                let name = about.method.short_with_file();
                let what = match cycle.len() {
                    2 => format!("{name}: two ways through its loop alternate"),
                    n => format!("{name}: {n} ways through its loop take turns"),
                };
                let order: Vec<String> = cycle.iter().map(u64::to_string).collect();
                let evidence = format!(
                    "paths {}, each about {} times",
                    order.join(" → "),
                    thousands(times)
                );
                return Some(about.finding(FindingKind::Alternates, None, share, what, evidence));
            }
            if cycle.contains(&after) || cycle.len() == 8 {
                break;
            }
            cycle.push(after);
        }
    }
    None
}

/// Branches that never went one way.
pub(super) fn one_way(about: &About) -> Vec<Finding> {
    if !about.exact {
        return Vec::new();
    }
    let method = about.method;
    let of = |block: usize| {
        if !method.known_blocks[block] {
            return None;
        }
        let counts = &method.edges.edges[block];
        let total = counts.iter().fold(0u64, |sum, &n| sum.saturating_add(n));
        let taken = counts.iter().filter(|&&n| n > 0).count();
        // A decision whose meaning is not known is a table of bytecode; so is a switch.
        let meaning = method.decisions().of(block)?.phrase()?;
        if total < OFTEN || taken != 1 || counts.len() != 2 {
            return None;
        }
        let never = counts.iter().position(|&n| n == 0)?;
        let outcome = method.decisions().outcome(block, never)?;
        let other = method.decisions().outcome(block, 1 - never)?;
        // How much work the decision is in: the block's own executions of the method's.
        let share = about.share * ratio(total.saturating_mul(method.map.instructions(block)), about.work);
        let dead: u64 = never_ran(about, block, never);
        let never = match &*outcome {
            "yes" => format!("`{meaning}` was never true"),
            "no" => format!("`{meaning}` was always true"),
            "again" => format!("`{meaning}` never went round"),
            "done" => format!("`{meaning}` never came to its end"),
            case => format!("`{meaning}` never came to {case}"),
        };
        let times = format!("{} times {meaning} → {other}{}", thousands(total), about.caveat());
        let found = about.finding(
            FindingKind::OneWay,
            Some(block),
            share,
            format!("{}: {never}", method.at(method.map.blocks[block].last)),
            match dead {
                0 => times,
                1 => format!("{times}; 1 byte of code behind the other way never ran"),
                dead => format!(
                    "{times}; {} bytes of code behind the other way never ran",
                    thousands(dead)
                ),
            },
        );
        Some(Finding {
            condition: Some(meaning),
            outcome: Some(outcome),
            ..found
        })
    };
    let mut found: Vec<Finding> = about.decisions().filter_map(of).collect();
    found.sort_by(|a, b| b.share.unwrap_or(0.0).total_cmp(&a.share.unwrap_or(0.0)));
    found.truncate(2);
    found
}

/// Bytes of code that can be reached by an edge and never ran.
fn never_ran(about: &About, block: usize, edge: usize) -> u64 {
    use trodden_numbering::FlowGraph;
    let map = about.method.map;
    let mut seen = vec![false; map.blocks.len()];
    let mut stack = vec![about.target(block, edge)];
    let mut bytes = 0u64;
    while let Some(at) = stack.pop() {
        if about.method.block_count(at) != Some(0) || std::mem::replace(&mut seen[at], true) {
            continue;
        }
        bytes += u64::from(map.blocks[at].end - map.blocks[at].start);
        stack.extend(map.graph.successors(BlockId::new(at)).iter().map(|to| to.index()));
    }
    bytes
}

/// Exceptions that are caught so often that they are control flow.
pub(super) fn exceptions(about: &About, view: &View) -> Option<Finding> {
    let method = about.method;
    let starts = |kind: StartKind| -> u64 {
        let of_kind = method.all_paths().filter(|p| p.description.start_kind == kind);
        of_kind.fold(0, |sum, path| sum.saturating_add(path.count))
    };
    let (caught, entries) = (starts(StartKind::Handler), starts(StartKind::Entry));
    if caught < OFTEN || ratio(caught, entries) < 0.05 {
        return None;
    }
    let handlers = method.all_paths();
    let first = handlers
        .filter(|p| p.description.start_kind == StartKind::Handler)
        .max_by_key(|p| p.count)?;
    let block = first.description.blocks.first()?.index();
    let making = view.times().map(|times| {
        let frame = times.frame(method.names());
        frame.map_or(0.0, |frame| {
            ratio(time_of_throwables(times, frame), times.total.ns)
        })
    });
    let takes = match making {
        Some(share) if share >= WORTH => {
            format!("; making exceptions takes {} of the whole time", percent(share))
        }
        _ => String::new(),
    };
    let found = about.finding(
        FindingKind::Exceptions,
        Some(block),
        making.unwrap_or(about.share),
        format!(
            "{}: caught an exception {} times{takes}",
            method.at(method.map.blocks[block].start),
            thousands(caught)
        ),
        format!(
            "in {} calls; throwing and unwinding costs thousands of instructions each",
            thousands(entries)
        ),
    );
    Some(Finding {
        aside: making.is_some_and(|share| share < WORTH),
        ..found
    })
}

/// Nanoseconds in which exceptions were made below a method.
fn time_of_throwables(times: &Times, method: usize) -> u64 {
    let frames = &times.samples.frames;
    let (mut below, mut making, mut ns) = (None, None, 0u64);
    for node in times.samples.tree.nodes() {
        below = below.filter(|&depth| depth < node.depth);
        making = making.filter(|&depth| depth < node.depth);
        let frame = &frames[node.frame as usize];
        if node.frame as usize == method {
            below.get_or_insert(node.depth);
        }
        let makes =
            frame.class == "java/lang/Throwable" && matches!(&*frame.name, "<init>" | "fillInStackTrace");
        if below.is_some() && makes {
            making.get_or_insert(node.depth);
        }
        if making.is_some() {
            ns = ns.saturating_add(node.own.ns);
        }
    }
    ns
}

/// Hot methods that the compiler does not inline, or not compile at all.
pub(super) fn too_big(about: &About) -> Option<Finding> {
    let method = about.method;
    let size = method.map.code_length;
    let entries: u64 = {
        let entered = method.paths.iter().chain(&method.partial);
        let entered = entered.filter(|p| p.description.start_kind == StartKind::Entry);
        entered.fold(0, |sum, path| sum.saturating_add(path.count))
    };
    let (limit, what) = match size {
        size if size > COMPILED => (COMPILED, "is never compiled"),
        // A method that is rarely called gains little from being inlined.
        size if size > INLINED && entries >= 10 * OFTEN => (INLINED, "is not inlined"),
        _ => return None,
    };
    let text = format!(
        "{} has {} bytes of bytecode: it {what}",
        method.short_with_file(),
        thousands(size.into())
    );
    // What is interpreted takes many times as long.
    let aside = limit == INLINED;
    if !about.exact {
        let evidence = format!("HotSpot's limit is {} bytes", thousands(limit.into()));
        let found = about.finding(FindingKind::TooBig, None, about.share, text, evidence);
        return Some(Finding { aside, ..found });
    }
    let never: Vec<usize> = (0..method.map.blocks.len())
        .filter(|&b| method.block_count(b) == Some(0))
        .collect();
    let bytes = |block: usize| method.map.blocks[block].end - method.map.blocks[block].start;
    let dead: u32 = never.iter().map(|&block| bytes(block)).sum();
    let of_block = |&block: &usize| {
        let block = &method.map.blocks[block];
        trodden_insight::view::block_lines(method.map, block.start, block.end)
    };
    let mut lines: Vec<u32> = never.iter().flat_map(of_block).collect();
    lines.sort_unstable();
    lines.dedup();
    let mut evidence = format!(
        "HotSpot's limit is {} bytes; {} bytes never ran{}",
        thousands(limit.into()),
        thousands(dead.into()),
        about.caveat()
    );
    // A call of the new method takes some bytes, too.
    if dead > 0 && size - dead + 10 <= limit && !lines.is_empty() {
        evidence += &format!(
            ": moved to a method of their own, {} would bring it under the limit",
            ranges(&lines)
        );
    }
    let found = about.finding(
        FindingKind::TooBig,
        never.first().copied(),
        about.share,
        text,
        evidence,
    );
    Some(Finding { aside, ..found })
}

/// `lines 3–5, 9 and 11`, at most five of them.
fn ranges(lines: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &line in lines {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 >= line => *to = line,
            _ => runs.push((line, line)),
        }
    }
    let shown = runs.iter().take(5);
    let mut words: Vec<String> = shown
        .map(|&(from, to)| {
            if from == to {
                from.to_string()
            } else {
                format!("{from}–{to}")
            }
        })
        .collect();
    if runs.len() > 5 {
        words.push("…".to_owned());
    }
    let what = if lines.len() == 1 { "line" } else { "lines" };
    format!("{what} {}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_ranges() {
        assert_eq!(ranges(&[4]), "line 4");
        assert_eq!(ranges(&[3, 4, 5, 9]), "lines 3–5, 9");
        assert_eq!(ranges(&[1, 3, 5, 7, 9, 11]), "lines 1, 3, 5, 7, 9, …");
    }
}
