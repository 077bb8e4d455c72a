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
    pub labels: Vec<(String, String)>,
}

const UNKNOWN: &str = "unknown";

impl About {
    /// The head of a profile. `hash`: SHA-256 of its file, in hexadecimal digits, which identifies the JVM if
    /// the profile does not.
    ///
    /// # Errors
    /// As text, if its facts make no sense.
    pub fn of(profile: &Profile, hash: &str, defaults: &Defaults) -> Result<About, String> {
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
            let number = text.parse::<i64>().ok().filter(|&number| number >= 0);
            number
                .map(Some)
                .ok_or_else(|| format!("its fact '{name}' is '{text}', no number"))
        };
        let own = |fact: &str, default: &Option<String>| text(fact).or_else(|| default.clone());
        let id = (text("jvm_id"), number("window")?);
        let (jvm, window) = match id {
            (Some(jvm), Some(window)) => {
                let digits =
                    jvm.len() == 32 && jvm.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
                match (digits, window) {
                    (true, 1..) => (jvm, window as u64),
                    (false, _) => {
                        return Err(format!("its fact 'jvm_id' is '{jvm}', not 32 hexadecimal digits"));
                    }
                    (true, _) => {
                        return Err(format!(
                            "its fact 'window' is {window}; windows are counted from 1"
                        ));
                    }
                }
            }
            (None, None) => (hash.chars().take(32).collect(), 1),
            (Some(_), None) => return Err("it has the fact 'jvm_id' and no 'window'".to_owned()),
            (None, Some(_)) => return Err("it has the fact 'window' and no 'jvm_id'".to_owned()),
        };
        let started =
            i64::try_from(run.started_ms).map_err(|_| "it began after the end of time".to_owned())?;
        let lasted = (run.seconds.max(0.0) * 1000.0).min(1e15) as i64;
        let started_ms = number("window_started_ms")?.unwrap_or(started);
        let ended_ms = number("window_ended_ms")?.unwrap_or(started_ms.saturating_add(lasted));
        // What Parquet and its readers take for a time.
        const LAST: i64 = 253_402_300_799_999;
        if started_ms > LAST || ended_ms > LAST {
            return Err(format!(
                "it is of the time {}, after the year 9999",
                started_ms.max(ended_ms)
            ));
        }
        let labels = match text("labels") {
            Some(text) => parse_labels(&text)?,
            None => defaults.labels.clone(),
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
            ended_ms: ended_ms.max(started_ms),
            labels,
        })
    }

    pub fn day(&self) -> Day {
        Day::of_ms(self.started_ms)
    }
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
fn parse_labels(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut labels = Vec::new();
    for label in text.split('+') {
        let parts = label.split_once(':').filter(|(key, _)| !key.is_empty());
        let (key, value) = parts.ok_or_else(|| format!("its fact 'labels' has '{label}', not KEY:VALUE"))?;
        labels.push((key.to_owned(), value.to_owned()));
    }
    sort_labels(labels)
}

/// By ascending keys.
///
/// # Errors
/// As text, if there are two of one key.
pub fn sort_labels(mut labels: Vec<(String, String)>) -> Result<Vec<(String, String)>, String> {
    labels.sort();
    match labels.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        Some(pair) => Err(format!("there are two labels '{}'", pair[0].0)),
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
    let goes_on = facts.get(facts::WINDOW).is_some() && facts.get(facts::WINDOW_LAST).is_none();
    is("cut_paths", "count") && (goes_on || (is("open_paths", "read") && !unread))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        profile.run.started_ms = 1_000;
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
            ("window_started_ms", "60000"),
            ("window_ended_ms", "120000"),
        ];
        let defaults = Defaults {
            service: Some("other".to_owned()),
            ..Defaults::default()
        };
        let about = About::of(&profile(&facts), "ff", &defaults).unwrap();
        let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = About {
            service: "shop".to_owned(),
            build: "4f".to_owned(),
            host: "h1".to_owned(),
            jvm: jvm.to_owned(),
            window: 7,
            started_ms: 60_000,
            ended_ms: 120_000,
            labels: vec![label("region", "eu"), label("zone", "a:b")],
        };
        assert_eq!(about, expected);
    }

    #[test]
    fn other_profiles_take_what_there_is() {
        let hash = "a".repeat(64);
        let about = About::of(&profile(&[]), &hash, &Defaults::default()).unwrap();
        assert_eq!(
            (&*about.service, &*about.build, &*about.host),
            ("shop.jar", "unknown", "unknown")
        );
        assert_eq!((about.jvm, about.window), ("a".repeat(32), 1));
        assert_eq!((about.started_ms, about.ended_ms), (1_000, 3_500));
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
            let error = About::of(&profile(&facts), "ff", &Defaults::default()).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
