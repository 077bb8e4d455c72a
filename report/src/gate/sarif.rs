//! SARIF 2.1.0, which code hosts show at the line.

use serde_json::{Value, json};
use trodden_insight::gate::Verdict;
use trodden_insight::gate::{GateComparison, Grew, TestChange};

use super::junit;

/// SARIF 2.1.0: a result for each test that does more work than allowed.
///
/// # Errors
/// If the writer fails.
pub fn sarif(compared: &GateComparison) -> Result<String, serde_json::Error> {
    let broken = compared
        .worth_a_word()
        .into_iter()
        .filter(|test| test.verdict == Verdict::Broken);
    let results: Vec<Value> = broken.map(|test| result(compared, test)).collect();
    let document = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "trodden gate",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": [{
                    "id": "more-work",
                    "shortDescription": {"text": "A test executes more bytecode instructions than before"},
                }],
            }},
            "results": results,
        }],
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn result(compared: &GateComparison, test: &TestChange) -> Value {
    let mut result = json!({
        "ruleId": "more-work",
        "level": "error",
        "message": {"text": junit::message(test)},
    });
    if let Some(location) = test.grew().and_then(|grew| location(compared, grew)) {
        result["locations"] = json!([location]);
    }
    result
}

/// The file as it lies in a folder of sources; below it, if it is in none.
fn location(compared: &GateComparison, grew: &Grew) -> Option<Value> {
    let file = grew.file.as_ref()?;
    let places = compared.sources.iter().map(|folder| folder.join(file));
    let path = places.into_iter().find(|path| path.is_file());
    let uri = path.map_or_else(|| file.clone(), |path| path.to_string_lossy().into_owned());
    let mut place = json!({"artifactLocation": {"uri": percent_encoded(&uri)}});
    if let Some(line) = grew.line {
        place["region"] = json!({"startLine": line});
    }
    Some(json!({"physicalLocation": place}))
}

/// A path as part of a URI.
fn percent_encoded(path: &str) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/._-~$".contains(&b);
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if plain(byte) {
            out.push(char::from(byte))
        } else {
            out += &format!("%{byte:02X}")
        }
    }
    out
}
