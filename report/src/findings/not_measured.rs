//! Methods that were left as they were, though the program calls them often.

use std::collections::HashMap;

use trodden_insight::names;
use trodden_insight::view::View;
use trodden_profile::{Callee, EdgeProfile, MethodCounts, MethodShape};

use super::{Finding, FindingKind, MOST_OF_A_KIND, OFTEN};
use crate::words::thousands;

/// Those that call instructions of measured methods name most often. What happens inside of them is not known, so neither
/// is their share of the work.
pub(super) fn not_measured(view: &View) -> Vec<Finding> {
    let mut calls: HashMap<Callee, (u64, &str, &str, &str)> = HashMap::new();
    for (&reason, entries) in &view.skipped {
        for &(class, method) in entries {
            let Some(method) = method else { continue };
            let Some(at) = method.find('(') else { continue };
            let callee = Callee::new(class, &method[..at], &method[at..]);
            calls.insert(callee, (0, class, method, reason));
        }
    }
    if calls.is_empty() {
        return Vec::new();
    }
    let all = view
        .profile
        .classes
        .iter()
        .flat_map(|class| class.map.methods.iter().zip(&class.counts));
    for (map, counts) in all {
        // Paths are followed only where one of these methods is called.
        let names_one = |shape: &&MethodShape| shape.calls.iter().any(|callee| calls.contains_key(callee));
        let Some(shape) = map.shape.as_ref().filter(names_one) else {
            continue;
        };
        // A path that was cut off may have ended in front of the call.
        let whole = MethodCounts {
            paths: counts.paths.clone(),
            ..MethodCounts::default()
        };
        let edges = EdgeProfile::of(map, &whole);
        for (callees, &times) in shape.calls_by_block().zip(&edges.blocks) {
            for callee in callees {
                if let Some(found) = calls.get_mut(callee) {
                    found.0 = found.0.saturating_add(times);
                }
            }
        }
    }
    let mut often: Vec<_> = calls
        .into_values()
        .filter(|(times, ..)| *times >= OFTEN)
        .collect();
    often.sort_by(|a, b| b.0.cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let finding = |(times, class, method, reason): (u64, &str, &str, &str)| {
        let name = method.split('(').next().unwrap_or_default();
        let class_name = names::dotted(class);
        let simple = class_name.rsplit('.').next().unwrap_or_default();
        let about = if view.run.exact { "at least" } else { "about" };
        Finding {
            not_measured: Some((class.to_owned(), method.to_owned())),
            ..Finding::new(
                FindingKind::NotMeasured,
                format!("{simple}.{name} was not measured, and is called often: {reason}"),
                format!(
                    "measured methods called it {about} {} times; what it did is in no number here",
                    thousands(times)
                ),
                None,
            )
        }
    };
    often.into_iter().take(MOST_OF_A_KIND).map(finding).collect()
}
