//! SonarQube's generic format of coverage (its `sonar-generic-coverage.xsd`, version 1): lines by source file, each with how
//! many outcomes of its branches there are, and how many of them were taken.

use std::collections::BTreeMap;

use trodden_insight::coverage::{Coverage, Ratio};

use super::xml::Xml;

/// SonarQube's generic format, version 1.
pub fn sonar(coverage: &Coverage) -> String {
    let coverage = &coverage.printable();
    let mut files: BTreeMap<String, BTreeMap<u32, (bool, Ratio)>> = BTreeMap::new();
    for method in &coverage.methods {
        let file = method.source_file();
        let Some(path) = file.and_then(|file| coverage.source_path(method, file)) else {
            continue;
        };
        let lines = files.entry(path).or_default();
        for (number, line) in method.lines() {
            let (ran, branches) = lines.entry(number).or_default();
            *ran |= line.count > 0;
            *branches += line.branch_ratio();
        }
    }
    let mut out = Xml::new(None);
    out.line();
    out.start("coverage", &[("version", "1")]);
    for (path, lines) in files {
        out.line();
        out.start("file", &[("path", &path)]);
        for (number, (ran, branches)) in lines {
            let (number, ran) = (number.to_string(), ran.to_string());
            let (covered, total) = (branches.covered.to_string(), branches.total.to_string());
            let mut attributes = vec![("lineNumber", number.as_str()), ("covered", &ran)];
            if branches.total > 0 {
                attributes.extend([("branchesToCover", total.as_str()), ("coveredBranches", &covered)]);
            }
            out.line();
            out.empty("lineToCover", &attributes);
        }
        out.line();
        out.end("file");
    }
    out.line();
    out.end("coverage");
    out.text()
}
