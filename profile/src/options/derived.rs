//! Facts that follow from several options together.

use std::time::Duration;

use super::fleet::WINDOW;
use super::{
    Burst, BurstEvents, ContextAlgorithm, ContextWeight, CoverageOf, FileFormat, FilePattern, Probe,
    ProfileKind, ProfileOptions, SubpathCounts, UseProfile,
};

impl ProfileOptions {
    /// Is each loop profiled on its own?
    pub fn is_structural(&self) -> bool {
        self.profile.contains(&ProfileKind::Structural)
    }

    /// Are there windows, which hold what was counted since the one before?
    pub fn spools(&self) -> bool {
        self.fleet.spool.is_some()
    }

    /// Time between periodic dumps: profiles of everything that was counted, or windows. `None`: only at the
    /// end.
    pub fn dump_every(&self) -> Option<Duration> {
        self.output.dump.or(self.spools().then_some(WINDOW))
    }

    /// True if a file is written at the end that holds everything that was counted. With windows only if it
    /// was asked for.
    pub fn writes_file(&self) -> bool {
        !self.spools() || self.is_given("file") || self.output.file != FilePattern::default()
    }

    /// Is it only marked what ran?
    pub fn is_coverage(&self) -> bool {
        self.profile.contains(&ProfileKind::Coverage)
    }

    /// Are paths counted for coverage: those of all methods, up to the block in which an exception cuts them
    /// off?
    pub fn covers_paths(&self) -> bool {
        self.coverage == CoverageOf::Paths
            && self.profile == [ProfileKind::Paths]
            && self.probe == Probe::Counters
    }

    /// Coverage of paths is counted paths.
    pub(super) fn count_for_coverage(&mut self) {
        if self.coverage == CoverageOf::Paths && self.profile == [ProfileKind::Coverage] {
            self.profile = vec![ProfileKind::Paths];
            if self.probe == Probe::Auto {
                self.probe = Probe::Counters;
            }
            self.given.insert("probe");
        }
    }

    /// The paths of requests are differences of counts that stay.
    pub(super) fn count_for_requests(&mut self) {
        let plain = self.profile == [ProfileKind::Paths] && self.probe == Probe::Auto;
        if !self.code.requests.is_empty() && plain && !self.is_given("probe") {
            self.probe = Probe::Counters;
            self.given.insert("probe");
        }
    }

    /// The file with the profile of a former run, by whose frequencies methods are numbered.
    pub fn former_profile(&self) -> Option<&str> {
        match self.code.use_profile.as_ref()? {
            UseProfile::Former(file) => Some(file),
            UseProfile::Own(_) => None,
        }
    }

    /// When hot classes are numbered again by this run's own frequencies.
    pub fn renumber_after(&self) -> Option<Duration> {
        match self.code.use_profile.as_ref()? {
            UseProfile::Former(_) => None,
            UseProfile::Own(after) => Some(*after),
        }
    }

    /// `phi`, and `epsilon` as given or as it follows from `phi`.
    pub fn thresholds(&self) -> (f64, f64) {
        let phi = self.contexts.phi.get();
        (
            phi,
            self.contexts.epsilon.map_or(phi / 5.0, |epsilon| epsilon.get()),
        )
    }

    /// The options that only the event stream can give, as text.
    pub(super) fn wish_for_events(&self) -> Option<String> {
        if self.output.file.format() == FileFormat::Trace {
            return Some(format!("the trace '{}'", self.output.file));
        }
        let of_stream = |kind: &&ProfileKind| {
            use ProfileKind::{Coverage, Paths, Structural};
            !matches!(kind, Paths | Structural | Coverage)
        };
        let kind = self.profile.iter().find(of_stream)?;
        Some(format!("profile '{kind}'"))
    }

    /// Are probes taken out once enough is known? Probe `auto`, the default, on plain paths: every path end
    /// is counted until hot paths are known well enough. A schedule is about sampling, so with one the probe
    /// is `yieldpoint`; windows are of counters that stay. Profile `structural` does the same, unless it is
    /// to keep its probes.
    pub fn retires(&self) -> bool {
        if self.is_structural() {
            return self.structural.retire && self.structural.window.is_some();
        }
        self.probe == Probe::Auto
            && self.wish_for_events().is_none()
            && !self.is_coverage()
            && !self.is_given("schedule")
            // Counts of methods without probes are estimates, which may fall: there is no window of them.
            && !self.spools()
    }

    /// The share of the run that probe `auto`, or profile `structural`, may take.
    pub fn allowance(&self) -> f64 {
        f64::from(self.retiring.share.unwrap_or(100)) / 10_000.0
    }

    /// The probe that is really used: what `auto` selects depends on what is profiled.
    pub fn probe_in_use(&self) -> Probe {
        match self.probe {
            Probe::Auto if self.wish_for_events().is_some() => Probe::Events,
            // Exact counters while a window is open.
            Probe::Auto if self.is_structural() || self.is_coverage() => Probe::Counters,
            Probe::Auto if self.retires() => Probe::Counters,
            Probe::Auto if self.spools() && !self.is_given("schedule") => Probe::Counters,
            probe => probe.resolved(),
        }
    }

    /// Do the probes leave out path ends? Only where nothing but a sample of subpaths is wanted: which path
    /// end is needed next is known only once those before it have been consumed.
    pub fn skips_in_probes(&self) -> bool {
        self.subpaths.counts == SubpathCounts::Sampled
            && self.profile == [ProfileKind::Subpaths]
            && self.output.file.format() != FileFormat::Trace
            && !self.has_bursts_in_program()
    }

    /// Are activations that end one path counted in slots, and not in the stream? Only k-iteration paths can
    /// do without them: nothing follows such a path.
    pub fn counts_only_paths(&self) -> bool {
        let of_paths = |kind: &ProfileKind| matches!(kind, ProfileKind::KPaths | ProfileKind::Paths);
        self.profile.contains(&ProfileKind::KPaths)
            && self.profile.iter().all(of_paths)
            && self.burst == Burst::Off
            && self.output.file.format() != FileFormat::Trace
    }

    /// Are there bursts between which nothing of the running program is reported?
    pub fn has_bursts_in_program(&self) -> bool {
        matches!(self.burst, Burst::Timed { .. })
    }

    /// Do bursts by the clock replace every call, or every path? They do for contexts alone, and for
    /// k-iteration paths alone, in a running program, unless an option says what is counted, or something
    /// else is asked for that bursts do not give.
    pub fn bursts_unless_told(&self) -> bool {
        let alone = match self.profile[..] {
            [ProfileKind::Contexts] => {
                !self.is_given("algorithm")
                    && self.contexts.algorithm == ContextAlgorithm::LazySpaceSaving
                    && self.contexts.weight == ContextWeight::Calls
                    && !self.contexts.call_paths
            }
            [ProfileKind::KPaths] => self.kpaths.budget.is_none(),
            _ => false,
        };
        alone
            && self.burst == Burst::Off
            && !self.is_given("burst")
            && self.output.file.format() != FileFormat::Trace
            && !self.spools()
    }

    /// Takes those bursts: of the JVM's own events, rare and long, or, of contexts, of probes, frequent and
    /// short. Options that [say otherwise](Self::bursts_unless_told) stay. Tells whether it took them.
    pub fn take_bursts_unless_told(&mut self, events: BurstEvents) -> bool {
        if !self.bursts_unless_told() {
            return false;
        }
        let (interval, length) = match events {
            // Steps take ten times as long as calls and returns.
            BurstEvents::Jvm if self.follows_steps() => {
                (Duration::from_millis(200), Duration::from_millis(2))
            }
            BurstEvents::Jvm => (Duration::from_millis(100), Duration::from_millis(2)),
            BurstEvents::Probes if self.follows_steps() => return false,
            BurstEvents::Probes => (Duration::from_millis(2), Duration::from_micros(200)),
        };
        self.burst = Burst::Timed {
            interval,
            length,
            events,
        };
        true
    }

    /// Does the JVM report what runs in bursts, so that no code carries probes?
    pub fn has_events_of_jvm(&self) -> bool {
        let burst = self.burst;
        matches!(burst, Burst::Timed { events, .. } if events == BurstEvents::Jvm)
    }

    /// Are the JVM's events single steps, of which paths are made?
    pub fn has_steps_of_jvm(&self) -> bool {
        self.has_events_of_jvm() && self.follows_steps()
    }

    /// Would bursts of the JVM's events be of single steps?
    pub fn follows_steps(&self) -> bool {
        self.profile != [ProfileKind::Contexts]
    }

    /// Are paths counted that an exception cuts off?
    pub fn counts_cut_paths(&self) -> bool {
        self.covers_paths() && self.counts_path_ends()
    }

    /// Are paths read from frames that have not ended when a profile is written?
    pub fn reads_open_paths(&self) -> bool {
        let stays = self.probe == Probe::Counters || (self.probe == Probe::Auto && self.spools());
        stays && self.counts_path_ends()
    }

    /// Do probes count every path end, as long as they are in?
    pub(super) fn counts_path_ends(&self) -> bool {
        self.probe_in_use() == Probe::Counters && !self.is_structural() && !self.is_coverage()
    }
}
