//! Which window a profile is: by its own facts; else by what its file says of the run, and the command line.

use trodden_profile::Profile;
use trodden_profile::facts::{self, Facts};

use crate::log::Day;

/// For profiles that do not say it themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Defaults {
    /// The service; the main class or jar, if that is not given.
    pub service: Option<String>,
    /// The build; `unknown`.
    pub build: Option<String>,
    /// The host; `unknown`.
    pub host: Option<String>,
    /// Labels, by ascending keys.
    pub labels: Vec<(String, String)>,
}

/// A window.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct About {
    pub service: String,
    pub build: String,
    pub host: String,
    pub jvm: String,
    pub window: u64,
    pub started_ms: i64,
    pub ended_ms: i64,
    /// When it began by its own clock, if that is far off: then `started_ms` is when it was taken in.
    pub claimed_ms: Option<i64>,
    /// The last window of its recording.
    pub is_last: bool,
    pub labels: Vec<(String, String)>,
}

/// No profile is older: 2020-01-01.
const FIRST_MS: i64 = 1_577_836_800_000;
/// No clock is right that is further ahead: a leap year.
const MAX_AHEAD_MS: i64 = 366 * 86_400_000;

/// A clock that says this is wrong, by the clock of the one that takes the window in.
fn is_far(at_ms: i64, taken_ms: i64) -> bool {
    at_ms < FIRST_MS || at_ms > taken_ms.saturating_add(MAX_AHEAD_MS)
}

const UNKNOWN: &str = "unknown";

/// Facts of a profile that make no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SenselessFact {
    /// A number is none.
    #[error("its fact '{fact}' is '{text}', no number")]
    NoNumber {
        /// Which fact.
        fact: String,
        /// Its value.
        text: String,
    },
    /// The recording has no id.
    #[error("its fact 'jvm_id' is '{0}', not 32 hexadecimal digits")]
    Jvm(String),
    /// The window has no number.
    #[error("its fact 'window' is {0}; windows are counted from 1")]
    Window(i64),
    /// One of both facts is missing.
    #[error("it has the fact '{there}' and no '{missing}'")]
    Half {
        /// The one that is there.
        there: &'static str,
        /// The one that is not.
        missing: &'static str,
    },
    /// Its start is no time.
    #[error("it began after the end of time")]
    NoTime,
    /// Readers of Parquet know no such time.
    #[error("it is of the time {0}, after the year 9999")]
    TooLate(i64),
    /// A label has no key.
    #[error("its fact 'labels' has '{0}', not KEY:VALUE")]
    Label(String),
    /// Two labels have one key.
    #[error(transparent)]
    TwoLabels(#[from] TwoLabels),
}

/// Two labels have one key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there are two labels '{0}'")]
pub struct TwoLabels(String);

impl About {
    /// The head of a profile. `hash`: SHA-256 of its file, in hexadecimal digits, which identifies the JVM if
    /// the profile does not. `taken_ms`: now.
    ///
    /// # Errors
    /// If its facts make no sense.
    pub fn of(
        profile: &Profile,
        hash: &str,
        defaults: &Defaults,
        taken_ms: i64,
    ) -> Result<About, SenselessFact> {
        let run = &profile.run;
        let text = |name: &str| {
            run.facts
                .text(name)
                .map(|text| text.into_owned())
                .filter(|text| !text.is_empty())
        };
        let number = |name: &str| {
            let Some(text) = text(name) else {
                return Ok(None);
            };
            match text.parse::<i64>() {
                Ok(number) if number >= 0 => Ok(Some(number)),
                _ => Err(SenselessFact::NoNumber {
                    fact: name.to_owned(),
                    text,
                }),
            }
        };
        let own = |fact: &str, default: &Option<String>| text(fact).or_else(|| default.clone());
        let id = (text("jvm_id"), number("window")?);
        let (jvm, window) = match id {
            (Some(jvm), Some(window)) => {
                let digits =
                    jvm.len() == 32 && jvm.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                match (digits, window) {
                    (true, 1..) => (jvm, window as u64),
                    (false, _) => return Err(SenselessFact::Jvm(jvm)),
                    (true, _) => return Err(SenselessFact::Window(window)),
                }
            }
            (None, None) => (hash.chars().take(32).collect(), 1),
            (Some(_), None) => return Err(half("jvm_id", "window")),
            (None, Some(_)) => return Err(half("window", "jvm_id")),
        };
        let started = i64::try_from(run.started_ms).map_err(|_| SenselessFact::NoTime)?;
        let lasted = (run.seconds.max(0.0) * 1000.0).min(1e15) as i64;
        let started_ms = number("window_started_ms")?.unwrap_or(started);
        let ended_ms = number("window_ended_ms")?.unwrap_or(started_ms.saturating_add(lasted));
        // What Parquet and its readers take for a time.
        const LAST: i64 = 253_402_300_799_999;
        if started_ms > LAST || ended_ms > LAST {
            return Err(SenselessFact::TooLate(started_ms.max(ended_ms)));
        }
        let labels = match text("labels") {
            Some(text) => parse_labels(&text)?,
            None => defaults.labels.clone(),
        };
        // One wrong clock must not move the newest day, nor the order of builds. The clock may have been set
        // while the window lasted: then its end is right.
        let claimed_ms = is_far(started_ms, taken_ms).then_some(started_ms);
        let started_ms = match claimed_ms {
            None => started_ms,
            Some(_) if is_far(ended_ms, taken_ms) => taken_ms,
            Some(_) => ended_ms,
        };
        Ok(About {
            service: own("service", &defaults.service)
                .or_else(|| program(&run.command))
                .unwrap_or_else(|| UNKNOWN.to_owned()),
            build: own("build", &defaults.build).unwrap_or_else(|| UNKNOWN.to_owned()),
            host: own("host", &defaults.host).unwrap_or_else(|| UNKNOWN.to_owned()),
            jvm,
            window,
            started_ms,
            ended_ms: if is_far(ended_ms, taken_ms) {
                started_ms
            } else {
                ended_ms.max(started_ms)
            },
            claimed_ms,
            is_last: is_last(&run.facts),
            labels,
        })
    }

    pub fn day(&self) -> Day {
        Day::of_ms(self.started_ms)
    }
}

fn half(there: &'static str, missing: &'static str) -> SenselessFact {
    SenselessFact::Half { there, missing }
}

/// The main class, or the jar without its folder.
fn program(command: &str) -> Option<String> {
    let first = command.split_whitespace().next()?;
    let name = if first.ends_with(".jar") {
        first.rsplit('/').next().unwrap_or(first)
    } else {
        first
    };
    Some(name.to_owned())
}

/// `region:eu+zone:a`.
fn parse_labels(text: &str) -> Result<Vec<(String, String)>, SenselessFact> {
    let mut labels = Vec::new();
    for label in text.split('+') {
        let parts = label.split_once(':').filter(|(key, _)| !key.is_empty());
        let (key, value) = parts.ok_or_else(|| SenselessFact::Label(label.to_owned()))?;
        labels.push((key.to_owned(), value.to_owned()));
    }
    Ok(sort_labels(labels)?)
}

/// By ascending keys.
///
/// # Errors
/// If there are two of one key.
pub fn sort_labels(mut labels: Vec<(String, String)>) -> Result<Vec<(String, String)>, TwoLabels> {
    labels.sort();
    match labels.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(TwoLabels(pair[0].0.clone())),
        None => Ok(labels),
    }
}

/// Returns true if paths were counted, too, that an exception cut off, or that were in progress at the end.
/// When a window ends that is not a JVM's last, paths in progress count in a later one.
pub(crate) fn counts_all_paths(facts: &Facts) -> bool {
    let is = |name: &str, value: &str| facts.text(name).is_some_and(|text| text == value);
    let unread = facts
        .get(facts::OPEN_FRAMES_UNREAD)
        .is_some_and(|count| count > 0);
    is("cut_paths", "count") && (!is_last(facts) || (is("open_paths", "read") && !unread))
}

/// No window of the recording comes after it. A profile that is no window is the only one.
fn is_last(facts: &Facts) -> bool {
    facts.get(facts::WINDOW).is_none() || facts.get(facts::WINDOW_LAST).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-25
    const NOW: i64 = 1_795_564_800_000;

    #[test]
    fn windows_that_count_all_paths() {
        let all = |facts: &[(&str, &str)]| counts_all_paths(&profile(facts).run.facts);
        let (cut, open) = (("cut_paths", "count"), ("open_paths", "read"));
        assert!(all(&[cut, open]));
        assert!(!all(&[cut]) && !all(&[open]));
        // The next window has the paths in progress; after the last one there is none.
        assert!(all(&[cut, ("window", "3")]));
        assert!(!all(&[("window", "3")]) && !all(&[cut, ("window", "3"), ("window_last", "true")]));
        assert!(all(&[cut, open, ("window", "3"), ("window_last", "true")]));
    }

    fn profile(facts: &[(&str, &str)]) -> Profile {
        let mut profile = Profile::default();
        profile.run.command = "/opt/shop/shop.jar --port 80".to_owned();
        profile.run.started_ms = NOW as u64 - 86_400_000;
        profile.run.seconds = 2.5;
        let facts = facts
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        profile.run.facts = facts.collect();
        profile
    }

    #[test]
    fn windows_say_what_they_are() {
        let jvm = "0123456789abcdef0123456789abcdef";
        let facts = [
            ("service", "shop"),
            ("build", "4f"),
            ("host", "h1"),
            ("labels", "region:eu+zone:a:b"),
            ("jvm_id", jvm),
            ("window", "7"),
            ("window_started_ms", "1795500060000"),
            ("window_ended_ms", "1795500120000"),
        ];
        let defaults = Defaults {
            service: Some("other".to_owned()),
            ..Defaults::default()
        };
        let about = About::of(&profile(&facts), "ff", &defaults, NOW).unwrap();
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = About {
            service: "shop".to_owned(),
            build: "4f".to_owned(),
            host: "h1".to_owned(),
            jvm: jvm.to_owned(),
            window: 7,
            started_ms: 1_795_500_060_000,
            ended_ms: 1_795_500_120_000,
            claimed_ms: None,
            is_last: false,
            labels: vec![label("region", "eu"), label("zone", "a:b")],
        };
        assert_eq!(about, expected);
    }

    #[test]
    fn other_profiles_take_what_there_is() {
        let hash = "a".repeat(64);
        let about = About::of(&profile(&[]), &hash, &Defaults::default(), NOW).unwrap();
        assert_eq!(
            (&*about.service, &*about.build, &*about.host),
            ("shop.jar", "unknown", "unknown")
        );
        assert_eq!((about.jvm, about.window), ("a".repeat(32), 1));
        let started = NOW - 86_400_000;
        assert_eq!((about.started_ms, about.ended_ms), (started, started + 2_500));
        assert!(about.is_last && about.claimed_ms.is_none());
    }

    /// 2100, 1970, and a clock that was set right after the start.
    #[test]
    fn windows_of_wrong_clocks_count_on_the_day_that_they_came() {
        let of = |started: &str, ended: &str| {
            let facts = [("window_started_ms", started), ("window_ended_ms", ended)];
            let about = About::of(&profile(&facts), "ff", &Defaults::default(), NOW).unwrap();
            (about.claimed_ms, about.started_ms, about.ended_ms)
        };
        let right = (NOW - 60_000).to_string();
        assert_eq!(
            of("4102444800000", "4102444860000").0,
            Some(4_102_444_800_000),
            "2100"
        );
        assert_eq!(of("4102444800000", "4102444860000").1, NOW);
        assert_eq!(of("1000", "61000"), (Some(1_000), NOW, NOW));
        assert_eq!(of("1000", &right), (Some(1_000), NOW - 60_000, NOW - 60_000));
        assert_eq!(of(&right, &right), (None, NOW - 60_000, NOW - 60_000));
    }

    #[test]
    fn facts_that_make_no_sense() {
        let jvm = "0".repeat(32);
        for (facts, reason) in [
            (vec![("jvm_id", "x"), ("window", "1")], "32 hexadecimal digits"),
            (vec![("jvm_id", &*jvm)], "no 'window'"),
            (vec![("window", "1")], "no 'jvm_id'"),
            (vec![("jvm_id", &*jvm), ("window", "0")], "counted from 1"),
            (vec![("window_started_ms", "soon")], "no number"),
            (vec![("window_started_ms", "99999999999999999")], "year 9999"),
            (vec![("labels", "region")], "not KEY:VALUE"),
            (vec![("labels", "a:1+a:2")], "two labels 'a'"),
        ] {
            let error = About::of(&profile(&facts), "ff", &Defaults::default(), NOW).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
