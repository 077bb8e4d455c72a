//! JaCoCo's XML report (its DTD "Report 1.1"): instructions, branches, lines, complexity, methods, classes.
//!
//! The sums are made as JaCoCo makes them: a line, or a class, counts as covered with the first instruction that ran;
//! a method's complexity is one more than its branch outcomes less its branches, and each outcome taken beyond the first
//! one covers one of it. What compilers make is left out, as JaCoCo does.

use std::collections::BTreeMap;

use trodden_insight::coverage::{BranchCoverage, Coverage, Line, MethodCoverage, Ratio};
use trodden_profile::printable;

use super::CoverageWriteError;
use super::xml::Xml;

/// JaCoCo's counters.
#[derive(Clone, Debug, Default)]
struct Sums {
    instructions: Ratio,
    branches: Ratio,
    complexity: Ratio,
    methods: Ratio,
    classes: Ratio,
    /// By source file.
    lines: BTreeMap<String, BTreeMap<u32, LineSums>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct LineSums {
    instructions: Ratio,
    branches: Ratio,
}

impl Sums {
    fn of(method: &MethodCoverage) -> Option<Sums> {
        let measured = method.measured();
        let mut sums = Sums {
            instructions: measured.instructions?,
            ..Sums::default()
        };
        let covered = sums.instructions.covered > 0;
        sums.methods = Ratio::one(covered);
        sums.complexity = Ratio::one(covered);
        for ratio in measured.branches.iter().map(BranchCoverage::ratio) {
            sums.branches += ratio;
            sums.complexity += Ratio {
                covered: ratio.covered.saturating_sub(1),
                total: ratio.total.saturating_sub(1),
            };
        }
        let file = method.source_file().unwrap_or_default().to_owned();
        let lines = sums.lines.entry(file).or_default();
        for (number, line) in &measured.lines {
            lines.insert(*number, LineSums::of(line));
        }
        Some(sums)
    }

    fn add(&mut self, other: &Sums) {
        self.instructions += other.instructions;
        self.branches += other.branches;
        self.complexity += other.complexity;
        self.methods += other.methods;
        self.classes += other.classes;
        for (file, lines) in &other.lines {
            let mine = self.lines.entry(file.clone()).or_default();
            for (number, line) in lines {
                let sum = mine.entry(*number).or_default();
                sum.instructions += line.instructions;
                sum.branches += line.branches;
            }
        }
    }

    fn line_ratio(&self) -> Ratio {
        let lines = self.lines.values().flat_map(BTreeMap::values);
        lines.map(|line| Ratio::one(line.instructions.covered > 0)).sum()
    }

    fn counters(&self, out: &mut Xml) {
        let lines = self.line_ratio();
        let counters = [
            ("INSTRUCTION", self.instructions),
            ("BRANCH", self.branches),
            ("LINE", lines),
            ("COMPLEXITY", self.complexity),
            ("METHOD", self.methods),
            ("CLASS", self.classes),
        ];
        for (kind, ratio) in counters.into_iter().filter(|(_, ratio)| ratio.total > 0) {
            let (missed, covered) = (ratio.missed().to_string(), ratio.covered.to_string());
            out.empty(
                "counter",
                &[("type", kind), ("missed", &missed), ("covered", &covered)],
            );
        }
    }
}

impl LineSums {
    fn of(line: &Line) -> Self {
        let (missed, covered) = (line.missed_instructions, line.covered_instructions);
        LineSums {
            instructions: Ratio {
                covered,
                total: covered + missed,
            },
            branches: line.branch_ratio(),
        }
    }
}

/// JaCoCo's XML report, as of its DTD 1.1.
///
/// # Errors
/// If instructions are not known, or not those of the loaded classes.
pub fn jacoco(coverage: &Coverage) -> Result<String, CoverageWriteError> {
    let coverage = &coverage.printable();
    if let Some((class, others)) = coverage.other_bytes.split_first() {
        return Err(CoverageWriteError::OtherBytes {
            class: class.replace('/', "."),
            others: others.len(),
        });
    }
    let mut packages: BTreeMap<&str, BTreeMap<&str, Vec<&MethodCoverage>>> = BTreeMap::new();
    for method in &coverage.methods {
        let class = method.class();
        let package = class.rsplit_once('/').map_or("", |(package, _)| package);
        let classes = packages.entry(package).or_default();
        classes.entry(class).or_default().push(method);
    }
    let mut out = Xml::new(Some(
        "report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\"",
    ));
    out.start("report", &[("name", &printable(&coverage.options.name))]);
    let run = &coverage.run;
    let start = run.started_ms.to_string();
    let end = run.started_ms.saturating_add((run.seconds * 1000.0) as u64);
    out.empty(
        "sessioninfo",
        &[("id", "trodden"), ("start", &start), ("dump", &end.to_string())],
    );
    let mut all = Sums::default();
    for (name, classes) in packages {
        out.start("package", &[("name", name)]);
        let mut sums = Sums::default();
        let mut files: BTreeMap<&str, Sums> = BTreeMap::new();
        for (name, methods) in classes {
            let of_class = class(&mut out, name, &methods)?;
            if let Some(file) = methods.first().and_then(|m| m.source_file()) {
                files.entry(file).or_default().add(&of_class);
            }
            sums.add(&of_class);
        }
        for (name, sums) in files {
            source_file(&mut out, name, &sums);
        }
        sums.counters(&mut out);
        out.end("package");
        // Files of the same name are different ones in every package.
        let here =
            |(file, lines): (&String, &BTreeMap<u32, LineSums>)| (format!("{name}/{file}"), lines.clone());
        sums.lines = sums.lines.iter().map(here).collect();
        all.add(&sums);
    }
    all.counters(&mut out);
    out.end("report");
    Ok(out.text())
}

fn class(out: &mut Xml, name: &str, methods: &[&MethodCoverage]) -> Result<Sums, CoverageWriteError> {
    let mut sums = Sums::default();
    let file = methods.first().and_then(|m| m.source_file());
    let file = file.map(|file| ("sourcefilename", file));
    let attributes: Vec<_> = [("name", name)].into_iter().chain(file).collect();
    out.start("class", &attributes);
    for method in methods {
        let of_method = Sums::of(method).ok_or(CoverageWriteError::NoInstructions)?;
        let map = method.map();
        let first = of_method.lines.values().flat_map(BTreeMap::keys).next();
        let line = first.map(u32::to_string);
        let line = line.as_deref().map(|line| ("line", line));
        let own = [("name", map.name.as_str()), ("desc", &map.descriptor)];
        let attributes: Vec<_> = own.into_iter().chain(line).collect();
        out.start("method", &attributes);
        of_method.counters(out);
        out.end("method");
        sums.add(&of_method);
    }
    sums.classes = Ratio::one(sums.methods.covered > 0);
    sums.counters(out);
    out.end("class");
    Ok(sums)
}

fn source_file(out: &mut Xml, name: &str, sums: &Sums) {
    out.start("sourcefile", &[("name", name)]);
    for (number, line) in sums.lines.values().flatten() {
        let numbers = [
            ("nr", u64::from(*number)),
            ("mi", line.instructions.missed()),
            ("ci", line.instructions.covered),
            ("mb", line.branches.missed()),
            ("cb", line.branches.covered),
        ];
        let texts = numbers.map(|(name, number)| (name, number.to_string()));
        let attributes = texts.each_ref().map(|(name, text)| (*name, text.as_str()));
        out.empty("line", &attributes);
    }
    sums.counters(out);
    out.end("sourcefile");
}
