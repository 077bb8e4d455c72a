//! What follows from several options together.

use super::values::parse_amount;
use super::{
    Burst, BurstEvents, CallPaths, ConsumedBy, ContextAlgorithm, ContextWeight, FileFormat, OptionError,
    Probe, ProfileKind, ProfileOptions, SinglePathLoops, Skipping, SubpathCounts,
};
use crate::Schedule;

/// With less, there would be more counters than memory.
const LEAST_EPSILON: f64 = 1e-8;

impl ProfileOptions {
    /// Checks what options ask for together. Parsing does this; to be called after fields were changed.
    ///
    /// # Errors
    /// The first option that does not go with the others.
    pub fn check(&self) -> Result<(), OptionError> {
        let wrong = |name, reason| Err(OptionError::Value { name, reason });
        if self.is_structural() {
            self.check_structural()?;
        }
        if let Some(wish) = self.wish_for_events()
            && !matches!(self.probe, Probe::Auto | Probe::Events)
        {
            return wrong(
                "probe",
                format!("{wish} needs probe=events, not '{}'", self.probe),
            );
        }
        if self.renumber.is_some() {
            self.check_renumber()?;
        }
        if self.profile.contains(&ProfileKind::Contexts) {
            self.check_contexts()?;
        }
        if let Burst::Timed { .. } = self.burst
            && self.profile != [ProfileKind::Contexts]
        {
            return wrong(
                "burst",
                "bursts by the clock are for profile=contexts alone".to_owned(),
            );
        }
        if self.has_events_of_jvm() && !self.has_bursts_in_program() {
            let reason =
                "'jvm' is for bursts by the clock, such as burst=static:50ms:2ms with profile=contexts";
            return wrong("burst-events", reason.to_owned());
        }
        if let Burst::Adaptive { .. } = self.burst
            && self.profile.contains(&ProfileKind::KPaths)
        {
            return wrong(
                "burst",
                "'adaptive' is for contexts; kpaths takes 'static' or 'off'".to_owned(),
            );
        }
        let least = 4 * self.k;
        match self.budget {
            Some(nodes) if nodes < least => {
                let reason = format!(
                    "{nodes} nodes are too few for k={}: at least {least} are needed",
                    self.k
                );
                wrong("budget", reason)
            }
            _ => Ok(()),
        }
    }

    /// Structure graphs have probes of their own, which nothing else can be made of.
    fn check_structural(&self) -> Result<(), OptionError> {
        let wrong = |name, reason: &str| {
            let reason = reason.to_owned();
            Err(OptionError::Value { name, reason })
        };
        if self.profile.len() > 1 {
            return wrong("profile", "'structural' stands alone");
        }
        if self.probe != Probe::Auto {
            return wrong(
                "probe",
                "profile 'structural' has probes of its own; leave 'probe' out",
            );
        }
        if self.file.format() == FileFormat::Trace {
            return wrong("file", "a trace holds no structural profile");
        }
        Ok(())
    }

    /// Only probes that stay, and whose counts say how often something was, are worth other numbers.
    fn check_renumber(&self) -> Result<(), OptionError> {
        let counts = match self.probe_in_use() {
            _ if self.is_structural() || self.retires() => false,
            Probe::Counters => true,
            Probe::Yieldpoint => matches!(self.schedule, Schedule::Span { .. }),
            _ => false,
        };
        match counts {
            true => Ok(()),
            false => Err(OptionError::Value {
                name: "renumber",
                reason: "is for plain paths with probe=counters, or probe=yieldpoint and a schedule of spans"
                    .to_owned(),
            }),
        }
    }

    /// Is each loop profiled on its own?
    pub fn is_structural(&self) -> bool {
        self.profile.contains(&ProfileKind::Structural)
    }

    fn check_contexts(&self) -> Result<(), OptionError> {
        let wrong = |name, reason| Err(OptionError::Value { name, reason });
        let (phi, epsilon) = self.thresholds();
        if epsilon >= phi {
            return wrong("epsilon", format!("{epsilon} is not below phi = {phi}"));
        }
        let of_running = match (self.weight, self.burst) {
            (ContextWeight::Calls, Burst::Timed { .. }) => Some(("burst", "bursts by the clock are")),
            (ContextWeight::Calls, _) => None,
            (_, Burst::Off) => Some(("weight", "weights other than calls are")),
            _ => return wrong("weight", "weights other than calls go without bursts".to_owned()),
        };
        if self.call_paths == CallPaths::On
            && (self.profile != [ProfileKind::Contexts]
                || self.weight != ContextWeight::Calls
                || self.has_bursts_in_program())
        {
            let reason =
                "paths to calls are for profile=contexts alone, with weight=calls and no bursts by the clock";
            return wrong("call-paths", reason.to_owned());
        }
        if self.weight != ContextWeight::Calls && self.profile != [ProfileKind::Contexts] {
            return wrong(
                "weight",
                format!("'{}' is for profile=contexts alone", self.weight),
            );
        }
        if let Some((name, what)) = of_running
            && self.file.format() == FileFormat::Trace
        {
            return wrong(name, format!("{what} for running programs, not for traces"));
        }
        let weighs = [
            ContextAlgorithm::LazySpaceSaving,
            ContextAlgorithm::Exact,
            ContextAlgorithm::Null,
        ];
        if self.weight != ContextWeight::Calls && !weighs.contains(&self.algorithm) {
            let reason = format!(
                "'{}' counts calls only; other weights take lss, exact or null",
                self.algorithm
            );
            return wrong("algorithm", reason);
        }
        if epsilon < LEAST_EPSILON {
            let (name, value, least) = match self.epsilon {
                Some(_) => ("epsilon", epsilon, LEAST_EPSILON),
                None => ("phi", phi, 5.0 * LEAST_EPSILON),
            };
            return wrong(name, format!("{value:e} is too small: at least {least:e}"));
        }
        Ok(())
    }

    /// `phi`, and `epsilon` as given or as it follows from `phi`.
    pub fn thresholds(&self) -> (f64, f64) {
        let phi = self.phi.get();
        (phi, self.epsilon.map_or(phi / 5.0, |epsilon| epsilon.get()))
    }

    /// What of the options only the event stream can give, in words.
    fn wish_for_events(&self) -> Option<String> {
        if self.file.format() == FileFormat::Trace {
            return Some(format!("the trace '{}'", self.file));
        }
        let of_stream = |kind: &&ProfileKind| !matches!(kind, ProfileKind::Paths | ProfileKind::Structural);
        let kind = self.profile.iter().find(of_stream)?;
        Some(format!("profile '{kind}'"))
    }

    /// The budget: nodes of forests, or a share of the run.
    pub(super) fn set_budget(&mut self, value: &str) -> Result<(), String> {
        if value == "none" {
            (self.budget, self.share) = (None, None);
        } else if let Some(percent) = value.strip_suffix('%') {
            let share = percent.trim().parse().map(|percent: f64| percent * 100.0);
            let share = share.ok().filter(|share| (1.0..=10_000.0).contains(share));
            let reason = || format!("'{value}' is not a share of the run from 0.01% to 100%");
            (self.budget, self.share) = (None, Some(share.ok_or_else(reason)?.round() as u32));
        } else {
            let nodes = parse_amount(value).filter(|&nodes| nodes > 0);
            let reason = || {
                format!(
                    "'{value}' is neither a number of nodes such as 200k, nor a share such as 1%, nor 'none'"
                )
            };
            (self.budget, self.share) = (Some(nodes.ok_or_else(reason)?), None);
        }
        Ok(())
    }

    pub(super) fn budget_text(&self) -> String {
        match (self.budget, self.share) {
            (Some(nodes), _) => nodes.to_string(),
            (None, Some(share)) => format!("{}%", f64::from(share) / 100.0),
            (None, None) => "none".to_owned(),
        }
    }

    /// Probe `auto`, the default, on plain paths: every path end is counted until hot paths are known well enough, then probes are taken
    /// out again. A schedule is about sampling, so who gives one wants that. Profile `structural`, unless it is to keep its probes.
    pub fn retires(&self) -> bool {
        if self.is_structural() {
            return self.retire && self.window.is_some();
        }
        self.probe == Probe::Auto && self.wish_for_events().is_none() && !self.is_given("schedule")
    }

    /// The share of the run that probe `auto`, or profile `structural`, may take.
    pub fn allowance(&self) -> f64 {
        f64::from(self.share.unwrap_or(100)) / 10_000.0
    }

    /// The probe that is really used: what `auto` stands for depends on what is profiled.
    pub fn probe_in_use(&self) -> Probe {
        match self.probe {
            Probe::Auto if self.wish_for_events().is_some() => Probe::Events,
            // Exact counters while a window is open.
            Probe::Auto if self.is_structural() => Probe::Counters,
            Probe::Auto if self.retires() => Probe::Counters,
            probe => probe.resolved(),
        }
    }

    /// Do the probes leave out path ends? Only where subpaths are all that is asked for, and the threads themselves consume: what is
    /// wanted next is known only once what came before has been consumed.
    pub fn skips_in_probes(&self) -> bool {
        self.skipping == Skipping::Probes
            && self.subpaths.counts == SubpathCounts::Sampled
            && self.profile == [ProfileKind::Subpaths]
            && self.consumer == ConsumedBy::Program
            && self.file.format() != FileFormat::Trace
    }

    /// Are there bursts between which the probes of the running program are off?
    pub fn has_bursts_in_program(&self) -> bool {
        matches!(self.burst, Burst::Timed { .. })
    }

    /// Does the JVM tell calls and returns in bursts, and no code carry probes?
    pub fn has_events_of_jvm(&self) -> bool {
        self.burst_events == BurstEvents::Jvm
    }

    /// Do iterations of single-path loops go without a probe?
    pub fn skips_single_path_loops(&self) -> bool {
        match self.single_path_loops {
            Some(choice) => choice == SinglePathLoops::Skip,
            None => self.probe_in_use() == Probe::Yieldpoint,
        }
    }
}
