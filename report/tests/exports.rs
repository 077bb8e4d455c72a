//! Stacks for other tools, of a made-up profile: what they hold; real tools read them in
//! `tests/tests/reports/exports.rs`.

use crate::common;
use serde_json::Value;
use trodden_profile::Profile;
use trodden_report::{Report, ReportError, ReportOptions, StackKind, Weight};

fn collapsed(profile: &Profile, options: ReportOptions) -> Result<Vec<String>, ReportError> {
    let text = Report::new(profile, &options).unwrap().collapsed()?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn total(lines: &[String]) -> u64 {
    let count = |line: &String| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    lines.iter().map(count).sum()
}

#[test]
fn each_path_is_a_leaf_below_its_method() {
    let profile = common::profile();
    let all = ReportOptions {
        all: true,
        ..ReportOptions::default()
    };
    let lines = collapsed(&profile, all.clone()).unwrap();
    let view = Report::new(&profile, &all).unwrap();
    assert_eq!(total(&lines), view.view().totals.paths);
    let paths = view
        .view()
        .methods
        .iter()
        .map(|m| m.paths.len() + m.partial.len());
    assert_eq!(lines.len(), paths.sum::<usize>());
    let price = "demo;demo.Shop;demo.Shop.price(int[], int);Shop.price #";
    assert!(lines.iter().any(|line| line.starts_with(price)), "{lines:#?}");
    let methods = ReportOptions {
        stacks: Some(StackKind::Methods),
        ..all.clone()
    };
    let short = collapsed(&profile, methods).unwrap();
    assert_eq!(
        (total(&short), short.len()),
        (total(&lines), view.view().methods.len())
    );
    let one = ReportOptions { top: 1, ..all };
    let lines = collapsed(&profile, one).unwrap();
    assert_eq!(total(&lines), total(&short));
    assert!(lines.iter().any(|line| line.starts_with("[")), "{lines:#?}");
}

#[test]
fn instructions_that_are_not_known_are_not_made_up() {
    // The made-up methods have no shapes: nobody counted their instructions.
    let profile = common::profile();
    let asked = ReportOptions {
        weight: Some(Weight::Instructions),
        ..ReportOptions::default()
    };
    let error = collapsed(&profile, asked).unwrap_err().to_string();
    assert_eq!(
        error,
        "instructions are not known: the stacks of this profile have executions"
    );
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.speedscope().unwrap()).unwrap();
    assert_eq!(json["profiles"].as_array().unwrap().len(), 1);
    let firefox: Value = serde_json::from_str(&report.firefox().unwrap()).unwrap();
    let notes = firefox["meta"]["arguments"].as_str().unwrap();
    assert!(notes.contains("Executed instructions are left out"), "{notes}");
}

#[test]
fn samples_are_not_called_executions() {
    let profile = Profile {
        run: common::run(false),
        ..common::profile()
    };
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json: Value = serde_json::from_str(&report.speedscope().unwrap()).unwrap();
    assert_eq!(json["profiles"][0]["name"], "path-samples");
}

#[test]
fn all_formats_hold_the_same_numbers() {
    let profile = common::profile();
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let lines: Vec<String> = report.collapsed().unwrap().lines().map(str::to_owned).collect();
    let json: Value = serde_json::from_str(&report.speedscope().unwrap()).unwrap();
    let sum = |list: &Value| {
        list.as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap())
            .sum::<u64>()
    };
    let one = &json["profiles"][0];
    assert_eq!(sum(&one["weights"]), total(&lines));
    assert_eq!(one["endValue"], total(&lines));
    assert_eq!(one["samples"].as_array().unwrap().len(), lines.len());
    let firefox: Value = serde_json::from_str(&report.firefox().unwrap()).unwrap();
    let samples = &firefox["threads"][0]["samples"];
    assert_eq!(sum(&samples["weight"]), total(&lines));
    assert_eq!(samples["length"], lines.len());
    for (table, columns) in [
        ("stackTable", &["frame", "prefix"][..]),
        ("frameTable", &["func", "line", "category"]),
        ("funcTable", &["name", "source", "lineNumber"]),
        ("sources", &["filename", "id"]),
    ] {
        let table = &firefox["shared"][table];
        for column in columns {
            assert_eq!(
                table[column].as_array().unwrap().len() as u64,
                table["length"].as_u64().unwrap()
            );
        }
    }
    // The same profile gives the same bytes.
    assert_eq!(report.pprof().unwrap(), report.pprof().unwrap());
    assert_eq!(report.pprof().unwrap()[..2], [0x1f, 0x8b]);
}

/// Real readers are in `tests/tests/reports/stores.rs`.
#[test]
fn otlp_holds_the_same_numbers() {
    let mut profile = common::profile();
    let facts = [("service", "shop"), ("host", "one"), ("labels", "region:eu")];
    let facts = facts.map(|(name, value)| (name.to_owned(), value.to_owned()));
    profile.run.facts.append(facts.into_iter().collect());
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let lines: Vec<String> = report.collapsed().unwrap().lines().map(str::to_owned).collect();
    let json: Value = serde_json::from_str(&report.otlp_json().unwrap()).unwrap();
    let resource = &json["resourceProfiles"][0];
    let attribute = |name: &str| {
        let all = resource["resource"]["attributes"].as_array().unwrap();
        let found = all.iter().find(|one| one["key"] == name);
        found.map(|one| one["value"]["stringValue"].as_str().unwrap().to_owned())
    };
    assert_eq!(attribute("service.name").as_deref(), Some("shop"));
    assert_eq!(attribute("host.name").as_deref(), Some("one"));
    assert_eq!(attribute("region").as_deref(), Some("eu"));
    assert_eq!(attribute("service.version"), None);
    let profiles = resource["scopeProfiles"][0]["profiles"].as_array().unwrap();
    assert_eq!(profiles.len(), 1);
    let samples = profiles[0]["samples"].as_array().unwrap();
    // Numbers of 64 bits are texts.
    let number = |sample: &Value| sample["values"][0].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(samples.iter().map(number).sum::<u64>(), total(&lines));
    assert_eq!(samples.len(), lines.len());
    assert_eq!(report.otlp().unwrap(), report.otlp().unwrap());
}

#[test]
fn stores_get_names_without_hyphens() {
    let profile = Profile {
        run: common::run(false),
        ..common::profile()
    };
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    let json = report.otlp_json().unwrap();
    assert!(json.contains("\"path_samples\"") && !json.contains("\"path-samples\""));
}
