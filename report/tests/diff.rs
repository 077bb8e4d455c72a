//! `trodden diff` on profiles made by hand, whole and damaged.

use std::sync::Arc;

use crate::common::{self, Method, Random, class, run};
use trodden_insight::diff::{Diff, DiffError, DiffOptions};
use trodden_insight::source::Sources;
use trodden_profile::BlockExit::{Branch, FallThrough, Goto, Return};
use trodden_profile::Profile;
use trodden_report::{Repository, diff};

fn options() -> DiffOptions {
    DiffOptions {
        threshold: 0.0,
        ..DiffOptions::default()
    }
}

fn all_formats(diff: &Diff) -> [String; 5] {
    let sources = Sources::new(&[]);
    [
        diff::text(diff, &sources, false),
        diff::json(diff).unwrap(),
        diff::markdown(diff, &sources),
        diff::html(diff, &sources),
        diff::sarif(diff, &[], &Repository::default()).unwrap(),
    ]
}

#[test]
fn a_profile_does_not_differ_from_itself() {
    let profile = common::profile();
    let diff = Diff::new(&profile, &profile, &options()).unwrap();
    assert!(diff.methods.is_empty(), "{:?}", diff.methods);
    assert_eq!(diff.summary.work[0], diff.summary.work[1]);
}

#[test]
fn twice_the_work_is_no_difference() {
    let once = common::profile();
    let mut twice = once.clone();
    for counts in twice.classes.iter_mut().flat_map(|c| &mut c.counts) {
        counts.paths.values_mut().for_each(|n| *n *= 2);
        counts.partial.values_mut().for_each(|n| *n *= 2);
    }
    let diff = Diff::new(&once, &twice, &options()).unwrap();
    assert!(diff.methods.is_empty(), "{:?}", diff.methods);
    assert_eq!(diff.summary.scale, 2.0);
}

#[test]
fn nothing_to_compare_is_an_error() {
    let error = Diff::new(&common::profile(), &Profile::default(), &options()).unwrap_err();
    assert!(
        matches!(error, DiffError::NoPaths { which: "second", .. }),
        "{error}"
    );
}

#[test]
fn odd_counts_and_names_never_panic() {
    let profile = common::profile();
    let names = [
        "<script>alert(1)</script>",
        "a\u{1b}[2Jb",
        "\u{202e}evil",
        "",
        "lambda$x$1",
        "lambda$",
    ];
    let mut random = Random(7);
    for _ in 0..2_000 {
        let mut other = profile.clone();
        for class in &mut other.classes {
            let map = Arc::make_mut(&mut class.map);
            for (method, counts) in map.methods.iter_mut().zip(&mut class.counts) {
                match random.below(6) {
                    0 => method.name = names[random.below(6) as usize].to_owned(),
                    1 => {
                        counts.paths.insert(random.below(100), u64::MAX);
                    }
                    2 => counts.paths.values_mut().for_each(|n| *n = random.below(1 << 30)),
                    3 => counts.paths.clear(),
                    4 => {
                        counts
                            .partial
                            .insert((random.below(20) as u32, random.below(20)), random.below(1 << 40));
                    }
                    _ => {}
                }
            }
            if random.below(10) == 0 {
                map.name = names[random.below(6) as usize].to_owned();
            }
        }
        other.run.exact = random.below(2) == 0;
        let (before, after) = match random.below(2) {
            0 => (&profile, &other),
            _ => (&other, &profile),
        };
        match Diff::new(before, after, &options()) {
            Ok(diff) => {
                for text in all_formats(&diff) {
                    assert!(!text.contains('\u{1b}'), "{text}");
                }
            }
            Err(DiffError::NoPaths { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

/// `main`: a loop that calls `answer`, which decides, for each of the requests; `slow` of them take the long way.
fn server(requests: u64, slow: u64) -> Profile {
    let main = Method::new("main", "()V")
        .block(&[1], FallThrough, &[1])
        .block(&[2], Branch, &[3, 2])
        .block(&[3], Goto, &[1])
        .block(&[4], Return, &[])
        .count(&[0], 1)
        .count(&[1, 2], requests)
        .count(&[1, 3], 1);
    let answer = Method::new("answer", "(I)V")
        .block(&[10], Branch, &[2, 1])
        .block(&[11], Goto, &[3])
        .block(&[12, 13, 14, 15, 16, 17], Goto, &[3])
        .block(&[18], Return, &[])
        .count(&[0, 1, 3], requests - slow)
        .count(&[0, 2, 3], slow);
    Profile {
        run: run(true),
        classes: vec![class("demo/Server", Some("Server.java"), vec![main, answer])],
        ..Profile::default()
    }
}

fn text(diff: &Diff) -> String {
    diff::text(diff, &Sources::new(&[]), false)
}

#[test]
fn a_loop_that_turns_more_often_is_more_of_the_same() {
    let before = server(10_000, 100);
    for (requests, slow, factor) in [(1_800, 18, "0.18"), (20_000, 200, "2.00"), (41_000, 400, "4.10")] {
        let diff = Diff::new(&before, &server(requests, slow), &options()).unwrap();
        assert!(diff.methods.is_empty(), "{requests}: {:?}", diff.methods);
        let said = text(&diff).replace('\n', " ");
        let amount = format!("The second run did {factor} times as much of the same.");
        assert_eq!(said.matches(&amount).count(), 1, "{said}");
        assert!(said.starts_with("No method behaves differently."), "{said}");
    }
}

#[test]
fn a_slow_path_is_named_whatever_was_done() {
    for requests in [10_000, 1_800, 20_000] {
        let diff = Diff::new(&server(10_000, 100), &server(requests, requests / 4), &options()).unwrap();
        let names: Vec<&str> = diff.methods.iter().map(|change| &*change.name).collect();
        assert_eq!(names, ["answer"], "{requests}");
        let cause = diff.methods[0].cause.as_ref().unwrap();
        assert_eq!(cause.line, Some(10));
        let said = text(&diff).replace('\n', " ");
        assert!(said.starts_with("1 method behaves differently."), "{said}");
        assert!(!said.contains("after as before"), "{said}");
        if requests == 10_000 {
            assert!(said.contains("Executed work for the same job grew by"), "{said}");
        }
    }
}

#[test]
fn sarif_names_the_branch_that_explains_it() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("module/src");
    std::fs::create_dir_all(folder.join("demo")).unwrap();
    std::fs::create_dir(home.path().join(".git")).unwrap();
    std::fs::write(folder.join("demo/Server.java"), "").unwrap();
    let results = |before: u64, after: u64| -> serde_json::Value {
        let diff = Diff::new(&server(10_000, before), &server(10_000, after), &options()).unwrap();
        let repository = Repository::around(&home.path().join("module"));
        let folders = [std::path::PathBuf::from("src"), folder.clone()];
        let text = diff::sarif(&diff, &folders, &repository).unwrap();
        let mut sarif: serde_json::Value = serde_json::from_str(&text).unwrap();
        sarif["runs"][0]["results"].take()
    };
    let more = results(100, 2_500);
    assert_eq!(more.as_array().unwrap().len(), 1, "{more:#}");
    assert_eq!(
        (&more[0]["ruleId"], &more[0]["level"]),
        (&"more-work".into(), &"warning".into())
    );
    let place = &more[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "module/src/demo/Server.java");
    assert_eq!(place["region"]["startLine"], 10);
    let said = more[0]["message"]["text"].as_str().unwrap();
    assert!(said.starts_with("demo.Server.answer(int): +"), "{said}");
    assert!(
        said.contains("line 10: branch taken: 25.0 % of 10,000 times"),
        "{said}"
    );
    let less = results(2_500, 100);
    assert_eq!(
        (&less[0]["ruleId"], &less[0]["level"]),
        (&"less-work".into(), &"note".into())
    );
    assert_ne!(less[0]["partialFingerprints"], more[0]["partialFingerprints"]);
    assert_eq!(results(100, 100), serde_json::json!([]));
}

#[test]
fn programs_without_a_common_method_are_unlike() {
    let server = server(10_000, 100);
    assert_eq!(Diff::new(&server, &server, &options()).unwrap().likeness, 1.0);
    let other = common::profile();
    let diff = Diff::new(&server, &other, &options()).unwrap();
    assert!(diff.likeness < 0.05, "{}", diff.likeness);
}

#[test]
fn a_side_without_runs_is_refused() {
    let error = Diff::of_runs(&[], &[server(10, 1)], &options()).unwrap_err();
    assert!(matches!(error, DiffError::NoRuns("before")), "{error}");
}

#[test]
fn runs_that_differ_among_themselves_say_nothing() {
    // Threads find a queue empty more or less often.
    let runs = |slow: [u64; 4]| slow.map(|slow| server(10_000, slow));
    let same = Diff::of_runs(
        &runs([100, 900, 300, 2_000]),
        &runs([1_500, 200, 2_400, 700]),
        &options(),
    )
    .unwrap();
    assert!(same.methods.is_empty(), "{:?}", same.methods);
    let other = Diff::of_runs(
        &runs([100, 110, 95, 105]),
        &runs([1_500, 1_450, 1_600, 1_550]),
        &options(),
    )
    .unwrap();
    assert_eq!(other.methods[0].name, "answer");
    // Means, not sums.
    let entries = other.methods[0].entries;
    assert!(
        entries.iter().all(|n| (9_990..=10_010).contains(n)),
        "{entries:?}"
    );
    assert_eq!(other.runs, [4, 4]);
}

/// `escape`: four blocks, of which the last is as long as given.
fn escape(descriptor: &str, last: &[u32]) -> Method {
    Method::new("escape", descriptor)
        .block(&[30], Branch, &[2, 1])
        .block(&[31, 32], Goto, &[3])
        .block(&[33, 34, 35], Goto, &[3])
        .block(last, Return, &[])
        .count(&[0, 1, 3], 500)
        .count(&[0, 2, 3], 500)
}

fn classes(of: Vec<(&str, Method)>) -> Profile {
    let classes = of
        .into_iter()
        .map(|(name, method)| class(name, None, vec![method]));
    Profile {
        run: run(true),
        classes: classes.collect(),
        ..Profile::default()
    }
}

#[test]
fn a_method_keeps_its_identity_with_other_parameters() {
    let before = classes(vec![("demo/Entities", escape("(I)V", &[36]))]);
    let after = classes(vec![("demo/Entities", escape("(IZ)V", &[36, 37]))]);
    let diff = Diff::new(&before, &after, &options()).unwrap();
    assert_eq!(
        (diff.summary.matched["new"], diff.summary.matched["gone"]),
        (0, 0)
    );
    assert_eq!(diff.summary.matched["graph"], 1);
}

#[test]
fn an_anonymous_class_keeps_its_identity_under_another_number() {
    let mut other = Method::new("escape", "(I)V")
        .block(&[90], Branch, &[2, 1])
        .block(&[91, 92, 93, 94, 95], FallThrough, &[2])
        .block(&[96, 97], Return, &[])
        .count(&[0, 2], 7);
    let before = classes(vec![("demo/Factory$1", escape("(I)V", &[36]))]);
    // What was `$1` is `$2`, and has changed; `$1` is new.
    let mut after = classes(vec![
        ("demo/Factory$1", other),
        (
            "demo/Factory$2",
            escape("(I)V", &[36, 37])
                .count(&[0, 1, 3], 900)
                .count(&[0, 2, 3], 100),
        ),
    ]);
    let diff = Diff::new(&before, &after, &options()).unwrap();
    assert_eq!(
        (diff.summary.matched["new"], diff.summary.matched["gone"]),
        (1, 0)
    );
    let names: Vec<_> = diff
        .methods
        .iter()
        .map(|c| (&*c.class, c.renamed_from.as_deref()))
        .collect();
    assert!(
        names.contains(&("demo/Factory$2", Some("demo.Factory$1.escape(int)"))),
        "{names:?}"
    );
    // A lambda's or a generic signature's `$` is no number.
    other = escape("(I)V", &[36]);
    after = classes(vec![("demo/Factory$Inner", other)]);
    let diff = Diff::new(&before, &after, &options()).unwrap();
    assert_eq!(diff.summary.matched["partial"], 0);
}
