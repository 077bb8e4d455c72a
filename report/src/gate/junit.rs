//! JUnit's XML, which build servers show as tests.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use trodden_insight::gate::Verdict;
use trodden_insight::gate::{GateComparison, TestChange};

use super::text::{limit_words, of_method, of_path, remark, signed};
use crate::words::thousands;

/// JUnit's XML: each test a test case, which fails if it does more work than allowed.
///
/// # Errors
/// If the writer fails.
pub fn junit(compared: &GateComparison) -> std::io::Result<String> {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let present: Vec<&TestChange> = compared
        .tests
        .iter()
        .filter(|test| test.verdict != Verdict::Gone)
        .collect();
    writer
        .create_element("testsuite")
        .with_attribute(("name", "trodden gate"))
        .with_attribute(("tests", present.len().to_string().as_str()))
        .with_attribute(("failures", compared.count(Verdict::Broken).to_string().as_str()))
        .with_attribute(("errors", "0"))
        .with_attribute(("skipped", "0"))
        .write_inner_content(|writer| {
            for test in &present {
                case(writer, test)?;
            }
            Ok(())
        })?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned() + "\n")
}

fn case(writer: &mut Writer<Vec<u8>>, test: &TestChange) -> std::io::Result<()> {
    let name = plain(&test.name);
    let case = writer
        .create_element("testcase")
        .with_attribute(("classname", "trodden.gate"))
        .with_attribute(("name", name.as_str()));
    let case = match test.time[1] {
        Some([least, _]) => case.with_attribute(("time", format!("{:.6}", least as f64 / 1e9).as_str())),
        None => case,
    };
    if test.verdict != Verdict::Broken && test.unstable.is_none() {
        case.write_empty()?;
        return Ok(());
    }
    case.write_inner_content(|writer| {
        if test.verdict == Verdict::Broken {
            let message = plain(&message(test));
            writer
                .create_element("failure")
                .with_attribute(("type", "more work"))
                .with_attribute(("message", message.as_str()))
                .write_text_content(BytesText::new(&message))?;
        }
        if let Some(reason) = &test.unstable {
            let reason = plain(reason);
            writer
                .create_element("system-out")
                .write_text_content(BytesText::new(&reason))?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The failure of a test, in one paragraph.
pub(super) fn message(test: &TestChange) -> String {
    let [before, after] = test
        .instructions
        .map(|n| n.map_or_else(|| "?".to_owned(), thousands));
    let change = test.change.map_or_else(|| "more".to_owned(), signed);
    let limit = test
        .limit
        .map_or_else(String::new, |limit| format!(", {} allowed", limit_words(limit)));
    let mut said = format!(
        "{}: {before} → {after} bytecode instructions ({change}{limit})",
        test.name
    );
    if let Some(remark) = remark(test) {
        said += &format!(", {remark}");
    }
    if let Some(grew) = test.grew() {
        said += &format!(". Grew most: {}, {}", grew.title(), of_method(grew));
        if let Some(path) = of_path(grew) {
            said += &format!(", on the path {path}");
        }
    }
    said
}

/// XML has no control characters.
fn plain(text: &str) -> String {
    let bad = |c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}');
    text.replace(bad, "\u{fffd}")
}
