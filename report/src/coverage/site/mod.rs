//! Coverage as a folder of HTML pages, in the manner of JaCoCo's: packages, their classes, their source files. No page needs a
//! server, a network or its script; links between them are relative.

mod class;
mod index;
mod names;
mod source;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use trodden_insight::coverage::{Counters, Coverage, MethodCoverage, Ratio};
use trodden_insight::names::dotted;
use trodden_insight::source::Sources;
use trodden_profile::printable;

use crate::html::head;
use crate::words::{percent, thousands};
use names::Names;

/// Name of the page with which reading begins.
const INDEX: &str = "index.html";
const STYLE_NAME: &str = "trodden.css";
const SCRIPT_NAME: &str = "trodden.js";
const STYLES: [&str; 3] = [
    crate::svg::STYLE,
    include_str!("../../assets/page.css"),
    include_str!("../../assets/coverage.css"),
];
const SCRIPTS: [&str; 3] = [
    include_str!("../../assets/shared.js"),
    include_str!("../../assets/table.js"),
    include_str!("../../assets/coverage.js"),
];

/// One file of a folder of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteFile {
    /// Where in the folder.
    pub path: PathBuf,
    /// Its contents.
    pub text: String,
}

/// A package: what JaCoCo calls so, the classes in one.
struct Package<'c> {
    /// With dots; empty for the one without a name.
    name: String,
    folder: String,
    classes: Vec<Class<'c>>,
    files: Vec<File<'c>>,
    counters: Counters,
}

struct Class<'c> {
    /// Internal name.
    name: &'c str,
    page: String,
    methods: Vec<&'c MethodCoverage>,
    /// Position of its source file in the package.
    file: Option<usize>,
    counters: Counters,
}

struct File<'c> {
    name: &'c str,
    page: String,
    methods: Vec<&'c MethodCoverage>,
}

/// HTML pages, files of one folder: packages, their classes, their sources, with what is worst first. `put` gets one after
/// the other: a large program has more of them than fit into memory.
///
/// # Errors
/// If `put` fails.
pub fn site(coverage: &Coverage, put: &mut dyn FnMut(SiteFile) -> io::Result<()>) -> io::Result<()> {
    let coverage = &coverage.printable();
    let packages = packages(coverage);
    let sources = Sources::new(&coverage.options.sources);
    let mut file = |path: PathBuf, text: String| put(SiteFile { path, text });
    let script: String = SCRIPTS.into_iter().collect();
    file(INDEX.into(), index::page(coverage, &packages))?;
    file(STYLE_NAME.into(), STYLES.into_iter().collect())?;
    file(
        SCRIPT_NAME.into(),
        format!("\"use strict\";\n(() => {{\n{script}}})();\n"),
    )?;
    for package in &packages {
        let folder = PathBuf::from(&package.folder);
        file(folder.join(INDEX), index::package(coverage, package))?;
        for class in &package.classes {
            file(folder.join(&class.page), class::page(coverage, package, class))?;
        }
        for source in &package.files {
            file(
                folder.join(&source.page),
                source::page(coverage, package, source, &sources),
            )?;
        }
    }
    Ok(())
}

fn packages(coverage: &Coverage) -> Vec<Package<'_>> {
    let mut by_name: BTreeMap<&str, BTreeMap<&str, Vec<&MethodCoverage>>> = BTreeMap::new();
    for method in &coverage.methods {
        let class = method.class();
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let classes = by_name.entry(package).or_default();
        classes.entry(class).or_default().push(method);
    }
    let mut folders = Names::new(&[INDEX, STYLE_NAME, SCRIPT_NAME]);
    let package = |(name, classes)| package(coverage, name, classes, &mut folders);
    by_name.into_iter().map(package).collect()
}

fn package<'c>(
    coverage: &Coverage,
    name: &str,
    by_class: BTreeMap<&'c str, Vec<&'c MethodCoverage>>,
    folders: &mut Names,
) -> Package<'c> {
    let mut pages = Names::new(&[INDEX]);
    let name = dotted(name);
    let folder = folders.add(if name.is_empty() { "default" } else { &name }, "");
    let mut files: Vec<File> = Vec::new();
    let mut classes = Vec::new();
    for (class, methods) in by_class {
        let file = methods[0].source_file().map(|name| {
            let known = files.iter().position(|file| file.name == name);
            let at = known.unwrap_or_else(|| {
                files.push(File {
                    name,
                    page: pages.add(name, ".html"),
                    methods: Vec::new(),
                });
                files.len() - 1
            });
            files[at].methods.extend(&methods);
            at
        });
        classes.push(Class {
            name: class,
            page: pages.add(simple(class), ".html"),
            counters: Counters::of(methods.iter().copied(), coverage.options.cap),
            methods,
            file,
        });
    }
    let all = classes.iter().flat_map(|class| class.methods.iter().copied());
    Package {
        counters: Counters::of(all, coverage.options.cap),
        name,
        folder,
        classes,
        files,
    }
}

impl Package<'_> {
    fn title(&self) -> &str {
        match self.name.as_str() {
            "" => "(no package)",
            name => name,
        }
    }

    /// The page of a method's source, and the line there.
    fn place_of(&self, method: &MethodCoverage, line: Option<u32>) -> Option<String> {
        let class = self.classes.iter().find(|class| class.name == method.class())?;
        let file = &self.files[class.file?];
        Some(match line {
            Some(line) => format!("{}#L{line}", file.page),
            None => file.page.clone(),
        })
    }
}

/// A class's name without its package.
fn simple(class: &str) -> &str {
    class.rsplit('/').next().unwrap_or(class)
}

/// A method's name and parameters.
fn signature(method: &MethodCoverage) -> String {
    let map = method.map();
    trodden_insight::names::signature(&map.name, &map.descriptor)
}

/// The part that is not covered, which is largest in the worst.
fn missed(counters: &Counters) -> u64 {
    counters.branches.missed() + counters.lines.missed()
}

/// A page; `up` leads to the folder with the styles, `trail` to the pages above.
fn frame(coverage: &Coverage, title: &str, up: &str, trail: &[(&str, &str)], content: &Markup) -> String {
    let mut page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(title, &html! { link rel="stylesheet" href={ (up) (STYLE_NAME) }; }))
            body.coverage {
                header {
                    p.brand { "trodden" }
                    @if !trail.is_empty() {
                        nav.trail aria-label="Where this is" { @for (name, link) in trail { a href=(link) { (name) } " › " } }
                    }
                    h1 { (title) }
                }
                main { (content) }
                footer { "Written by Trodden " (printable(&coverage.run.version)) ". These pages need no network and no server." }
                script src={ (up) (SCRIPT_NAME) } {}
            }
        }
    }
    .into_string();
    page.push('\n');
    page
}

/// The columns that every table of sums has behind its names.
fn heads(coverage: &Coverage) -> Markup {
    html! {
        th scope="col" { "Branches" } th.num scope="col" { "not taken" }
        th scope="col" { "Lines" } th.num scope="col" { "not run" }
        @if coverage.has_paths { th.num scope="col" { "Paths not run" } }
    }
}

/// The cells of [`heads`]; `most` are the largest totals in the table, for the widths of bars.
fn cells(coverage: &Coverage, counters: &Counters, most: &Counters) -> Markup {
    html! {
        (bar(counters.branches, most.branches)) (missing(counters.branches))
        (bar(counters.lines, most.lines)) (missing(counters.lines))
        @if coverage.has_paths { (missing(counters.paths)) }
    }
}

/// How much of it there is beside the most, red and green; and the share that ran.
fn bar(ratio: Ratio, most: Ratio) -> Markup {
    let width = |part: u64| {
        let share = part as f64 / most.total.max(1) as f64;
        PreEscaped(format!("width:{:.1}px", 110.0 * share))
    };
    html! {
        td data-value=(ratio.share().unwrap_or(2.0)) {
            span.two aria-hidden="true" {
                i.missed style=(width(ratio.missed())) {}
                i.covered style=(width(ratio.covered)) {}
            }
            span.share { (ratio.share().map_or("n/a".to_owned(), percent)) }
        }
    }
}

/// `3 of 10`.
fn missing(ratio: Ratio) -> Markup {
    html! { td.num data-value=(ratio.missed()) {
        @if ratio.total > 0 { (thousands(ratio.missed())) " of " (thousands(ratio.total)) } @else { "–" }
    } }
}

/// The largest totals.
fn most<'a>(all: impl Iterator<Item = &'a Counters>) -> Counters {
    let larger = |a: Ratio, b: Ratio| if a.total >= b.total { a } else { b };
    all.fold(Counters::default(), |most, one| Counters {
        branches: larger(most.branches, one.branches),
        lines: larger(most.lines, one.lines),
        ..most
    })
}
