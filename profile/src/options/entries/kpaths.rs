//! Options of profile `kpaths`, and the budget, which applies to probes that retire as well.

use crate::options::choices::ProfileOptions;
use crate::options::entry::{Effect, OptionEntry, TakenBy, Use};
use crate::options::limits::MAX_K;
use crate::options::structural::RetiringChoices;
use crate::options::value_error::ValueError;
use crate::options::values::{format_duration, parse_amount, parse_duration};

pub const ENTRIES: &[OptionEntry] = &[
    OptionEntry {
        name: "k",
        value: "N",
        default: "10",
        example: "5",
        help: "Longest sequence of paths that is counted",
        taken: TakenBy::Both,
        uses: &[Use::KPATHS],
        effect: Effect::Counts(&[Use::KPATHS]),
        set: |o, value| match value.parse() {
            Ok(k @ 2..=MAX_K) => Ok(o.kpaths.k = k),
            _ => Err(ValueError::Range(value.to_owned(), 2, MAX_K.into())),
        },
        get: |o| Some(o.kpaths.k.to_string()),
        ..OptionEntry::PLAIN
    },
    OptionEntry {
        name: "budget",
        value: "N|PERCENT[:DURATION]|none",
        default: "none, 1%",
        example: "50",
        help: "Most nodes of a forest of kpaths (200k), or the share of the run that profiling may take and when probes come back",
        taken: TakenBy::Both,
        uses: &[Use::KPATHS, Use::RETIRING],
        effect: Effect::Counts(&[Use::KPATHS]),
        set: |o, value| o.set_budget(value),
        get: |o| Some(o.budget_text()),
        ..OptionEntry::PLAIN
    },
];

impl ProfileOptions {
    /// The budget: nodes of forests, or a share of the run.
    fn set_budget(&mut self, value: &str) -> Result<(), ValueError> {
        (self.kpaths.budget, self.retiring) = match value.split_once('%') {
            _ if value == "none" => (None, RetiringChoices::default()),
            Some((percent, rest)) => (None, retiring(value, percent, rest)?),
            None => {
                let nodes = parse_amount(value)
                    .and_then(|nodes| u32::try_from(nodes).ok())
                    .filter(|&nodes| nodes > 0);
                let why = "is neither a number of nodes such as 200k, nor a share such as 1%, nor 'none'";
                let nodes = nodes.ok_or_else(|| ValueError::refused(value, why))?;
                (Some(nodes), RetiringChoices::default())
            }
        };
        Ok(())
    }

    /// The budget in option syntax.
    pub(in crate::options) fn budget_text(&self) -> String {
        match (self.kpaths.budget, self.retiring.share) {
            (Some(nodes), _) => nodes.to_string(),
            (None, Some(share)) => {
                let rearm = self
                    .retiring
                    .rearm
                    .map(|rearm| format!(":{}", format_duration(rearm)));
                format!("{}%{}", f64::from(share) / 100.0, rearm.unwrap_or_default())
            }
            (None, None) => "none".to_owned(),
        }
    }
}

/// Reads a share of the run, and the time until probes come back if it is given.
fn retiring(value: &str, percent: &str, rest: &str) -> Result<RetiringChoices, ValueError> {
    let share = percent.trim().parse().map(|percent: f64| percent * 100.0);
    let share = share.ok().filter(|share| (1.0..=10_000.0).contains(share));
    let reason = || ValueError::refused(value, "is not a share of the run from 0.01% to 100%");
    let rearm = match rest.strip_prefix(':') {
        Some(rearm) => Some(parse_duration(rearm)?),
        None if rest.is_empty() => None,
        None => return Err(reason()),
    };
    Ok(RetiringChoices {
        share: Some(share.ok_or_else(reason)?.round() as u32),
        rearm,
    })
}
