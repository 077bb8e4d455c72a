//! What the agent adds to the start of a JVM: a program that prints one line, with and without it.

use std::ffi::OsString;
use std::fmt::Write as _;

use crate::error::{Error, Result, io};
use crate::jvm::Config;
use crate::record::Record;
use crate::stats::Spread;
use crate::workspace::Workspace;
use crate::{Plan, progress};

/// Runs the pairs (after one discarded round), writes `raw.csv` and `summary.md`, and returns the summary.
///
/// # Errors
/// If the program fails or prints something else.
pub fn run(
    plan: &Plan,
    workspace: &Workspace,
    configs: &[Config],
    pairs: u32,
    record: &Record,
) -> Result<String> {
    let arguments: [OsString; 3] = [
        "-cp".into(),
        workspace.build().join("kernels").into(),
        "trodden.kernels.Hello".into(),
    ];
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let profile = folder.path().join("profile.trodden");
    let mut raw = record.raw("jdk,config,pair,milliseconds")?;
    let mut text = format!(
        "`java Hello` from start to exit, {pairs} interleaved pairs after a discarded one, milliseconds: median \
         (least-greatest). *more*: difference to `base`, pair by pair; it holds the agent's start, the rewriting of the \
         program's one class, and the writing of its profile at exit.\n"
    );
    for jdk in &plan.jdks {
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); configs.len()];
        for pair in 0..=pairs {
            for (config, times) in configs.iter().zip(&mut times) {
                progress(&format!("{} {} {pair}/{pairs}", jdk.version, config.name));
                let launch = plan.launch(jdk, config, None, &profile)?;
                let outcome = launch.run("Hello", &arguments)?;
                if outcome.output.trim() != "Hello" {
                    return Err(Error::Program {
                        program: "Hello".into(),
                        problem: format!("printed '{}' under '{}'", outcome.output, config.name),
                    });
                }
                if pair > 0 {
                    let milliseconds = outcome.elapsed.as_secs_f64() * 1e3;
                    raw.line(&format!(
                        "{},{},{pair},{milliseconds:.3}",
                        jdk.version, config.name
                    ))?;
                    times.push(milliseconds);
                }
            }
        }
        let _ = write!(
            text,
            "\n## JDK {}\n| configuration | ms | more |\n| --- | --- | --- |\n",
            jdk.version
        );
        for (config, values) in configs.iter().zip(&times) {
            let more: Vec<f64> = values.iter().zip(&times[0]).map(|(a, b)| a - b).collect();
            let show = |values: &[f64]| Spread::of(values).map_or("-".into(), |s| s.show(1));
            let _ = writeln!(text, "| {} | {} | {} |", config.name, show(values), show(&more));
        }
    }
    record.write("summary.md", &text)?;
    Ok(text)
}
