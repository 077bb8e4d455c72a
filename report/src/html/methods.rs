//! All methods on the page: search, tree and table. The first rows stand in the page; the script makes the others, and the
//! tree, when they are looked at.

use std::collections::{BTreeMap, HashMap, HashSet};

use maud::{Markup, html};
use serde::Serialize;
use trodden_insight::names::dotted;
use trodden_insight::view::{MethodView, View};
use trodden_profile::{CpuFrame, CpuFrameKind, CpuTime, PlaceTime};

use super::embed::{self, Exact};
use super::{bar, breakable};
use crate::section::Extent;
use crate::words::{self, percent, thousands};

/// Methods in the table at most.
const LISTED: usize = 20_000;

/// Names of methods in links to them: `com.acme.Order.price(int)`. It stays the same from report to report. Of several
/// methods with the same name and the same simple names of parameters one has that name, the others their descriptor.
pub(crate) struct Anchors(Vec<String>);

impl Anchors {
    pub fn of(view: &View) -> Self {
        let mut by_title: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, method) in view.methods.iter().enumerate() {
            by_title.entry(short(method)).or_default().push(index);
        }
        let mut anchors = vec![String::new(); view.methods.len()];
        for (title, mut same) in by_title {
            same.sort_by_key(|&index| &view.methods[index].map.descriptor);
            let mut used: HashMap<String, usize> = HashMap::new();
            for (position, index) in same.into_iter().enumerate() {
                let method = &view.methods[index];
                let mut anchor = match position {
                    0 => title.clone(),
                    _ => format!(
                        "{}.{}{}",
                        dotted(method.class),
                        method.map.name,
                        method.map.descriptor
                    ),
                };
                // The same class twice: from two loaders, with other bytes.
                let times = used.entry(anchor.clone()).or_insert(0);
                *times += 1;
                if *times > 1 {
                    anchor += &format!("~{times}");
                }
                anchors[index] = anchor;
            }
        }
        Anchors(anchors)
    }

    /// The name.
    pub fn of_method(&self, index: usize) -> &str {
        &self.0[index]
    }

    /// The name of the method with this internal class name, name and descriptor.
    pub fn find(&self, view: &View, names: (&str, &str, &str)) -> Option<&str> {
        let row = view.methods.iter().position(|method| method.names() == names)?;
        Some(self.of_method(row))
    }

    /// A link to it.
    pub fn link(&self, index: usize) -> String {
        link(&self.0[index])
    }
}

/// A link to the method of this title. A browser takes what follows `%` for the number of a character.
pub(super) fn link(title: &str) -> String {
    format!("#{}", title.replace(' ', "").replace('%', "%25"))
}

fn short(method: &MethodView) -> String {
    method.title().replace(' ', "")
}

/// Data of the script. Lists instead of objects: keys would be most of the file.
#[derive(Serialize)]
struct Data<'v> {
    /// Decisions of the whole program.
    flow: Exact,
    /// How many methods, the first ones, have a section of their own.
    full: usize,
    packages: Vec<String>,
    /// Package and simple name.
    classes: Vec<(usize, &'v str)>,
    /// Class, signature, decisions, times, paths seen, paths possible.
    methods: Vec<(usize, String, Exact, Exact, usize, Exact)>,
    /// The methods' shares of the CPU time, without and with callees, in parts of a million, if it was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Vec<(u32, u32)>>,
    /// Methods of which no path was counted, but that have CPU time: name, shares as in `time`, the share of its own code,
    /// position in `reasons`.
    others: Vec<(String, u32, u32, u32, usize)>,
    /// Why paths of a method were not counted.
    reasons: Vec<String>,
    /// Those that are not called by class and signature, by position.
    anchors: BTreeMap<usize, &'v str>,
}

fn data<'v>(view: &'v View, anchors: &'v Anchors, full: usize, others: &[Uncounted]) -> Data<'v> {
    let mut data = Data {
        flow: Exact(view.totals.flow),
        full,
        packages: Vec::new(),
        classes: Vec::new(),
        methods: Vec::new(),
        time: view.times().map(|_| Vec::new()),
        others: Vec::new(),
        reasons: Vec::new(),
        anchors: BTreeMap::new(),
    };
    let mut packages: HashMap<&str, usize> = HashMap::new();
    let mut classes: HashMap<&str, usize> = HashMap::new();
    for (index, method) in view.methods.iter().take(LISTED).enumerate() {
        let class = *classes.entry(method.class).or_insert_with(|| {
            let (package, name) = method.class.rsplit_once('/').unwrap_or(("", method.class));
            let package = *packages.entry(package).or_insert_with(|| {
                data.packages.push(dotted(package));
                data.packages.len() - 1
            });
            data.classes.push((package, name));
            data.classes.len() - 1
        });
        if anchors.0[index] != short(method) {
            data.anchors.insert(index, &anchors.0[index]);
        }
        if let Some(time) = &mut data.time {
            time.push(time_shares(method).map(millionths).into());
        }
        data.methods.push((
            class,
            method.signature(),
            // Counts of earlier runs are in no sum.
            Exact(if method.earlier.is_some() { 0 } else { method.flow }),
            Exact(method.count),
            method.paths.len(),
            Exact(method.map.num_paths()),
        ));
    }
    for method in others.iter().take(LISTED) {
        let reason = data.reasons.iter().position(|reason| *reason == method.reason);
        let reason = reason.unwrap_or_else(|| {
            data.reasons.push(method.reason.clone());
            data.reasons.len() - 1
        });
        let [near, total, own] = method.shares.map(millionths);
        data.others.push((method.name.clone(), near, total, own, reason));
    }
    data
}

fn millionths(share: f64) -> u32 {
    (share * 1e6).round() as u32
}

/// The section. `full`: methods with a section of their own.
pub(crate) fn section(view: &View, anchors: &Anchors, full: usize, extent: &Extent) -> Markup {
    let all = view.methods.len();
    // Who named methods wants no others.
    let others = if extent.options.method.is_none() {
        uncounted(view)
    } else {
        Vec::new()
    };
    html! {
        section #methods {
            h2 { "Hot methods" }
            @if view.run.has_time_only() {
                p { (words::how_counted(view.run, view.basis)) }
            } @else if view.methods.is_empty() {
                p.empty { "No path was counted. Did the program run code that the include and exclude patterns allow, and long enough to be sampled?" }
            } @else {
                (super::search("search", "class, method or package; press /"))
                div.overview {
                    div.tree-box hidden {
                        h3 #tree-title { "By package and class" }
                        div.scrolled { ul.treeview #tree role="tree" aria-labelledby="tree-title" {} }
                    }
                    div.scrolled tabindex="0" role="region" aria-label="All methods" { table.sortable #all-methods {
                        thead { tr {
                            th scope="col" data-type="text" { "Method" }
                            @if view.times().is_some() {
                                th.num scope="col" aria-sort="descending" title=(words::OWN_TIME) { "Own time" }
                                th.num scope="col" title=(words::TIME_WITH_CALLEES) { "With callees" }
                                th.num scope="col" { "Decisions" }
                            } @else {
                                th.num scope="col" aria-sort="descending" { "Share" }
                                th.num scope="col" { "Decisions" }
                            }
                            th.num scope="col" { "Times " (words::participle(view.basis)) }
                            th.num scope="col" { "Paths seen" }
                            th.num scope="col" { "Paths possible" }
                        } }
                        tbody { @for (index, method) in view.methods.iter().take(full).enumerate() { (row(view, method, &anchors.link(index))) } }
                    } }
                }
                @if all > full {
                    p.note { "Of the first " (thousands(full as u64)) " of " (thousands(all as u64)) " methods the paths are below; "
                        code { "--top" } " shows more, " code { "--method" } " those that you name."
                        @if all > LISTED { " The table has the first " (thousands(LISTED as u64)) "." }
                        noscript { " Without its script the page lists no others." } }
                }
                (embed::data("methods-data", &data(view, anchors, full, &others)))
            }
        }
        section #elsewhere hidden tabindex="-1" aria-labelledby="elsewhere-title" {
            h2 #elsewhere-title {}
            p #elsewhere-numbers {}
            p #elsewhere-reason {}
            div #elsewhere-more {
                p.note { "The page has the paths of the hottest methods only, to stay small. Those of this one: " }
                pre { code #elsewhere-command {} }
            }
        }
    }
}

/// Shares of the CPU time, without and with callees.
fn time_shares(method: &MethodView) -> [f64; 2] {
    let shares = method.time.as_ref().map(|time| [time.share, time.total_share]);
    shares.unwrap_or_default()
}

/// A method of which no path was counted, but that has CPU time.
struct Uncounted {
    name: String,
    /// Shares of the CPU time: without callees, with callees, in its own code.
    shares: [f64; 3],
    /// Why no path was counted.
    reason: String,
}

/// Methods without counts, most time first.
fn uncounted(view: &View) -> Vec<Uncounted> {
    let Some(times) = view.times() else {
        return Vec::new();
    };
    let counted: HashSet<_> = view.methods.iter().map(MethodView::names).collect();
    let share = |time: CpuTime| time.ns as f64 / times.total.ns.max(1) as f64;
    let left_out: HashMap<usize, &str> = view
        .left_out
        .iter()
        .map(|left| (left.frame, &*left.reason))
        .collect();
    let mut all = Vec::new();
    for (at, frame) in times.samples.frames.iter().enumerate() {
        let names = (&*frame.class, &*frame.name, &*frame.descriptor);
        let PlaceTime { own, total } = times.methods[at].all;
        if frame.kind == CpuFrameKind::Other || total.is_none() || counted.contains(&names) {
            continue;
        }
        all.push(Uncounted {
            name: trodden_insight::cpu::title(frame),
            shares: [times.near[at], total, own].map(share),
            reason: reason(frame, left_out.get(&at).copied()),
        });
    }
    let key = |method: &Uncounted| method.shares.map(millionths);
    all.sort_by(|a, b| key(b).cmp(&key(a)).then_with(|| a.name.cmp(&b.name)));
    all
}

fn reason(frame: &CpuFrame, left_out: Option<&str>) -> String {
    match left_out {
        Some(reason) => format!("Its paths are not known: {reason}."),
        None if frame.kind == CpuFrameKind::Native => {
            "Native code: it has no bytecode, so it has no paths.".to_owned()
        }
        None => {
            "Its paths are not counted: it belongs to the JDK, or to code that was not asked for.".to_owned()
        }
    }
}

fn row(view: &View, method: &MethodView, link: &str) -> Markup {
    html! {
        tr {
            td.name { a href=(link) { span.package { (breakable(&dotted(method.class))) "." } wbr; b { (breakable(&method.signature())) } } }
            @if view.times().is_some() {
                @let [near, total] = time_shares(method);
                td.num { (bar(near)) span { (percent(near)) } }
                td.num { (percent(total)) }
                td.num title=(thousands(method.flow)) { (percent(method.share)) }
            } @else {
                td.num { (bar(method.share)) span { (percent(method.share)) } }
                td.num { (thousands(method.flow)) }
            }
            td.num { (thousands(method.count)) }
            td.num { (thousands(method.paths.len() as u64)) }
            td.num { (thousands(method.map.num_paths())) }
        }
    }
}
