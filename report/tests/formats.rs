//! The formats over a made-up profile: goldens, sums, escaping, damage.

use std::sync::Arc;

use crate::common;
use scraper::{Html, Selector};
use serde_json::Value;
use trodden_profile::facts;
use trodden_profile::{MethodCounts, Profile, Skipped};
use trodden_report::{Report, ReportError, ReportOptions};

fn report(profile: &Profile) -> Report<'_> {
    Report::new(profile, &ReportOptions::default()).unwrap()
}

/// All methods in full.
fn full_text(profile: &Profile) -> String {
    let options = ReportOptions {
        all: true,
        ..ReportOptions::default()
    };
    Report::new(profile, &options).unwrap().text(false)
}

fn json(profile: &Profile) -> Value {
    serde_json::from_str(&report(profile).json().unwrap()).unwrap()
}

/// The page as a browser without script has it: with the elements of all methods.
fn html(profile: &Profile) -> String {
    let options = ReportOptions {
        sources: vec![common::sources()],
        ..ReportOptions::default()
    };
    let page = Report::new(profile, &options).unwrap().html().unwrap();
    page.replace("<noscript>", "").replace("</noscript>", "")
}

fn select(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    page.select(&selector).map(|e| e.text().collect()).collect()
}

/// Every format must come out, whatever is in the profile.
fn all_formats(profile: &Profile) {
    let report = report(profile);
    assert!(report.text(true).ends_with('\n'));
    report.json().unwrap();
    assert!(report.html().unwrap().ends_with("</html>\n"));
    assert!(report.dot().unwrap().ends_with("}\n"));
    assert!(report.svg().unwrap().ends_with("</svg>\n"));
}

#[test]
fn goldens() {
    let profile = common::profile();
    let report = report(&profile);
    insta::assert_snapshot!("json", report.json().unwrap());
    insta::assert_snapshot!("text", full_text(&profile));
    insta::assert_snapshot!("overview", report.text(false));
    insta::assert_snapshot!("dot", report.dot().unwrap());
}

#[test]
fn json_is_the_agreed_version_1() {
    let document = json(&common::profile());
    assert_eq!(document["format"], "trodden-report");
    assert_eq!(document["version"], 1);
    assert_eq!(document["run"]["schedule"], Value::Null);
    assert_eq!(document["methods"][0]["class"], "demo/Shop");
    let hottest = &document["methods"][0]["paths"][0];
    assert_eq!(hottest["count"], 640_000);
    assert_eq!(hottest["flow"], 3 * 640_000);
    assert_eq!(hottest["start"]["kind"], "header");
    assert_eq!(hottest["steps"][0]["branch"], "not-taken");
    assert_eq!(document["methods"][0]["branches"][0]["not_taken"], 954_700);
    assert_eq!(
        document["methods"][1]["switches"][0]["cases"][1]["case"],
        "case 2,3"
    );
    assert_eq!(document["skipped"][0]["method"], "parse()V");
}

/// What has probes is not among what was left as it was.
#[test]
fn methods_without_cut_paths_stand_apart() {
    let mut profile = common::profile();
    profile.skipped.push(Skipped {
        class: "a/Long".to_owned(),
        method: Some("m()V".to_owned()),
        reason: format!("{}too large", Skipped::NO_CUT_PATHS),
    });
    let document = json(&profile);
    assert_eq!(document["without_cut_paths"][0]["reason"], "too large");
    assert_eq!(document["without_cut_paths"].as_array().unwrap().len(), 1);
    assert_eq!(json(&common::profile()).get("without_cut_paths"), None);
}

/// What a report says of exact counts depends on what else was counted.
#[test]
fn what_is_not_counted_is_said() {
    let mut profile = common::profile();
    let head = |profile: &Profile| {
        let text = report(profile).text(false);
        let head = text.split("Hot methods").next().unwrap().to_owned();
        head.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert!(head(&profile).contains(
        "Not counted: paths that an exception cut off (coverage=paths), and paths that had not ended"
    ));
    profile.run.facts.set(facts::CUT_PATHS, "count");
    assert!(head(&profile).contains("Not counted: paths that had not ended when the profile was written."));
    profile.run.facts.set(facts::OPEN_PATHS, "read");
    assert!(!head(&profile).contains("Not counted"), "{}", head(&profile));
    profile.run.facts.set(facts::OPEN_FRAMES_UNREAD, 2u64);
    assert!(head(&profile).contains("in frames that could not be read"));
}

#[test]
fn methods_without_call_sites_stand_apart() {
    let mut profile = common::profile();
    profile.skipped.push(Skipped {
        class: "demo/Shop".into(),
        method: Some("grade(I)V".into()),
        reason: format!("{}too large", Skipped::NO_CALL_SITES),
    });
    let document = json(&profile);
    assert_eq!(document["skipped"], json(&common::profile())["skipped"]);
    assert_eq!(document["without_call_sites"].as_array().unwrap().len(), 1);
    assert_eq!(document["without_call_sites"][0]["reason"], "too large");
    assert_eq!(json(&common::profile()).get("without_call_sites"), None);
    all_formats(&profile);
    let text = full_text(&profile);
    assert!(
        text.contains("\n  1: too large (such as demo.Shop#grade(I)V)\n"),
        "{text}"
    );
    let page = Html::parse_document(&html(&profile));
    let titles = select(&page, "section.skipped h2");
    assert_eq!(titles, ["Left as they were", "Without call sites"]);
}

#[test]
fn shares_and_sums_add_up() {
    let document = json(&common::profile());
    let (mut share, mut count, mut flow) = (0.0, 0, 0);
    for method in document["methods"].as_array().unwrap() {
        let paths = method["paths"].as_array().unwrap();
        let sum = |key: &str| paths.iter().map(|p| p[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(sum("count"), method["count"].as_u64().unwrap());
        assert_eq!(sum("flow"), method["flow"].as_u64().unwrap());
        let of_paths: f64 = paths.iter().map(|p| p["share"].as_f64().unwrap()).sum();
        assert!((of_paths - method["share"].as_f64().unwrap()).abs() < 1e-9);
        for path in paths {
            let branches = path["steps"].as_array().unwrap().len() as u64;
            assert_eq!(
                path["flow"].as_u64(),
                path["count"].as_u64().map(|c| c * branches)
            );
        }
        share += of_paths;
        count += method["count"].as_u64().unwrap();
        flow += method["flow"].as_u64().unwrap();
    }
    assert!((share - 1.0).abs() < 1e-9);
    assert_eq!(document["totals"]["paths"], count);
    assert_eq!(document["totals"]["flow"], flow);
}

#[test]
fn html_has_the_rows_and_escapes_names() {
    let text = html(&common::profile());
    let page = Html::parse_document(&text);
    assert_eq!(select(&page, ".sortable tbody tr").len(), 5);
    assert_eq!(select(&page, "details.method").len(), 5);
    // Script elements must end where ours do, not inside a name: one with data, one with the script.
    assert_eq!(select(&page, "script").len(), 2);
    let data: Value = serde_json::from_str(&select(&page, "script#methods-data")[0]).unwrap();
    let class = data["methods"][2][0].as_u64().unwrap() as usize;
    assert_eq!(data["methods"][2][1], "a\"b</script>(Y)");
    assert_eq!(data["classes"][class][1], "A&B$<T>");
    assert_eq!(select(&page, "td i i, h2 i").len(), 0);
    assert_eq!(select(&page, "#m3 h2")[0], "3we<i>rd.A&B$<T>.a\"b</script>(Y)");
    assert!(select(&page, ".wide dd")[0].contains("--sort <input> & more"));
    assert!(
        select(&page, "#m1 .source tr.on-path")
            .iter()
            .any(|row| row.contains("sum += item - rebate;"))
    );
    assert!(
        !select(&page, "#m1 .source tr.on-path")
            .iter()
            .any(|row| row.contains("sum += item;"))
    );
    assert!(
        select(&page, "#m4 .note")
            .iter()
            .any(|n| n.contains("has no counter"))
    );
    assert_eq!(select(&page, "#m1 svg .block").len(), 10);
    assert_eq!(select(&page, "#m1 svg .edge").len(), 12);
    for outside in ["http://", "https://", "//cdn", "@import", "src="] {
        assert!(
            !text.contains(outside),
            "the page must need no network: {outside}"
        );
    }
}

/// What the page's table and tree are drawn from says what the JSON report says.
#[test]
fn the_pages_data_is_that_of_the_report() {
    let profile = common::profile();
    let document = json(&profile);
    let data = page_data(&html(&profile));
    assert_eq!(data["flow"], document["totals"]["flow"]);
    let methods = document["methods"].as_array().unwrap();
    assert_eq!(data["full"], methods.len());
    assert_eq!(data["methods"].as_array().unwrap().len(), methods.len());
    for (row, method) in data["methods"].as_array().unwrap().iter().zip(methods) {
        let class = &data["classes"][row[0].as_u64().unwrap() as usize];
        let package = &data["packages"][class[0].as_u64().unwrap() as usize];
        let name = format!("{}.{}", package.as_str().unwrap(), class[1].as_str().unwrap());
        assert_eq!(method["class"].as_str().unwrap().replace('/', "."), name);
        assert!(
            row[1]
                .as_str()
                .unwrap()
                .starts_with(method["name"].as_str().unwrap())
        );
        assert_eq!((&row[2], &row[3]), (&method["flow"], &method["count"]));
        assert_eq!(row[4], method["paths"].as_array().unwrap().len());
    }
}

fn page_data(page: &str) -> Value {
    let page = Html::parse_document(page);
    serde_json::from_str(&select(&page, "script#methods-data")[0]).unwrap()
}

/// Of two methods with the same simple names of parameters each has a link of its own, whichever is hotter.
#[test]
fn links_to_methods_are_unique_and_stay() {
    let twin = |descriptor: &str, count: u64| {
        let mut twin = common::Method::new("same", descriptor)
            .block(&[3], trodden_profile::BlockExit::Branch, &[2, 1])
            .block(&[4], trodden_profile::BlockExit::Return, &[])
            .block(&[5], trodden_profile::BlockExit::Return, &[]);
        twin.counts.paths.insert(0, count);
        twin
    };
    let page = |first: u64, second: u64| {
        let methods = vec![twin("(La/X;)V", first), twin("(Lb/X;)V", second)];
        let profile = Profile {
            classes: vec![common::class("demo/Twins", None, methods)],
            ..Profile::default()
        };
        html(&profile)
    };
    for (first, second, of_first) in [(9, 7, "#m1"), (7, 9, "#m2")] {
        let text = page(first, second);
        let page = Html::parse_document(&text);
        let ids = |selector: &str| {
            let selector = Selector::parse(selector).unwrap();
            let ids = page
                .select(&selector)
                .map(|e| e.value().attr("id").unwrap().to_owned());
            ids.collect::<Vec<String>>()
        };
        let mut all = ids("span.anchor");
        assert_eq!(ids(&format!("{of_first} span.anchor")), ["demo.Twins.same(X)"]);
        all.sort();
        assert_eq!(all, ["demo.Twins.same(Lb/X;)V", "demo.Twins.same(X)"]);
        assert_eq!(page_data(&text)["anchors"].as_object().unwrap().len(), 1);
    }
}

/// The page stays small: methods in full as long as there is room, and an honest word of the others.
#[test]
fn a_page_of_many_methods_stays_small() {
    let profile = common::many_methods(5_000);
    let text = html(&profile);
    assert!(text.len() < 3 << 20, "{}", text.len());
    let page = Html::parse_document(&text);
    assert_eq!(page_data(&text)["methods"].as_array().unwrap().len(), 5_000);
    let full = select(&page, "details.method").len();
    assert_eq!(page_data(&text)["full"], full);
    assert_eq!(select(&page, "#all-methods tbody tr").len(), full);
    let said = format!("Of the first {full} of 5,000 methods the paths are below");
    assert!(
        select(&page, "#methods .note")
            .iter()
            .any(|note| note.contains(&said))
    );
    // Methods as large as they get: as many as there is room for.
    let options = |top| ReportOptions {
        top,
        ..ReportOptions::default()
    };
    let large = common::large_methods(60);
    let text = Report::new(&large, &options(0)).unwrap().html().unwrap();
    let full = page_data(&text)["full"].as_u64().unwrap();
    assert!(
        text.len() < 3 << 20 && (1..50).contains(&full),
        "{full} in {}",
        text.len()
    );
    // Unless they are asked for.
    let text = Report::new(&large, &options(50)).unwrap().html().unwrap();
    assert_eq!(page_data(&text)["full"], 50);
}

/// The second path begins as the first, and leaves it at a decision.
#[test]
fn common_beginnings_are_folded_and_what_differs_stands_out() {
    let page = Html::parse_document(&html(&common::profile()));
    let folds = select(&page, "#m1 .path .fold");
    assert!(
        folds.iter().all(|fold| fold.contains(" steps as path ")),
        "{folds:?}"
    );
    let differs = select(&page, "#m1 .path .differs");
    assert!(!differs.is_empty());
    // The hottest has none above it.
    assert!(select(&page, "#m1 li:first-child .differs").is_empty());
}

/// Red, yellow and green tell how many outcomes of a decision were seen; what is not known has no colour.
#[test]
fn ways_of_decisions_are_counted() {
    let page = Html::parse_document(&html(&common::profile()));
    let ways = |method: &str, class: &str| select(&page, &format!("{method} .source td .ways.{class}"));
    assert_eq!(ways("#m1", "never"), Vec::<String>::new());
    assert!(!ways("#m1", "ran").is_empty());
    let fill = select(&page, "#m4 .source td .ways");
    assert_eq!(fill, ["?/2"], "its loop is not counted");
}

#[test]
fn text_fits_its_columns() {
    let profile = common::profile();
    let plain = report(&profile).text(false);
    for line in plain.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(!plain.contains('\u{1b}'));
    assert!(report(&profile).text(true).contains('\u{1b}'));
    assert!(plain.contains("7 not taken → 8–9 not taken → 9 not taken → 10 → 7"));
}

#[test]
fn methods_are_selected() {
    let profile = common::profile();
    let pick = |pattern: &str| {
        let options = ReportOptions {
            method: Some(pattern.into()),
            ..ReportOptions::default()
        };
        Report::new(&profile, &options).map(|r| r.view().methods.len())
    };
    assert_eq!(pick("demo.Shop#gr*").unwrap(), 1);
    assert_eq!(pick("Shop").unwrap(), 3);
    assert!(matches!(pick("Shop#nothing"), Err(ReportError::NoMethod { .. })));
    assert!(matches!(pick("#x"), Err(ReportError::Pattern(_))));
    // Never ran, but asked for by name: shown, with nothing counted.
    assert_eq!(pick("*#never").unwrap(), 1);
}

#[test]
fn empty_and_zero_profiles() {
    let empty = Profile::default();
    all_formats(&empty);
    assert!(report(&empty).text(false).contains("No path was counted"));
    assert!(report(&empty).html().unwrap().contains("No path was counted"));
    let mut zero = common::profile();
    for class in &mut zero.classes {
        for counts in &mut class.counts {
            counts.paths.values_mut().for_each(|c| *c = 0);
        }
    }
    all_formats(&zero);
    assert_eq!(json(&zero)["totals"]["methods"], 0);
    zero.classes[0].counts.clear();
    all_formats(&zero);
}

#[test]
fn damage_is_listed() {
    let mut profile = common::profile();
    profile.classes[0].counts[0].paths.insert(999, 5);
    profile.classes[0].counts[0].partial.insert((77, 1), 6);
    profile.classes[0].counts[1].paths.insert(u64::MAX, u64::MAX);
    all_formats(&profile);
    let document = json(&profile);
    let bad = document["methods"][0]["unreadable"].as_array().unwrap();
    assert_eq!((&bad[0]["id"], &bad[0]["count"]), (&999.into(), &5.into()));
    assert_eq!(bad.len(), 2);
    assert_eq!(document["totals"]["paths"], 1_107_108);
    assert!(
        report(&profile)
            .html()
            .unwrap()
            .contains("5 counts of number 999")
    );
    // A path map whose tables do not fit each other.
    let map = Arc::get_mut(&mut profile.classes[0].map).unwrap();
    map.methods[0].blocks.pop();
    map.methods[1].blocks[0].labels.to_mut().pop();
    all_formats(&profile);
    assert_eq!(json(&profile)["methods"][0]["name"], "a\"b</script>");
}

#[test]
fn partial_samples_are_prefixes() {
    let method = common::price();
    let number = method.number(&[1, 2, 3, 4, 6]);
    let mut class = common::class("demo/Shop", None, vec![method]);
    class.counts[0] = MethodCounts {
        partial: [((2, number), 40)].into(),
        ..MethodCounts::default()
    };
    let profile = Profile {
        run: common::run(false),
        classes: vec![class],
        skipped: vec![],
        ..Profile::default()
    };
    all_formats(&profile);
    let document = json(&profile);
    let prefix = &document["methods"][0]["partial"][0];
    assert_eq!(
        (&prefix["count"], &prefix["end"]["kind"]),
        (&40.into(), &"stopped".into())
    );
    assert_eq!(prefix["flow"], 40);
    let text = full_text(&profile);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("stopped at line 8"), "{text}");
    assert!(
        text.contains("estimates (every 20 ms, schedule sag:64:17)"),
        "{text}"
    );
}

#[test]
fn huge_graphs_show_their_hot_part() {
    // 200 diamonds in a row, cut where there are too many paths.
    let mut method = common::Method::new("huge", "()V");
    for i in 0..200 {
        let (b, line) = (i * 3, i as u32 * 2 + 1);
        method = method
            .block(&[line], trodden_profile::BlockExit::Branch, &[b + 2, b + 1])
            .block(&[line + 1], trodden_profile::BlockExit::FallThrough, &[b + 2])
            .block(&[], trodden_profile::BlockExit::FallThrough, &[b + 3]);
    }
    method = method.block(&[401], trodden_profile::BlockExit::Return, &[]);
    method.counts.paths.insert(0, 10);
    let profile = Profile {
        classes: vec![common::class("demo/Huge", None, vec![method])],
        ..Profile::default()
    };
    all_formats(&profile);
    assert!(html(&profile).contains("This method has 601 blocks; only the hot part is drawn."));
    assert!(report(&profile).dot().unwrap().contains("150 of 601 blocks"));
}

/// The loop of `Shop.fill` has a single path, so its iterations are not counted: counts say 700 times out of the loop, and
/// nothing of how often it went around. It was left 700 times; that its branch was taken in 100 % of the cases is wrong.
#[test]
fn what_probes_do_not_report_is_not_known_in_any_format() {
    let profile = common::profile();
    let text = full_text(&profile);
    let at = text.find("4. demo.Shop.fill").unwrap_or_else(|| panic!("{text}"));
    let fill = &text[at..];
    let fill = &fill[fill.find("branches").unwrap()..];
    let line = fill.lines().nth(1).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "line 37 taken 700 not taken not known share not known *",
        "{text}"
    );

    let document = json(&profile);
    let methods = document["methods"].as_array().unwrap();
    let method = methods.iter().find(|m| m["name"] == "fill").unwrap();
    let branch = &method["branches"][0];
    assert_eq!(
        (&branch["taken"], &branch["not_taken"]),
        (&700.into(), &Value::Null)
    );
    assert_eq!(branch["undercounted"], true);
    assert!(
        branch["reason"].as_str().unwrap().contains("not counted"),
        "{branch}"
    );
    // Other branches are as they were.
    let price = methods.iter().find(|m| m["name"] == "price").unwrap();
    assert!(
        price["branches"]
            .as_array()
            .unwrap()
            .iter()
            .all(|b| b["taken"].is_u64() && b["reason"].is_null())
    );

    let page = html(&profile);
    let page = Html::parse_document(&page);
    let rows = select(&page, "table.branches tr");
    let unknown: Vec<&String> = rows.iter().filter(|row| row.contains("not known")).collect();
    // The way around: neither number nor share; the way out: its number, no share.
    assert_eq!(unknown.len(), 2, "{rows:?}");
    assert!(unknown.iter().all(|row| !row.contains('%')), "{unknown:?}");
    assert!(unknown.iter().any(|row| row.contains("700")), "{unknown:?}");
    let lines = select(&page, "table.source tr")
        .into_iter()
        .filter(|row| row.contains("not known"));
    assert!(lines.count() >= 2);

    let options = ReportOptions {
        method: Some("Shop#fill".to_owned()),
        ..ReportOptions::default()
    };
    let fill = Report::new(&profile, &options).unwrap();
    for graph in [fill.dot().unwrap(), fill.svg().unwrap()] {
        assert!(graph.contains("not known"), "{graph}");
    }
}
