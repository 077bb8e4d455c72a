//! Where a profile comes from and of which time it is, for stores that hold those of many programs.

use trodden_profile::{RunInfo, values};

/// What a run's facts say of it. What differs between merged runs is left out: it is true of none of them alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The program's name.
    pub service: Option<String>,
    /// Which build of it.
    pub build: Option<String>,
    /// The machine.
    pub host: Option<String>,
    /// One JVM, from its start to its end.
    pub jvm_id: Option<String>,
    /// Which part of all JVMs was drawn to be recorded: `1/100`.
    pub fleet: Option<String>,
    /// What else was said about it, by ascending key; of merged runs what all of them say.
    pub labels: Vec<(String, String)>,
    /// When it begins, in nanoseconds since 1970-01-01 UTC.
    pub started_ns: u64,
    /// How long it lasts.
    pub lasted_ns: u64,
}

impl Origin {
    /// Of a run: of its window, if it is one.
    pub fn of(run: &RunInfo) -> Self {
        let fact = |name| run.facts.text(name);
        let one = |name| {
            let text = fact(name)?.into_owned();
            (!text.is_empty() && values(&text).nth(1).is_none()).then_some(text)
        };
        let time = |name| fact(name)?.parse::<u64>().ok();
        let window = time("window_started_ms").zip(time("window_ended_ms"));
        let (started_ns, lasted_ns) = match window.filter(|(started, ended)| started <= ended) {
            Some((started, ended)) => (nanoseconds(started), nanoseconds(ended - started)),
            None => (nanoseconds(run.started_ms), (run.seconds * 1e9) as u64),
        };
        Origin {
            service: one("service"),
            build: one("build"),
            host: one("host"),
            jvm_id: one("jvm_id"),
            fleet: one("fleet"),
            labels: labels(fact("labels").as_deref().unwrap_or_default()),
            started_ns,
            lasted_ns,
        }
    }

    /// Names and values for a store, each name once: its own under the names given here, then the labels. A label with such a
    /// name is called `trodden.label.NAME`.
    pub fn named<'o>(&'o self, own: &[(&'o str, Option<&'o str>)]) -> Vec<(String, &'o str)> {
        let is_taken = |key: &str| own.iter().any(|&(name, _)| name == key);
        let labels = self.labels.iter().map(|(key, value)| {
            let key = if is_taken(key) {
                format!("trodden.label.{key}")
            } else {
                key.clone()
            };
            (key, value.as_str())
        });
        let own = own
            .iter()
            .filter_map(|&(name, value)| Some((name.to_owned(), value?)));
        own.chain(labels).collect()
    }
}

fn nanoseconds(ms: u64) -> u64 {
    ms.saturating_mul(1_000_000)
}

/// `region:eu+zone:a`; several, if the runs differ.
fn labels(text: &str) -> Vec<(String, String)> {
    let pairs = |text: &str| -> Vec<(String, String)> {
        let pairs = text.split('+').filter_map(|label| label.split_once(':'));
        // Neither can be told from what is not there.
        let pairs = pairs.filter(|(key, value)| !key.is_empty() && !value.is_empty());
        pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    };
    let mut runs = values(text).map(pairs);
    let mut all = runs.next().unwrap_or_default();
    for run in runs {
        all.retain(|label| run.contains(label));
    }
    // A name is in a store once, whatever a file says.
    all.sort();
    all.dedup_by(|next, first| next.0 == first.0);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(facts: &[(&str, &str)]) -> RunInfo {
        let facts = facts
            .iter()
            .map(|&(name, value)| (name.to_owned(), value.to_owned()));
        RunInfo {
            started_ms: 5_000,
            seconds: 2.5,
            facts: facts.collect(),
            ..RunInfo::default()
        }
    }

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn a_window_has_its_own_time() {
        let window = run(&[("window_started_ms", "7000"), ("window_ended_ms", "7250")]);
        let origin = Origin::of(&window);
        assert_eq!(
            (origin.started_ns, origin.lasted_ns),
            (7_000_000_000, 250_000_000)
        );
        for odd in [
            &[("window_started_ms", "7000")][..],
            &[("window_started_ms", "7000"), ("window_ended_ms", "6999")],
            &[("window_started_ms", "1 + 2"), ("window_ended_ms", "3")],
        ] {
            let origin = Origin::of(&run(odd));
            assert_eq!(
                (origin.started_ns, origin.lasted_ns),
                (5_000_000_000, 2_500_000_000)
            );
        }
    }

    #[test]
    fn what_differs_between_merged_runs_is_left_out() {
        let origin = Origin::of(&run(&[
            ("service", "shop"),
            ("host", "one + two"),
            ("build", ""),
            ("labels", "region:eu+zone:a + region:eu+zone:b"),
        ]));
        assert_eq!(origin.service.as_deref(), Some("shop"));
        assert_eq!((origin.host, origin.build), (None, None));
        assert_eq!(origin.labels, owned(&[("region", "eu")]));
        assert_eq!(
            Origin::of(&run(&[])),
            Origin {
                started_ns: 5_000_000_000,
                lasted_ns: 2_500_000_000,
                ..Origin::default()
            }
        );
    }

    #[test]
    fn a_name_is_there_once() {
        let origin = Origin::of(&run(&[
            ("host", "one"),
            ("labels", "host:two+url:http://a+url:b+odd+:x+y:"),
        ]));
        let named = origin.named(&[("host", origin.host.as_deref()), ("service", None)]);
        let named: Vec<(&str, &str)> = named
            .iter()
            .map(|(name, value)| (name.as_str(), *value))
            .collect();
        assert_eq!(
            named,
            [("host", "one"), ("trodden.label.host", "two"), ("url", "b")]
        );
    }
}
