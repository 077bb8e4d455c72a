//! The format of callgrind, as KCachegrind and `callgrind_annotate` read it: costs by line, calls with the
//! costs of what was called, and jumps.
//!
//! A conditional jump is there once for each of its outcomes that ran, with how often it went that way and how often it was
//! decided at all. Executions of a line are those of the block of it that ran most often. Samples do not say how often a
//! method was called, but that it was: calls have the number 1. With 0 `callgrind_annotate` takes their costs for the
//! line's own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use trodden_insight::view::{MethodView, View};
use trodden_insight::{cpu, left_out};
use trodden_profile::MethodMap;

use super::{paths, title};
use crate::options::ReportError;

/// Nanoseconds, and executions.
type Costs = [u64; 2];

/// A function's part of the file.
#[derive(Default)]
struct Function {
    file: Option<String>,
    lines: BTreeMap<u32, Costs>,
    /// By calling line, called function and its first line: nanoseconds.
    calls: BTreeMap<(u32, String, u32), u64>,
    /// By line and target line: how often, of how many decisions.
    jumps: BTreeMap<(u32, u32), (u64, u64)>,
}

/// The whole file.
///
/// # Errors
/// If there are neither samples nor counts.
pub(crate) fn write(view: &View) -> Result<String, ReportError> {
    let mut functions: BTreeMap<String, Function> = BTreeMap::new();
    let methods: BTreeMap<_, &MethodView> = (view.methods.iter())
        .filter(|method| method.earlier.is_none())
        .map(|method| (method.names(), method))
        .collect();
    for method in methods.values() {
        let function = functions.entry(method.title()).or_default();
        function.file = paths::file(method);
        add_counts(function, method);
    }
    add_samples(&mut functions, view);
    if functions.is_empty() {
        return Err(super::nothing(view));
    }
    Ok(written(&functions, &title(view.run)))
}

/// Executions of lines, and jumps.
fn add_counts(function: &mut Function, method: &MethodView) {
    for (line, count) in method.line_counts() {
        if let Some(count) = count {
            let [_, executions] = function.lines.entry(line).or_default();
            *executions = executions.saturating_add(count);
        }
    }
    for branch in method.branches.iter().filter(|branch| !branch.is_switch) {
        let outcomes = branch.outcomes(method);
        let counts: Option<Vec<u64>> = outcomes.iter().map(|outcome| outcome.count).collect();
        let (Some(counts), Some(line)) = (counts, branch.at.line) else {
            continue;
        };
        let all = counts.iter().fold(0u64, |sum, &count| sum.saturating_add(count));
        for (outcome, count) in outcomes.iter().zip(counts) {
            if let Some(target) = outcome.target.line.filter(|_| count > 0) {
                let (times, decisions) = function.jumps.entry((line, target)).or_default();
                *times = times.saturating_add(count);
                *decisions = decisions.saturating_add(all);
            }
        }
    }
}

/// CPU time of lines, and of calls with all that they lead to.
fn add_samples(functions: &mut BTreeMap<String, Function>, view: &View) {
    let Some(times) = &view.sampled else { return };
    let samples = times.samples;
    let maps = view.maps();
    let frames: Vec<(String, Option<&MethodMap>)> = (samples.frames.iter())
        .map(|frame| {
            let map = maps.get(&(&*frame.class, &*frame.name, &*frame.descriptor));
            (cpu::title(frame), map.copied())
        })
        .collect();
    let first_line = |frame: usize| {
        let lines = frames[frame].1.map(|map| &map.lines);
        lines.and_then(|lines| lines.iter().map(|entry| entry.line).min())
    };
    let line_of = |frame: u32, bci: Option<u16>| {
        let frame = frame as usize;
        left_out::line(times, frame, frames[frame].1, bci?)
    };
    // Per depth: the function, and the line where it is.
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for (node, total) in samples.tree.nodes().iter().zip(samples.tree.totals()) {
        stack.truncate(node.depth as usize - 1);
        let line = line_of(node.frame, node.bci).unwrap_or_default();
        let name = &frames[node.frame as usize].0;
        if let Some(&(caller, at)) = stack.last() {
            let begins = first_line(node.frame as usize).unwrap_or_default();
            let caller = functions.entry(frames[caller as usize].0.clone()).or_default();
            let time = caller.calls.entry((at, name.clone(), begins)).or_default();
            *time = time.saturating_add(total.ns);
        }
        let function = functions.entry(name.clone()).or_default();
        if !node.own.is_none() {
            let [time, _] = function.lines.entry(line).or_default();
            *time = time.saturating_add(node.own.ns);
        }
        stack.push((node.frame, line));
    }
}

fn written(functions: &BTreeMap<String, Function>, command: &str) -> String {
    // Each name stands in the file once, and its number from then on.
    let mut names = Names::default();
    let mut out = format!(
        "# callgrind format\nversion: 1\ncreator: trodden {}\ncmd: {}\npositions: line\nevents: Ns Executions\n",
        env!("CARGO_PKG_VERSION"),
        command
    );
    let mut sum: Costs = [0; 2];
    for function in functions.values() {
        for costs in function.lines.values() {
            sum = [0, 1].map(|at| sum[at].saturating_add(costs[at]));
        }
    }
    let _ = writeln!(out, "summary: {} {}", sum[0], sum[1]);
    for (name, function) in functions {
        let (file, called) = (names.file(function.file.as_deref()), names.function(name));
        let _ = write!(out, "\nfl={file}\nfn={called}\n");
        for (line, [time, executions]) in &function.lines {
            let _ = writeln!(out, "{line} {time} {executions}");
        }
        for ((line, target), (times, decisions)) in &function.jumps {
            let _ = write!(out, "jcnd={times}/{decisions} {target}\n{line}\n");
        }
        for ((line, callee, begins), time) in &function.calls {
            let file = functions.get(callee).and_then(|callee| callee.file.as_deref());
            let (file, callee) = (names.file(file), names.function(callee));
            let _ = write!(
                out,
                "cfi={file}\ncfn={callee}\ncalls=1 {begins}\n{line} {time} 0\n"
            );
        }
    }
    out
}

/// Names that the file already has.
#[derive(Default)]
struct Names {
    files: BTreeMap<String, usize>,
    functions: BTreeMap<String, usize>,
}

impl Names {
    fn file(&mut self, name: Option<&str>) -> String {
        Self::number(&mut self.files, name.unwrap_or("???"))
    }

    fn function(&mut self, name: &str) -> String {
        Self::number(&mut self.functions, name)
    }

    fn number(known: &mut BTreeMap<String, usize>, name: &str) -> String {
        let next = known.len() + 1;
        match known.get(name) {
            Some(number) => format!("({number})"),
            None => {
                known.insert(name.to_owned(), next);
                format!("({next}) {name}")
            }
        }
    }
}
