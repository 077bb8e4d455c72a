//! The sweep's result for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Row, totals};

/// The rows and their sums as a text table.
pub fn print(rows: &[Row]) -> String {
    let mut text = String::new();
    let width = rows.iter().map(|r| r.container.len()).max().unwrap_or(0).max(9);
    let _ = writeln!(
        text,
        "{:>4} {:<width$} {:<10} {:>8} {:>9} {:>9} {:>9} {:>8} {:>8} {:>10}",
        "jdk",
        "container",
        "probe",
        "classes",
        "rewritten",
        "accepted",
        "unusable*",
        "FAILURES",
        "methods",
        "left alone"
    );
    for row in rows {
        let _ = writeln!(
            text,
            "{:>4} {:<width$} {:<10} {:>8} {:>9} {:>9} {:>9} {:>8} {:>8} {:>10}",
            row.jdk,
            row.container,
            row.probe,
            row.classes,
            row.rewritten,
            row.accepted,
            row.refused_before.len(),
            row.failures.len(),
            row.methods,
            row.left_alone.values().sum::<usize>()
        );
    }
    let sum = |of: fn(&Row) -> usize| rows.iter().map(of).sum::<usize>();
    let (probed, alone) = totals(rows);
    let _ = writeln!(
        text,
        "sum: {} classes read, {} rewritten, {} accepted, {} unusable*, {} failures",
        sum(|r| r.classes),
        sum(|r| r.rewritten),
        sum(|r| r.accepted),
        sum(|r| r.refused_before.len()),
        sum(|r| r.failures.len())
    );
    let share = 100.0 * alone as f64 / (probed + alone).max(1) as f64;
    let _ = writeln!(
        text,
        "methods with probes {probed}, left alone {alone} ({share:.3} %):"
    );
    let mut reasons: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for row in rows {
        if row.without_sites > 0 {
            *reasons
                .entry((row.probe, "(with probes, but without call sites or cut paths)"))
                .or_default() += row.without_sites;
        }
        for (reason, count) in &row.left_alone {
            *reasons.entry((row.probe, reason)).or_default() += count;
        }
    }
    for ((probe, reason), count) in reasons {
        let _ = writeln!(text, "{count:>8}  {probe:<10}  {reason}");
    }
    text.push_str("* refused by HotSpot in its original form too: dependencies that are not there, mostly\n");
    text
}
