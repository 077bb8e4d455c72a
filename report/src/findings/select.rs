//! Which findings a report has, and in which order.

use trodden_insight::findings::{Work, work_of};
use trodden_insight::view::View;

use super::{
    About, Finding, FindingKind, MOST, MOST_OF_A_KIND, WORTH, correlation, not_measured, rules, sentences,
    under_way,
};
use crate::memory;
use crate::section::OfKinds;
use crate::words;

/// Most causes among them.
const MOST_CAUSES: usize = 7;
/// Most methods among these that are there for their time alone: the list of hot methods has the others.
const MOST_HOT_METHODS: usize = 2;

/// How many times more of the time a method has to have itself to come before an outcome or a path: the list of hot
/// methods says where the time is, and which way it came says more.
const OWN_TIME_LESS: f64 = 2.0;

/// All findings: causes, then asides; the largest share first in each, where a method's own time counts
/// [less](OWN_TIME_LESS).
pub(crate) fn find(view: &View) -> Vec<Finding> {
    if !view.counts_paths() {
        return Vec::new();
    }
    let work = Work::of(view);
    let mut found = sentences::causes(view);
    let timed: Vec<Option<usize>> = found.iter().map(|finding| finding.method).collect();
    let mut idle = under_way::under_way(view);
    idle.retain(|idle| found.iter().all(|cause| cause.not_measured != idle.not_measured));
    found.extend(idle);
    found.extend(not_measured::not_measured(view));
    for (index, method) in view.methods.iter().enumerate() {
        let (share, own) = match method.earlier {
            Some(earlier) => (earlier.about.decisions, work_of(method)),
            None => (work.share(index), work.methods[index]),
        };
        let time = method.time.as_ref().map_or(0.0, |time| time.share);
        if share.max(time) < WORTH || !method.unreadable.is_empty() {
            continue;
        }
        let about = About {
            index,
            method,
            share: if view.times().is_some() { time } else { share },
            timed: view.times().is_some(),
            work: own,
            // What was not counted in part never says *never*.
            exact: view.run.exact
                && method.earlier.is_none()
                && method.unobserved.is_empty()
                && method.observation.is_none(),
            whole: words::not_counted(view.run).is_none(),
        };
        // What its slow way says, its rare one says again.
        found.extend(rules::rare_path(&about).filter(|_| !timed.contains(&Some(index))));
        found.extend(rules::alternates(&about));
        found.extend(correlation::correlated(&about));
        found.extend(rules::one_way(&about));
        found.extend(rules::exceptions(&about, view));
        found.extend(rules::too_big(&about));
    }
    found.sort_by(|a, b| {
        let says_way =
            |finding: &Finding| matches!(finding.kind, FindingKind::SlowOutcome | FindingKind::SlowPath);
        let weight = |finding: &Finding| {
            let share = finding.share.unwrap_or(0.0);
            if finding.aside || says_way(finding) {
                share
            } else {
                share / OWN_TIME_LESS
            }
        };
        (a.aside.cmp(&b.aside))
            .then(weight(b).total_cmp(&weight(a)))
            .then(a.kind.cmp(&b.kind))
            .then(a.line.cmp(&b.line))
    });
    found.extend(rules::work(view, &work));
    let mut all: Vec<Finding> = Vec::new();
    for finding in found {
        let same = all.iter().filter(|f| f.kind == finding.kind).count();
        let (most, room) = match finding.kind {
            FindingKind::HotMethod => (MOST_HOT_METHODS, MOST_CAUSES),
            _ if finding.aside => (MOST_OF_A_KIND, MOST),
            _ => (MOST_CAUSES, MOST_CAUSES),
        };
        if same < most && all.len() < room {
            all.push(finding);
        }
    }
    for finding in &mut all {
        let method = finding.method.and_then(|index| view.methods.get(index));
        if let Some(earlier) = method.and_then(|method| method.earlier) {
            finding.evidence += &format!(" ({})", memory::run(&earlier));
        }
    }
    all
}
