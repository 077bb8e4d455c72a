//! Checks that a report is possible. Every path of a JSON report is walked over `javap`'s listing of the
//! code, step by step; and every sum in the report is added up again. Nothing of Trodden's own reading of
//! class files, numbering or regeneration is used: only the text of the report.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::javap::{Flow, Listing};
use crate::trace::MethodId;

/// The parts of a report that are walked (format `trodden-report`).
#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)] // The format's own words.
pub struct Report {
    pub totals: Totals,
    pub methods: Vec<Method>,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Totals {
    pub paths: u64,
    pub flow: u64,
    pub unreadable: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Method {
    pub class: String,
    pub name: String,
    pub descriptor: String,
    pub count: u64,
    pub flow: u64,
    pub possible_paths: u64,
    pub paths: Vec<Path>,
    #[serde(default)]
    pub partial: Vec<Path>,
    pub branches: Vec<Branch>,
    pub switches: Vec<Switch>,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Path {
    pub id: u64,
    pub count: u64,
    pub flow: u64,
    pub start: Point,
    pub end: Point,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Point {
    pub kind: String,
    pub line: Option<u32>,
    pub bci: u32,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Step {
    pub bci: u32,
    pub line: Option<u32>,
    pub branch: String,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Branch {
    pub bci: u32,
    pub line: Option<u32>,
    pub taken: Option<u64>,
    pub not_taken: Option<u64>,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Switch {
    pub bci: u32,
    pub cases: Vec<Case>,
}

#[derive(Clone, Debug, Deserialize)]
#[allow(missing_docs)]
pub struct Case {
    pub case: String,
    pub count: u64,
}

/// Descriptions of what cannot be; empty if all is possible. The report must be of exact counts.
pub fn check(report: &Report, code: &BTreeMap<MethodId, Listing>) -> Vec<String> {
    let mut wrong = Vec::new();
    let (mut paths, mut flow) = (0, 0);
    for method in &report.methods {
        let id = MethodId {
            class: method.class.clone(),
            name: method.name.clone(),
            descriptor: method.descriptor.clone(),
        };
        let mut say = |what: String| wrong.push(format!("{}.{}{}: {what}", id.class, id.name, id.descriptor));
        match code.get(&id) {
            Some(listing) => check_method(method, listing, &mut say),
            None => say("javap shows no such method".to_owned()),
        }
        paths += method.count;
        flow += method.flow;
    }
    if (paths, flow, 0) != (report.totals.paths, report.totals.flow, report.totals.unreadable) {
        wrong.push(format!(
            "{paths} paths, flow {flow}; reported are {:?}",
            report.totals
        ));
    }
    wrong
}

fn ends_at_a_block(kind: &str) -> bool {
    kind == "header" || kind == "cut"
}

fn check_method(method: &Method, listing: &Listing, say: &mut impl FnMut(String)) {
    let stops: BTreeSet<u32> = method
        .paths
        .iter()
        .filter(|p| ends_at_a_block(&p.end.kind))
        .map(|p| p.end.bci)
        .collect();
    let mut ways: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    let mut arrived: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    let mut departed: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    let (mut count, mut flow) = (0, 0);
    for path in method.paths.iter().chain(&method.partial) {
        if let Err(why) = walk(path, listing, &stops) {
            say(format!("path {}: {why}", path.id));
        }
        // Prefixes are known by their last block as well.
        let place = (path.end.kind == "stopped").then_some(path.end.bci);
        if path.id >= method.possible_paths || !ids.insert((path.id, place)) {
            say(format!("path {} is there twice or no path", path.id));
        }
        if path.flow != path.count * path.steps.len() as u64 {
            say(format!("path {}: flow {}", path.id, path.flow));
        }
        count += path.count;
        flow += path.flow;
        for step in &path.steps {
            *ways.entry((step.bci, &step.branch)).or_default() += path.count;
        }
        *departed.entry((&path.start.kind, path.start.bci)).or_default() += path.count;
        *arrived.entry((&path.end.kind, path.end.bci)).or_default() += path.count;
    }
    if (count, flow) != (method.count, method.flow) {
        say(format!(
            "{count} paths, flow {flow}; reported are {} and {}",
            method.count, method.flow
        ));
    }
    // Each path that ends at a block is followed by one that starts there, unless an exception ends that.
    for (&(kind, bci), &left) in departed.iter().filter(|((kind, _), _)| ends_at_a_block(kind)) {
        let came = arrived.get(&(kind, bci)).copied().unwrap_or(0);
        if came < left {
            say(format!("{kind} at {bci}: {came} arrive, {left} leave"));
        }
    }
    let mut reported: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for branch in &method.branches {
        for (outcome, count) in [("taken", branch.taken), ("not-taken", branch.not_taken)] {
            match count {
                Some(count) => _ = reported.insert((branch.bci, outcome), count),
                None => say(format!("branch at {}: {outcome} is not known", branch.bci)),
            }
        }
        if branch.line != listing.line(branch.bci) {
            say(format!(
                "branch at {} is not on line {:?}",
                branch.bci, branch.line
            ));
        }
    }
    for switch in &method.switches {
        for case in &switch.cases {
            reported.insert((switch.bci, &case.case), case.count);
        }
    }
    reported.retain(|_, count| *count > 0);
    ways.retain(|_, count| *count > 0);
    if reported != ways {
        say(format!("branches are {reported:?}, but by the paths {ways:?}"));
    }
}

/// Walks a path; `stops` are the places where paths end, so that none runs on there.
fn walk(path: &Path, listing: &Listing, stops: &BTreeSet<u32>) -> Result<(), String> {
    let mut at = path.start.bci;
    let start_is_right = match path.start.kind.as_str() {
        "entry" => at == 0,
        "handler" => listing.handlers.contains(&at),
        kind => ends_at_a_block(kind),
    };
    if !start_is_right {
        return Err(format!("cannot start as {:?}", path.start));
    }
    for point in [&path.start, &path.end] {
        if point.line != listing.line(point.bci) {
            return Err(format!(
                "{point:?}, but that is on line {:?}",
                listing.line(point.bci)
            ));
        }
    }
    let mut steps = path.steps.iter();
    // A path that starts where paths end starts behind that.
    let mut runs_on = ends_at_a_block(&path.start.kind);
    let mut left = listing.flow.len() + 1;
    loop {
        if path.end.kind == "stopped" && path.end.bci == at && steps.len() == 0 {
            // The block in which it was cut off: it has begun, and no more is known.
            return Ok(());
        }
        if stops.contains(&at) && !runs_on {
            return match (
                ends_at_a_block(&path.end.kind) && path.end.bci == at,
                steps.next(),
            ) {
                (true, None) => Ok(()),
                (_, next) => Err(format!("runs on at {at}, where paths end; next is {next:?}")),
            };
        }
        runs_on = false;
        let Some(flow) = listing.flow.get(&at) else {
            return Err(format!("{at} is no instruction"));
        };
        left -= 1;
        if left == 0 {
            return Err("goes round in a circle".to_owned());
        }
        let mut decide = || match steps.next() {
            Some(step) if step.bci == at && step.line == listing.line(at) => Ok(step.branch.as_str()),
            other => Err(format!(
                "a decision at {at}, line {:?}: {other:?}",
                listing.line(at)
            )),
        };
        let next = match flow {
            Flow::Next => listing.next(at),
            Flow::Goto(target) => Some(*target),
            Flow::Branch(target) => match decide()? {
                "taken" => Some(*target),
                "not-taken" => listing.next(at),
                other => return Err(format!("a branch at {at} is '{other}'")),
            },
            Flow::Switch(cases) => Some(switch_target(cases, decide()?)?),
            Flow::Return | Flow::Throw => {
                let kind = if *flow == Flow::Return { "return" } else { "throw" };
                return match (path.end.kind == kind && path.end.bci == at, steps.next()) {
                    (true, None) => Ok(()),
                    (_, next) => Err(format!("{kind} at {at}; next is {next:?}, and {:?}", path.end)),
                };
            }
            Flow::Subroutine => return Err(format!("a subroutine at {at}")),
        };
        at = next.ok_or_else(|| format!("runs out of the code behind {at}"))?;
    }
}

/// Where a switch goes by the words of a report, which must name all keys with that target (of a table's
/// filler, which goes where the default goes, none).
fn switch_target(cases: &BTreeMap<Option<i32>, u32>, words: &str) -> Result<u32, String> {
    let mut named = BTreeSet::new();
    for word in words.trim_start_matches("case ").split(',') {
        named.insert(match word {
            "default" => None,
            key => Some(key.parse::<i32>().map_err(|_| format!("what is '{words}'?"))?),
        });
    }
    let default = cases.get(&None);
    let first = named.iter().next().ok_or("no case")?;
    let target = *cases.get(first).ok_or_else(|| format!("no case {words}"))?;
    let all: BTreeSet<Option<i32>> = cases.iter().filter(|c| *c.1 == target).map(|c| *c.0).collect();
    if all == named || (Some(&target) == default && named == BTreeSet::from([None])) {
        Ok(target)
    } else {
        Err(format!("'{words}', but {all:?} go to {target}"))
    }
}
