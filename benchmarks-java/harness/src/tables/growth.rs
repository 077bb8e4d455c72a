//! How a store's cost grows with its size, from the results of the example `store-growth` of the store.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::runs::{distinct, field, read};
use crate::stats::Spread;
use crate::svg::{Plot, Series};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Results, and where the plots go.
#[derive(clap::Args)]
pub struct Arguments {
    /// The file of results
    file: PathBuf,
    /// Folder for growth-time.svg and growth-memory.svg
    #[arg(long)]
    svg: Option<PathBuf>,
}

/// One step (a command) at one size.
struct Cell {
    seconds: Spread,
    peak_mb: u64,
    /// What most was spilled, as the store's program says it.
    spilled: String,
}

/// A size: how many times the smallest, and what it came to.
struct Size {
    name: String,
    about: String,
}

/// Prints the table, and writes the plots if they are wanted.
pub fn run(arguments: &Arguments) -> Result<()> {
    let (sizes, steps) = of(&arguments.file)?;
    print!("{}", table(&sizes, &steps));
    if let Some(folder) = &arguments.svg {
        let plot = |name: &str, svg: String| {
            let file = folder.join(name);
            std::fs::write(&file, svg).map_err(|e| format!("{}: {e}", file.display()))
        };
        let values = |value: fn(&Cell) -> f64| -> Vec<Series> {
            let line = |(step, cells): &(String, Vec<Option<Cell>>)| {
                (
                    step.clone(),
                    cells.iter().map(|cell| Some(value(cell.as_ref()?))).collect(),
                )
            };
            steps.iter().map(line).collect()
        };
        let places: Vec<String> = sizes.iter().map(|size| size.about.clone()).collect();
        let lines = |title: &str, axis: &str, series: &[Series]| {
            Plot {
                title,
                axis,
                places: &places,
                series,
                marks: &[],
                log: true,
            }
            .lines()
        };
        let time = lines(
            "Time by the clock, median",
            "seconds",
            &values(|cell| cell.seconds.median),
        );
        plot("growth-time.svg", time)?;
        let memory = lines("The most memory", "MB", &values(|cell| cell.peak_mb as f64));
        plot("growth-memory.svg", memory)?;
    }
    Ok(())
}

type Steps = Vec<(String, Vec<Option<Cell>>)>;

fn of(file: &Path) -> Result<(Vec<Size>, Steps)> {
    let rows = read(file)?;
    let names = distinct(
        rows.iter()
            .map(|row| row.get("size").cloned().unwrap_or_default()),
    );
    let mut sizes = Vec::new();
    for name in &names {
        let one = rows
            .iter()
            .find(|row| row.get("size") == Some(name))
            .ok_or("no such size")?;
        let (windows, path_rows) = (
            field(one, "windows")?.parse::<u64>()?,
            field(one, "path_rows")?.parse::<u64>()?,
        );
        sizes.push(Size {
            name: name.clone(),
            about: format!("{windows} windows, {path_rows} rows"),
        });
    }
    let mut steps = Vec::new();
    for step in distinct(
        rows.iter()
            .map(|row| row.get("step").cloned().unwrap_or_default()),
    ) {
        let mut cells = Vec::new();
        for name in &names {
            let of_cell = || {
                rows.iter()
                    .filter(|row| row.get("size") == Some(name) && row.get("step") == Some(&step))
            };
            let (mut seconds, mut peak_mb, mut spilled) = (Vec::new(), 0, "0".to_owned());
            for row in of_cell() {
                seconds.push(field(row, "seconds")?.parse()?);
                peak_mb = peak_mb.max(field(row, "peak_mb")?.parse()?);
                if field(row, "spilled")? != "0" {
                    field(row, "spilled")?.clone_into(&mut spilled);
                }
            }
            cells.push(Spread::of(&seconds).map(|seconds| Cell {
                seconds,
                peak_mb,
                spilled,
            }));
        }
        steps.push((step, cells));
    }
    Ok((sizes, steps))
}

fn table(sizes: &[Size], steps: &Steps) -> String {
    let mut out = String::from("| |");
    for size in sizes {
        let _ = write!(out, " {} ×: {} |", size.name, size.about);
    }
    out += "\n| --- |";
    out += &" ---: |".repeat(sizes.len());
    out.push('\n');
    for (step, cells) in steps {
        let _ = write!(out, "| `{step}` |");
        for cell in cells {
            match cell {
                None => out += " – |",
                Some(cell) => {
                    let _ = write!(
                        out,
                        " {:.2} s ({:.2}–{:.2}), {} MB{} |",
                        cell.seconds.median,
                        cell.seconds.min,
                        cell.seconds.max,
                        cell.peak_mb,
                        match cell.spilled.as_str() {
                            "0" => String::new(),
                            bytes => format!(", {bytes} spilled"),
                        }
                    );
                }
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_of_steps_by_size() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("raw.csv");
        let raw = "size,windows,path_rows,store_bytes,step,round,seconds,cpu_seconds,peak_mb,spilled\n\
                   1,40,100,7,add,1,0.5,0.1,30,0\n\
                   1,40,100,7,ask,1,3.0,0.1,31,0\n\
                   1,40,100,7,ask,2,1.0,0.1,33,1.5 MB\n\
                   1,40,100,7,ask,3,2.0,0.1,32,0\n\
                   10,400,1000,70,add,1,5.0,0.1,30,0\n";
        std::fs::write(&file, raw).unwrap();
        let (sizes, steps) = of(&file).unwrap();
        assert_eq!(
            table(&sizes, &steps),
            "| | 1 ×: 40 windows, 100 rows | 10 ×: 400 windows, 1000 rows |\n\
             | --- | ---: | ---: |\n\
             | `add` | 0.50 s (0.50–0.50), 30 MB | 5.00 s (5.00–5.00), 30 MB |\n\
             | `ask` | 2.00 s (1.00–3.00), 33 MB, 1.5 MB spilled | – |\n"
        );
        let svg = Some(folder.path().to_owned());
        run(&Arguments { file, svg }).unwrap();
        let plot = std::fs::read_to_string(folder.path().join("growth-time.svg")).unwrap();
        assert!(plot.starts_with("<svg") && plot.contains("400 windows"), "{plot}");
    }
}
