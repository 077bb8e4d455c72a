//! Causes as sentences.

use trodden_insight::names;
use trodden_insight::slow::{Cause, CauseKind, Slow, SlowRequests, Spot};

use crate::words::{percent, thousands};

/// A latency: `2.1 ms`, `42 ms`, `1,250 ms`, `31.2 s`.
pub(super) fn latency(ns: f64) -> String {
    let ms = ns / 1e6;
    if ms < 10_000.0 {
        format!("{} ms", number(ms))
    } else {
        format!("{:.1} s", ms / 1e3)
    }
}

/// A number with two significant digits, or all digits in front of the point.
fn number(ms: f64) -> String {
    let decimals = match ms {
        _ if ms >= 9.95 || ms <= 0.0 => 0,
        _ if ms >= 0.995 => 1,
        _ if ms >= 0.0995 => 2,
        _ if ms >= 0.00995 => 3,
        _ => 5,
    };
    if decimals == 0 {
        thousands(ms.round() as u64)
    } else {
        format!("{ms:.decimals$}")
    }
}

/// `POST /price: 61,200 requests, p50 2.1 ms, p99 42 ms`.
pub(super) fn headline(of: &SlowRequests) -> String {
    let [p50, p99, _] = of.quantiles_ns.map(|ns| latency(ns as f64));
    let plural = if of.count == 1 { "" } else { "s" };
    let quantiles = if of.count > 0 {
        format!(", p50 {p50}, p99 {p99}")
    } else {
        String::new()
    };
    format!("{}: {} request{plural}{quantiles}", of.name, thousands(of.count))
}

/// `Slow (612 over 42 ms)`.
pub(super) fn slow(of: &SlowRequests) -> String {
    format!(
        "Slow ({} over {})",
        thousands(of.slow),
        latency(of.over_ns as f64)
    )
}

/// A sentence for each cause, and one on the rest.
pub(super) fn answers(of: &SlowRequests) -> Vec<String> {
    let mut all: Vec<String> = of.causes.iter().map(cause).collect();
    all.extend(not_known(of));
    all
}

/// `97.1 % took TaxTables.lookup, line 17: table != null → no (others: 0.4 %); +38 ms each (36–41)`.
pub(super) fn cause(cause: &Cause) -> String {
    let share = percent(cause.slow_share);
    let others = format!("(others: {})", percent(cause.other_share));
    match &cause.kind {
        CauseKind::Outcome(spot) => format!("{share} took {} {others}{}", place(spot), cost(cause)),
        CauseKind::Size(spot, more) => {
            let times = more_than(*more);
            format!("{share} took {}{times} {others}{}", place(spot), cost(cause))
        }
        CauseKind::Path(spot, more) => {
            let times = more_than(*more);
            format!("{share} took {}{times} {others}{}", place(spot), cost(cause))
        }
        CauseKind::Collections(least) => format!(
            "{} overlapped a collection of {} or more, and would not be slow without it",
            percent(cause.explains),
            latency(*least as f64)
        ),
        CauseKind::Waiting(_) => format!(
            "{} waited: their thread had no processor for {} of the time (median)",
            percent(cause.explains),
            latency(cause.cost_ns)
        ),
    }
}

/// The thing alone: `took TaxTables.lookup, line 17: table != null → no`.
pub(super) fn thing(kind: &CauseKind) -> String {
    match kind {
        CauseKind::Outcome(spot) => format!("took {}", place(spot)),
        CauseKind::Size(spot, more) | CauseKind::Path(spot, more) => {
            format!("took {}{}", place(spot), more_than(*more))
        }
        CauseKind::Collections(_) => {
            "were stopped by collections for a tenth of their time or more".to_owned()
        }
        CauseKind::Waiting(_) => "had no processor for a tenth of their time or more".to_owned(),
    }
}

/// A sentence on the recording.
pub(super) fn recording(slow: &Slow) -> String {
    let share = slow.reading_ns as f64 / slow.all_ns.max(1) as f64;
    format!(
        "Reading the paths of requests took {} of their time.",
        percent(share)
    )
}

fn more_than(times: u64) -> String {
    match times {
        0 => String::new(),
        1 => " more than once".to_owned(),
        _ => format!(" more than {} times", thousands(times)),
    }
}

fn cost(cause: &Cause) -> String {
    let [low, high] = cause.interval_ns;
    let (unit, name) = if cause.cost_ns < 10_000e6 {
        (1e6, "ms")
    } else {
        (1e9, "s")
    };
    let [value, low, high] = [cause.cost_ns, low, high].map(|ns| number(ns / unit));
    format!("; +{value} {name} each ({low}–{high})")
}

/// `TaxTables.lookup, line 17: table != null → no`; of a path its route.
pub(super) fn place(spot: &Spot) -> String {
    let name = format!("{}.{}", names::simple(&spot.class), spot.method);
    if let Some((_, route)) = &spot.path {
        return format!("the path {route} of {name}");
    }
    let at = match spot.line {
        Some(line) => format!("line {line}"),
        None => format!("bytecode {}", spot.bci),
    };
    format!("{name}, {at}: {}", decision(spot))
}

/// Like [`place`], with the package and the parameters: no two outcomes have the same.
pub(super) fn full_place(spot: &Spot) -> String {
    let title = names::title(&spot.class, &spot.method, &spot.descriptor);
    let line = spot.line.map_or_else(String::new, |line| format!(" line {line}"));
    format!("{title}{line} bytecode {}: {}", spot.bci, decision(spot))
}

/// `table != null → no`, or what the bytecode did.
pub(super) fn decision(spot: &Spot) -> String {
    let outcome = spot.outcome.as_deref().unwrap_or_default();
    match &spot.condition {
        Some(condition) => format!("{condition} → {outcome}"),
        None => outcome.to_owned(),
    }
}

/// Things that come together with a cause.
pub(super) fn with(cause: &Cause) -> Option<String> {
    let all: Vec<String> = cause
        .with
        .iter()
        .map(|(spot, more)| format!("{}{}", place(spot), more_than(*more)))
        .collect();
    (!all.is_empty()).then(|| format!("together with {}", all.join("; ")))
}

fn not_known(of: &SlowRequests) -> Option<String> {
    let [slow, others] = of.samples;
    if of.count == 0 {
        return Some("no request ended while it was recorded".to_owned());
    }
    if of.slow == 0 {
        return Some(format!(
            "none of {} requests took longer; --slow p90, or a latency, compares others",
            thousands(of.count)
        ));
    }
    if slow == 0 || others == 0 {
        let which = if slow == 0 { "slow" } else { "other" };
        return Some(format!(
            "the paths of no {which} request were read, so nothing can be said; a longer run, or --slow p95, has more"
        ));
    }
    if !of.is_enough {
        return Some(format!(
            "the paths of {} slow and {} other requests were read, too few to say what the slow ones do differently; a longer run, or --slow p95, has more",
            thousands(slow as u64),
            thousands(others as u64)
        ));
    }
    if of.unexplained < 0.0005 {
        return None;
    }
    Some(if of.causes.is_empty() {
        "no path tells them from the others".to_owned()
    } else {
        format!("{}: no path tells them from the others", percent(of.unexplained))
    })
}

/// A sentence on requests whose paths cannot be read.
pub(super) fn unreadable(of: &SlowRequests) -> Option<String> {
    (of.unreadable > 0).then(|| {
        format!(
            "The paths of {} requests could not be read: they changed threads, or ran where counts are shared.",
            thousands(of.unreadable)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies() {
        for (ns, text) in [
            (2_100_000.0, "2.1 ms"),
            (41_700_000.0, "42 ms"),
            (9_990_000.0, "10 ms"),
            (998_000.0, "1.0 ms"),
            (50_000.0, "0.050 ms"),
            (1_250_400_000.0, "1,250 ms"),
            (31_200_000_000.0, "31.2 s"),
            (120.0, "0.00012 ms"),
            (0.0, "0 ms"),
        ] {
            assert_eq!(latency(ns), text);
        }
    }
}
