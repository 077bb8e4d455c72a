//! One row of the table of options. The rows are in `entries`, by group.

use super::{Action, Probe, ProfileKind, ProfileOptions, Schedule, SubpathCounts, ValueError};

/// One option: all that the parser, the printer, the help, the documentation and the agent need.
#[derive(Clone, Copy, Debug)]
pub struct OptionEntry {
    /// The word: `--name VALUE` on the command line, `name=value` elsewhere. In the agent string and in
    /// properties files an underscore is taken as a hyphen.
    pub name: &'static str,
    /// Syntax of its values.
    pub value: &'static str,
    /// The default, described or in option syntax.
    pub default: &'static str,
    /// A value other than the default.
    pub example: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// Can it be given several times, or with `+` between values?
    pub list: bool,
    /// Where it is given.
    pub taken: TakenBy,
    /// Is its value in these options one that only a replay takes?
    pub(super) only_replayed: fn(&ProfileOptions) -> bool,
    /// Actions that take it.
    pub actions: &'static [Action],
    /// Who needs it.
    pub level: Level,
    /// Where it applies: one of these has to hold. Empty: everywhere.
    pub uses: &'static [Use],
    /// Does it choose code and its probes, so that it does not apply to code that carries its probes already?
    pub code: bool,
    /// The change that it makes.
    pub effect: Effect,
    /// Sets it from a value in option syntax; for a list, from all its values.
    pub(super) set: fn(&mut ProfileOptions, &str) -> Result<(), ValueError>,
    /// Its value in option syntax; `None` if it has none.
    pub(super) get: fn(&ProfileOptions) -> Option<String>,
    /// The part of it that counts for its [`effect`](Self::effect): two values with equal marks have the same
    /// effect.
    pub(super) mark: Option<fn(&ProfileOptions) -> String>,
}

impl OptionEntry {
    /// The common part of most entries.
    pub(super) const PLAIN: OptionEntry = OptionEntry {
        name: "",
        value: "",
        default: "",
        example: "",
        help: "",
        list: false,
        taken: TakenBy::Recording,
        only_replayed: |_| false,
        actions: &[Action::Start],
        level: Level::Usual,
        uses: &[],
        code: false,
        effect: Effect::Nothing,
        set: |_, _| Ok(()),
        get: |_| None,
        mark: None,
    };

    /// Returns true if the agent and the commands that start it take it.
    pub fn is_recorded(&self) -> bool {
        self.taken != TakenBy::Replay
    }

    /// Returns true if a replay takes it.
    pub fn is_replayed(&self) -> bool {
        self.taken != TakenBy::Recording
    }

    /// True for options with which it applies.
    pub fn applies(&self, options: &ProfileOptions) -> bool {
        self.uses.is_empty() || self.uses.iter().any(|one| one.holds(options))
    }

    /// Where it applies, as text: `profile=kpaths or profile=contexts`; `None`: everywhere.
    pub fn scope(&self) -> Option<String> {
        let words: Vec<&str> = self.uses.iter().map(|one| one.words).collect();
        (!words.is_empty()).then(|| words.join(" or "))
    }

    /// Its value, in option syntax; `None` if it has none.
    pub fn value_in(&self, options: &ProfileOptions) -> Option<String> {
        (self.get)(options)
    }

    /// The part of it that decides about classes and counts, if it does with these options.
    pub(super) fn mark_in(&self, options: &ProfileOptions) -> Option<String> {
        let counts = match self.effect {
            Effect::Nothing => false,
            Effect::Classes => true,
            Effect::Counts(uses) => uses.iter().any(|one| one.holds(options)),
        };
        counts.then(|| match self.mark {
            Some(mark) => mark(options),
            None => (self.get)(options).unwrap_or_default(),
        })
    }

    /// Is this one of its names? With `loose`, an underscore is taken as a hyphen.
    pub(super) fn is_named(&self, given: &str, loose: bool) -> bool {
        let hyphens = given.replace('_', "-");
        self.name == given || (loose && self.name == hyphens)
    }
}

/// Where an option is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenBy {
    /// To the agent, and to commands that start it: it is about the program that runs.
    Recording,
    /// To `trodden replay` alone: research on event streams.
    Replay,
    /// To both: it is about the analysis of an event stream.
    Both,
}

/// Who needs an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Most users: in every help.
    Basic,
    /// Users of one kind of profile: `--help` names it in its group.
    Usual,
    /// Who studies the methods themselves: in `--help-all` only.
    Research,
}

/// The change that an option's value makes.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    /// Neither classes nor what counts mean.
    Nothing,
    /// The bytes of instrumented classes, so the counts too.
    Classes,
    /// In these uses, what the counts mean: those of two values must not be added.
    Counts(&'static [Use]),
}

/// A use that options are for.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// As text that follows "is for …".
    pub words: &'static str,
    /// Options that give it, in the syntax of the agent string.
    pub with: &'static str,
    /// Do these options?
    test: fn(&ProfileOptions) -> bool,
}

impl Use {
    /// Do these options give it?
    pub fn holds(&self, options: &ProfileOptions) -> bool {
        (self.test)(options)
    }

    /// A use that is given by the options that name it.
    const fn plain(words: &'static str, test: fn(&ProfileOptions) -> bool) -> Use {
        Use {
            words,
            with: words,
            test,
        }
    }

    /// `profile=kpaths`
    pub const KPATHS: Use = Use::plain("profile=kpaths", |o| o.has(ProfileKind::KPaths));
    /// `profile=contexts`
    pub const CONTEXTS: Use = Use::plain("profile=contexts", |o| o.has(ProfileKind::Contexts));
    /// `profile=subpaths`
    pub const SUBPATHS: Use = Use::plain("profile=subpaths", |o| o.has(ProfileKind::Subpaths));
    /// Subpaths, of which a sample is taken.
    pub const SAMPLED_SUBPATHS: Use = Use {
        words: "profile=subpaths with counts=sampled",
        with: "profile=subpaths",
        test: |o| o.has(ProfileKind::Subpaths) && o.subpaths.counts == SubpathCounts::Sampled,
    };
    /// `profile=structural`
    pub const STRUCTURAL: Use = Use::plain("profile=structural", |o| o.has(ProfileKind::Structural));
    /// `profile=coverage`, also where paths are wanted, so that it has become another one.
    pub const COVERAGE: Use = Use::plain("profile=coverage", |o| o.is_coverage() || o.covers_paths());
    /// Structural profiles whose loops are switched off between windows.
    pub const WINDOWS: Use = Use {
        words: "profile=structural with windows",
        with: "profile=structural,window=100",
        test: |o| o.has(ProfileKind::Structural) && o.structural.window.is_some(),
    };
    /// Probes that are taken out once enough is known.
    pub const RETIRING: Use = Use {
        words: "probe=auto on plain paths, or profile=structural",
        with: "probe=auto",
        test: ProfileOptions::retires,
    };
    /// `probe=yieldpoint`
    pub const YIELDPOINT: Use = Use::plain("probe=yieldpoint", |o| {
        !o.is_structural() && o.probe_in_use() == Probe::Yieldpoint
    });
    /// Samples whose number goes with the number of ticks.
    pub const SAMPLES_PER_TICK: Use = Use {
        words: "probe=yieldpoint with a schedule of samples",
        with: "probe=yieldpoint,schedule=sag:64:17",
        test: |o| Use::YIELDPOINT.holds(o) && !matches!(o.sampling.schedule, Schedule::Span { .. }),
    };
    /// Windows in a spool folder.
    pub const SPOOL: Use = Use {
        words: "windows in a spool folder",
        with: "spool=DIR",
        test: ProfileOptions::spools,
    };
    /// `probe=safepoint`
    pub const SAFEPOINT: Use = Use::plain("probe=safepoint", |o| o.probe == Probe::Safepoint);
    /// Every path end is counted, by probes that stay, in one profile of the whole run.
    pub const COUNTED: Use = Use::plain("probe=counters", |o| {
        o.probe_in_use() == Probe::Counters
            && !o.is_structural()
            && !o.is_coverage()
            && !o.retires()
            && !o.spools()
    });
    /// Probes that stay, and whose counts say how often something was executed.
    pub const STAYING_COUNTS: Use = Use {
        words: "plain paths with probe=counters, or probe=yieldpoint and a schedule of spans",
        with: "probe=counters",
        test: |o| match o.probe_in_use() {
            _ if o.is_structural() || o.is_coverage() || o.retires() => false,
            Probe::Counters => true,
            Probe::Yieldpoint => matches!(o.sampling.schedule, Schedule::Span { .. }),
            _ => false,
        },
    };
}
