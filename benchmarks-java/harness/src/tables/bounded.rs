//! What a forest within a budget of nodes finds of the hot sequences of recorded traces, as a Markdown table.
//!
//! Hot is a sequence of at least two paths that occurred more often than 1 % of the occurrences of its first
//! path. Hot sequences are found by sorting the stream, so no exact forest has to fit into memory. Of each
//! trace the middle of its busiest thread is used. The budget is a share of the nodes of the exact k-slab
//! forest.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

use cpu_time::ThreadTime;
use trodden_analyses::kpaths::{Activations, BoundedForest, ChunkPairs, IterationForest};
use trodden_analyses::stream::ActivationWords;

use super::recorded::Window;
use super::recorded::suffixes::{Hot, Suffixes};

const KS: [u32; 3] = [4, 10, 16];
const PERCENT: [u64; 3] = [5, 10, 20];

/// Options of the table.
#[derive(clap::Args)]
pub struct Arguments {
    /// Every figure as CSV
    #[arg(long)]
    raw: Option<PathBuf>,
    /// Words of each trace
    #[arg(long, default_value_t = 4 << 20)]
    words: usize,
    /// Traces
    #[arg(required = true)]
    files: Vec<String>,
}

/// Prints the table.
pub fn run(arguments: Arguments) -> Result<(), Box<dyn Error>> {
    let Arguments { words, files, .. } = arguments;
    let mut raw = arguments.raw.map(File::create).transpose()?;
    let mut log = |line: &str| match &mut raw {
        Some(file) => writeln!(file, "{line}"),
        None => Ok(()),
    };
    println!(
        "| workload | k | k-SF nodes | k-IPF nodes | hot | budget | of k-SF | found | at best | frequent | found | counters lack | \
         beyond the bound | prunings | ns per path |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    );
    log(
        "workload,k,path_ends,slab_nodes,ipf_nodes,hot,budget,found,frequent,frequent_found,counters_lack,beyond,prunings,ns_per_path",
    )?;
    for file in files {
        let window = Window::read(&file, words)?;
        let suffixes = Suffixes::of(&window.words, KS[KS.len() - 1]);
        for k in KS {
            let exact = Exact::of(&window.words, &suffixes, k)?;
            let mut last = 0;
            for percent in PERCENT {
                let budget = (exact.slab_nodes * percent / 100).max(u64::from(4 * k));
                if budget != last {
                    exact.evaluate(&window, budget as u32, &mut log)?;
                }
                last = budget;
            }
        }
    }
    Ok(())
}

/// What is in a stream.
struct Exact {
    k: u32,
    paths: u64,
    slab_nodes: u64,
    nodes: u64,
    hot: Vec<Hot>,
}

impl Exact {
    fn of(words: &[u64], suffixes: &Suffixes, k: u32) -> Result<Exact, Box<dyn Error>> {
        let mut thread = ActivationWords::new(Activations::new(ChunkPairs::new(k)?));
        thread.consume(words);
        let activations = thread.analysis();
        let slabs = activations.sink().slab_forest(activations.open())?;
        Ok(Exact {
            k,
            paths: suffixes.paths() as u64,
            slab_nodes: slabs.size().0,
            nodes: suffixes.shape(k).nodes,
            hot: suffixes.hot(k, 100),
        })
    }

    fn evaluate(
        &self,
        window: &Window,
        budget: u32,
        log: &mut impl FnMut(&str) -> std::io::Result<()>,
    ) -> Result<(), Box<dyn Error>> {
        let start = ThreadTime::now();
        let mut thread = ActivationWords::new(Activations::new(BoundedForest::new(self.k, budget)?));
        thread.consume(&window.words);
        let ns = start.elapsed().as_nanos() as f64 / self.paths as f64;
        let bounded = thread.analysis().sink();
        let result = bounded.iteration_forest();
        let judged: Vec<Judged> = self.hot.iter().map(|hot| self.judge(&result, hot)).collect();
        let found = judged.iter().filter(|j| j.found).count();
        let frequent = judged.iter().filter(|j| j.frequent).count();
        let both = judged.iter().filter(|j| j.frequent && j.found).count();
        let beyond = judged.iter().filter(|j| j.beyond).count();
        let lack = judged.iter().map(|j| j.lack).sum::<f64>() / (judged.len() as f64).max(1.0);
        let share = |part: usize, of: usize| match of {
            0 => "–".to_owned(),
            _ => format!("{:.1} %", 100.0 * part as f64 / of as f64),
        };
        let hot = self.hot.len();
        println!(
            "| {} | {} | {} | {} | {hot} | {budget} | {} | {} | {} | {frequent} | {} | {:.1} % | {beyond} | {} | {ns:.0} |",
            window.name,
            self.k,
            self.slab_nodes,
            self.nodes,
            share(budget as usize, self.slab_nodes as usize),
            share(found, hot),
            share(hot.min(budget as usize), hot),
            share(both, frequent),
            100.0 * lack,
            bounded.prunings(),
        );
        log(&format!(
            "{},{},{},{},{},{hot},{budget},{found},{frequent},{both},{lack:.4},{beyond},{},{ns:.1}",
            window.name,
            self.k,
            self.paths,
            self.slab_nodes,
            self.nodes,
            bounded.prunings()
        ))?;
        Ok(())
    }

    fn judge(&self, result: &IterationForest, hot: &Hot) -> Judged {
        let count = result.count(hot.method, &hot.paths);
        let missing = result.missing(hot.method, hot.paths.len());
        Judged {
            found: count > 0,
            // Its first path makes 1 % of the stream.
            frequent: hot.root * 100 > self.paths,
            beyond: count > hot.count || count + missing < hot.count,
            lack: hot.count.saturating_sub(count) as f64 / hot.count as f64,
        }
    }
}

/// What became of a hot sequence.
struct Judged {
    found: bool,
    frequent: bool,
    beyond: bool,
    lack: f64,
}
