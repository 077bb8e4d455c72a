//! SARIF 2.1.0, which code hosts and editors show at the line: one writer for everything that has a place in
//! the source.
//!
//! GitHub refuses a file that is larger than its limits, or shows a part of it without a word. So this keeps
//! the limits and says what it left out.

mod fingerprint;
mod limits;
mod place;

use serde::Serialize;
use trodden_profile::printable_lines;

pub use fingerprint::fingerprint;
pub use place::{Repository, percent_encoded};

/// A kind of result.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Its name: `untaken-outcome`.
    pub id: &'static str,
    /// One sentence, without a full stop.
    pub short: &'static str,
    /// Its meaning, and the way to mend it.
    pub full: &'static str,
    /// That of its results.
    pub level: Level,
    /// At most 20.
    pub tags: &'static [&'static str],
}

/// How bad a result is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// It has to be mended.
    Error,
    /// It may have to be.
    Warning,
    /// For information.
    Note,
}

/// One result.
#[derive(Clone, Debug)]
pub struct Found {
    /// Position of its rule in the list.
    pub rule: usize,
    /// For people.
    pub message: String,
    /// None if it has no place in the source: it is a notification then.
    pub place: Option<Place>,
    /// Steps that lead to it.
    pub flow: Vec<Step>,
    /// Stays the same while lines elsewhere come and go.
    pub fingerprint: Option<String>,
}

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// A URI relative to the repository; of a file elsewhere an absolute one.
    pub uri: String,
    /// First and last line, if they are known.
    pub lines: Option<(u32, u32)>,
}

/// A step on the way to a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where.
    pub place: Place,
    /// For people.
    pub message: String,
    /// The step that the result is about.
    pub essential: bool,
}

/// Writes the results of a tool. At most as many as GitHub shows are there, the first ones.
///
/// # Errors
/// If the JSON writer fails.
pub fn write(tool: &str, rules: &[Rule], results: &[Found]) -> Result<String, serde_json::Error> {
    let text = limits::fitting(results.len(), |extent| document(tool, rules, results, extent))?;
    // JSON's own escapes leave marks that turn the direction of writing around, and upper control characters.
    Ok(printable_lines(&text).into_owned())
}

/// The document with a part of the results, and of their steps.
fn document(
    tool: &str,
    rules: &[Rule],
    results: &[Found],
    extent: limits::Extent,
) -> Result<String, serde_json::Error> {
    // GitHub refuses a file with a result that has no place, so these are notifications.
    let (placed, others): (Vec<&Found>, Vec<&Found>) =
        results.iter().partition(|found| found.place.is_some());
    let shown = &placed[..extent.results.min(placed.len())];
    let left_out = placed.len() - shown.len();
    let mut notifications: Vec<Notification> = others
        .iter()
        .take(extent.results)
        .map(|found| Notification {
            level: rules[found.rule].level,
            message: Text::new(found.message.as_str()),
        })
        .collect();
    if left_out > 0 {
        notifications.push(Notification {
            level: Level::Warning,
            message: Text::new(format!(
                "{left_out} more results are left out: no more can be shown"
            )),
        });
    }
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: tool,
                    version: env!("CARGO_PKG_VERSION"),
                    rules: rules.iter().map(Descriptor::new).collect(),
                },
            },
            invocations: (!notifications.is_empty()).then_some([Invocation {
                execution_successful: true,
                tool_execution_notifications: notifications,
            }]),
            column_kind: "unicodeCodePoints",
            results: shown
                .iter()
                .map(|found| one(rules, found, extent.steps))
                .collect(),
        }],
    };
    crate::object::to_string(&log)
}

fn one<'f>(rules: &[Rule], found: &'f Found, steps: usize) -> Outcome<'f> {
    // The last steps are those that come to the place.
    let flow = &found.flow[found.flow.len().saturating_sub(steps)..];
    Outcome {
        rule_id: rules[found.rule].id,
        rule_index: found.rule,
        level: rules[found.rule].level,
        message: Text::new(found.message.as_str()),
        locations: found
            .place
            .iter()
            .map(|place| Location::new(place, None))
            .collect(),
        code_flows: (!flow.is_empty()).then(|| {
            [CodeFlow {
                thread_flows: [ThreadFlow {
                    locations: flow.iter().map(FlowLocation::new).collect(),
                }],
            }]
        }),
        partial_fingerprints: found.fingerprint.as_deref().map(|fingerprint| Fingerprints {
            line: fingerprint,
            own: fingerprint,
        }),
    }
}

#[derive(Serialize)]
struct Log<'f> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'f>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'f> {
    tool: Tool<'f>,
    #[serde(skip_serializing_if = "Option::is_none")]
    invocations: Option<[Invocation<'f>; 1]>,
    column_kind: &'static str,
    results: Vec<Outcome<'f>>,
}

#[derive(Serialize)]
struct Tool<'f> {
    driver: Driver<'f>,
}

#[derive(Serialize)]
struct Driver<'f> {
    name: &'f str,
    version: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text<'static>,
    full_description: Text<'static>,
    help: Text<'static>,
    default_configuration: Configuration,
    properties: Properties,
}

impl Descriptor {
    fn new(rule: &Rule) -> Self {
        Descriptor {
            id: rule.id,
            short_description: Text::new(rule.short),
            full_description: Text::new(rule.full),
            help: Text::new(rule.full),
            default_configuration: Configuration { level: rule.level },
            properties: Properties {
                tags: &rule.tags[..rule.tags.len().min(limits::MAX_TAGS)],
            },
        }
    }
}

#[derive(Serialize)]
struct Configuration {
    level: Level,
}

#[derive(Serialize)]
struct Properties {
    tags: &'static [&'static str],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'f> {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification<'f>>,
}

#[derive(Serialize)]
struct Notification<'f> {
    level: Level,
    message: Text<'f>,
}

#[derive(Serialize)]
struct Text<'f> {
    text: std::borrow::Cow<'f, str>,
}

impl<'f> Text<'f> {
    fn new(text: impl Into<std::borrow::Cow<'f, str>>) -> Self {
        Text { text: text.into() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'f> {
    rule_id: &'static str,
    rule_index: usize,
    level: Level,
    message: Text<'f>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locations: Vec<Location<'f>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code_flows: Option<[CodeFlow<'f>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_fingerprints: Option<Fingerprints<'f>>,
}

/// The first one is that by which GitHub knows a result again. Its own would be a hash of the line, which two
/// outcomes on a line share.
#[derive(Serialize)]
struct Fingerprints<'f> {
    #[serde(rename = "primaryLocationLineHash")]
    line: &'f str,
    #[serde(rename = "trodden/v1")]
    own: &'f str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow<'f> {
    thread_flows: [ThreadFlow<'f>; 1],
}

#[derive(Serialize)]
struct ThreadFlow<'f> {
    locations: Vec<FlowLocation<'f>>,
}

#[derive(Serialize)]
struct FlowLocation<'f> {
    location: Location<'f>,
    importance: &'static str,
}

impl<'f> FlowLocation<'f> {
    fn new(step: &'f Step) -> Self {
        FlowLocation {
            location: Location::new(&step.place, Some(&step.message)),
            importance: if step.essential { "essential" } else { "important" },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'f> {
    physical_location: PhysicalLocation<'f>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text<'f>>,
}

impl<'f> Location<'f> {
    fn new(place: &'f Place, message: Option<&'f str>) -> Self {
        Location {
            physical_location: PhysicalLocation {
                artifact_location: Artifact { uri: &place.uri },
                region: place.lines.map(|(start_line, last)| Region {
                    start_line,
                    end_line: Some(last).filter(|&last| last > start_line),
                }),
            },
            message: message.map(Text::new),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation<'f> {
    artifact_location: Artifact<'f>,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct Artifact<'f> {
    uri: &'f str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const RULES: [Rule; 1] = [Rule {
        id: "r",
        short: "s",
        full: "f",
        level: Level::Warning,
        tags: &["t"],
    }];

    fn found(steps: usize, name: &str) -> Found {
        let place = |line: u32| Place {
            uri: "src/A.java".to_owned(),
            lines: Some((line, line)),
        };
        let step = |line: usize| Step {
            place: place(line as u32 + 1),
            message: format!("{name} {line}"),
            essential: false,
        };
        Found {
            rule: 0,
            message: "m".to_owned(),
            place: Some(place(1)),
            flow: (0..steps).map(step).collect(),
            fingerprint: Some(fingerprint(&[name], 0)),
        }
    }

    fn parsed(results: &[Found]) -> Value {
        serde_json::from_str(&write("trodden", &RULES, results).unwrap()).unwrap()
    }

    #[test]
    fn no_more_than_is_shown() {
        let many: Vec<Found> = (0..limits::MAX_RESULTS + 7)
            .map(|at| found(0, &at.to_string()))
            .collect();
        let run = &parsed(&many)["runs"][0];
        assert_eq!(run["results"].as_array().unwrap().len(), limits::MAX_RESULTS);
        let said = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
        assert!(said.as_str().unwrap().starts_with("7 more results"), "{said}");

        let run = &parsed(&[found(limits::MAX_STEPS + 5, "x")])["runs"][0];
        let flow = &run["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
        let flow = flow.as_array().unwrap();
        assert_eq!(flow.len(), limits::MAX_STEPS);
        // The end of the path is there.
        assert_eq!(flow[flow.len() - 1]["location"]["message"]["text"], "x 1004");
        assert!(run["invocations"].is_null());
    }

    #[test]
    fn a_result_without_a_place_is_a_notification() {
        let mut nowhere = found(0, "x");
        nowhere.place = None;
        let run = &parsed(&[nowhere, found(0, "y")])["runs"][0];
        assert_eq!(run["results"].as_array().unwrap().len(), 1);
        let said = &run["invocations"][0]["toolExecutionNotifications"];
        assert_eq!(
            said,
            &serde_json::json!([{"level": "warning", "message": {"text": "m"}}])
        );
    }

    #[test]
    fn a_large_file_loses_steps_before_results() {
        // Text that hardly packs: each step has a hash of its own.
        let results: Vec<Found> = (0..600)
            .map(|at| {
                let mut one = found(0, &at.to_string());
                let step = |line: usize| Step {
                    place: one.place.clone().unwrap(),
                    message: (0..3)
                        .map(|part| fingerprint(&[&format!("{at} {line} {part}")], 0))
                        .collect(),
                    essential: false,
                };
                one.flow = (0..500).map(step).collect();
                one
            })
            .collect();
        let text = write("trodden", &RULES, &results).unwrap();
        assert!(limits::packed(text.as_bytes()) <= limits::MAX_PACKED);
        let run: Value = serde_json::from_str(&text).unwrap();
        let kept = run["runs"][0]["results"].as_array().unwrap();
        assert_eq!(kept.len(), 600);
        let steps = kept[0]["codeFlows"][0]["threadFlows"][0]["locations"]
            .as_array()
            .unwrap();
        assert!((50..500).contains(&steps.len()), "{}", steps.len());
    }
}
