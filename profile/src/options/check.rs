//! Which options mean something together.

use super::table::{option_named, options};
use super::{
    Burst, CallPaths, ContextAlgorithm, ContextWeight, FileFormat, OptionEntry, OptionError, Probe,
    ProfileKind, ProfileOptions, Use,
};

/// With less, there would be more counters than memory.
const LEAST_EPSILON: f64 = 1e-8;

impl ProfileOptions {
    /// Checks what options ask for together where a program is recorded. Parsing does this; to be called
    /// after fields were changed.
    ///
    /// # Errors
    /// The first option that does not go with the others, or that only a replay takes.
    pub fn check(&self) -> Result<(), OptionError> {
        self.check_recorded()?;
        self.check_together()
    }

    /// Is there nothing that only a replay takes?
    pub(super) fn check_recorded(&self) -> Result<(), OptionError> {
        let default = ProfileOptions::default();
        for option in options() {
            let value = option.value_in(self);
            let is_set = self.is_given(option.name) || value != option.value_in(&default);
            if (option.only_replayed)(self) || (is_set && !option.is_recorded()) {
                return Err(OptionError::OnlyReplayed {
                    name: option.name,
                    value: value.unwrap_or_default(),
                });
            }
        }
        Ok(())
    }

    /// Checks what options ask for together, those of replays too.
    pub(super) fn check_together(&self) -> Result<(), OptionError> {
        let wrong = |name, reason| Err(OptionError::Value { name, reason });
        if self.is_structural() {
            self.check_structural()?;
        }
        if self.is_coverage() {
            self.check_coverage()?;
        }
        if self.spools() {
            self.check_spool()?;
        }
        if let Some(wish) = self.wish_for_events()
            && !matches!(self.probe, Probe::Auto | Probe::Events)
        {
            return wrong(
                "probe",
                format!("{wish} needs probe=events, not '{}'", self.probe),
            );
        }
        if self.probe == Probe::None && self.sampling.sample.is_none() {
            return wrong(
                "probe",
                "with 'none' nothing is measured but CPU time; give sample=1ms as well".to_owned(),
            );
        }
        for option in self.pairs().iter().filter_map(|(name, _)| option_named(name)) {
            self.check_use(option)?;
        }
        if self.profile.contains(&ProfileKind::Contexts) {
            self.check_contexts()?;
        }
        if let Some(blocks) = self.subpaths.sliding_window
            && self.subpaths.half_life.is_some()
        {
            return wrong(
                "sliding-window",
                format!("'{blocks}' does not go with half-life: older counts fade, or they are left out"),
            );
        }
        if self.burst != Burst::Off {
            self.check_bursts()?;
        }
        if let Some(own) = self
            .code
            .use_profile
            .as_ref()
            .filter(|_| self.renumber_after().is_some())
            && !Use::STAYING_COUNTS.holds(self)
        {
            return wrong(
                "use-profile",
                format!("'{own}' is for {}", Use::STAYING_COUNTS.words),
            );
        }
        self.check_budget()
    }

    fn check_bursts(&self) -> Result<(), OptionError> {
        use ProfileKind::{Contexts, KPaths, Subpaths};
        let by_clock = self.has_bursts_in_program();
        let adaptive = matches!(self.burst, Burst::Adaptive { .. });
        let reason = match &self.profile[..] {
            kinds if by_clock && !matches!(kinds, [Contexts | KPaths | Subpaths]) => {
                "bursts by the clock are for profile=contexts, kpaths or subpaths alone"
            }
            [Subpaths] if !by_clock => "profile=subpaths takes bursts by the clock, such as jvm:100ms:2ms",
            kinds if adaptive && kinds.contains(&KPaths) => {
                "'adaptive' is for contexts; kpaths takes 'static', 'jvm' or 'off'"
            }
            kinds if by_clock && *kinds != [Contexts] && !self.has_events_of_jvm() => {
                "bursts by the clock of kpaths and subpaths are the JVM's, such as jvm:100ms:2ms"
            }
            _ if by_clock && self.output.file.format() == FileFormat::Trace => {
                "bursts by the clock are for running programs, not for traces"
            }
            _ => return Ok(()),
        };
        Err(OptionError::Value {
            name: "burst",
            reason: reason.to_owned(),
        })
    }

    /// Does the option mean something here?
    pub(super) fn check_use(&self, option: &'static OptionEntry) -> Result<(), OptionError> {
        match option.uses.first().filter(|_| !option.applies(self)) {
            None => Ok(()),
            Some(first) => Err(OptionError::Inapplicable {
                name: option.name,
                scope: option.scope().unwrap_or_default(),
                with: first.with,
            }),
        }
    }

    /// A budget is one of nodes, or a share of the run: each for its own profiles.
    fn check_budget(&self) -> Result<(), OptionError> {
        let wrong = |reason| {
            Err(OptionError::Value {
                name: "budget",
                reason,
            })
        };
        let least = 4 * self.kpaths.k;
        match self.kpaths.budget {
            Some(nodes) if !Use::KPATHS.holds(self) => wrong(format!(
                "'{nodes}' is a number of nodes, for profile=kpaths; a share of the run is a percentage such as 1%"
            )),
            Some(nodes) if nodes < least => wrong(format!(
                "{nodes} nodes are too few for k={}: at least {least} are needed",
                self.kpaths.k
            )),
            None if self.retiring.share.is_some() && !self.retires() => wrong(format!(
                "'{}' is a share of the run, for {}; profile=kpaths takes a number of nodes such as 200k",
                self.budget_text(),
                Use::RETIRING.words
            )),
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
        if self.output.file.format() == FileFormat::Trace {
            return wrong("file", "a trace holds no structural profile");
        }
        Ok(())
    }

    /// Coverage has probes of its own as well, and they report nothing twice.
    fn check_coverage(&self) -> Result<(), OptionError> {
        let wrong = |name, reason: &str| {
            let reason = reason.to_owned();
            Err(OptionError::Value { name, reason })
        };
        if self.profile.len() > 1 {
            return wrong("profile", "'coverage' stands alone");
        }
        if self.probe != Probe::Auto {
            return wrong(
                "probe",
                "profile 'coverage' has probes of its own; leave 'probe' out",
            );
        }
        if self.code.memory.is_some() {
            return wrong("memory", "coverage is of the run itself: no method is left out");
        }
        if self.output.file.format() == FileFormat::Trace {
            return wrong("file", "a trace holds no coverage");
        }
        Ok(())
    }

    /// Windows are differences of counts, so they are of kinds that have exact ones.
    fn check_spool(&self) -> Result<(), OptionError> {
        let wrong = |name, reason: &str| {
            let reason = reason.to_owned();
            Err(OptionError::Value { name, reason })
        };
        let differs = |kind: &&ProfileKind| {
            use ProfileKind::{Contexts, Coverage, Paths};
            !matches!(kind, Paths | Contexts | Coverage)
        };
        if let Some(kind) = self.profile.iter().find(differs) {
            let reason = format!(
                "windows hold what was counted since the one before, and profile '{kind}' cannot tell that; use \
                 profile=paths, profile=coverage, or profile=contexts with algorithm=exact"
            );
            return wrong("spool", &reason);
        }
        if self.profile.contains(&ProfileKind::Contexts) && self.contexts.algorithm != ContextAlgorithm::Exact
        {
            let reason = format!(
                "windows hold what was counted since the one before, and '{}' keeps estimates that come and go; use \
                 algorithm=exact with spool",
                self.contexts.algorithm
            );
            return wrong("algorithm", &reason);
        }
        if self.output.file.format() == FileFormat::Trace {
            return wrong("file", "a trace has no windows; leave it out, or spool");
        }
        Ok(())
    }

    fn check_contexts(&self) -> Result<(), OptionError> {
        let wrong = |name, reason| Err(OptionError::Value { name, reason });
        let (phi, epsilon) = self.thresholds();
        if epsilon >= phi {
            return wrong("epsilon", format!("{epsilon} is not below phi = {phi}"));
        }
        let weighs = self.contexts.weight != ContextWeight::Calls;
        if weighs && self.burst != Burst::Off {
            return wrong("weight", "weights other than calls go without bursts".to_owned());
        }
        if self.contexts.call_paths == CallPaths::On
            && (self.profile != [ProfileKind::Contexts] || weighs || self.has_bursts_in_program())
        {
            let reason =
                "paths to calls are for profile=contexts alone, with weight=calls and no bursts by the clock";
            return wrong("call-paths", reason.to_owned());
        }
        if weighs && self.profile != [ProfileKind::Contexts] {
            return wrong(
                "weight",
                format!("'{}' is for profile=contexts alone", self.contexts.weight),
            );
        }
        if weighs && self.output.file.format() == FileFormat::Trace {
            let reason = "weights other than calls are for running programs, not for traces";
            return wrong("weight", reason.to_owned());
        }
        if epsilon < LEAST_EPSILON {
            let (name, value, least) = match self.contexts.epsilon {
                Some(_) => ("epsilon", epsilon, LEAST_EPSILON),
                None => ("phi", phi, 5.0 * LEAST_EPSILON),
            };
            return wrong(name, format!("{value:e} is too small: at least {least:e}"));
        }
        Ok(())
    }
}
