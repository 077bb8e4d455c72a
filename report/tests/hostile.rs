//! Names as no compiler makes them, but class files may have: no format lets them steer a terminal, end a record, or
//! name files outside of the source folders.

use std::sync::Arc;

use crate::common;
use trodden_insight::coverage::{Coverage, CoverageOptions, KnownClass, KnownMethod};
use trodden_profile::BlockExit::{Branch, Return};
use trodden_profile::{
    ContextNode, ContextTree, Contexts, Observation, Profile, Skipped, Subpaths, is_control,
};
use trodden_report::coverage;
use trodden_report::{Report, ReportOptions};

/// A title for the terminal, a colour, a record of LCOV, a frame and a line of collapsed stacks, writing from right
/// to left, and what ends strings and elements.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[31m\u{9b}31m\nend_of_record\nSF:/etc/passwd\r\nm 99\t\u{202e}evil\u{2066}\0\u{7f}\u{2028}\"]</text><script>alert(1)</script>&\\";

fn profile(source_file: &str) -> Profile {
    let bad = || HOSTILE.to_owned();
    let mut method = common::Method::new(HOSTILE, "()V")
        .block(&[3], Branch, &[2, 1])
        .block(&[4], Return, &[])
        .block(&[5], Return, &[]);
    method.counts.paths.insert(0, 7);
    let class = common::class(&format!("demo/{HOSTILE}"), Some(source_file), vec![method]);
    let mut run = common::run(true);
    run.command = bad();
    run.jvm = bad();
    run.options = bad();
    run.facts = [(bad(), bad())].into_iter().collect();
    let node = ContextNode {
        depth: 1,
        class: 0,
        method: 0,
        site: None,
        prefix: None,
        calls: Some((7, 7)),
    };
    Profile {
        run,
        classes: vec![class],
        skipped: vec![Skipped {
            class: bad(),
            method: Some(bad()),
            reason: bad(),
        }],
        contexts: Some(Contexts {
            algorithm: bad(),
            bursts: Some(bad()),
            calls: 7,
            tree: ContextTree::from_preorder(vec![node]).unwrap(),
            ..Contexts::default()
        }),
        subpaths: Some(Subpaths {
            lengths: bad(),
            ..Subpaths::default()
        }),
        observations: vec![Observation {
            class: 0,
            method: 0,
            counted: 3,
            seconds: 0.5,
            until: 0.5,
            windows: 1,
            reason: bad(),
        }],
        ..Profile::default()
    }
}

fn coverage(profile: &Profile) -> Coverage {
    let map = Arc::clone(&profile.classes[0].map);
    let methods = map.methods.iter().map(|m| KnownMethod {
        name: m.name.clone(),
        descriptor: m.descriptor.clone(),
        synthetic: false,
        instructions: vec![0],
    });
    let known = KnownClass {
        conditions: Vec::new(),
        methods: methods.collect(),
        map,
        release: None,
    };
    let options = CoverageOptions {
        name: HOSTILE.to_owned(),
        ..CoverageOptions::default()
    };
    Coverage::new(profile, Some(&[known]), |_, _, _| true, &options).unwrap()
}

/// All pages of the folder; their names are harmless.
fn site(coverage: &Coverage) -> String {
    let mut all = String::new();
    let mut site = Vec::new();
    let mut keep = |file| {
        site.push(file);
        Ok(())
    };
    coverage::site(coverage, &mut keep).unwrap();
    for file in site {
        let name = file.path.to_str().unwrap().to_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || "._$-/".contains(c);
        assert!(name.chars().all(plain) && !name.contains(".."), "{name}");
        assert!(
            !name.starts_with(['/', '.']) && name.matches('/').count() < 2,
            "{name}"
        );
        if name.ends_with(".html") {
            all += &file.text;
        }
    }
    all
}

/// All formats, by name.
fn formats(profile: &Profile) -> Vec<(&'static str, String)> {
    let report = Report::new(profile, &ReportOptions::default()).unwrap();
    let coverage = coverage(profile);
    vec![
        ("text", report.text(false)),
        ("html", report.html().unwrap()),
        ("json", report.json().unwrap()),
        ("dot", report.dot().unwrap()),
        ("svg", report.svg().unwrap()),
        ("collapsed", report.collapsed().unwrap()),
        ("speedscope", report.speedscope().unwrap()),
        ("firefox", report.firefox().unwrap()),
        ("callgrind", report.callgrind().unwrap()),
        ("coverage", coverage::text(&coverage, 20, false)),
        ("coverage-json", coverage::json(&coverage).unwrap()),
        ("lcov", coverage::lcov(&coverage)),
        ("jacoco", coverage::jacoco(&coverage).unwrap()),
        ("cobertura", coverage::cobertura(&coverage)),
        ("sonar", coverage::sonar(&coverage)),
        ("site", site(&coverage)),
    ]
}

#[test]
fn no_format_lets_control_characters_through() {
    let profile = profile("C.java");
    for (format, text) in formats(&profile) {
        let bad = text.chars().find(|&c| is_control(c) && c != '\n');
        assert_eq!(bad, None, "{format}: {text}");
        for line in text.lines() {
            assert!(
                !line.starts_with("SF:/etc") && line != "m 99" && !line.starts_with("m 99 "),
                "{format}: {line}"
            );
        }
        if ["html", "svg", "jacoco", "cobertura", "sonar", "site"].contains(&format) {
            assert!(!text.contains("<script>alert"), "{format}: {text}");
        }
        if format == "html" {
            data_is_data(&text);
        }
        // The name, or its end where a column is narrow.
        let shown = text.contains("u001b]0") || text.contains("\\u007f");
        assert!(shown, "{format} shows the name: {text}");
    }
    // With colour there are escapes, but none of the name's.
    let coloured = Report::new(&profile, &ReportOptions::default())
        .unwrap()
        .text(true);
    assert!(coloured.contains("\u{1b}[") && !coloured.contains("\u{1b}]0;"));
}

/// What the page's script draws from ends where it should, is JSON, and has nothing that means something to HTML.
fn data_is_data(page: &str) {
    let kinds: Vec<&str> = page.split("<script").skip(1).collect();
    assert_eq!(kinds.len(), 3, "methods, contexts, the script");
    for id in ["methods-data", "contexts-data"] {
        let start = format!("<script type=\"application/json\" id=\"{id}\">");
        let (data, _) = page
            .split_once(&start)
            .unwrap()
            .1
            .split_once("</script>")
            .unwrap();
        assert!(!data.contains(['<', '>', '&']), "{id}: {data}");
        assert!(
            serde_json::from_str::<serde_json::Value>(data).is_ok(),
            "{id}: {data}"
        );
    }
}

#[test]
fn json_keeps_names_and_xml_is_well_formed() {
    let profile = profile("C.java");
    for (format, text) in formats(&profile) {
        match format {
            "json" | "coverage-json" => {
                let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(value["methods"][0]["name"], HOSTILE, "{format}");
            }
            "svg" | "jacoco" | "cobertura" | "sonar" => {
                let mut reader = quick_xml::Reader::from_str(&text);
                let mut elements = 0;
                loop {
                    match reader
                        .read_event()
                        .unwrap_or_else(|e| panic!("{format}: {e}: {text}"))
                    {
                        quick_xml::events::Event::Eof => break,
                        quick_xml::events::Event::Start(_) => elements += 1,
                        _ => {}
                    }
                }
                assert!(elements > 1, "{format}: {text}");
            }
            "collapsed" => assert_eq!(text.lines().count(), 1, "{text}"),
            _ => {}
        }
    }
}

#[test]
fn no_format_names_a_source_file_outside() {
    for file in [
        "/etc/passwd",
        "../../../etc/passwd",
        "a/../../etc/passwd",
        "x\nSF:/etc/passwd",
        "",
        "..",
    ] {
        for (format, text) in formats(&profile(file)) {
            let named = match format {
                "lcov" => text.contains("SF:"),
                "jacoco" => text.contains("sourcefile"),
                "cobertura" => text.contains("filename"),
                "sonar" => text.contains("path="),
                "json" | "coverage-json" => !text.contains("\"source_file\": null"),
                _ => false,
            };
            assert!(!named, "{format}, {file:?}: {text}");
        }
    }
    let mut escaping = profile("passwd");
    let class = &mut escaping.classes[0];
    let mut map = (*class.map).clone();
    map.name = "../../etc/C".to_owned();
    class.map = Arc::new(map);
    assert!(!coverage::lcov(&coverage(&escaping)).contains("SF:"));
}
