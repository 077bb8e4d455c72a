//! Causes as findings: one sentence each, and the numbers behind it.

use trodden_insight::findings::{self, Candidate, Cause, What, ratio};
use trodden_insight::names;
use trodden_insight::path_time::{PathTime, Times};
use trodden_insight::route::route;
use trodden_insight::view::{MethodView, PathView, View};
use trodden_numbering::{BlockId, EdgeRef};
use trodden_profile::EndKind;

use super::{Finding, FindingKind};
use crate::hotspot;
use crate::words::{self, percent, range, thousands};

/// Causes of the time, most first. None without samples.
pub(super) fn causes(view: &View) -> Vec<Finding> {
    let Some(times) = view.times().filter(|times| times.total.ns > 0) else {
        return Vec::new();
    };
    let all = findings::causes(view, times);
    all.iter()
        .map(|cause| Said { view, times, cause }.finding())
        .collect()
}

/// A path: its number, how often it ran, and its way.
pub(super) fn path_evidence(method: &MethodView, path: &PathView) -> String {
    format!(
        "path {}, {} times: {}",
        path.number,
        thousands(path.count),
        route(path, method.map, method.decisions())
    )
}

/// A cause about to be said.
struct Said<'s, 'v> {
    view: &'s View<'v>,
    times: &'s Times<'v>,
    cause: &'s Cause<'s>,
}

impl Said<'_, '_> {
    fn finding(&self) -> Finding {
        let Candidate { what, method, .. } = &self.cause.candidate;
        let of = method.map(|index| &self.view.methods[index]);
        let found = match (what, of) {
            (What::Outcome(edge), Some(method)) => self.outcome(method, *edge),
            (What::Again(edge), Some(method)) => self.again(method, *edge),
            (What::Path(path), Some(method)) => self.path(method, path),
            (What::AfterLoop(path), Some(method)) => self.after_loop(method, path),
            _ => self.own(of),
        };
        Finding {
            method: *method,
            aside: false,
            share: Some(self.cause.share),
            ..found
        }
    }

    /// A sentence about a share of the time that is spent somewhere.
    fn said(&self, kind: FindingKind, text: String, evidence: String) -> Finding {
        let text = format!("{text}{}", self.mostly());
        Finding::new(kind, text, evidence, None)
    }

    fn share(&self) -> String {
        percent(self.cause.share)
    }

    fn outcome(&self, method: &MethodView, edge: EdgeRef) -> Finding {
        let (count, total) = taken(method, edge);
        self.of_edge(method, edge, |place, decision| {
            format!(
                "{place}: `{decision}` takes {} of the whole time in {} of the cases",
                self.share(),
                percent(ratio(count, total)),
            )
        })
    }

    fn again(&self, method: &MethodView, edge: EdgeRef) -> Finding {
        self.of_edge(method, edge, |place, decision| {
            format!(
                "{place}: rounds that are done again after `{decision}` take {} of the whole time",
                self.share(),
            )
        })
    }

    /// A finding about the paths that follow an edge; `text` gets the place and the decision.
    fn of_edge(
        &self,
        method: &MethodView,
        edge: EdgeRef,
        text: impl FnOnce(String, String) -> String,
    ) -> Finding {
        let (count, total) = taken(method, edge);
        let place = method.at(method.map.blocks[edge.from.index()].last).to_string();
        let decision = method.decisions().followed(method.map, edge).to_string();
        let evidence = format!(
            "{}, {} of {} times",
            of_method(method, &method.time_of(edge).unwrap_or_default()),
            thousands(count),
            thousands(total)
        );
        Finding {
            path: self.main_path(method, edge),
            ..self.with_decision(
                method,
                edge,
                self.said(FindingKind::SlowOutcome, text(place, decision), evidence),
            )
        }
    }

    fn with_decision(&self, method: &MethodView, edge: EdgeRef, finding: Finding) -> Finding {
        let block = edge.from.index();
        let decisions = method.decisions();
        Finding {
            line: method.map.line(method.map.blocks[block].last),
            condition: decisions
                .of(block)
                .and_then(trodden_insight::decisions::Decision::phrase),
            outcome: Some(decisions.outcome_or_label(method.map, edge)),
            ..finding
        }
    }

    fn path(&self, method: &MethodView, path: &PathView) -> Finding {
        let executions = percent(self.cause.candidate.executions);
        let last = path.description.blocks.last().copied().unwrap_or(BlockId::new(0));
        let last = method.map.blocks[last.index()].last;
        let (start, _) = method.decisions().source_kinds(method.map, &path.description);
        let starts = names::of_starts(start, path.description.start);
        let throws = path.description.end_kind == EndKind::Throw;
        let text = if throws {
            format!(
                "{}: the way to its throw takes {} of the whole time in {executions} of {starts}",
                method.at(last),
                self.share()
            )
        } else {
            format!(
                "{}: one path takes {} of the whole time in {executions} of {starts}",
                method.short_with_file(),
                self.share()
            )
        };
        Finding {
            line: method.map.line(last),
            outcome: throws.then(|| "throw".to_owned()),
            ..self.of_path(method, path, text)
        }
    }

    fn after_loop(&self, method: &MethodView, path: &PathView) -> Finding {
        let text = format!(
            "{}: what comes after its loop takes {} of the whole time",
            method.short_with_file(),
            self.share()
        );
        let last = path.description.blocks.last().copied().unwrap_or(BlockId::new(0));
        Finding {
            line: method.map.line(method.map.blocks[last.index()].last),
            ..self.of_path(method, path, text)
        }
    }

    fn of_path(&self, method: &MethodView, path: &PathView, text: String) -> Finding {
        let time = path.time.unwrap_or_default();
        let evidence = format!("{}; {}", of_method(method, &time), path_evidence(method, path));
        Finding {
            path: Some(path.number),
            ..self.said(FindingKind::SlowPath, text, evidence)
        }
    }

    /// A method that has time itself: one with counted paths, or one whose paths are not known.
    fn own(&self, method: Option<&MethodView>) -> Finding {
        let frame = &self.times.samples.frames[self.cause.candidate.frame];
        let name = match method {
            Some(method) => method.short_with_file(),
            None => format!("{}.{}", simple(&frame.class), frame.name),
        };
        let text = format!("{name} takes {} of the whole time", self.share());
        let Some(method) = method else {
            let mut left = self.view.left_out.iter();
            let left = left.find(|left| left.frame == self.cause.candidate.frame);
            let text = match left.and_then(|left| names::in_file(left.source_file, left.map?.place(0))) {
                Some(file) => format!("{name} ({file}) takes {} of the whole time", self.share()),
                None => text,
            };
            let hottest = left.and_then(|left| hotspot::hottest(left.hotspot.as_ref()?));
            return Finding {
                not_measured: Some((frame.class.clone(), format!("{}{}", frame.name, frame.descriptor))),
                ..self.said(
                    FindingKind::HotMethod,
                    text,
                    match (left, hottest) {
                        (_, Some(outcome)) => outcome,
                        (Some(left), None) => format!("its paths are not known: {}", left.reason),
                        (None, None) => "its paths are not known".to_owned(),
                    },
                )
            };
        };
        let hottest = method.all_paths().max_by(|a, b| {
            let share = |path: &PathView| path.time.map_or(0.0, |time| time.share);
            share(a).total_cmp(&share(b))
        });
        Finding {
            line: self.cause.spent.line,
            path: hottest
                .filter(|path| path.description.end_kind != EndKind::Stopped)
                .map(|path| path.number),
            ..self.said(
                FindingKind::HotMethod,
                text,
                format!(
                    "own time, with that of code without probes that it calls; {} paths {}",
                    thousands(method.count),
                    words::participle(self.view.basis)
                ),
            )
        }
    }

    /// `, mostly in agent()`, `, mostly on line 14`: where a half of it is.
    fn mostly(&self) -> String {
        let spent = &self.cause.spent;
        let own = &self.times.samples.frames[self.cause.candidate.frame];
        match (spent.callee, spent.line) {
            (Some(callee), _) => {
                let callee = &self.times.samples.frames[callee];
                let class = simple(&callee.class);
                match (&*callee.name, callee.class == own.class) {
                    ("<init>", _) => format!(", mostly in new {class}()"),
                    (name, true) => format!(", mostly in {name}()"),
                    (name, false) => format!(", mostly in {class}.{name}()"),
                }
            }
            (None, Some(line)) => format!(", mostly on line {line}"),
            (None, None) => String::new(),
        }
    }

    /// The one with most time of the whole paths that follow an edge.
    fn main_path(&self, method: &MethodView, edge: EdgeRef) -> Option<u64> {
        let with_edge = method.paths.iter().filter(|path| path.edges.contains(&edge));
        let share = |path: &&PathView| path.time.map_or(0.0, |time| time.share);
        let most = with_edge.max_by(|a, b| share(a).total_cmp(&share(b)));
        most.map(|path| path.number)
    }
}

/// `47.4 % of order's time (42–55 %)`.
fn of_method(method: &MethodView, time: &PathTime) -> String {
    let name = &method.map.name;
    if !words::share_is_known(time.interval) {
        return format!("its share of {name}'s time with callees is not known");
    }
    format!(
        "{} of {name}'s time with callees ({})",
        percent(time.share),
        range(time.interval)
    )
}

/// A class without its package.
fn simple(class: &str) -> &str {
    class.rsplit('/').next().unwrap_or(class)
}

/// How often an edge was taken, and how often its decision was made.
fn taken(method: &MethodView, edge: EdgeRef) -> (u64, u64) {
    let count = method.edge_count(edge).unwrap_or(0);
    (count, method.block_count(edge.from.index()).unwrap_or(count))
}
