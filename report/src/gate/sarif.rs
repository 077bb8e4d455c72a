//! SARIF 2.1.0, which code hosts show at the line.

use trodden_insight::gate::Verdict;
use trodden_insight::gate::{GateComparison, Grew, TestChange};

use super::junit;
use crate::sarif::{Found, Level, Place, Repository, Rule, fingerprint, percent_encoded, write};

const RULES: [Rule; 1] = [Rule {
    id: "more-work",
    short: "A test executes more bytecode instructions than before",
    full: "A test executes more bytecode instructions than the limit allows, compared with an earlier build. The number \
           does not depend on the machine; the method and the path that grew most are named.",
    level: Level::Error,
    tags: &["performance"],
}];

/// SARIF 2.1.0: a result for each test that does more work than allowed. Files are named from the root of the
/// repository.
///
/// # Errors
/// If the writer fails.
pub fn sarif(compared: &GateComparison, repository: &Repository) -> Result<String, serde_json::Error> {
    let broken = compared
        .worth_a_word()
        .into_iter()
        .filter(|test| test.verdict == Verdict::Broken);
    let results: Vec<Found> = broken.map(|test| result(compared, test, repository)).collect();
    write("trodden gate", &RULES, &results)
}

fn result(compared: &GateComparison, test: &TestChange, repository: &Repository) -> Found {
    Found {
        rule: 0,
        message: junit::message(test),
        place: test.grew().and_then(|grew| place(compared, grew, repository)),
        flow: Vec::new(),
        fingerprint: Some(fingerprint(&["more-work", &test.name], 0)),
    }
}

/// The file as it lies in a folder of sources; below it, if it is in none.
fn place(compared: &GateComparison, grew: &Grew, repository: &Repository) -> Option<Place> {
    let file = grew.file.as_ref()?;
    let places = compared.sources.iter().map(|folder| folder.join(file));
    let path = places.into_iter().find(|path| path.is_file());
    Some(Place {
        uri: path.map_or_else(|| percent_encoded(file), |path| repository.uri(&path)),
        lines: grew.line.map(|line| (line, line)),
    })
}
