//! The first page, with what is worst; and the page of each package.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use maud::{Markup, html};
use trodden_insight::coverage::{Counters, Coverage, MethodCoverage, Ratio};
use trodden_insight::names;
use trodden_insight::names::dotted;
use trodden_profile::printable;

use super::{INDEX, Package, cells, frame, heads, missed, most, signature, simple};
use crate::coverage::marks;
use crate::words::{self, percent, thousands};

/// Methods in the list of the worst.
const WORST: usize = 30;
/// Decisions of each that are listed there.
const MAX_DECISIONS: usize = 4;
/// Methods that are named per reason.
const NAMED: usize = 50;

pub(super) fn page(coverage: &Coverage, packages: &[Package]) -> String {
    let run = &coverage.run;
    let mut worst_packages: Vec<&Package> = packages.iter().collect();
    worst_packages.sort_by_key(|package| (Reverse(missed(&package.counters)), &package.name));
    let widest = most(packages.iter().map(|package| &package.counters));
    let content = html! {
        @if !run.command.is_empty() || !run.jvm.is_empty() {
            dl.run {
                @if !run.command.is_empty() { div.wide { dt { "Command" } dd { code { (printable(&run.command)) } } } }
                @if !run.jvm.is_empty() { div { dt { "JVM" } dd { (printable(&run.jvm)) } } }
                div { dt { "Ran" } dd { (format!("{:.1} s", run.seconds)) } }
            }
        }
        (sums(coverage))
        (worst(packages))
        section #packages {
            h2 { "Packages" }
            div.scroll { table.sortable {
                thead { tr {
                    th scope="col" data-type="text" { "Package" } (heads(coverage))
                    th.num scope="col" { "Methods not run" } th.num scope="col" { "Classes not run" }
                } }
                tbody { @for package in worst_packages { tr {
                    td data-value=(package.name) { a href={ (package.folder) "/" (INDEX) } { (package.title()) } }
                    (cells(coverage, &package.counters, &widest))
                    (super::missing(package.counters.methods)) (super::missing(package.counters.classes))
                } } }
            } }
        }
        (notes(coverage))
    };
    let title = match coverage.options.name.as_str() {
        "trodden" => "Coverage".to_owned(),
        name => format!("Coverage of {}", printable(name)),
    };
    frame(coverage, &title, "", &[], &content)
}

fn sums(coverage: &Coverage) -> Markup {
    let sums = coverage.counters();
    let rows = [
        ("branches", sums.branches, "outcomes of the source's decisions"),
        ("lines", sums.lines, "lines with code"),
        ("methods", sums.methods, ""),
        ("classes", sums.classes, ""),
    ];
    html! {
        section #sums {
            h2 { "What ran, of what could" }
            table.sums { tbody {
                @for (name, ratio, what) in rows { (sum(name, ratio, what)) }
                @if coverage.has_paths {
                    (sum("paths", sums.paths, &format!("of each method at most {}", thousands(coverage.options.cap))))
                }
            } }
            p.note { span.key.ran { "ran" } " " span.key.partly { "ran in part, or an outcome of a decision was never taken" } " "
                span.key.never { "did not run" } }
        }
    }
}

fn sum(name: &str, ratio: Ratio, what: &str) -> Markup {
    html! { tr {
        th scope="row" { (name) }
        td.num { b { (ratio.share().map_or("n/a".to_owned(), percent)) } }
        td.num { (thousands(ratio.covered)) " of " (thousands(ratio.total)) }
        td.soft { (what) }
    } }
}

/// The methods of which most did not run, with what they never did.
fn worst(packages: &[Package]) -> Markup {
    let mut all: Vec<(Counters, &Package, &MethodCoverage)> = Vec::new();
    for package in packages {
        let methods = package.classes.iter().flat_map(|class| &class.methods);
        all.extend(methods.map(|&method| (Counters::of([method], u64::MAX), package, method)));
    }
    all.retain(|(counters, _, method)| missed(counters) > 0 || !method.ran());
    // Those that ran, before those of the same size that never did: a test is at hand for them.
    all.sort_by_key(|(counters, _, method)| (Reverse(missed(counters)), !method.ran()));
    html! {
        section #worst {
            h2 { "Worst first" }
            @if all.is_empty() { p { "Every line ran, and every outcome was taken." } }
            @else {
                p.note { "Methods by the number of branches and lines that did not run; "
                    (thousands(all.len() as u64)) " have some." }
                ol.worst { @for (counters, package, method) in all.iter().take(WORST) {
                    li { (one(counters, package, method)) }
                } }
            }
        }
    }
}

fn one(counters: &Counters, package: &Package, method: &MethodCoverage) -> Markup {
    let never = marks::never_taken(method);
    let name = format!("{}.{}", dotted(simple(method.class())), signature(method));
    let link = |line| {
        package
            .place_of(method, line)
            .map(|place| format!("{}/{place}", package.folder))
    };
    let first = method.lines().keys().next().copied();
    html! {
        p {
            @match link(first) {
                Some(link) => { a href=(link) { code { (name) } } }
                None => { code { (name) } }
            }
            " " span.package { (package.title()) } " "
            @if method.ran() {
                span.badge { (thousands(counters.branches.missed())) " of " (thousands(counters.branches.total)) " branches, "
                    (thousands(counters.lines.missed())) " of " (thousands(counters.lines.total)) " lines did not run" }
            } @else {
                span.badge.never { "never ran: " (thousands(counters.branches.total)) " branches, "
                    (thousands(counters.lines.total)) " lines" }
            }
        }
        @if !never.is_empty() {
            ul.ways {
                @for one in never.iter().take(MAX_DECISIONS) { li {
                    @match link(one.at.line) {
                        Some(link) => { a href=(link) { (names::place(one.at)) } }
                        None => { (names::place(one.at)) }
                    }
                    ": " (one.markup())
                } }
                @if never.len() > MAX_DECISIONS {
                    li.soft { "and " (thousands((never.len() - MAX_DECISIONS) as u64)) " more decisions" }
                }
            }
        }
    }
}

pub(super) fn package(coverage: &Coverage, package: &Package) -> String {
    let mut classes: Vec<_> = package.classes.iter().collect();
    classes.sort_by_key(|class| (Reverse(missed(&class.counters)), class.name));
    let widest = most(classes.iter().map(|class| &class.counters));
    let content = html! {
        section {
            h2 { "Classes" }
            div.scroll { table.sortable {
                thead { tr {
                    th scope="col" data-type="text" { "Class" } (heads(coverage))
                    th.num scope="col" { "Methods not run" } th scope="col" data-type="text" { "Source" }
                } }
                tbody { @for class in classes { tr {
                    td data-value=(class.name) { a href=(class.page) { (dotted(simple(class.name))) } }
                    (cells(coverage, &class.counters, &widest))
                    (super::missing(class.counters.methods))
                    @match class.file.map(|file| &package.files[file]) {
                        Some(file) => { td data-value=(file.name) { a href=(file.page) { (file.name) } } }
                        None => { td data-value="" { "not known" } }
                    }
                } } }
            } }
        }
    };
    let up = format!("../{INDEX}");
    frame(coverage, package.title(), "../", &[("Coverage", &up)], &content)
}

/// Methods in no sum, and the reasons.
fn notes(coverage: &Coverage) -> Markup {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in &coverage.uncounted {
        let name = format!("{}#{}", dotted(&one.class), one.method);
        reasons.entry(&one.reason).or_default().push(name);
    }
    let others = coverage.other_bytes.len() as u64;
    html! {
        @if !reasons.is_empty() {
            section.skipped {
                h2 { "In no sum" }
                p.note { "It is not known whether these ran." }
                @for (reason, methods) in &reasons { details {
                    summary { (reason) " " span.badge { (thousands(methods.len() as u64)) } }
                    ul { @for method in methods.iter().take(NAMED) { li { code { (method) } } } }
                    @if methods.len() > NAMED { p.note { "… and " (thousands((methods.len() - NAMED) as u64)) " more." } }
                } }
            }
        }
        @if let Some(missing) = words::not_counted(&coverage.run) { p.note { (missing) } }
        @if others > 0 {
            p.note { (thousands(others)) " classes differ from the class files that " code { "--classes" } " names: another agent changed them, or \
                they were built again after the run. Their figures are those of the classes that ran." }
        }
    }
}
