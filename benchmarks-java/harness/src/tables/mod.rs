//! Tables about analyses and numberings, from traces and profiles of runs that are over. Printed as Markdown.

mod contexts;
mod costs;
mod growth;
mod kpaths;
mod recorded;
mod runs;
mod structures;
mod subpaths;

use std::path::PathBuf;

use crate::error::{Error, Result};

/// Which table.
#[derive(clap::Subcommand)]
pub enum Table {
    /// k-iteration paths: time, sizes and shapes against a hash table (k-BLPP's figures 14, 15, 17 to 20)
    Kpaths(kpaths::Arguments),
    /// Hot calling contexts: sizes, accuracy, space, time (HCCT's tables and figures)
    Contexts(contexts::Arguments),
    /// Hot subpaths: accuracy, memory, time (OSP's tables 1 and 3 to 6)
    Subpaths(subpaths::Arguments),
    /// Overhead of subpaths in runs with the configurations base, probes and probes-idle (OSP's table 2)
    SubpathsOverhead {
        /// Folders of runs
        #[arg(required = true)]
        folders: Vec<PathBuf>,
    },
    /// Memory of the JVMs of such runs (OSP's table 4)
    Resident {
        /// Files resident.csv of runs
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Structural against Ball-Larus paths: numbers of paths and of places with probe code
    Structures {
        /// Profiles, as NAME=FILE.trodden
        #[arg(required = true)]
        profiles: Vec<String>,
    },
    /// What tools cost: the programs of several runs of `overhead` in one table
    Costs(costs::Arguments),
    /// How a store's cost grows with its size: results of the store's example `store-growth`
    Growth(growth::Arguments),
}

/// OSP's table 2 of such runs, as Markdown.
///
/// # Errors
/// If raw data cannot be read.
pub fn subpaths_overhead(folders: &[PathBuf]) -> std::result::Result<String, String> {
    runs::overhead(folders).map_err(|error| error.to_string())
}

/// Prints a table.
///
/// # Errors
/// If a trace or profile cannot be read, or a check inside the table fails.
pub fn print(table: Table) -> Result<()> {
    let done = match table {
        Table::Kpaths(arguments) => kpaths::run(arguments),
        Table::Contexts(arguments) => contexts::run(arguments),
        Table::Subpaths(arguments) => subpaths::run(arguments),
        Table::Costs(arguments) => costs::run(&arguments),
        Table::Growth(arguments) => growth::run(&arguments),
        Table::SubpathsOverhead { folders } => runs::overhead(&folders).map(|text| print!("{text}")),
        Table::Resident { files } => runs::resident(&files).map(|text| print!("{text}")),
        Table::Structures { profiles } => structures::run(&profiles),
    };
    done.map_err(|error| Error::Table(error.to_string()))
}
