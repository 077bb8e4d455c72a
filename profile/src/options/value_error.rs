//! Errors in the values of options.

use super::near::nearest;

/// A value that its option does not take, or not together with the others.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// None of the words that the option knows: kind of word, the word, the known ones.
    #[error("unknown {0} '{1}'{hint} (known: {known})", hint = hint(.1, .2), known = .2.join(", "))]
    Unknown(&'static str, String, &'static [&'static str]),
    /// The value, and what is wrong with it.
    #[error("'{0}' {1}")]
    Refused(String, &'static str),
    /// A number outside of its limits.
    #[error("'{0}' is not a number from {1} to {2}")]
    Range(String, u64, u64),
    /// A duration, and what is wrong with it.
    #[error("duration '{0}' {1}")]
    Duration(String, &'static str),
    /// A duration with a unit that is none: unit, duration.
    #[error("unknown unit '{0}' in '{1}' (known: ns, us, ms, s, m, h, d, w)")]
    Unit(String, String),
    /// A schedule, and what is wrong with it.
    #[error(
        "schedule '{0}': {1} (known: timer, ag:SAMPLES:STRIDE, sag:SAMPLES:STRIDE, span:DURATION:SAMPLES)"
    )]
    Schedule(String, &'static str),
    /// Bursts that are longer than their interval.
    #[error("a window of {0} does not fit an interval of {1}")]
    LongWindow(u32, u64),
    /// Bursts that are as long as their interval, or longer.
    #[error("a window of {0} leaves no time between windows of an interval of {1}")]
    NoPause(String, String),
    /// A pattern with a separator that is none, and what may have been meant.
    #[error("'{0}' matches nothing, as no name holds '{1}'; patterns are joined by '+' or ',': {2}")]
    Separator(String, char, String),
    /// A place of a file pattern that is not known: letter, pattern.
    #[error("unknown '%{0}' in '{1}' (known: %p, %t, %{{ENV}}, %%)")]
    Place(char, String),
    /// A name with a control character.
    #[error("there is a control character ({0:?}) in the name")]
    Control(char),
    /// A draw that holds for a part of a second.
    #[error("'{0}': a draw holds for a whole number of seconds")]
    Draw(String),
    /// A label that is wrong.
    #[error("label '{0}': {1}")]
    Label(String, Box<ValueError>),

    /// A rule that the options break together.
    #[error("{0}")]
    Rule(&'static str),
    /// A value that is for other options.
    #[error("'{0}' is for {1}")]
    OnlyFor(String, &'static str),
    /// A wish that only the event stream can fulfil, and the probe that was given.
    #[error("{0} needs probe=events, not '{1}'")]
    NeedsEvents(String, &'static str),
    /// A budget below the least for k: nodes, k, the least.
    #[error("{0} nodes are too few for k={1}: at least {2} are needed")]
    FewNodes(u32, u32, u32),
    /// A value of epsilon that is not below that of phi.
    #[error("{0} is not below phi = {1}")]
    NotBelowPhi(f64, f64),
    /// A share below the least.
    #[error("{0:e} is too small: at least {1:e}")]
    TooSmall(f64, f64),
    /// A choice that windows do not go with, and why.
    #[error("windows hold what was counted since the one before, and {0} {1}")]
    NoWindows(String, &'static str),
}

impl ValueError {
    /// The error for a value, and what is wrong with it.
    pub(super) fn refused(given: &str, why: &'static str) -> Self {
        ValueError::Refused(given.to_owned(), why)
    }
}

fn hint(given: &str, known: &[&'static str]) -> String {
    let near = nearest(given, known.iter().copied());
    near.map(|word| format!("; did you mean '{word}'?"))
        .unwrap_or_default()
}

/// A file's name as an option takes it.
pub(super) fn file_name(value: &str) -> Result<String, ValueError> {
    match value {
        "" => Err(ValueError::Rule("the file name is empty")),
        name => Ok(name.to_owned()),
    }
}
