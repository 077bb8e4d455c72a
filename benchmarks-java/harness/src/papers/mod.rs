//! The tables and figures of the five papers, redone for our programs, as one page.
//!
//! *In*: the papers' values (`papers/*.json`), committed runs. *Out*: `book/evidence.md` and its plots. With
//! no runs given, what the page needs is measured first, by this program's other commands.

mod found;
mod hcct;
mod kblpp;
mod osp;
mod page;
mod paper;
mod pep;
mod runs;
mod spp;
mod steps;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result, io};
use crate::workspace::Workspace;
use found::Found;
use paper::Paper;
use runs::Runs;

/// A paper, or all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Name {
    /// Continuous Path and Edge Profiling
    Pep,
    /// Ball-Larus Path Profiling Across Multiple Loop Iterations
    Kblpp,
    /// Mining Hot Calling Contexts in Small Space
    Hcct,
    /// Online Subpath Profiling
    Osp,
    /// Structural Path Profiling
    Spp,
    /// All five
    All,
}

const PAPERS: [(Name, &str); 5] = [
    (Name::Pep, "pep"),
    (Name::Kblpp, "kblpp"),
    (Name::Hcct, "hcct"),
    (Name::Osp, "osp"),
    (Name::Spp, "spp"),
];

/// Options of the command.
#[derive(clap::Args)]
pub struct Arguments {
    /// Which paper
    #[arg(value_enum)]
    paper: Name,
    /// Measure nothing: the page from the runs in this folder
    #[arg(long)]
    from: Option<PathBuf>,
    /// Measure at sizes that take minutes
    #[arg(long)]
    quick: bool,
    #[command(flatten)]
    steps: steps::Arguments,
}

/// Measures if asked to, writes the page and its plots, and says where they are.
///
/// # Errors
/// If a measurement fails, a run is damaged, or a file cannot be written.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<String> {
    if arguments.from.is_none() {
        for (name, _) in PAPERS
            .iter()
            .filter(|(name, _)| [*name, Name::All].contains(&arguments.paper))
        {
            steps::measure(workspace, *name, arguments.quick, &arguments.steps)?;
        }
    }
    let folder = arguments.from.clone().unwrap_or_else(|| workspace.runs());
    let book = workspace.root().join("book");
    let files = pages(workspace, &folder)?;
    for (name, text) in &files {
        let path = book.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(io("create", parent))?;
        }
        std::fs::write(&path, text).map_err(io("write", &path))?;
    }
    Ok(format!("{}\n", book.join("evidence.md").display()))
}

/// The page and its plots, by their paths in `book`. The page always has all papers.
fn pages(workspace: &Workspace, folder: &Path) -> Result<BTreeMap<String, String>> {
    let runs = Runs::of(folder)?;
    let mut page = page::head();
    let mut files = BTreeMap::new();
    for (name, file) in PAPERS {
        let file = workspace.root().join("papers").join(format!("{file}.json"));
        let paper = Paper::read(&file)?;
        let found = match name {
            Name::Pep => pep::measure(&runs)?,
            Name::Kblpp => kblpp::measure(&runs)?,
            Name::Hcct => hcct::measure(&runs),
            Name::Osp => osp::measure(&runs)?,
            _ => spp::measure(&runs),
        };
        check(&paper, &found)?;
        page += &page::section(&paper, &found);
        for (name, picture) in found.plots {
            files.insert(format!("{}/{name}.svg", page::PLOTS), picture.svg);
        }
    }
    files.insert("evidence.md".to_owned(), page);
    Ok(files)
}

/// What was named as a plot is there, if the values are.
fn check(paper: &Paper, found: &Found) -> Result<()> {
    for item in &paper.items {
        if let paper::How::Measured {
            rows,
            plot: Some(plot),
            ..
        } = &item.how
            && rows.iter().any(|row| found.values.contains_key(&row.measure))
            && !found.plots.contains_key(plot)
        {
            let problem = format!("{}, {}: no plot '{plot}'", paper.name, item.figure);
            return Err(Error::Table(problem));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace() -> Workspace {
        // Without `..`, whose parent would be taken for the repository.
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("..")
            .canonicalize()
            .unwrap();
        Workspace::find(Some(&root)).unwrap()
    }

    #[test]
    fn the_page_is_what_the_data_give() {
        let workspace = workspace();
        let book = workspace.root().join("book");
        let files = pages(&workspace, &workspace.runs()).unwrap();
        for (name, text) in &files {
            let there = std::fs::read_to_string(book.join(name)).unwrap_or_default();
            assert!(
                there == *text,
                "book/{name} is not what 'trodden-bench papers all --from benchmarks-java/runs' makes"
            );
        }
        let plots = std::fs::read_dir(book.join(page::PLOTS)).unwrap().count();
        assert_eq!(plots, files.len() - 1, "a plot is left over");
    }

    #[test]
    fn runs_and_tests_that_the_page_names_are_there() {
        let workspace = workspace();
        let runs = Runs::of(&workspace.runs()).unwrap();
        let mut cited = 0;
        for found in [
            pep::measure(&runs).unwrap(),
            kblpp::measure(&runs).unwrap(),
            hcct::measure(&runs),
            osp::measure(&runs).unwrap(),
            spp::measure(&runs),
        ] {
            for run in found.values.values().flat_map(|value| &value.runs) {
                assert!(runs.folder(run).is_dir(), "{run}");
                cited += 1;
            }
        }
        assert!(cited > 50, "only {cited} runs are cited");
        for (_, file) in PAPERS {
            let paper = Paper::read(&workspace.root().join("papers").join(format!("{file}.json"))).unwrap();
            for item in &paper.items {
                if let paper::How::Tested(test) = &item.how {
                    assert!(
                        workspace.repository().join(test).is_file(),
                        "{}: {test}",
                        item.figure
                    );
                }
            }
        }
    }

    #[test]
    fn most_figures_have_a_value() {
        let workspace = workspace();
        let runs = Runs::of(&workspace.runs()).unwrap();
        let papers = PAPERS.map(|(_, file)| {
            Paper::read(&workspace.root().join("papers").join(format!("{file}.json"))).unwrap()
        });
        let found = [
            pep::measure(&runs).unwrap(),
            kblpp::measure(&runs).unwrap(),
            hcct::measure(&runs),
            osp::measure(&runs).unwrap(),
            spp::measure(&runs),
        ];
        let (mut there, mut all) = (0, 0);
        for (paper, found) in papers.iter().zip(&found) {
            for item in &paper.items {
                if let paper::How::Measured { rows, .. } = &item.how {
                    all += rows.len();
                    there += rows
                        .iter()
                        .filter(|row| found.values.contains_key(&row.measure))
                        .count();
                }
            }
        }
        assert!(there * 10 >= all * 8, "{there} of {all}");
    }
}
