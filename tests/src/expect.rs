//! The language of `// expect` comments; `tests/README.md` describes it for authors of targets.

use std::collections::{BTreeMap, BTreeSet};

use trodden_profile::{BlockExit, EdgeLabel, EndKind, MethodMap, PathDescription, Profile, Step};

use crate::profile::methods;
use crate::{Error, Result};

/// One expectation and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// Line of the comment, from 1.
    pub at: u32,
    /// The expected result.
    pub what: What,
}

/// Results that can be expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The branch instructions of a line, by bytecode index: (taken, not taken).
    Branches {
        /// Source line.
        line: u32,
        /// Expected counts.
        counts: Vec<(u64, u64)>,
    },
    /// The one switch of a line: label (keys and `default`, joined by `|`) to count.
    Switch {
        /// Source line.
        line: u32,
        /// Expected counts.
        counts: BTreeMap<String, u64>,
    },
    /// A path of a method; those that are given for a method together are all its paths.
    Path {
        /// Method name.
        method: String,
        /// As [`path_text`] writes it.
        path: String,
        /// Expected count.
        count: u64,
    },
    /// Sum of a method's path counts.
    Total(String, u64),
    /// Number of different paths that a method took.
    Distinct(String, u64),
    /// How often paths of a method ended in a way: exactly, or at least.
    Ends {
        /// Method name.
        method: String,
        /// `header`, `cut`, `return`, `throw`.
        kind: String,
        /// True if the count must be equal, not just as large.
        exact: bool,
        /// Expected count.
        count: u64,
    },
    /// A method was left alone.
    Skipped {
        /// Class, a dot, method name.
        method: String,
        /// The reason, or how it begins.
        reason: String,
    },
}

/// All expectations of a source.
///
/// # Errors
/// If one cannot be understood; the message names its line.
pub fn parse(text: &str) -> Result<Vec<Expectation>> {
    let mut marks = BTreeMap::new();
    for (line, comment) in comments_of(text) {
        if let Some(mark) = comment.strip_prefix("mark ")
            && marks.insert(mark.trim().to_owned(), line).is_some()
        {
            return Err(format!("line {line}: mark {mark} is there twice").into());
        }
    }
    let mut all = Vec::new();
    for (at, comment) in comments_of(text) {
        if let Some(words) = comment.strip_prefix("expect ") {
            let what = parse_one(at, words.trim(), &marks);
            let what = what.map_err(|e: Error| format!("line {at}: '{words}': {e}"))?;
            all.push(Expectation { at, what });
        }
    }
    Ok(all)
}

fn comments_of(text: &str) -> impl Iterator<Item = (u32, &str)> {
    (1..).zip(text.lines()).flat_map(|(number, line)| {
        line.split("//")
            .skip(1)
            .map(move |comment| (number, comment.trim()))
    })
}

fn parse_one(at: u32, words: &str, marks: &BTreeMap<String, u32>) -> Result<What> {
    let (line, words) = match words.strip_prefix('@') {
        Some(rest) => {
            let (line, rest) = rest.split_once(' ').ok_or("nothing behind the line")?;
            (line.parse()?, rest)
        }
        None => (at, words),
    };
    let (keyword, rest) = words.split_once(' ').unwrap_or((words, ""));
    let counted = |text: &str| -> Result<(String, u64)> {
        let (what, count) = text.rsplit_once(" = ").ok_or("'= COUNT' is missing")?;
        Ok((what.trim().to_owned(), count.trim().parse()?))
    };
    match keyword {
        "switch" => {
            let mut counts = BTreeMap::new();
            for word in rest.split_whitespace() {
                let (keys, count) = word.split_once('=').ok_or("not KEY=COUNT")?;
                counts.insert(sorted_keys(keys), count.parse()?);
            }
            Ok(What::Switch { line, counts })
        }
        "path" => {
            let (text, count) = counted(rest)?;
            let (method, path) = text.split_once(' ').ok_or("not METHOD PATH")?;
            let path = path
                .split_whitespace()
                .map(|w| resolve(w, marks))
                .collect::<Result<Vec<_>>>()?;
            Ok(What::Path {
                method: method.to_owned(),
                path: path.join(" "),
                count,
            })
        }
        "total" => counted(rest).map(|(method, count)| What::Total(method, count)),
        "distinct" => counted(rest).map(|(method, count)| What::Distinct(method, count)),
        "ends" => {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let &[method, kind, relation @ ("=" | ">="), count] = words.as_slice() else {
                return Err("not METHOD KIND = COUNT".into());
            };
            Ok(What::Ends {
                method: method.to_owned(),
                kind: kind.to_owned(),
                exact: relation == "=",
                count: count.parse()?,
            })
        }
        "skipped" => {
            let (method, reason) = rest.split_once(' ').ok_or("not CLASS.METHOD REASON")?;
            Ok(What::Skipped {
                method: method.to_owned(),
                reason: reason.to_owned(),
            })
        }
        _ => {
            let mut counts = Vec::new();
            for group in words.split(',') {
                let group: Vec<&str> = group.split_whitespace().collect();
                let &[taken, not] = group.as_slice() else {
                    return Err("unknown expectation".into());
                };
                let taken = taken.strip_prefix("taken=").ok_or("unknown expectation")?;
                let not = not.strip_prefix("not-taken=").ok_or("not-taken= is missing")?;
                counts.push((taken.parse()?, not.parse()?));
            }
            Ok(What::Branches { line, counts })
        }
    }
}

/// Puts a line's number for its mark: in `MARK:label` and `kind@MARK`.
fn resolve(word: &str, marks: &BTreeMap<String, u32>) -> Result<String> {
    let line = |mark: &str| match mark.parse::<u32>() {
        Ok(line) => Ok(line),
        Err(_) => marks
            .get(mark)
            .copied()
            .ok_or_else(|| format!("no line is marked {mark}")),
    };
    if let Some((kind, mark)) = word.split_once('@') {
        return Ok(format!("{kind}@{}", line(mark)?));
    }
    if let Some((mark, label)) = word.split_once(':') {
        return Ok(format!("{}:{label}", line(mark)?));
    }
    match word {
        "entry" | "->" => Ok(word.to_owned()),
        _ => Err(format!("'{word}' is no part of a path").into()),
    }
}

fn sorted_keys(keys: &str) -> String {
    let keys: BTreeSet<&str> = keys.split('|').collect();
    keys.into_iter().collect::<Vec<_>>().join("|")
}

fn label_text(label: &EdgeLabel) -> String {
    match label {
        EdgeLabel::Taken => "taken".to_owned(),
        EdgeLabel::NotTaken => "not-taken".to_owned(),
        EdgeLabel::FallThrough => "fall".to_owned(),
        EdgeLabel::Goto => "goto".to_owned(),
        EdgeLabel::Switch { keys, default } => {
            let mut words: Vec<String> = keys.iter().map(i32::to_string).collect();
            words.extend(default.then(|| "default".to_owned()));
            sorted_keys(&words.join("|"))
        }
    }
}

/// A path in the words of the expectations.
pub fn path_text(path: &PathDescription, steps: impl Iterator<Item = Step>) -> String {
    use trodden_numbering::StartKind;
    let line = |place: trodden_profile::Place| place.line.map_or("?".to_owned(), |line| line.to_string());
    let mut words = vec![match path.start_kind {
        StartKind::Entry => "entry".to_owned(),
        StartKind::Header => format!("header@{}", line(path.start)),
        StartKind::Handler => format!("handler@{}", line(path.start)),
        StartKind::Cut => format!("cut@{}", line(path.start)),
    }];
    words.extend(steps.map(|s| format!("{}:{}", line(s.at), label_text(&s.label))));
    words.push("->".to_owned());
    words.push(format!("{}@{}", end_text(path.end_kind), line(path.end)));
    words.join(" ")
}

fn end_text(end: EndKind) -> &'static str {
    match end {
        EndKind::Header => "header",
        EndKind::Cut => "cut",
        EndKind::Return => "return",
        EndKind::Throw => "throw",
        EndKind::Stopped => "stopped",
    }
}

/// A branching instruction and how often each way out of it was taken.
struct Decision<'a> {
    line: Option<u32>,
    exit: BlockExit,
    labels: &'a [EdgeLabel],
    counts: Vec<u64>,
}

fn decisions<'a>(map: &'a MethodMap, counts: &BTreeMap<u64, u64>) -> Result<Vec<Decision<'a>>> {
    let mut edges: Vec<Vec<u64>> = map.blocks.iter().map(|b| vec![0; b.labels.len()]).collect();
    for (&number, &count) in counts {
        for edge in map.dag.regenerate(&map.graph, number)?.edges {
            edges[edge.from.index()][edge.index as usize] += count;
        }
    }
    let all = map.blocks.iter().zip(edges);
    let deciding = all.filter(|(b, _)| matches!(b.exit, BlockExit::Branch | BlockExit::Switch));
    Ok(deciding
        .map(|(block, counts)| Decision {
            line: map.line(block.last),
            exit: block.exit,
            labels: &block.labels,
            counts,
        })
        .collect())
}

/// Compares a profile of exact counts with the expectations; returns descriptions of the differences.
///
/// # Errors
/// If the profile contradicts itself.
pub fn check(expectations: &[Expectation], profile: &Profile) -> Result<Vec<String>> {
    let mut all_decisions = Vec::new();
    let mut paths: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    let mut ends: BTreeMap<(String, &str), u64> = BTreeMap::new();
    let mut distinct: BTreeMap<String, u64> = BTreeMap::new();
    for (id, map, counts) in methods(profile) {
        all_decisions.extend(decisions(map, counts)?);
        for (&number, &count) in counts.iter().filter(|&(_, &count)| count > 0) {
            let regenerated = map.dag.regenerate(&map.graph, number)?;
            let path = map.describe_path(&regenerated);
            *paths
                .entry(id.name.clone())
                .or_default()
                .entry(path_text(&path, map.steps(&regenerated.edges)))
                .or_default() += count;
            *ends
                .entry((id.name.clone(), end_text(path.end_kind)))
                .or_default() += count;
            *distinct.entry(id.name.clone()).or_default() += 1;
        }
    }
    let mut expected_paths: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    let mut wrong = Vec::new();
    for Expectation { at, what } in expectations {
        let found = match what {
            What::Branches { line, counts } => {
                let there = all_decisions.iter().filter(|d| d.line == Some(*line));
                let branches = there.filter(|d| d.exit == BlockExit::Branch);
                let found: Vec<(u64, u64)> = branches.map(|d| (d.counts[0], d.counts[1])).collect();
                (found != *counts).then(|| format!("{found:?}"))
            }
            What::Switch { line, counts } => {
                let there = all_decisions.iter().filter(|d| d.line == Some(*line));
                let switches: Vec<_> = there.filter(|d| d.exit == BlockExit::Switch).collect();
                let found = switches.first().map(|d| {
                    let labels = d.labels.iter().map(label_text);
                    labels.zip(d.counts.iter().copied()).collect::<BTreeMap<_, _>>()
                });
                (switches.len() != 1 || found.as_ref() != Some(counts)).then(|| format!("{found:?}"))
            }
            What::Path { method, path, count } => {
                let known = expected_paths.entry(method).or_default();
                *known.entry(path.clone()).or_default() += count;
                None
            }
            What::Total(method, count) => {
                let found: u64 = paths.get(method).map_or(0, |p| p.values().sum());
                (found != *count).then(|| found.to_string())
            }
            What::Distinct(method, count) => {
                let found = distinct.get(method).copied().unwrap_or(0);
                (found != *count).then(|| found.to_string())
            }
            What::Ends {
                method,
                kind,
                exact,
                count,
            } => {
                let found = ends.get(&(method.clone(), kind.as_str())).copied().unwrap_or(0);
                let good = if *exact { found == *count } else { found >= *count };
                (!good).then(|| found.to_string())
            }
            What::Skipped { method, reason } => {
                let listed = profile.skipped.iter().any(|s| {
                    let name = s.method.as_deref().unwrap_or_default();
                    let name = name.split('(').next().unwrap_or_default();
                    format!("{}.{name}", s.class) == *method && s.reason.starts_with(reason)
                });
                (!listed).then(|| format!("{:?}", profile.skipped))
            }
        };
        wrong.extend(found.map(|found| format!("line {at}: expected {what:?}, found {found}")));
    }
    for (method, expected) in expected_paths {
        let found = paths.get(method).cloned().unwrap_or_default();
        if found != expected {
            wrong.push(format!(
                "paths of {method}: expected {expected:#?}, found {found:#?}"
            ));
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_understood() {
        let text = "\
            if (x) // mark a  // expect taken=1 not-taken=2, taken=3 not-taken=4\n\
            switch (x) // expect switch 2|1=5 default|7=0\n\
            // expect path f entry a:taken -> header@2 = 9\n\
            // expect total f = 3\n\
            // expect ends f cut >= 4\n\
            // expect @70 taken=0 not-taken=1\n\
            // expect skipped C.m uses jsr/ret\n\
            // expect distinct f = 2";
        let what: Vec<What> = parse(text).unwrap().into_iter().map(|e| e.what).collect();
        let f = || "f".to_owned();
        let switch = [("1|2".to_owned(), 5), ("7|default".to_owned(), 0)];
        assert_eq!(
            what,
            [
                What::Branches {
                    line: 1,
                    counts: vec![(1, 2), (3, 4)]
                },
                What::Switch {
                    line: 2,
                    counts: BTreeMap::from(switch)
                },
                What::Path {
                    method: f(),
                    path: "entry 1:taken -> header@2".to_owned(),
                    count: 9
                },
                What::Total(f(), 3),
                What::Ends {
                    method: f(),
                    kind: "cut".to_owned(),
                    exact: false,
                    count: 4
                },
                What::Branches {
                    line: 70,
                    counts: vec![(0, 1)]
                },
                What::Skipped {
                    method: "C.m".to_owned(),
                    reason: "uses jsr/ret".to_owned()
                },
                What::Distinct(f(), 2),
            ]
        );
    }

    #[test]
    fn what_is_not_understood_is_an_error_with_its_line() {
        for bad in [
            "expect nothing",
            "expect taken=1",
            "expect path f entry b:taken -> return@1 = 1",
            "expect path f entry -> return@1",
            "expect ends f cut about 3",
            "expect switch 1",
            "mark a // mark a",
        ] {
            let error = parse(&format!("\n// {bad}")).unwrap_err().to_string();
            assert!(error.starts_with("line 2: "), "{bad}: {error}");
        }
    }

    #[test]
    fn a_profile_without_what_is_expected_is_wrong() {
        let expectations = parse("// expect total f = 1\n// expect taken=1 not-taken=1").unwrap();
        let wrong = check(&expectations, &Profile::default()).unwrap();
        assert_eq!(wrong.len(), 2, "{wrong:?}");
    }
}
