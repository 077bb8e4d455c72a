//! Which options apply together.

use super::table::{option_named, options};
use super::{
    Burst, ContextAlgorithm, ContextWeight, FileFormat, OptionEntry, OptionError, Probe, ProfileKind,
    ProfileOptions, Use, ValueError,
};

/// With less, there would be more counters than memory.
const MIN_EPSILON: f64 = 1e-8;

/// Refuses an option if something is wrong.
fn refuse(
    is_wrong: bool,
    name: &'static str,
    reason: impl FnOnce() -> ValueError,
) -> Result<(), OptionError> {
    if is_wrong {
        let reason = reason();
        return Err(OptionError::Value { name, reason });
    }
    Ok(())
}

/// Refuses an option whose value breaks a rule.
fn rule(is_broken: bool, name: &'static str, rule: &'static str) -> Result<(), OptionError> {
    refuse(is_broken, name, || ValueError::Rule(rule))
}

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
        if self.is_structural() {
            // Structure graphs have probes of their own, which nothing else can be made of.
            self.check_alone(
                "'structural' stands alone",
                "profile 'structural' has probes of its own; leave 'probe' out",
                "a trace holds no structural profile",
            )?;
        }
        if self.is_coverage() {
            // Coverage as well, and its probes report nothing twice.
            self.check_alone(
                "'coverage' stands alone",
                "profile 'coverage' has probes of its own; leave 'probe' out",
                "a trace holds no coverage",
            )?;
            let rest = "coverage is of the run itself: no method is left out";
            rule(self.code.memory.is_some(), "memory", rest)?;
        }
        if self.spools() {
            self.check_spool()?;
        }
        if let Some(wish) = self.wish_for_events() {
            let fits = matches!(self.probe, Probe::Auto | Probe::Events);
            let needs = || ValueError::NeedsEvents(wish, self.probe.name());
            refuse(!fits, "probe", needs)?;
        }
        rule(
            self.probe == Probe::None && self.sampling.sample.is_none(),
            "probe",
            "with 'none' nothing is measured but CPU time; give sample=1ms as well",
        )?;
        for option in self.pairs().iter().filter_map(|(name, _)| option_named(name)) {
            self.check_use(option)?;
        }
        if self.profile.contains(&ProfileKind::Contexts) {
            self.check_contexts()?;
        }
        if let Some(blocks) = self.subpaths.sliding_window {
            refuse(self.subpaths.half_life.is_some(), "sliding-window", || {
                let why = "does not go with half-life: older counts fade, or they are left out";
                ValueError::Refused(blocks.to_string(), why)
            })?;
        }
        if self.burst != Burst::Off {
            self.check_bursts()?;
        }
        if let Some(own) = &self.code.use_profile {
            let is_wrong = self.renumber_after().is_some() && !Use::STAYING_COUNTS.holds(self);
            let scope = || ValueError::OnlyFor(own.to_string(), Use::STAYING_COUNTS.words);
            refuse(is_wrong, "use-profile", scope)?;
        }
        self.check_budget()
    }

    fn is_trace(&self) -> bool {
        self.output.file.format() == FileFormat::Trace
    }

    /// A kind of profile that is recorded by its own probes, without other kinds.
    fn check_alone(
        &self,
        alone: &'static str,
        own_probes: &'static str,
        no_trace: &'static str,
    ) -> Result<(), OptionError> {
        rule(self.profile.len() > 1, "profile", alone)?;
        rule(self.probe != Probe::Auto, "probe", own_probes)?;
        rule(self.is_trace(), "file", no_trace)
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
            _ if by_clock && self.is_trace() => {
                "bursts by the clock are for running programs, not for traces"
            }
            _ => return Ok(()),
        };
        rule(true, "burst", reason)
    }

    /// Does the option apply here?
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
        let k = self.kpaths.k;
        let Some(nodes) = self.kpaths.budget else {
            let is_wrong = self.retiring.share.is_some() && !self.retires();
            return refuse(is_wrong, "budget", || {
                let why = "is a share of the run, for probe=auto on plain paths, or profile=structural; \
                           profile=kpaths takes a number of nodes such as 200k";
                ValueError::Refused(self.budget_text(), why)
            });
        };
        refuse(!Use::KPATHS.holds(self), "budget", || {
            let why =
                "is a number of nodes, for profile=kpaths; a share of the run is a percentage such as 1%";
            ValueError::Refused(nodes.to_string(), why)
        })?;
        refuse(nodes < 4 * k, "budget", || ValueError::FewNodes(nodes, k, 4 * k))
    }

    /// Windows are differences of counts, so they are of kinds that have exact ones.
    fn check_spool(&self) -> Result<(), OptionError> {
        let differs = |kind: &&ProfileKind| {
            use ProfileKind::{Contexts, Coverage, Paths};
            !matches!(kind, Paths | Contexts | Coverage)
        };
        if let Some(kind) = self.profile.iter().find(differs) {
            let why = "cannot tell that; use profile=paths, profile=coverage, or profile=contexts with \
                       algorithm=exact";
            let reason = || ValueError::NoWindows(format!("profile '{kind}'"), why);
            refuse(true, "spool", reason)?;
        }
        let algorithm = self.contexts.algorithm;
        let estimates = self.profile.contains(&ProfileKind::Contexts) && algorithm != ContextAlgorithm::Exact;
        refuse(estimates, "algorithm", || {
            let why = "keeps estimates that come and go; use algorithm=exact with spool";
            ValueError::NoWindows(format!("'{algorithm}'"), why)
        })?;
        let no_trace = "a trace has no windows; leave it out, or spool";
        rule(self.is_trace(), "file", no_trace)
    }

    fn check_contexts(&self) -> Result<(), OptionError> {
        let (phi, epsilon) = self.thresholds();
        refuse(epsilon >= phi, "epsilon", || {
            ValueError::NotBelowPhi(epsilon, phi)
        })?;
        let weight = self.contexts.weight;
        let weighs = weight != ContextWeight::Calls;
        let is_alone = self.profile == [ProfileKind::Contexts];
        let no_bursts = "weights other than calls go without bursts";
        rule(weighs && self.burst != Burst::Off, "weight", no_bursts)?;
        rule(
            self.contexts.call_paths && (!is_alone || self.has_bursts_in_program()),
            "weight",
            "paths to calls are for profile=contexts alone, without bursts by the clock",
        )?;
        refuse(weighs && !is_alone, "weight", || {
            ValueError::OnlyFor(weight.to_string(), "profile=contexts alone")
        })?;
        let no_trace = "weights other than calls are for running programs, not for traces";
        rule(weighs && self.is_trace(), "weight", no_trace)?;
        let (name, value, least) = match self.contexts.epsilon {
            Some(_) => ("epsilon", epsilon, MIN_EPSILON),
            None => ("phi", phi, 5.0 * MIN_EPSILON),
        };
        refuse(epsilon < MIN_EPSILON, name, || ValueError::TooSmall(value, least))
    }
}
