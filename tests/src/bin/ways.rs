//! Many runs of programs that measure the time of their paths themselves: how often the report's intervals
//! hold what they found, and how wide these are.

use std::process::ExitCode;

use clap::Parser;
use trodden_tests::Result;
use trodden_tests::jdk::Jdk;
use trodden_tests::ways::{self, SHAPES, Way};

/// Shares of time by path against a program's own CPU clock, in many runs.
#[derive(Parser)]
struct Arguments {
    /// Runs of each shape.
    #[arg(long, default_value_t = 100)]
    runs: u32,
    /// CPU time of each run.
    #[arg(long, default_value_t = 2.2)]
    seconds: f64,
    /// Only this shape.
    #[arg(long)]
    shape: Vec<String>,
    /// Each run, not only sums.
    #[arg(long)]
    each: bool,
}

/// Intervals of 95 % hold in at least this part of the runs.
const HELD: f64 = 0.93;

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let mut failed = false;
    println!(
        "| JDK | decision | runs | truth | share less truth: mean, spread | answered | half width at 2,000 | held |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for jdk in Jdk::both()? {
        for shape in SHAPES {
            let wanted = arguments.shape.is_empty() || arguments.shape.iter().any(|wanted| wanted == shape);
            if !wanted || (shape == "virtual" && jdk.feature < 21) {
                continue;
            }
            let mut runs: Vec<Vec<Way>> = Vec::new();
            for _ in 0..arguments.runs {
                let ways = ways::run(&jdk, shape, arguments.seconds)?;
                if arguments.each {
                    println!("{ways:?}");
                }
                runs.push(ways);
            }
            for at in 0..runs[0].len() {
                let ways: Vec<&Way> = runs.iter().map(|run| &run[at]).collect();
                failed |= !row(&jdk, &ways);
            }
        }
    }
    Ok(if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Prints the runs of a decision; true if enough intervals hold.
fn row(jdk: &Jdk, ways: &[&Way]) -> bool {
    let number = ways.len() as f64;
    let mean = |of: &dyn Fn(&Way) -> f64| ways.iter().map(|way| of(way)).sum::<f64>() / number;
    let error = |way: &Way| way.share - way.truth;
    let off = mean(&error);
    let spread = mean(&|way| (error(way) - off).powi(2)).sqrt();
    let held = ways.iter().filter(|way| way.holds()).count();
    println!(
        "| {} | {} | {} | {:.1} % | {:+.1}, {:.1} | {:.0} % | ± {:.1} | {:.0} % |",
        jdk.feature,
        ways[0].name,
        ways.len(),
        100.0 * mean(&|way| way.truth),
        100.0 * off,
        100.0 * spread,
        100.0 * mean(&|way| way.answered as f64 / way.samples as f64),
        100.0 * mean(&|way| way.half_width(2000.0)),
        100.0 * held as f64 / number,
    );
    held as f64 >= HELD * number
}
