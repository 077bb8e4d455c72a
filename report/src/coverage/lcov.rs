//! LCOV's tracefile (geninfo(1), section FILES): lines, methods and branches per source file.

use std::collections::BTreeMap;
use std::fmt::Write;

use trodden_insight::coverage::{Coverage, Line, MethodCoverage};
use trodden_insight::names;

/// Coverage of a source file.
#[derive(Default)]
struct Source {
    /// Name of a method to its first line and how often it was entered.
    methods: BTreeMap<String, (u32, u64)>,
    lines: BTreeMap<u32, Vec<Line>>,
}

/// LCOV's tracefile, as `genhtml` reads it.
pub fn lcov(coverage: &Coverage) -> String {
    let coverage = &coverage.printable();
    let mut sources: BTreeMap<String, Source> = BTreeMap::new();
    for method in &coverage.methods {
        let Some(file) = method.source_file() else {
            continue;
        };
        let lines = method.lines();
        let Some((&first, _)) = lines.first_key_value() else {
            continue;
        };
        let Some(path) = coverage.source_path(method, file) else {
            continue;
        };
        let source = sources.entry(path).or_default();
        // A class that was loaded with different bytes is there more than once.
        let entry = source.methods.entry(name(method)).or_insert((first, 0));
        entry.1 = entry.1.saturating_add(entered(method));
        for (number, line) in lines {
            source.lines.entry(number).or_default().push(line);
        }
    }
    let mut out = String::new();
    for (path, source) in &sources {
        // Writing to a String cannot fail.
        let _ = record(&mut out, path, source);
    }
    out
}

fn record(out: &mut String, path: &str, source: &Source) -> std::fmt::Result {
    writeln!(out, "TN:\nSF:{path}")?;
    for (name, (line, _)) in &source.methods {
        writeln!(out, "FN:{line},{name}")?;
    }
    for (name, (_, count)) in &source.methods {
        writeln!(out, "FNDA:{count},{name}")?;
    }
    let ran = source.methods.values().filter(|(_, count)| *count > 0).count();
    writeln!(out, "FNF:{}\nFNH:{ran}", source.methods.len())?;
    let (mut branches, mut taken) = (0, 0);
    for (number, lines) in &source.lines {
        for (block, outcomes) in lines.iter().flat_map(|line| &line.branches).enumerate() {
            let reached = outcomes.iter().any(|&count| count > 0);
            for (index, count) in outcomes.iter().enumerate() {
                let times = if reached {
                    count.to_string()
                } else {
                    "-".to_owned()
                };
                writeln!(out, "BRDA:{number},{block},{index},{times}")?;
                branches += 1;
                taken += u64::from(*count > 0);
            }
        }
    }
    writeln!(out, "BRF:{branches}\nBRH:{taken}")?;
    let mut hit = 0;
    for (number, lines) in &source.lines {
        let count = lines.iter().map(|line| line.count).max().unwrap_or(0);
        writeln!(out, "DA:{number},{count}")?;
        hit += u64::from(count > 0);
    }
    writeln!(out, "LF:{}\nLH:{hit}\nend_of_record", source.lines.len())
}

/// `Outer$Inner.m(I)V`: unique in a file.
fn name(method: &MethodCoverage) -> String {
    let simple = names::simple(method.class());
    let map = method.map();
    format!("{simple}.{}{}", map.name, map.descriptor)
}

/// How often the method was entered and came to a path's end: the paths that start at its entry.
fn entered(method: &MethodCoverage) -> u64 {
    let Some(start) = method.map().dag.starts().first() else {
        return 0;
    };
    let numbers = start.value..start.value.saturating_add(start.paths);
    let counts = method.counts.paths.range(numbers);
    let entered = counts.fold(0u64, |sum, (_, &count)| sum.saturating_add(count));
    // It may have come no farther than to an exception that it handled: its first path has no end then.
    entered.max(method.ran().into())
}
