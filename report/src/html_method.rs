//! One method on the HTML page: paths, branches, source, picture.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};
use trodden_insight::decisions::Decision;
use trodden_insight::line_time::LineTime;
use trodden_insight::names;
use trodden_insight::names::place;
use trodden_insight::source::{SourceText, Sources};
use trodden_insight::view::{BranchView, MethodView, PathView, Stop};
use trodden_numbering::EdgeRef;
use trodden_profile::CpuFrame;

use crate::html::{Routes, bar};
use crate::svg;
use crate::words::{self, percent, thousands};

/// Source lines shown around the ones with code.
const AROUND: u32 = 2;
/// Source lines of one method at most.
const MAX_LINES: usize = 1500;

/// Where on the page a method stands.
pub(crate) struct Spot<'a> {
    /// The hottest is number 1.
    pub rank: usize,
    /// The text of links to it.
    pub anchor: &'a str,
    /// True if it is open when the page loads.
    pub open: bool,
}

/// Times of a method's lines, and the frames that they name.
type Lines<'a> = (&'a BTreeMap<u32, LineTime>, &'a [CpuFrame]);

pub(crate) fn section(
    view: &MethodView,
    spot: &Spot,
    sources: &Sources,
    times: Option<Lines>,
    limit: usize,
    kinds: Markup,
) -> Markup {
    let source = sources.find(view.class, view.source_file);
    let prefix = format!("m{}-", spot.rank);
    let body = html! {
        div.grid {
            div.paths {
                (paths(view, limit))
                (unobserved(view))
                (unreadable(view))
                (branches(view))
            }
            div.side {
                div.code { (source_or_lines(view, source.as_deref(), times, sources.given())) }
                div.picture { (picture(view, &prefix)) }
            }
        }
        (kinds)
    };
    html! {
        details.method id={ "m" (spot.rank) } open[spot.open] {
            summary {
                span.anchor id=(spot.anchor) {}
                h2 { span.rank { (spot.rank) } span { span.package { (names::dotted(view.class)) "." } wbr; (view.signature()) } }
                span.facts {
                    @match &view.time {
                        Some(time) => {
                            (bar(time.share)) b title=(words::OWN_TIME) { (percent(time.share)) } " own time · "
                            span title=(words::TIME_WITH_CALLEES) { (percent(time.total_share)) " with callees" } " · " (percent(view.share))
                        }
                        None => { (bar(view.share)) (percent(view.share)) }
                    }
                    " of all decisions · " (thousands(view.paths.len() as u64)) " of "
                    (thousands(view.map.num_paths())) " possible paths seen"
                }
            }
            // Of a closed one a browser with script makes elements when it is opened; without script it does so at once.
            @if spot.open { (body) } @else { noscript { (body) } }
        }
    }
}

fn paths(view: &MethodView, limit: usize) -> Markup {
    html! {
        h3 { "Paths" }
        @if view.paths.is_empty() && view.partial.is_empty() { p.note { "None of its counts can be read." } }
        @else { p.note { (shares(view)) @if let Some(divided) = view.time.as_ref().and_then(words::divided) { " " (divided) "." } } }
        ol.path-list {
            (path_rows(view, &view.paths[..view.paths.len().min(limit)], true))
        }
        @if view.paths.len() > limit {
            p.note { "… and " (thousands((view.paths.len() - limit) as u64)) " more paths with "
                (percent(view.paths[limit..].iter().map(|p| p.share_of_method).sum())) " of this method." }
        }
        @if !view.partial.is_empty() {
            h3 { "Cut short" }
            p.note {
                "Of these paths only the beginning ran, or is known: an exception, the end of the program or a sample stopped them in \
                 their last block."
            }
            ol.path-list {
                (path_rows(view, &view.partial[..view.partial.len().min(limit)], view.paths.is_empty()))
            }
            @if view.partial.len() > limit { p.note { "… and " (thousands((view.partial.len() - limit) as u64)) " more." } }
        }
    }
}

/// The whole that the shares of paths are part of.
fn shares(view: &MethodView) -> String {
    match &view.time {
        Some(time) => format!(
            "Shares of time are of the method's time with callees: {}, which is {} of the program's. A path has the time of \
             what is called on it.",
            words::seconds(time.total.ns),
            percent(time.total_share)
        ),
        None if view.flow > 0 => format!(
            "Shares are of the method's decisions, which are {} of the program's.",
            percent(view.share)
        ),
        None => "Shares are of the method's paths; none of them has a decision.".to_owned(),
    }
}

/// `select`: the first is chosen when the page loads.
fn path_rows(view: &MethodView, paths: &[PathView], select: bool) -> Markup {
    let routes = Routes::of(paths, view.map, view.decisions());
    html! { @for (at, path) in paths.iter().enumerate() { (path_row(view, paths, path, &routes, at, select && at == 0)) } }
}

fn path_row(
    view: &MethodView,
    paths: &[PathView],
    path: &PathView,
    routes: &Routes,
    at: usize,
    selected: bool,
) -> Markup {
    let d = &path.description;
    let lines: Vec<String> = path.lines(view.map).iter().map(u32::to_string).collect();
    let blocks: Vec<String> = d.blocks.iter().map(|b| b.index().to_string()).collect();
    let edges: Vec<String> = path
        .edges
        .iter()
        .map(|e| format!("{}:{}", e.from.index(), e.index))
        .collect();
    let (stops, told) = (&routes.stops[at], &routes.told[at]);
    html! {
        li { div.path.selected[selected] role="button" tabindex="0" aria-pressed=(selected) data-path=(path.number)
            data-lines=(lines.join(" ")) data-blocks=(blocks.join(" ")) data-edges=(edges.join(" ")) {
            div.path-head {
                @match &path.time {
                    Some(time) => {
                        @if words::share_is_known(time.interval) {
                            (bar(time.share)) b { (percent(time.share)) } " of this method's time "
                            (interval(time.interval))
                        } @else { b { (words::TIME_NOT_KNOWN) } }
                        " · " (percent(path.share_of_method)) " of its decisions"
                    }
                    None => { (bar(path.share_of_method)) b { (percent(path.share_of_method)) } " of this method" }
                }
                span.soft { "path " (path.number) " · " (thousands(path.count)) " times · "
                    @match (&path.time, &view.time) {
                        (Some(time), Some(of)) if words::share_is_known(time.interval) => { (percent(time.share * of.total_share)) " of the CPU time" }
                        _ => { (percent(path.share)) " of all decisions" }
                    }
                }
            }
            div.route {
                span.end { (view.decisions().starts(view.map, d)) }
                @if let Some(like) = told.like.filter(|_| told.folded > 0) {
                    span.arrow aria-hidden="true" { "→" }
                    span.fold { (told.folded) " steps as path " (paths[like].number) }
                    span.folded { @for stop in &stops[..told.folded] { (hop(view, stop, false)) } }
                }
                @for (stop, &differs) in stops.iter().zip(&told.differs).skip(told.folded) { (hop(view, stop, differs)) }
                span.arrow aria-hidden="true" { "→" }
                span.end.differs[told.ends_elsewhere] { (view.decisions().ends(view.map, d)) }
            }
        } }
    }
}

fn interval(bounds: [f64; 2]) -> Markup {
    html! { span.soft title="The share is between these bounds with 95 % certainty" { "(" (words::range(bounds)) ")" } }
}

/// A path with all its steps.
pub(crate) fn route(view: &MethodView, path: &PathView) -> Markup {
    let d = &path.description;
    html! {
        div.route {
            span.end { (view.decisions().starts(view.map, d)) }
            @for stop in &path.folded(view.map, view.decisions()) { (hop(view, stop, false)) }
            span.arrow aria-hidden="true" { "→" }
            span.end { (view.decisions().ends(view.map, d)) }
        }
    }
}

/// Some lines and what was decided at their end; the script scrolls to them.
fn hop(view: &MethodView, stop: &Stop, differs: bool) -> Markup {
    let line = (!stop.bytecode).then_some(stop.to);
    html! {
        span.arrow aria-hidden="true" { "→" }
        span.hop.differs[differs] data-at=[line] { (chip(stop)) @if let Some(edge) = stop.edge { (decision(view, edge)) } }
    }
}

fn chip(stop: &Stop) -> Markup {
    html! {
        span.chip title=(if stop.bytecode { "bytecode index" } else { "source line" }) {
            @if stop.bytecode { "@" } (stop.from) @if stop.to != stop.from { "–" (stop.to) }
        }
    }
}

/// `hit != null → no`.
fn decision(view: &MethodView, edge: EdgeRef) -> Markup {
    let decisions = view.decisions();
    html! {
        span.decision.not[decisions.is_negative(view.map, edge)] {
            @match decisions.outcome(edge.from.index(), edge.index as usize) {
                Some(outcome) => { code { (decisions.asked(view.map, edge.from.index())) } " → " b { (outcome) } }
                None => { (decisions.followed(view.map, edge)) }
            }
        }
    }
}

fn unobserved(view: &MethodView) -> Markup {
    html! {
        @if !view.unobserved.is_empty() {
            h3 { "Not counted" }
            p.note { "A loop with a single way through has no counter, so that it stays fast. How often it went round is not known; \
                how often it was entered is in the paths above." }
            ul.path-list { @for path in &view.unobserved { li { div.path.quiet { (route(view, path)) } } } }
        }
    }
}

fn unreadable(view: &MethodView) -> Markup {
    const LISTED: usize = 20;
    html! {
        @if !view.unreadable.is_empty() {
            h3 { "Unreadable" }
            p.note { "These counts name no path of this method and are in no sum." }
            ul.unreadable { @for bad in view.unreadable.iter().take(LISTED) {
                li { (thousands(bad.count)) " counts of number " (bad.number) ": " (bad.error) }
            } }
            @if view.unreadable.len() > LISTED { p.note { "… and " (thousands((view.unreadable.len() - LISTED) as u64)) " more." } }
        }
    }
}

fn branches(view: &MethodView) -> Markup {
    let folded = |branch: &&BranchView| view.decisions().made(branch.block).is_some();
    let shown = view.branches.iter().filter(|branch| !folded(branch));
    let made = view.branches.iter().filter(folded).count();
    html! {
        @if !view.branches.is_empty() {
            h3 { "Branches" }
            div.scroll { table.branches {
                thead { tr { th scope="col" { "Where" } th scope="col" { "Outcome" } th.num scope="col" { "Times" } th scope="col" { "Bias" }
                    @if view.time.is_some() { th scope="col" title="Of the method's time with callees: what the paths with this outcome take" { "Time" } } } }
                @for branch in shown { (branch_rows(view, branch)) }
            } }
            @if made > 0 { p.note { "And " (made) " more, which the compiler added." } }
            @if view.branches.iter().any(|b| b.undercounted) {
                p.note { "* In a loop whose rounds are not counted: how often it went this way is not known." }
            }
        }
    }
}

fn branch_rows(view: &MethodView, branch: &BranchView) -> Markup {
    let mut outcomes = branch.outcomes(view);
    // The positive outcome first, whichever way the compiler turned the jump.
    outcomes.sort_by_key(|outcome| outcome.negative);
    let total = words::sum(outcomes.iter().map(|o| o.count));
    let asked = view.decisions().of(branch.block).and_then(Decision::phrase);
    html! {
        tbody class=(Seen::of(view, branch).class()) { @for (i, outcome) in outcomes.iter().enumerate() {
            tr.never[outcome.count == Some(0)] {
                @if i == 0 {
                    th.where scope="rowgroup" rowspan=(outcomes.len()) title={ "bytecode " (branch.at.bci) } {
                        span.place data-at=[branch.at.line] { (place(branch.at)) } @if branch.undercounted { "*" }
                        @if let Some(asked) = &asked { br; code { (asked) } }
                    }
                }
                td { span.decision.not[outcome.negative] { (outcome.text) }
                    @if branch.is_switch { span.soft { " → " (place(outcome.target)) } } }
                td.num { (words::count(outcome.count)) }
                td.bias {
                    @match (outcome.count, total) {
                        (_, Some(0)) => { (bar(0.0)) "never reached" }
                        (Some(count), Some(total)) => { @let share = count as f64 / total as f64; (bar(share)) (percent(share)) }
                        _ => { "not known" }
                    }
                }
                @if view.time.is_some() { td.bias { @match &outcome.time {
                    Some(time) if !words::share_is_known(time.interval) => { "not known" }
                    Some(time) => { (bar(time.share)) (percent(time.share)) " " (interval(time.interval)) }
                    None => { "" }
                } } }
            }
        } }
    }
}

fn source_or_lines(
    view: &MethodView,
    source: Option<&SourceText>,
    times: Option<Lines>,
    sources_given: bool,
) -> Markup {
    let all = view.time.as_ref().map_or(1, |time| time.total.ns.max(1));
    let share = |ns: u64| (ns as f64 / all as f64).min(1.0);
    let counts = view.line_counts();
    let on_path: BTreeSet<u32> = view
        .hottest()
        .map(|p| p.lines(view.map).into_iter().collect())
        .unwrap_or_default();
    let most = counts.values().copied().flatten().max().unwrap_or(0).max(1);
    let (Some(&first), Some(&last)) = (counts.keys().next(), counts.keys().next_back()) else {
        return html! { h3 { "Source" } p.note { "The class file has no line numbers; numbers with @ are bytecode indices." } };
    };
    let lines: Vec<(u32, Option<&str>)> = match source {
        Some(text) => (first.saturating_sub(AROUND).max(1)
            ..=last.saturating_add(AROUND).min(text.lines.len() as u32))
            .map(|line| (line, text.lines.get(line as usize - 1).map(String::as_str)))
            .collect(),
        None => counts.keys().map(|&line| (line, None)).collect(),
    };
    let mut ways: BTreeMap<u32, Seen> = BTreeMap::new();
    for branch in &view.branches {
        let made = view.decisions().made(branch.block).is_some();
        if let (Some(line), false) = (branch.at.line, made) {
            ways.entry(line).or_default().add(&Seen::of(view, branch));
        }
    }
    let decides = !ways.is_empty();
    // Code as far left as it goes: what all lines have is not worth the room.
    let texts = lines
        .iter()
        .filter_map(|&(_, text)| text)
        .filter(|text| !text.trim().is_empty());
    let indent = texts
        .map(|text| text.len() - text.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let stale = source.is_some_and(|text| last as usize > text.lines.len());
    html! {
        h3 { "Source" @if let Some(file) = view.source_file { " " span.soft { (file) } } }
        @if source.is_none() {
            p.note { @if sources_given { "Not found in the source folders; line numbers only." }
                @else { "Line numbers only: give --sources to see the text." } }
        }
        @if stale { p.note { "The file is shorter than the class file says: it is another version." } }
        div.scroll.lines tabindex="0" role="region" aria-label="Source lines" { table.source.bare[source.is_none()] {
            thead { tr { th scope="col" { "Line" } th.num scope="col" { "Times" } @if decides { th scope="col" { "Ways" } }
                @if times.is_some() { th.num scope="col" title="Of the method's time with callees: in this line, and in what it calls" { "Time" } }
                th scope="col" { "Code" } } }
            tbody { @for (line, text) in lines.iter().take(MAX_LINES) {
                @let known = counts.get(line);
                @let count = known.copied().flatten();
                @let here = ways.get(line);
                @let partly = here.is_some_and(|seen| seen.class() == "partly");
                tr.on-path[on_path.contains(line)].never[count == Some(0)].partly[partly && count != Some(0)]
                    .ran[count.is_some_and(|n| n > 0) && !partly] data-line=(line) {
                    td.line { (line) }
                    td.num { @if let Some(&count) = known { (words::count(count)) } }
                    @if decides { td { @if let Some(seen) = here { span class={ "ways " (seen.class()) } title=(seen.words()) { (seen.short()) } } } }
                    @if let Some((times, _)) = times { td.num.time { @if let Some(time) = times.get(line) { (bar(share(time.ns))) (percent(share(time.ns))) } } }
                    td.text style=[count.map(|c| format!("--heat:{:.3}", c as f64 / most as f64))] {
                        @match text { Some(text) => { code { (text.get(indent..).unwrap_or_default()) } } None => { @if let Some(count) = count { (bar(count as f64 / most as f64)) } } }
                        @if let Some((times, frames)) = times && let Some(time) = times.get(line) { (callees(time, frames, share)) }
                    }
                }
            } }
        } }
        p.key {
            span.swatch.ran { "ran" } " " span.swatch.partly { "ran, but a decision never went some way" } " " span.swatch.never { "never ran" } " "
            span.swatch.on-path { "on the chosen path" }
            @if decides { " · " span.ways.partly { "1/2" } " one of two outcomes was seen" }
        }
        @if lines.len() > MAX_LINES { p.note { "Only the first " (MAX_LINES) " lines are shown." } }
    }
}

/// The methods called in a line that take most time, with their time.
pub(crate) fn callees(time: &LineTime, frames: &[CpuFrame], share: impl Fn(u64) -> f64) -> Markup {
    /// Share of the method's time from which a callee is named.
    const WORTH: f64 = 0.005;
    const LISTED: usize = 3;
    let mut worth = time.callees.iter().filter(|&&(_, ns)| share(ns) >= WORTH);
    let shown: Vec<(&CpuFrame, u64)> = (worth.by_ref().take(LISTED))
        .filter_map(|&(frame, ns)| Some((frames.get(frame as usize)?, ns)))
        .collect();
    let more = worth.count();
    html! {
        @if !shown.is_empty() { div.callees {
        @for (frame, ns) in shown { span.callee title={ "Time in " (trodden_insight::cpu::title(frame)) ", called here" } { "→ " (trodden_insight::cpu::short_title(frame)) " " (percent(share(ns))) } }
        @if more > 0 { span.callee { "… " (more) " more" } }
        } }
    }
}

fn picture(view: &MethodView, prefix: &str) -> Markup {
    html! {
        div.picture-head { h3 { "Control flow" } }
        @match svg::inline(view, prefix) {
            Some(svg) => {
                @if svg::hidden_blocks(view) > 0 {
                    p.note { "This method has " (view.map.blocks.len()) " blocks; only the hot part is drawn." }
                }
                div.graph tabindex="0" role="group" aria-label="Control-flow graph: plus and minus zoom, 0 fits it into its box, arrows scroll" { (svg) }
                p.note { "Boxes are pieces of straight-line code; the darker, the more often they ran. Dashed: never ran. "
                    span.with-script.keys { kbd { "+" } " " kbd { "−" } " " kbd { "0" } " or Ctrl and the wheel zoom." } }
            }
            None => p.note { "The path map of this method is damaged and cannot be drawn." }
        }
    }
}

/// How many outcomes of decisions were seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Seen {
    seen: usize,
    all: usize,
    /// True if there are outcomes that the probes do not count.
    unknown: bool,
}

impl Seen {
    fn of(view: &MethodView, branch: &BranchView) -> Self {
        let counts = branch.outcomes(view);
        Seen {
            seen: counts
                .iter()
                .filter(|outcome| outcome.count.is_some_and(|count| count > 0))
                .count(),
            all: counts.len(),
            unknown: counts.iter().any(|outcome| outcome.count.is_none()),
        }
    }

    fn add(&mut self, other: &Seen) {
        self.seen += other.seen;
        self.all += other.all;
        self.unknown |= other.unknown;
    }

    /// The colour: red, yellow, green, or none.
    fn class(self) -> &'static str {
        match (self.unknown, self.seen) {
            (true, _) => "unknown",
            (_, 0) => "never",
            (_, seen) if seen < self.all => "partly",
            _ => "ran",
        }
    }

    fn short(self) -> String {
        if self.unknown {
            format!("?/{}", self.all)
        } else {
            format!("{}/{}", self.seen, self.all)
        }
    }

    fn words(self) -> String {
        if self.unknown {
            "how its decisions went is not known".to_owned()
        } else {
            format!(
                "{} of {} outcomes of its decisions were seen",
                self.seen, self.all
            )
        }
    }
}
