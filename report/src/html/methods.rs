//! All methods on the page: search, tree and table. The first rows stand in the page; the script makes the others, and the
//! tree, when they are looked at.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};
use serde::Serialize;

use super::bar;
use super::embed::{self, Exact};
use crate::view::{MethodView, View};
use crate::words::{Counts, dotted, percent, thousands};

/// Methods in the table at most.
const LISTED: usize = 20_000;

/// What methods are called in links to them: `com.acme.Order.price(int)`. It stays the same from report to report. Of several
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

    /// A link to it. A browser takes what follows `%` for the number of a character.
    pub fn link(&self, index: usize) -> String {
        format!("#{}", self.0[index].replace('%', "%25"))
    }
}

fn short(method: &MethodView) -> String {
    method.title().replace(' ', "")
}

/// What the script draws from. Lists instead of objects: keys would be most of the file.
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
    /// The methods' shares of the CPU time, in parts of a million, if it was sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<Vec<u32>>,
    /// Those that are not called by class and signature, by position.
    anchors: BTreeMap<usize, &'v str>,
}

fn data<'v>(view: &'v View, anchors: &'v Anchors, full: usize) -> Data<'v> {
    let mut data = Data {
        flow: Exact(view.totals.flow),
        full,
        packages: Vec::new(),
        classes: Vec::new(),
        methods: Vec::new(),
        time: view.times.as_ref().map(|_| Vec::new()),
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
            time.push((time_share(method) * 1e6).round() as u32);
        }
        data.methods.push((
            class,
            method.signature(),
            Exact(method.flow),
            Exact(method.count),
            method.paths.len(),
            Exact(method.map.num_paths()),
        ));
    }
    data
}

/// The section. `full`: methods with a section of their own.
pub(crate) fn section(view: &View, anchors: &Anchors, full: usize) -> Markup {
    let all = view.methods.len();
    html! {
        section #methods {
            h2 { "Hot methods" }
            @if view.methods.is_empty() {
                p.empty { "No path was counted. Did the program run code that the include and exclude patterns allow, and long enough to be sampled?" }
            } @else {
                (super::search("search", "found"))
                div.overview {
                    div.tree-box hidden {
                        h3 #tree-title { "By package and class" }
                        div.scrolled { ul.treeview #tree role="tree" aria-labelledby="tree-title" {} }
                    }
                    div.scrolled tabindex="0" role="region" aria-label="All methods" { table.sortable #all-methods {
                        thead { tr {
                            th scope="col" data-type="text" { "Method" }
                            @if view.times.is_some() {
                                th.num scope="col" aria-sort="descending" title="In it and in what it calls outside of measured code" { "CPU time" }
                                th.num scope="col" { "Share of decisions" }
                            } @else {
                                th.num scope="col" aria-sort="descending" { "Share" }
                            }
                            th.num scope="col" { "Decisions" }
                            th.num scope="col" { "Times " (Counts::of(view.run).participle()) }
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
                (embed::data("methods-data", &data(view, anchors, full)))
            }
        }
        section #elsewhere hidden tabindex="-1" aria-labelledby="elsewhere-title" {
            h2 #elsewhere-title {}
            p #elsewhere-numbers {}
            p.note { "The page has the paths of the hottest methods only, to stay small. Those of this one: " }
            pre { code #elsewhere-command {} }
        }
    }
}

fn time_share(method: &MethodView) -> f64 {
    method.time.as_ref().map_or(0.0, |time| time.share)
}

fn row(view: &View, method: &MethodView, link: &str) -> Markup {
    html! {
        tr {
            td { a href=(link) { span.package { (dotted(method.class)) "." } wbr; b { (method.signature()) } } }
            @if view.times.is_some() { td.num { (bar(time_share(method))) span { (percent(time_share(method))) } } }
            td.num { (bar(method.share)) span { (percent(method.share)) } }
            td.num { (thousands(method.flow)) }
            td.num { (thousands(method.count)) }
            td.num { (thousands(method.paths.len() as u64)) }
            td.num { (thousands(method.map.num_paths())) }
        }
    }
}
