//! Stores of made fleets, and questions to them.

#![allow(dead_code, reason = "each test takes what it needs")]

pub mod maven;
pub mod published;
pub mod python;

use std::fs;
use std::path::Path;

use trodden_store::query::{Answer, Engine, Files, Given, Limits, Query, READY, Value, ready};
use trodden_store::{AddOptions, Adder, Place, Store};

use crate::fleet::Fleet;

/// A question and its answer.
pub struct Asked {
    pub answer: Answer,
}

impl Asked {
    /// Returns true if all rows have this value.
    pub fn all(&self, column: &str, value: &Value) -> bool {
        self.answer
            .rows
            .iter()
            .all(|row| self.answer.get(row, column) == value)
    }

    /// The first row with this text.
    pub fn row(&self, column: &str, text: &str) -> &[Value] {
        let found = self
            .answer
            .rows
            .iter()
            .find(|row| self.answer.get(row, column).text() == Some(text));
        found.unwrap_or_else(|| panic!("no row with {column} {text}"))
    }
}

/// A store in a folder, which goes with it.
pub struct Kept {
    pub store: Store,
    pub folder: tempfile::TempDir,
}

/// The smallest fleet, in a store.
pub async fn small() -> (Fleet, Kept) {
    let fleet = Fleet::default();
    (fleet, stored(&fleet).await)
}

/// A fleet in a store of its own.
pub async fn stored(fleet: &Fleet) -> Kept {
    let kept = empty().await;
    let windows = fleet.write(&kept.folder.path().join("spool")).unwrap();
    // Several deliveries, as a fleet makes them.
    let mut adder = Adder::new(&kept.store);
    for some in windows.chunks(windows.len().div_ceil(3)) {
        let added = adder.add(some, &AddOptions::default()).await.unwrap();
        assert_eq!(added.windows, some.len() as u64);
    }
    kept
}

/// A store in which nothing is.
pub async fn empty() -> Kept {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::parse(&folder.path().join("fleet").to_string_lossy()).unwrap();
    let store = Store::create(&place).await.unwrap();
    Kept { store, folder }
}

pub fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|&(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

pub async fn engine(kept: &Kept) -> Engine {
    engine_within(kept, Limits::default()).await
}

pub async fn engine_within(kept: &Kept, limits: Limits) -> Engine {
    let state = kept.store.state().await.unwrap();
    Engine::new(Files::of(&kept.store, &state), limits)
}

/// Asks a ready question.
pub async fn ask(kept: &Kept, name: &str, params: &[(String, String)]) -> Asked {
    let given: Given = params.iter().cloned().collect();
    let (answer, _) = engine(kept)
        .await
        .ask(&ready(name).unwrap(), &given)
        .await
        .unwrap_or_else(|e| panic!("{name}: {e}"));
    Asked { answer }
}

/// The answers to all ready questions, by name.
pub async fn answers(store: &Store) -> Vec<(&'static str, String)> {
    let state = store.state().await.unwrap();
    let engine = Engine::new(Files::of(store, &state), Limits::default());
    let mut all = Vec::new();
    for (name, _) in READY {
        let query = ready(name).unwrap();
        let mut given = Given::new();
        if name == "contexts-to" {
            given.insert("to".to_owned(), "Shop.load".to_owned());
        }
        all.push((name, engine.ask(&query, &given).await.unwrap().0.csv()));
    }
    all
}

/// Copies a folder with its contents.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

/// Why a question is refused.
pub async fn refused(kept: &Kept, name: &str, params: &[(String, String)]) -> String {
    let given: Given = params.iter().cloned().collect();
    let error = engine(kept)
        .await
        .ask(&ready(name).unwrap(), &given)
        .await
        .unwrap_err();
    assert!(error.is_usage());
    error.to_string()
}

/// Asks in SQL.
pub async fn sql(kept: &Kept, sql: &str) -> Answer {
    let query = Query::parse("sql", sql).unwrap();
    engine(kept)
        .await
        .ask(&query, &Given::new())
        .await
        .unwrap_or_else(|e| panic!("{sql}: {e}"))
        .0
}
