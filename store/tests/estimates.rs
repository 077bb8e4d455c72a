//! The question `changed` distinguishes chance from change: counts of which the truth is known, exact and as
//! samples of it.

mod common;
mod fleet;
mod support;

use std::collections::BTreeSet;

use common::{DAY, HOUR, Window, fixture};
use trodden_profile::Profile;
use trodden_store::query::Value;
use trodden_store::{AddOptions, Adder};

/// How the counts came about.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// Each execution was counted.
    Counted,
    /// Each count is a number of samples.
    Sampled,
    /// Several kinds of probes: their error is not known.
    Unknown,
}

/// The method with the most paths that ran, and these counts for its first two, none for the others.
fn with_counts(how: How, counts: [u64; 2]) -> (Profile, String) {
    let mut profile = fixture("counters");
    if how != How::Counted {
        profile.run.exact = false;
        profile.run.schedule = Some("sag:64:17".to_owned());
        profile.run.probe = match how {
            How::Unknown => "yieldpoint + safepoint",
            _ => "yieldpoint",
        }
        .to_owned();
    }
    let (class, method) = (0..profile.classes.len())
        .flat_map(|class| (0..profile.classes[class].counts.len()).map(move |method| (class, method)))
        .max_by_key(|&(class, method)| profile.classes[class].counts[method].paths.len())
        .unwrap();
    let class = &mut profile.classes[class];
    let paths = &mut class.counts[method].paths;
    assert!(paths.len() >= 2);
    for (place, count) in paths.values_mut().enumerate() {
        *count = counts.get(place).copied().unwrap_or(0);
    }
    paths.retain(|_, count| *count > 0);
    let name = class.map.methods[method].name.clone();
    (profile, name)
}

/// `kind exact` of the rows about that method, after it had the first counts in one build and the second in
/// the next.
async fn found(how: How, counts: [[u64; 2]; 2]) -> BTreeSet<String> {
    let kept = support::empty().await;
    let mut files = Vec::new();
    let mut method = String::new();
    for (at, build) in ["one", "two"].into_iter().enumerate() {
        let (profile, name) = with_counts(how, counts[at]);
        let mut window = Window::new(at as u128, 1, DAY + at as u64 * HOUR);
        (window.build, window.times) = (build, 1);
        files.push(window.save(&profile, kept.folder.path()));
        method = name;
    }
    let added = Adder::new(&kept.store)
        .add(&files, &AddOptions::default())
        .await
        .unwrap();
    assert_eq!(added.windows, 2);
    let asked = support::ask(&kept, "changed", &[]).await;
    let of_method = asked
        .answer
        .rows
        .iter()
        .filter(|row| asked.answer.get(row, "method").text() == Some(method.as_str()));
    assert_eq!(
        of_method.clone().count(),
        asked.answer.rows.len(),
        "nothing else changed: {:?}",
        asked.answer.rows
    );
    of_method
        .map(|row| {
            let exact = asked.answer.get(row, "exact") == &Value::Flag(true);
            format!("{} {exact}", asked.answer.get(row, "kind").plain())
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_chance_may_do_is_no_change() {
    let none = BTreeSet::new();
    let only = |text: &str| BTreeSet::from([text.to_owned()]);
    // A tenth of all executions went from one path to the other. Of counts, that is certain. Four standard
    // errors of the difference of such shares of 200 samples are 28 %.
    let little = [[100, 100], [120, 80]];
    assert_eq!(found(How::Counted, little).await, only("share true"));
    assert_eq!(found(How::Sampled, little).await, none);
    assert_eq!(found(How::Unknown, little).await, none);
    // Two fifths: more than chance does to samples.
    let much = [[100, 100], [180, 20]];
    assert_eq!(found(How::Counted, much).await, only("share true"));
    assert_eq!(found(How::Sampled, much).await, only("share false"));
    assert_eq!(found(How::Unknown, much).await, none);
    // The same tenth of a hundred times as many samples.
    let many = [[10_000, 10_000], [12_000, 8_000]];
    assert_eq!(found(How::Sampled, many).await, only("share false"));
}
