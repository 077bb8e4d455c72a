//! What earlier runs found of methods that this run did not measure. It is shown apart, with the run that each number comes
//! from: counts of different runs are never one list.

mod html;
mod json;
mod text;

use std::collections::HashMap;

use maud::Markup;
use trodden_profile::{Known, MemoryRun, Profile, Remembered};

use crate::section::{Extent, Json, ReportSection};
use crate::text::Page;
use crate::view::{MethodView, View};

/// A method that earlier runs know, and this one did not measure.
#[derive(Debug)]
pub struct RememberedView<'p> {
    /// Its counts, of the run that measured it. Shares are those among remembered methods, and not shown.
    pub method: MethodView<'p>,
    /// What is known beside them.
    pub about: &'p Remembered,
    /// The run that measured it.
    pub run: &'p MemoryRun,
    /// Why it was not measured again.
    pub known: Known,
    /// Its own share of the CPU time of *this* run, if that was sampled.
    pub time: Option<f64>,
}

impl RememberedView<'_> {
    /// `measured 2026-11-22, run 1; not measured in this run because its paths are settled`.
    fn when(&self) -> String {
        let why = match self.known {
            Known::Settled => "its paths are settled",
            Known::Cold => "it is cold",
        };
        format!(
            "measured {}, run {}; not measured in this run because {why}",
            date(self.run.started_ms),
            self.run.number
        )
    }
}

/// Those of a profile, given their view models: most time first, then most decisions in their run.
pub(crate) fn views<'p>(profile: &'p Profile, methods: Vec<MethodView<'p>>) -> Vec<RememberedView<'p>> {
    let Some(memory) = profile.memory.as_deref() else {
        return Vec::new();
    };
    let mut about: HashMap<(&str, &str, &str), &Remembered> = HashMap::new();
    for (class, known) in memory.found.classes.iter().zip(&memory.about) {
        for (map, known) in class.map.methods.iter().zip(known) {
            about.insert((&class.map.name, &map.name, &map.descriptor), known);
        }
    }
    let reasons = profile.skipped.iter().filter_map(|skipped| {
        let known = Known::of_reason(&skipped.reason)?;
        Some(((skipped.class.as_str(), skipped.method.clone()?), known))
    });
    let reasons: HashMap<(&str, String), Known> = reasons.collect();
    let times = profile
        .cpu
        .as_ref()
        .map(|cpu| (cpu, cpu.by_place(), cpu.total().ns.max(1) as f64));
    let view = |method: MethodView<'p>| {
        let map = method.map;
        let about = *about.get(&(method.class, map.name.as_str(), map.descriptor.as_str()))?;
        let known = *reasons.get(&(method.class, format!("{}{}", map.name, map.descriptor)))?;
        let run = memory.run(about.run)?;
        let time = times.as_ref().map(|(cpu, times, all)| {
            let frame = cpu.frame(method.class, &map.name, &map.descriptor);
            frame.map_or(0.0, |frame| times[frame].all.own.ns as f64 / all)
        });
        Some(RememberedView {
            method,
            about,
            run,
            known,
            time,
        })
    };
    let mut all: Vec<RememberedView> = methods.into_iter().filter_map(view).collect();
    all.sort_by(|a, b| {
        let time = |one: &RememberedView| one.time.unwrap_or(0.0);
        let names = |one: &RememberedView| (one.method.class.to_owned(), one.method.signature());
        let order = time(b).total_cmp(&time(a));
        let order = order.then(b.about.decisions.total_cmp(&a.about.decisions));
        order.then_with(|| names(a).cmp(&names(b)))
    });
    all
}

/// `2026-11-22`, UTC.
fn date(ms: u64) -> String {
    if ms == 0 {
        return "at a time that is not known".to_owned();
    }
    // Days since 0000-03-01 of the Gregorian calendar, whose years begin in March here.
    let days = ms / 86_400_000 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year + next)
}

/// What this is, in words: how many methods, and how to measure them.
fn about(all: &[RememberedView]) -> String {
    let settled = all.iter().filter(|one| one.known == Known::Settled).count();
    let cold = all.len() - settled;
    let methods = |number: usize| if number == 1 { "method" } else { "methods" };
    let mut parts = Vec::new();
    if settled > 0 {
        parts.push(format!("{settled} {} whose paths are settled", methods(settled)));
    }
    if cold > 0 {
        parts.push(format!("{cold} {} found to be cold", methods(cold)));
    }
    format!(
        "Earlier runs know {}. They had no probes in this run, and their counts are those of the run that is named; \
         'trodden run --full' measures all.",
        parts.join(" and ")
    )
}

/// What the first number of each method is.
fn weight(all: &[RememberedView]) -> &'static str {
    match all.iter().any(|one| one.time.is_some()) {
        true => "own CPU time in this run",
        false => "share of all decisions in the run that measured it",
    }
}

/// Memory as a kind of data.
pub(crate) struct Kind;

impl ReportSection for Kind {
    fn key(&self) -> &'static str {
        "remembered"
    }

    fn is_in(&self, view: &View) -> bool {
        !view.remembered.is_empty()
    }

    fn has_chosen(&self, view: &View) -> bool {
        !view.remembered.is_empty()
    }

    fn has_overview(&self) -> bool {
        true
    }

    fn overview(&self, view: &View, width: usize, page: &mut Page) {
        text::overview(&view.remembered, width, page);
    }

    fn text(&self, view: &View, extent: &Extent, page: &mut Page) {
        text::lines(&view.remembered, extent, page);
    }

    fn html(&self, view: &View, extent: &Extent) -> Markup {
        html::section(&view.remembered, extent.top)
    }

    fn json<'v>(&self, view: &'v View<'v>, extent: &Extent) -> Option<Json<'v>> {
        self.is_in(view)
            .then(|| Box::new(json::document(&view.remembered, extent)) as Json<'v>)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(date(1), "1970-01-01");
        assert_eq!(date(951_782_400_000), "2000-02-29");
        assert_eq!(date(1_795_392_000_000), "2026-11-23");
        assert_eq!(date(4_107_542_400_000), "2100-03-01");
    }
}
