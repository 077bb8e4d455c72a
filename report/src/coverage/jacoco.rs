//! JaCoCo's XML report (its DTD "Report 1.1"): instructions, branches, lines, complexity, methods, classes.
//!
//! The sums are made as JaCoCo makes them: a line, or a class, counts as covered with the first instruction that ran;
//! a method's complexity is one more than its branch outcomes less its branches, and each outcome taken beyond the first
//! one covers one of it. JaCoCo leaves out some code that compilers make; apart from synthetic methods, all is counted here.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Coverage, CoverageError, Line, MethodCoverage, Ratio};

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
        let mut sums = Sums {
            instructions: method.instruction_ratio()?,
            ..Sums::default()
        };
        let covered = sums.instructions.covered > 0;
        sums.methods = Ratio::one(covered);
        sums.complexity = Ratio::one(covered);
        for (_, outcomes) in method.branches() {
            let taken = outcomes.iter().filter(|&&count| count > 0).count() as u64;
            let all = outcomes.len() as u64;
            sums.branches = sums.branches
                + Ratio {
                    covered: taken,
                    total: all,
                };
            sums.complexity = sums.complexity
                + Ratio {
                    covered: taken.saturating_sub(1),
                    total: all.saturating_sub(1),
                };
        }
        let file = method.source_file().unwrap_or_default().to_owned();
        let lines = sums.lines.entry(file).or_default();
        for (number, line) in method.lines() {
            lines.insert(number, LineSums::of(&line));
        }
        Some(sums)
    }

    fn add(&mut self, other: &Sums) {
        self.instructions = self.instructions + other.instructions;
        self.branches = self.branches + other.branches;
        self.complexity = self.complexity + other.complexity;
        self.methods = self.methods + other.methods;
        self.classes = self.classes + other.classes;
        for (file, lines) in &other.lines {
            let mine = self.lines.entry(file.clone()).or_default();
            for (number, line) in lines {
                let sum = mine.entry(*number).or_default();
                sum.instructions = sum.instructions + line.instructions;
                sum.branches = sum.branches + line.branches;
            }
        }
    }

    fn line_ratio(&self) -> Ratio {
        let lines = self.lines.values().flat_map(BTreeMap::values);
        lines.fold(Ratio::default(), |sum, line| {
            sum + Ratio::one(line.instructions.covered > 0)
        })
    }

    fn counters(&self, out: &mut String) {
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
            // Writing to a String cannot fail, here and below.
            let _ = write!(
                out,
                "<counter type=\"{kind}\" missed=\"{}\" covered=\"{}\"/>",
                ratio.missed(),
                ratio.covered
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

pub(super) fn write(coverage: &Coverage) -> Result<String, CoverageError> {
    if let Some((class, others)) = coverage.other_bytes.split_first() {
        return Err(CoverageError::OtherBytes {
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
    let mut body = String::new();
    let mut all = Sums::default();
    for (name, classes) in packages {
        let _ = write!(body, "<package name=\"{}\">", escaped(name));
        let mut sums = Sums::default();
        let mut files: BTreeMap<&str, Sums> = BTreeMap::new();
        for (name, methods) in classes {
            let of_class = class(&mut body, name, &methods)?;
            if let Some(file) = methods.first().and_then(|m| m.source_file()) {
                files.entry(file).or_default().add(&of_class);
            }
            sums.add(&of_class);
        }
        for (name, sums) in files {
            source_file(&mut body, name, &sums);
        }
        sums.counters(&mut body);
        body.push_str("</package>");
        // Files of the same name are different ones in every package.
        let here =
            |(file, lines): (&String, &BTreeMap<u32, LineSums>)| (format!("{name}/{file}"), lines.clone());
        sums.lines = sums.lines.iter().map(here).collect();
        all.add(&sums);
    }
    let name = escaped(&coverage.options.name);
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>");
    out.push_str("<!DOCTYPE report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" \"report.dtd\">");
    let _ = write!(out, "<report name=\"{name}\">");
    let run = &coverage.run;
    let end = run.started_ms.saturating_add((run.seconds * 1000.0) as u64);
    let _ = write!(
        out,
        "<sessioninfo id=\"trodden\" start=\"{}\" dump=\"{end}\"/>",
        run.started_ms
    );
    out.push_str(&body);
    all.counters(&mut out);
    out.push_str("</report>\n");
    Ok(out)
}

fn class(out: &mut String, name: &str, methods: &[&MethodCoverage]) -> Result<Sums, CoverageError> {
    let mut sums = Sums::default();
    let _ = write!(out, "<class name=\"{}\"", escaped(name));
    if let Some(file) = methods.first().and_then(|m| m.source_file()) {
        let _ = write!(out, " sourcefilename=\"{}\"", escaped(file));
    }
    out.push('>');
    for method in methods {
        let of_method = Sums::of(method).ok_or(CoverageError::NoInstructions)?;
        let map = method.map();
        let _ = write!(
            out,
            "<method name=\"{}\" desc=\"{}\"",
            escaped(&map.name),
            escaped(&map.descriptor)
        );
        let mut lines = of_method.lines.values().flat_map(BTreeMap::keys);
        if let Some(line) = lines.next() {
            let _ = write!(out, " line=\"{line}\"");
        }
        out.push('>');
        of_method.counters(out);
        out.push_str("</method>");
        sums.add(&of_method);
    }
    sums.classes = Ratio::one(sums.methods.covered > 0);
    sums.counters(out);
    out.push_str("</class>");
    Ok(sums)
}

fn source_file(out: &mut String, name: &str, sums: &Sums) {
    let _ = write!(out, "<sourcefile name=\"{}\">", escaped(name));
    for (number, line) in sums.lines.values().flatten() {
        let _ = write!(
            out,
            "<line nr=\"{number}\" mi=\"{}\" ci=\"{}\" mb=\"{}\" cb=\"{}\"/>",
            line.instructions.missed(),
            line.instructions.covered,
            line.branches.missed(),
            line.branches.covered
        );
    }
    sums.counters(out);
    out.push_str("</sourcefile>");
}

/// Text inside an attribute. What XML cannot hold at all becomes a question mark.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => {
                let _ = write!(out, "&#{};", c as u32);
            }
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
