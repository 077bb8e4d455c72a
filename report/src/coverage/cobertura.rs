//! Cobertura's XML report (its DTD `coverage-04`), as GitLab, Jenkins and many others read it: packages, classes, methods, lines.
//!
//! Classes that name no source file are left out: the format knows lines by file. Rates are those of lines and branches of
//! what is in the file; complexity is as Cobertura has it, on average over methods: one more than the outcomes of branches beyond
//! the first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use trodden_insight::coverage::{Coverage, Line, MethodCoverage, Ratio};
use trodden_insight::names::dotted;
use trodden_profile::{BlockExit, printable};

use super::xml::Xml;

type Lines = BTreeMap<u32, Vec<(Line, &'static str)>>;

/// Sums, from methods to the whole.
#[derive(Clone, Copy, Default)]
struct Sums {
    lines: Ratio,
    branches: Ratio,
    complexity: u64,
    methods: u64,
}

impl Sums {
    /// The sums of the lines of one class, or one method. Lines that several methods of a class have are one.
    fn of(lines: &Lines, methods: &[&MethodCoverage]) -> Self {
        let all = || lines.values();
        let complexity = |method: &&MethodCoverage| {
            let beyond = method.branches().into_iter().map(|b| b.outcomes.len() as u64 - 1);
            1 + beyond.sum::<u64>()
        };
        Sums {
            lines: all().map(|line| Ratio::one(hits(line) > 0)).sum(),
            branches: all().map(|line| branches(line)).sum(),
            complexity: methods.iter().map(complexity).sum(),
            methods: methods.len() as u64,
        }
    }

    fn add(&mut self, other: Sums) {
        self.lines += other.lines;
        self.branches += other.branches;
        self.complexity += other.complexity;
        self.methods += other.methods;
    }

    fn attributes(&self) -> [(&'static str, String); 3] {
        // Of nothing, all is covered: that is what Cobertura writes.
        let rate = |ratio: Ratio| ratio.share().unwrap_or(1.0).to_string();
        let complexity = self.complexity as f64 / self.methods.max(1) as f64;
        [
            ("line-rate", rate(self.lines)),
            ("branch-rate", rate(self.branches)),
            ("complexity", complexity.to_string()),
        ]
    }
}

fn hits(lines: &[(Line, &'static str)]) -> u64 {
    lines.iter().map(|(line, _)| line.count).max().unwrap_or(0)
}

fn branches(lines: &[(Line, &'static str)]) -> Ratio {
    lines.iter().map(|(line, _)| line.branch_ratio()).sum()
}

/// Cobertura's XML report, as of its DTD `coverage-04`.
pub fn cobertura(coverage: &Coverage) -> String {
    let coverage = &coverage.printable();
    let mut packages: BTreeMap<&str, BTreeMap<&str, Vec<&MethodCoverage>>> = BTreeMap::new();
    let mut roots: BTreeSet<String> = BTreeSet::new();
    for method in &coverage.methods {
        let Some(file) = method.source_file() else {
            continue;
        };
        let class = method.class();
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let classes = packages.entry(package).or_default();
        classes.entry(class).or_default().push(method);
        roots.extend(root(coverage, method, file));
    }
    let mut body: Vec<(String, Sums, Vec<ClassOut>)> = Vec::new();
    let mut all = Sums::default();
    for (name, classes) in packages {
        let classes: Vec<ClassOut> = classes.into_values().map(ClassOut::new).collect();
        let mut sums = Sums::default();
        classes.iter().for_each(|class| sums.add(class.sums));
        all.add(sums);
        body.push((dotted(name), sums, classes));
    }
    let kind = "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"";
    let mut out = Xml::new(Some(kind));
    let totals = [
        ("lines-covered", all.lines.covered.to_string()),
        ("lines-valid", all.lines.total.to_string()),
        ("branches-covered", all.branches.covered.to_string()),
        ("branches-valid", all.branches.total.to_string()),
        ("version", format!("trodden {}", printable(&coverage.run.version))),
        ("timestamp", coverage.run.started_ms.to_string()),
    ];
    let own = all.attributes();
    out.line();
    start(&mut out, "coverage", own.iter().chain(&totals));
    out.line();
    out.start("sources", &[]);
    if roots.is_empty() {
        out.with_text("source", ".");
    }
    for root in &roots {
        out.with_text("source", root);
    }
    out.end("sources");
    out.line();
    out.start("packages", &[]);
    for (name, sums, classes) in &body {
        let name = [("name", name.clone())];
        out.line();
        start(&mut out, "package", name.iter().chain(&sums.attributes()));
        out.start("classes", &[]);
        classes.iter().for_each(|class| class.write(&mut out));
        out.end("classes");
        out.end("package");
    }
    out.line();
    out.end("packages");
    out.line();
    out.end("coverage");
    out.text()
}

/// The folder in which the source was found, as Cobertura has it: from the root of the file system.
fn root(coverage: &Coverage, method: &MethodCoverage, file: &str) -> Option<String> {
    let relative = trodden_insight::source::below(method.class(), file)?;
    let found = coverage.source_path(method, file)?;
    let folder = found.strip_suffix(relative.to_str()?)?;
    let folder = if folder.is_empty() { "." } else { folder };
    // Where it was not found, there is no such file.
    if !Path::new(folder).join(&relative).is_file() {
        return None;
    }
    let folder = Path::new(folder).canonicalize().ok()?;
    folder.to_str().map(str::to_owned)
}

/// A class, ready to be written.
struct ClassOut<'c> {
    methods: Vec<&'c MethodCoverage>,
    lines: Lines,
    sums: Sums,
}

impl<'c> ClassOut<'c> {
    fn new(methods: Vec<&'c MethodCoverage>) -> Self {
        let mut lines = Lines::new();
        for method in &methods {
            for (number, line) in lines_of(method) {
                lines.entry(number).or_default().extend(line);
            }
        }
        ClassOut {
            sums: Sums::of(&lines, &methods),
            lines,
            methods,
        }
    }

    fn write(&self, out: &mut Xml) {
        let Some(first) = self.methods.first() else { return };
        let file = first.source_file().unwrap_or_default();
        let file = trodden_insight::source::below(first.class(), file).unwrap_or_default();
        let own = [
            ("name", dotted(first.class())),
            ("filename", file.display().to_string()),
        ];
        out.line();
        start(out, "class", own.iter().chain(&self.sums.attributes()));
        out.start("methods", &[]);
        for method in &self.methods {
            let map = method.map();
            let lines = lines_of(method);
            let sums = Sums::of(&lines, &[method]);
            let own = [("name", map.name.clone()), ("signature", map.descriptor.clone())];
            out.line();
            start(out, "method", own.iter().chain(&sums.attributes()));
            write_lines(out, &lines);
            out.end("method");
        }
        out.end("methods");
        write_lines(out, &self.lines);
        out.end("class");
    }
}

/// The lines of a method, each with what its branches are: `jump`, or `switch` if there is one among them.
fn lines_of(method: &MethodCoverage) -> Lines {
    let map = method.map();
    let branches = method.branches();
    let is_switch = |number: u32| {
        let mut here = branches.iter().filter(|branch| branch.line == Some(number));
        here.any(|branch| map.blocks[branch.block].exit == BlockExit::Switch)
    };
    let kind = |number| if is_switch(number) { "switch" } else { "jump" };
    let lines = method.lines().into_iter();
    lines
        .map(|(number, line)| (number, vec![(line, kind(number))]))
        .collect()
}

fn write_lines(out: &mut Xml, lines: &Lines) {
    out.start("lines", &[]);
    for (number, pieces) in lines {
        let (number, hits) = (number.to_string(), hits(pieces).to_string());
        let branches = branches(pieces);
        let own = [("number", number.as_str()), ("hits", hits.as_str())];
        if branches.total == 0 {
            out.empty("line", &[&own[..], &[("branch", "false")]].concat());
            continue;
        }
        let share = format!("{} ({}/{})", share(branches), branches.covered, branches.total);
        let of_branches = [("branch", "true"), ("condition-coverage", share.as_str())];
        out.start("line", &[&own[..], &of_branches].concat());
        out.start("conditions", &[]);
        let outcomes = pieces
            .iter()
            .flat_map(|(line, kind)| line.branches.iter().map(move |outcomes| (outcomes, *kind)));
        for (at, (outcomes, kind)) in outcomes.enumerate() {
            let taken = outcomes.iter().map(|&count| Ratio::one(count > 0)).sum();
            let (at, share) = (at.to_string(), self::share(taken));
            out.empty(
                "condition",
                &[("number", &at), ("type", kind), ("coverage", &share)],
            );
        }
        out.end("conditions");
        out.end("line");
    }
    out.end("lines");
}

/// `50%`, never 100 % of what lacks something.
fn share(ratio: Ratio) -> String {
    let percent = (ratio.covered * 100).checked_div(ratio.total).unwrap_or(100);
    format!("{percent}%")
}

fn start<'a>(out: &mut Xml, name: &str, attributes: impl Iterator<Item = &'a (&'static str, String)>) {
    let attributes: Vec<(&str, &str)> = attributes.map(|(name, value)| (*name, value.as_str())).collect();
    out.start(name, &attributes);
}
