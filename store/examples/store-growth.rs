//! How a store's cost grows with its size: makes stores of several sizes with `trodden-store`, asks them, and writes what each step
//! took. `cargo run --release --example store-growth -- --help`; a plot of it: `trodden-bench table growth`.

#[path = "../tests/fleet/mod.rs"]
mod fleet;
#[path = "../tests/measured/mod.rs"]
mod measured;

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::Parser;
use fleet::Fleet;
use measured::Took;
use trodden_store::query::READY;

/// Makes stores of several sizes, and writes what taking in, compaction, and each question take.
#[derive(Parser)]
struct Arguments {
    /// How many times the JVMs of the smallest store.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100])]
    sizes: Vec<u32>,
    /// JVMs at a time in the smallest store.
    #[arg(long, default_value_t = 4)]
    jvms: u32,
    /// Days; each JVM has a window a day.
    #[arg(long, default_value_t = 10)]
    days: u32,
    /// How many classes there are of each in the seeds.
    #[arg(long, default_value_t = 20)]
    copies: u32,
    /// How often each question is asked; the first time does not count, as files are not in memory then.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// MiB that the engine may take, for questions whose rows do not fit.
    #[arg(long, default_value_t = 768)]
    memory: u32,
    /// The program.
    #[arg(long, default_value = "target/release/trodden-store")]
    program: PathBuf,
    /// Folder for the stores; they are removed afterwards.
    #[arg(long)]
    into: PathBuf,
    /// The file of results.
    #[arg(long)]
    out: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("store-growth: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let mut rows =
        String::from("size,windows,path_rows,store_bytes,step,round,seconds,cpu_seconds,peak_mb,spilled\n");
    for &size in &arguments.sizes {
        let fleet = Fleet {
            jvms: arguments.jvms * size,
            days: arguments.days,
            copies: arguments.copies,
            seed: 1,
        };
        eprintln!("size {size}: {} windows", fleet.len());
        let spool = arguments.into.join("spool");
        let store = arguments.into.join("store");
        fleet.write(&spool)?;
        let store = store.to_str().ok_or("the folder's name is no text")?;
        let add = arguments.took(&["add", "--create", store, spool.to_str().unwrap_or_default()])?;
        std::fs::remove_dir_all(&spool)?;
        let (_, before) = arguments.sizes(store)?;
        let compact = arguments.took(&["compact", store, "--vacuum", "--keep", "0s"])?;
        let (path_rows, bytes) = arguments.sizes(store)?;
        let mut row = |step: &str, round: usize, bytes: u64, took: &Took| {
            rows += &format!(
                "{size},{},{path_rows},{bytes},{step},{round},{:.3},{:.3},{},{}\n",
                fleet.len(),
                took.seconds,
                took.cpu,
                took.peak_mb,
                spilled(&took.complaint)
            );
        };
        row("add", 1, before, &add);
        row("compact", 1, bytes, &compact);
        for (question, _) in READY {
            for round in 0..=arguments.rounds {
                let memory = arguments.memory.to_string();
                let mut asked = vec!["query", store, question, "--verbose", "--memory", &memory];
                if question == "contexts-to" {
                    // The seeds have no contexts: what is left is how long it takes to see that.
                    asked.extend(["--param", "to=price"]);
                }
                let took = arguments.took(&asked)?;
                if round > 0 {
                    row(question, round, bytes, &took);
                }
            }
        }
        std::fs::write(&arguments.out, &rows)?;
        std::fs::remove_dir_all(store)?;
    }
    Ok(())
}

/// The text before "were spilled", if anything was.
fn spilled(complaint: &str) -> &str {
    complaint
        .split(", ")
        .find_map(|part| part.trim().strip_suffix(" were spilled to disk"))
        .unwrap_or("0")
}

impl Arguments {
    fn took(&self, arguments: &[&str]) -> Result<Took, String> {
        measured::took(&self.program, arguments)
    }

    /// Rows of paths, and bytes of all files that count.
    fn sizes(&self, store: &str) -> Result<(u64, u64), Box<dyn Error>> {
        let sql = "SELECT COUNT(*) AS rows FROM paths";
        let counted = Command::new(&self.program)
            .args(["query", store, "--sql", sql, "--format", "csv"])
            .output()?;
        let rows = String::from_utf8(counted.stdout)?
            .lines()
            .last()
            .unwrap_or_default()
            .parse()?;
        Ok((rows, measured::size(&self.program, store)?))
    }
}
