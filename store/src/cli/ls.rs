//! `trodden store ls`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use serde::Serialize;
use trodden_profile::printable;
use trodden_report::thousands;

use super::output::{print, size};
use crate::error::StoreError;
use crate::log::{Day, FileEntry, State};
use crate::place::Place;
use crate::store::Store;
use crate::tables::Table;
use crate::words::several;

/// Shows what a store has: services, builds, days, windows, files.
#[derive(Args)]
pub struct LsArgs {
    /// The store.
    store: String,
    /// The files of a table that count.
    #[arg(long, value_name = "TABLE")]
    files: Option<Table>,
    /// How it is written.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How results are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people.
    Text,
    /// For programs.
    Json,
}

#[derive(Serialize)]
struct Listing<'a> {
    format: &'static str,
    format_version: u32,
    commit: u64,
    /// Windows that came in, dropped ones too.
    windows_known: u64,
    builds: Vec<BuildListing<'a>>,
}

#[derive(Serialize)]
struct BuildListing<'a> {
    service: &'a str,
    build: &'a str,
    first_day: Option<Day>,
    last_day: Option<Day>,
    days: u64,
    windows: u64,
    files: u64,
    rows: u64,
    bytes: u64,
}

pub(super) async fn ls(args: &LsArgs) -> Result<ExitCode, StoreError> {
    let store = Store::open(&Place::parse(&args.store)?).await?;
    let state = store.state().await?;
    let text = match (args.files, args.format) {
        (Some(table), Format::Text) => state
            .files(table)
            .fold(String::new(), |text, file| text + &file.path + "\n"),
        (Some(table), Format::Json) => json(&state.files(table).collect::<Vec<&FileEntry>>())?,
        (None, Format::Text) => as_text(&args.store, &listing(&state)),
        (None, Format::Json) => json(&listing(&state))?,
    };
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn json<T: Serialize>(what: &T) -> Result<String, StoreError> {
    let text = serde_json::to_string_pretty(what).map_err(|e| StoreError::tables("write JSON", e))?;
    Ok(text + "\n")
}

fn listing(state: &State) -> Listing<'_> {
    let mut builds: BTreeMap<(&str, &str), BuildListing> = BTreeMap::new();
    let mut days: BTreeMap<(&str, &str), std::collections::BTreeSet<Day>> = BTreeMap::new();
    for file in state.all_files() {
        let of = (file.service.as_str(), file.build.as_str());
        let entry = builds.entry(of).or_insert(BuildListing {
            service: of.0,
            build: of.1,
            first_day: None,
            last_day: None,
            days: 0,
            windows: 0,
            files: 0,
            rows: 0,
            bytes: 0,
        });
        entry.windows += file.windows.unwrap_or(0);
        entry.files += 1;
        entry.rows += file.rows;
        entry.bytes += file.bytes;
        days.entry(of).or_default().extend(file.day);
    }
    for (of, days) in days {
        if let Some(entry) = builds.get_mut(&of) {
            (entry.first_day, entry.last_day) = (days.first().copied(), days.last().copied());
            entry.days = days.len() as u64;
        }
    }
    Listing {
        format: "trodden-store-listing",
        format_version: 1,
        commit: state.version(),
        windows_known: state.windows().len(),
        builds: builds.into_values().collect(),
    }
}

fn as_text(store: &str, listing: &Listing) -> String {
    let files: u64 = listing.builds.iter().map(|build| build.files).sum();
    let bytes: u64 = listing.builds.iter().map(|build| build.bytes).sum();
    let mut text = format!(
        "{}: {} in {}, {}, after {}\n",
        printable(store),
        several(listing.builds.iter().map(|build| build.windows).sum(), "window"),
        several(files, "file"),
        size(bytes),
        several(listing.commit, "commit")
    );
    if listing.builds.is_empty() {
        return text;
    }
    let name = |name: &str| printable(name).into_owned();
    let wide = |names: &mut dyn Iterator<Item = String>| {
        names.map(|name| name.chars().count()).max().unwrap_or(0).max(7)
    };
    let service = wide(&mut listing.builds.iter().map(|build| name(build.service)));
    let build = wide(&mut listing.builds.iter().map(|build| name(build.build)));
    let _ = writeln!(
        text,
        "\n{:service$}  {:build$}  {:24} {:>6} {:>12} {:>7} {:>10}",
        "service", "build", "days", "", "windows", "files", "bytes"
    );
    for of in &listing.builds {
        let days = match (of.first_day, of.last_day) {
            (Some(first), Some(last)) if first == last => first.to_string(),
            (Some(first), Some(last)) => format!("{first} – {last}"),
            _ => "–".to_owned(),
        };
        let _ = writeln!(
            text,
            "{:service$}  {:build$}  {days:24} {:>6} {:>12} {:>7} {:>10}",
            name(of.service),
            name(of.build),
            thousands(of.days),
            thousands(of.windows),
            thousands(of.files),
            size(of.bytes)
        );
    }
    text
}
