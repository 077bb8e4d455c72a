//! Lists of methods and branches.

use std::rc::Rc;

use trodden_insight::names;
use trodden_insight::path_time::PathTime;
use trodden_insight::pattern::MethodPattern;
use trodden_insight::source::Sources;
use trodden_insight::view::View;
use trodden_profile::Profile;
use trodden_report::{TIME_NOT_KNOWN, share_is_known};

use super::tools::Wrong;

/// A share as text.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// All methods by own time: that, time with callees, paths.
pub fn hot_methods(profile: &Profile) -> String {
    let view = View::new(profile, None, &Rc::new(Sources::new(&[])), false);
    let counted = view.methods.iter().map(|method| {
        let times = method.time.as_ref().map(|time| (time.share, time.total_share));
        (times, Some(method.count), method.title_with_file())
    });
    let left = view.left_out.iter().map(|left| {
        let times = (left.share(left.near), left.share(left.total));
        (Some(times), None, left.title_with_file())
    });
    let mut rows: Vec<_> = counted.chain(left).collect();
    rows.sort_by(|a, b| {
        let own = |times: Option<(f64, f64)>| times.map_or(-1.0, |(own, _)| own);
        own(b.0).total_cmp(&own(a.0)).then(b.1.cmp(&a.1))
    });
    let mut out = String::from("own CPU time | with callees | paths counted | method\n");
    for (times, count, title) in rows {
        let [own, with] = times.map_or([None; 2], |(own, with)| [Some(own), Some(with)]);
        let share = |share: Option<f64>| share.map_or_else(|| "no sample".to_owned(), percent);
        let count = count.map_or_else(|| "not known".to_owned(), |count| count.to_string());
        out += &format!("{} | {} | {count} | {title}\n", share(own), share(with));
    }
    out
}

/// The branches and switches of classes at a line.
///
/// # Errors
/// If the pattern is none.
pub fn branches_at(profile: &Profile, class: &str, line: u64) -> Result<String, Wrong> {
    let pattern = MethodPattern::new(class).map_err(|e| Wrong::Pattern(e.to_string()))?;
    let view = View::new(profile, Some(&pattern), &Rc::new(Sources::new(&[])), false);
    let is_here = |at: Option<u32>| at.is_some_and(|at| u64::from(at) == line);
    let mut out = String::new();
    for method in &view.methods {
        for branch in method.branches.iter().filter(|branch| is_here(branch.at.line)) {
            out += &format!(
                "{}: {}\n",
                names::with_file(method.title(), method.source_file, branch.at),
                method.decisions().asked(method.map, branch.block)
            );
            for outcome in branch.outcomes(method) {
                let often = outcome
                    .count
                    .map_or_else(|| "not known how often".to_owned(), |n| format!("{n} times"));
                out += &format!("  {}: {often}{}\n", outcome.text, of_time(outcome.time));
            }
        }
    }
    for left in &view.left_out {
        let Some(found) = &left.hotspot else { continue };
        for branch in found.branches.iter().filter(|branch| is_here(branch.at.line)) {
            let asked = found.decisions.asked(&found.method.map, branch.block);
            out += &format!(
                "{}: {asked}, as HotSpot counted it before it compiled the method\n",
                names::with_file(left.title(), left.source_file, branch.at)
            );
            for outcome in &branch.outcomes {
                let time = outcome
                    .time
                    .map(|own| (own.share, [own.interval.0, own.interval.1]));
                let time = time.map_or_else(String::new, |(share, interval)| share_of_time(share, interval));
                out += &format!(
                    "  {}: {} of executions{time}\n",
                    outcome.text,
                    percent(outcome.share)
                );
            }
        }
    }
    if out.is_empty() {
        out = format!(
            "no branch of a method that ran is at line {line} of {} (`method` shows all branches of one)\n",
            names::dotted(class)
        );
    }
    Ok(out)
}

fn of_time(time: Option<PathTime>) -> String {
    time.map_or_else(String::new, |time| share_of_time(time.share, time.interval))
}

fn share_of_time(share: f64, [from, to]: [f64; 2]) -> String {
    if !share_is_known([from, to]) {
        return format!(", {TIME_NOT_KNOWN}");
    }
    format!(
        ", {} of the method's time ({} to {})",
        percent(share),
        percent(from),
        percent(to)
    )
}
