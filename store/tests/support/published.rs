//! Engines that read the published tables of a store by their names.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::fs;
use std::path::Path;

use trodden_store::log::State;
use trodden_store::query::READY;
use trodden_store::tables::Table;

use super::{maven, python};

/// The answers of an engine: `NAME.csv` of each ready question, and `rows.csv`.
pub struct Said {
    engine: String,
    folder: tempfile::TempDir,
}

/// Asks `duckdb`, `pyiceberg` or `spark` all ready questions about the store in a folder.
pub fn ask(engine: &str, python: &Path, place: &str, params: &[(&str, &str)]) -> Said {
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/published.py");
    let jars = match engine {
        "spark" => maven::from_maven("org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.11.0"),
        _ => Vec::new(),
    };
    let jars: Vec<String> = jars
        .iter()
        .map(|jar| jar.to_string_lossy().into_owned())
        .collect();
    let mut arguments = vec![
        script.to_string_lossy().into_owned(),
        engine.to_owned(),
        place.to_owned(),
        folder.path().to_string_lossy().into_owned(),
        jars.join(","),
    ];
    arguments.extend(params.iter().map(|(name, value)| format!("{name}={value}")));
    arguments.extend(READY.map(|(name, _)| name.to_owned()));
    python::run(python, arguments);
    Said {
        engine: engine.to_owned(),
        folder,
    }
}

impl Said {
    /// The answer to a ready question, as CSV.
    pub fn of(&self, question: &str) -> String {
        fs::read_to_string(self.folder.path().join(format!("{question}.csv"))).unwrap()
    }

    /// The answers are the same bytes as ours ([`super::answers`]).
    pub fn are(&self, ours: &[(&str, String)]) {
        for (name, ours) in ours {
            let theirs = self.of(name);
            assert!(
                theirs == *ours,
                "{name}: {} says\n{theirs}\nwe say\n{ours}",
                self.engine
            );
        }
    }

    /// All tables have as many rows as the log says.
    pub fn has_rows_of(&self, state: &State) {
        let theirs = self.of("rows");
        for table in Table::ALL {
            let rows: u64 = state.files(table).map(|file| file.rows).sum();
            assert!(
                theirs.lines().any(|line| line == format!("{table},{rows}")),
                "{}: {table}: {rows}\n{theirs}",
                self.engine
            );
        }
    }
}
