//! Names and numbers as people write them.

use trodden_insight::path_time::{PathTime, TimeView};
use trodden_profile::{CountBasis, CpuTime, Observation, RunInfo, facts};

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 method`, `2,000 methods`.
pub(crate) fn methods(number: u64) -> String {
    let what = if number == 1 { "method" } else { "methods" };
    format!("{} {what}", thousands(number))
}

/// A share from 0 to 1 as a percentage with one decimal; a small one that is not zero is never `0.0 %`.
pub fn percent(share: f64) -> String {
    if share > 0.0 && share < 0.0005 {
        "<0.1 %".to_owned()
    } else {
        format!("{:.1} %", share * 100.0)
    }
}

/// `12.3 s`, `45 ms`.
pub fn seconds(ns: u64) -> String {
    match ns {
        0..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        _ => format!("{:.1} s", ns as f64 / 1e9),
    }
}

/// Two shares as percentages: `52–70 %`.
pub(crate) fn range([from, to]: [f64; 2]) -> String {
    format!("{:.0}–{:.0} %", from * 100.0, to * 100.0)
}

/// Width of an interval from which a share is not known.
const MAX_WIDTH: f64 = 0.8;

/// A share of time that is not known.
pub const TIME_NOT_KNOWN: &str = "time not known";

/// True if the interval of a share says something of it.
pub const fn share_is_known([from, to]: [f64; 2]) -> bool {
    to - from <= MAX_WIDTH
}

/// `12.1–13.0 %`: of shares that are known well.
pub(crate) fn share_range([from, to]: [f64; 2]) -> String {
    format!("{:.2}–{:.2} %", from * 100.0, to * 100.0)
}

/// What the list of hot methods is by. *Own time* is the name of [`TimeView::share`], *with callees* that of
/// [`TimeView::total_share`], of which the shares of paths and outcomes are.
pub(crate) const HOT_BY_TIME: &str =
    "Hot methods by own CPU time (with that of code without probes that they call), and their paths";

/// Whose time the paths of a method divide: the line below its own time.
pub(crate) fn of_which_paths(time: &TimeView, decisions: f64) -> String {
    format!(
        "with callees {}, and shares of its paths are of that; {} of all decisions",
        percent(time.total_share),
        percent(decisions)
    )
}

/// The whole that a method's share of the CPU time is part of. Over all methods these shares sum up to all of it.
pub(crate) const OWN_TIME: &str =
    "CPU time in the method, and in code without probes that it calls, as the JDK's";
/// The whole that its share with callees is part of.
pub(crate) const TIME_WITH_CALLEES: &str = "CPU time in the method and in everything that it calls";

/// Where a method's time goes.
pub(crate) fn time_of_method(time: &TimeView) -> String {
    let mut text = format!(
        "own time {} of the whole (with that of code without probes that it calls); with callees {}, of which the shares of \
         paths and outcomes are",
        percent(time.share),
        percent(time.total_share)
    );
    let part = |part: CpuTime| percent(part.ns as f64 / time.total.ns.max(1) as f64);
    if time.cut_off.ns > 0 {
        text += &format!("; paths that an exception cut off have {}", part(time.cut_off));
    }
    if time.unplaced.ns > 0 {
        text += &format!("; which path has it is not known of {}", part(time.unplaced));
    }
    text
}

/// A method is said to have divided samples if these are more than this part of all.
const MAX_DIVIDED: f64 = 0.1;

/// How many of a method's samples are divided by counts, if it is worth a line.
pub(crate) fn divided(time: &TimeView) -> Option<String> {
    let share = time.share_by_counts();
    (share > MAX_DIVIDED).then(|| {
        let share = percent(share);
        format!("{share} of its samples are divided among its paths by how often they ran")
    })
}

/// Between which bounds a path's part of its method's time is.
pub(crate) fn bounds_of_path(time: &PathTime) -> String {
    format!("{}, {} for certain", range(time.interval), percent(time.certain))
}

/// An outcome's part of its method's time: `44.7 % of the time (43–54 %)`.
pub(crate) fn time_of_outcome(time: &PathTime) -> String {
    if !share_is_known(time.interval) {
        return TIME_NOT_KNOWN.to_owned();
    }
    format!("{} of the time ({})", percent(time.share), range(time.interval))
}

/// `44.7 % (43–54 %)`, in a table whose head says what of.
pub(crate) fn share_of_time(share: f64, interval: [f64; 2]) -> String {
    if share_is_known(interval) {
        format!("{} ({})", percent(share), range(interval))
    } else {
        "not known".to_owned()
    }
}

/// The beginning, if it is too long.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let mut out: String = text.chars().take(width.saturating_sub(1)).collect();
    out.push('…');
    out
}

/// A command whose program is known by the name of its file: a jar's without the folders that it is in.
pub(crate) fn program(command: &str) -> &str {
    let first = command.split(' ').next().unwrap_or_default();
    match first.rfind('/').filter(|_| first.ends_with(".jar")) {
        Some(at) => &command[at + 1..],
        None => command,
    }
}

/// Code that ran and was not counted although the counts are exact, as one sentence.
pub(crate) fn not_counted(run: &RunInfo) -> Option<String> {
    // Blocks and ways were marked as they ran, whatever became of the path.
    if run.probe == "coverage" {
        return None;
    }
    // Merged profiles: all of them must have it.
    let is = |fact, value: &str| run.facts.get(fact).is_some_and(|found| found == value);
    let unread = run
        .facts
        .get(facts::OPEN_FRAMES_UNREAD)
        .is_some_and(|count| count > 0);
    let cut = (!is(facts::CUT_PATHS, "count")).then_some("that an exception cut off (coverage=paths)");
    let open = if !is(facts::OPEN_PATHS, "read") {
        Some("that had not ended when the profile was written")
    } else if unread {
        Some("not ended when the profile was written, in frames that could not be read")
    } else {
        None
    };
    let what: Vec<&str> = cut.into_iter().chain(open).collect();
    (!what.is_empty()).then(|| format!("Not counted: paths {}.", what.join(", and paths ")))
}

/// A number, or that it is not known.
pub(crate) fn count(count: Option<u64>) -> String {
    count.map_or_else(|| "not known".to_owned(), thousands)
}

/// The sum of numbers, if all are known.
pub(crate) fn sum(counts: impl IntoIterator<Item = Option<u64>>) -> Option<u128> {
    counts.into_iter().map(|count| count.map(u128::from)).sum()
}

/// The basis of counts, in JSON.
pub(crate) fn basis(basis: CountBasis) -> &'static str {
    match basis {
        CountBasis::Exact => "exact",
        CountBasis::Weighted(_) | CountBasis::Estimated(_) => "estimates",
        CountBasis::Sampled(_) => "samples",
    }
}

/// The participle for paths: `counted`.
pub(crate) fn participle(basis: CountBasis) -> &'static str {
    match basis {
        CountBasis::Exact => "counted",
        CountBasis::Weighted(_) | CountBasis::Estimated(_) => "estimated",
        CountBasis::Sampled(_) => "sampled",
    }
}

/// How the counts came about, as one sentence.
pub(crate) fn how_counted(run: &RunInfo, basis: CountBasis) -> String {
    if run.has_time_only() {
        let branches = match run.facts.get(facts::HOTSPOT_UNREAD) {
            None => "branches are as HotSpot counted them itself".to_owned(),
            Some(why) => format!("HotSpot's own counts of branches were not read: {why}"),
        };
        return format!(
            "Only CPU time was sampled. No code had probes, so nothing is known of paths; {branches}."
        );
    }
    if run.exact {
        return match not_counted(run) {
            None => "Every path was counted; where one was cut off, by an exception or the end of the program, up to the block in \
                     which that was."
                .to_owned(),
            Some(missing) => format!("Every path that came to its end was counted. {missing}"),
        };
    }
    if run.probe == "auto" {
        return "Paths were counted until they were known well enough; counts are estimates of the whole run \
                (see the methods for what was counted)."
            .to_owned();
    }
    if run.probe == "coverage" {
        return "Only what ran at all was marked: how often, and on which paths, is not known (trodden coverage shows it)."
            .to_owned();
    }
    if run.probe == "structural" {
        return structural(run);
    }
    if run.facts.get(facts::BURSTS).is_some() && run.facts.get(facts::EVENTS) == Some(0) {
        return "No path ended in a burst, so none was counted: the program may have ended too soon. --burst off counts all."
            .to_owned();
    }
    let mut out = match basis {
        CountBasis::Weighted(_) => "Paths were sampled; counts are estimates of how often they ran in the whole run, and so are shares",
        _ => "Paths were sampled, so counts are samples and shares are estimates",
    }
    .to_owned();
    if let Some(ns) = run.interval_ns {
        out += &format!(" (every {} ms", ns as f64 / 1e6);
        if let Some(schedule) = &run.schedule {
            out += &format!(", schedule {schedule}");
        }
        out.push(')');
    }
    out.push('.');
    out
}

/// How structural profiles count, and how far off their totals may be (measured: docs/decisions/analyses.md).
fn structural(run: &RunInfo) -> String {
    let mut out = "Each loop was counted on its own, in windows; counts of whole paths are computed from these, as estimates of \
                   the whole run. Their sum is mostly within 10 % of the real one"
        .to_owned();
    let all = run.facts.get(facts::STRUCTURAL_PATHS_ESTIMATED).unwrap_or(0);
    let without = run.facts.get(facts::WITHOUT_PROBES_ESTIMATED).unwrap_or(0);
    if all > 0 && without > 0 {
        let share = percent(without as f64 / all as f64);
        out += &format!("; {share} of it is for the time in which methods had no probes");
        if run.facts.get(facts::PACE_NOT_KNOWN).unwrap_or(0) > 0 {
            out += ", and may be half too low: how much faster the program ran then is not known";
        }
    }
    out + "."
}

/// How much of a method was counted, as one sentence.
pub(crate) fn observed(observation: &Observation, count: u64) -> String {
    let why = match observation.reason.as_str() {
        "known" => "then its hot paths were known well enough",
        "full" => "then all windows of its structure graphs had been filled",
        "overdue" => "then its paths still varied after the longest wait",
        "budget" => "then the budget was spent",
        other => other,
    };
    // Windows are samples, even while there are probes.
    let begin = match observation.reason.as_str() {
        "full" => "observed",
        _ => "exact",
    };
    let mut out = format!("{begin} until {:.1} s, {why}; ", observation.until);
    out += &format!(
        "{} path ends counted in {:.1} s",
        thousands(observation.counted),
        observation.seconds
    );
    if observation.windows > 1 {
        out += &format!(" in {} intervals", observation.windows);
    }
    out += &format!(
        ", {} estimated",
        thousands(count.saturating_sub(observation.counted))
    );
    out
}

#[cfg(test)]
mod tests {
    use trodden_profile::Profile;

    use super::*;

    #[test]
    fn jars_are_known_by_their_names() {
        for (command, known) in [
            (
                "/root/.m2/repository/closure-compiler.jar --js a.js",
                "closure-compiler.jar --js a.js",
            ),
            ("target/app.jar", "app.jar"),
            ("app.jar /tmp/x.jar", "app.jar /tmp/x.jar"),
            ("shop.Main /tmp/x", "shop.Main /tmp/x"),
            ("module/shop.Main", "module/shop.Main"),
            ("", ""),
        ] {
            assert_eq!(program(command), known);
        }
    }

    #[test]
    fn estimated_executions_are_not_called_samples() {
        let sentence = |probe: &str, schedule: &str| {
            let profile = Profile {
                run: RunInfo {
                    probe: probe.to_owned(),
                    schedule: Some(schedule.to_owned()).filter(|text| !text.is_empty()),
                    interval_ns: Some(20_000_000),
                    ..RunInfo::default()
                },
                ..Profile::default()
            };
            how_counted(&profile.run, profile.count_basis())
        };
        // In windows of fixed duration each sample stands for many executions; elsewhere it is one.
        let span = sentence("yieldpoint", "span:1ms:256");
        assert!(
            span.contains("counts are estimates of how often they ran"),
            "{span}"
        );
        assert!(!span.contains("counts are samples"), "{span}");
        let sag = sentence("yieldpoint", "sag:64:17");
        assert!(sag.contains("counts are samples"), "{sag}");
    }

    #[test]
    fn numbers() {
        assert_eq!(thousands(0), "0");
        assert_eq!(thousands(999), "999");
        assert_eq!(thousands(1000), "1,000");
        assert_eq!(thousands(1234567), "1,234,567");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.0001), "<0.1 %");
        assert_eq!(percent(0.071), "7.1 %");
    }

    #[test]
    fn observations() {
        let mut one = Observation {
            class: 0,
            method: 0,
            counted: 1_500,
            seconds: 2.0,
            until: 2.0,
            windows: 1,
            reason: "known".to_owned(),
        };
        assert_eq!(
            observed(&one, 10_000),
            "exact until 2.0 s, then its hot paths were known well enough; 1,500 path ends counted in 2.0 s, 8,500 estimated"
        );
        one.windows = 3;
        one.reason = "budget".to_owned();
        assert_eq!(
            observed(&one, 1_500),
            "exact until 2.0 s, then the budget was spent; 1,500 path ends counted in 2.0 s in 3 intervals, 0 estimated"
        );
    }
}
