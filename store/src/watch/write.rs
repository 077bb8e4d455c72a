//! Findings for people, programs, code hosts and chats.

use serde_json::{Value, json};
use trodden_profile::printable;
use trodden_report::sarif::{Found, Level, Place, Rule};
use trodden_report::{dotted, percent_encoded, signature, thousands};

use super::{Event, Finding, Kind, Method, Watched};

/// `shop.Shop.load(int)`.
fn name(method: &Method) -> String {
    if method.class.is_empty() {
        return printable(&method.method).into_owned();
    }
    let text = format!(
        "{}.{}",
        dotted(&method.class),
        signature(&method.method, &method.descriptor)
    );
    printable(&text).into_owned()
}

/// A share in per cent, with as many digits as its error allows.
fn share(share: f64, error: f64) -> String {
    let digits = if error <= 0.0 {
        2.0
    } else {
        (1.0 - (100.0 * error).log10()).clamp(1.0, 4.0)
    };
    format!("{:.*} %", digits as usize, 100.0 * share)
}

fn sentence(event: &Event) -> String {
    let what = event.what.as_deref().map(printable).unwrap_or_default();
    let error = event.error.unwrap_or_default();
    let (before, after) = (
        share(event.before.max(0.0), error),
        share(event.after.max(0.0), error),
    );
    let line = event.line.map_or(String::new(), |line| format!("line {line}: "));
    let a_day = |count: f64| thousands(count.round().max(0.0) as u64);
    match event.kind {
        Kind::Cpu => format!("CPU time {before} → {after} of the service's, per unit of work"),
        Kind::Work => format!("decided branches {before} → {after} of the service's, per unit of work"),
        Kind::Path => format!("path {what}: {before} → {after} of the method's"),
        Kind::Outcome => format!("{line}{what}: {before} → {after}"),
        Kind::Begins => format!(
            "{line}{what}: never taken before, now {} times a day",
            a_day(event.after)
        ),
        Kind::Stops => format!(
            "{line}{what}: not taken any more, before {} times a day",
            a_day(event.before)
        ),
    }
}

fn cause(finding: &Finding) -> String {
    match &finding.builds {
        Some((new, old)) => format!("with build {} (before: {})", printable(new), printable(old)),
        None => "within a build".to_owned(),
    }
}

fn about(finding: &Finding) -> String {
    let events: Vec<String> = finding.events.iter().take(3).map(sentence).collect();
    let more = finding.events.len().saturating_sub(3);
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    let moved = finding.moved.as_ref().map_or(String::new(), |moved| {
        format!("; it moved within the {}: {}", moved.within, name(&moved.other))
    });
    format!(
        "{}{more}{moved}; since {}, {}",
        events.join("; "),
        finding.from,
        cause(finding)
    )
}

/// A list.
pub fn markdown(watched: &Watched) -> String {
    let mut out = format!(
        "# Changes seen {}\n\n{} days up to {}, {} series.\n",
        if watched.since == watched.until {
            format!("on {}", watched.until)
        } else {
            format!("since {}", watched.since)
        },
        watched.days,
        watched.until,
        thousands(watched.series as u64)
    );
    for (title, moved) in [("Changes", false), ("Costs that moved", true)] {
        let of: Vec<&Finding> = watched
            .findings
            .iter()
            .filter(|finding| finding.is_moved() == moved)
            .collect();
        if of.is_empty() {
            continue;
        }
        out += &format!("\n## {title}\n\n");
        for finding in of {
            let service = printable(&finding.method.service);
            out += &format!(
                "* {service}: `{}`: {}\n",
                name(&finding.method).replace('`', "'"),
                about(finding)
            );
        }
    }
    if watched.findings.is_empty() {
        out += "\nNothing changed.\n";
    }
    out
}

fn method(method: &Method) -> Value {
    json!({"class": method.class, "method": method.method, "descriptor": method.descriptor})
}

fn findings(watched: &Watched) -> Vec<Value> {
    let event = |event: &Event| {
        json!({
            "kind": event.kind.name(), "what": event.what, "line": event.line, "before": event.before,
            "after": event.after, "error": event.error, "log10_evidence": event.evidence,
        })
    };
    let one = |finding: &Finding| {
        json!({
            "id": finding.id(),
            "service": finding.method.service,
            "method": method(&finding.method),
            "source_file": finding.place.0,
            "line": finding.place.1,
            "from": finding.from.to_string(),
            "seen": finding.seen.to_string(),
            "build": finding.builds.as_ref().map(|(new, _)| new),
            "build_before": finding.builds.as_ref().map(|(_, old)| old),
            "moved": finding.moved.as_ref().map(|moved| {
                json!({"within": moved.within, "other": method(&moved.other)})
            }),
            "events": finding.events.iter().map(event).collect::<Vec<Value>>(),
        })
    };
    watched.findings.iter().map(one).collect()
}

/// JSON: format `trodden-watch`, version 1.
pub fn json(watched: &Watched) -> String {
    let value = json!({
        "format": "trodden-watch",
        "version": 1,
        "since": watched.since.to_string(),
        "until": watched.until.to_string(),
        "days": watched.days,
        "series": watched.series,
        "findings": findings(watched),
    });
    format!("{value:#}\n")
}

/// The body of a request to a chat or an alerting service: `text` is what Slack, Mattermost and others show.
pub fn webhook(watched: &Watched) -> String {
    let value = json!({"text": markdown(watched), "findings": findings(watched)});
    format!("{value}\n")
}

const RULES: [Rule; 3] = [
    Rule {
        id: "fleet-change",
        short: "A method, path or outcome changed in the fleet",
        full: "Its level changed by more than chance explains, in a test that bounds false alarms over all series.",
        level: Level::Warning,
        tags: &["performance"],
    },
    Rule {
        id: "fleet-begins-or-stops",
        short: "Code that never ran runs, or code that always ran does not",
        full: "An outcome was taken for the first time on two days, or not taken any more on two.",
        level: Level::Warning,
        tags: &["correctness"],
    },
    Rule {
        id: "fleet-moved",
        short: "A cost moved from one method to another",
        full: "What one method costs more another one costs less: together they cost what they did.",
        level: Level::Note,
        tags: &["performance"],
    },
];

/// SARIF 2.1.0.
///
/// # Errors
/// If the JSON writer fails.
pub fn sarif(watched: &Watched) -> Result<String, serde_json::Error> {
    let found = watched.findings.iter().map(|finding| {
        let turns = finding
            .events
            .iter()
            .any(|event| matches!(event.kind, Kind::Begins | Kind::Stops));
        let line = finding
            .events
            .iter()
            .find_map(|event| event.line)
            .or(finding.place.1);
        let package = finding
            .method
            .class
            .rsplit_once('/')
            .map_or(String::new(), |(package, _)| format!("{package}/"));
        let line = line.and_then(|line| u32::try_from(line).ok());
        Found {
            rule: if finding.is_moved() { 2 } else { usize::from(turns) },
            message: format!(
                "{}: {}: {}",
                printable(&finding.method.service),
                name(&finding.method),
                about(finding)
            ),
            place: finding.place.0.as_ref().map(|file| Place {
                uri: percent_encoded(&format!("{package}{file}")),
                lines: line.map(|line| (line, line)),
            }),
            flow: Vec::new(),
            fingerprint: Some(finding.id()),
        }
    });
    trodden_report::sarif::write("trodden-watch", &RULES, &found.collect::<Vec<Found>>())
}
