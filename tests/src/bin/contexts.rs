//! Calling contexts of kernels and applications against the oracle; some minutes per application.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use trodden_tests::contexts_apps::Program;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, build};

/// Exact calling contexts, compared with an agent in C that walks the stack at each call.
#[derive(Parser)]
struct Arguments {
    /// JDK homes; else the oldest and the newest one that tests find.
    #[arg(long, value_name = "HOME", num_args = 1..)]
    jdk: Vec<PathBuf>,
    /// Folder with a folder of jars per application (`trodden-bench fetch`); without it, only kernels are
    /// run.
    #[arg(long, value_name = "FOLDER")]
    apps: Option<PathBuf>,
    /// Only programs of these names.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Both agents in one JVM: the very same calls, whatever the program does. Call sites are source lines.
    #[arg(long)]
    together: bool,
    /// Maximum number of contexts that differ and are listed, per program.
    #[arg(long, value_name = "NUMBER", default_value_t = 3)]
    examples: usize,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let jdks = if arguments.jdk.is_empty() {
        Jdk::both()?
    } else {
        let at = |home: &PathBuf| Jdk::at(home).ok_or_else(|| format!("{}: no JDK", home.display()).into());
        arguments.jdk.iter().map(at).collect::<Result<_>>()?
    };
    let kernels = Path::new(build::ROOT).join("../benchmarks-java/kernels/src");
    let drivers = Path::new(build::ROOT).join("../benchmarks-java/drivers/src/trodden/drivers");
    let inputs = tempfile::tempdir()?;
    let mut failed = false;
    println!(
        "| JDK | program | contexts | calls | methods without probes | without call sites | contexts that differ | by calls |"
    );
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |");
    for jdk in &jdks {
        let mut programs = Program::kernels(jdk, &kernels)?;
        if let Some(apps) = &arguments.apps {
            let apps = std::path::absolute(apps)?;
            programs.extend(Program::applications(jdk, &apps, &drivers, inputs.path())?);
        }
        for name in &arguments.only {
            if !programs.iter().any(|program| program.name == *name) {
                let known: Vec<&str> = programs.iter().map(|program| program.name.as_str()).collect();
                return Err(format!("no program is called '{name}' (known: {})", known.join(", ")).into());
            }
        }
        for program in programs {
            if !arguments.only.is_empty() && !arguments.only.contains(&program.name) {
                continue;
            }
            let compared = if arguments.together {
                program.compare_together(jdk)
            } else {
                program.compare(jdk)
            };
            match compared {
                Ok(c) => {
                    failed |= c.differing > 0;
                    println!(
                        "| {} | {} | {} | {} | {} | {} | {} | {} |",
                        jdk.feature,
                        program.name,
                        c.contexts,
                        c.calls,
                        c.left_alone,
                        c.without_call_sites,
                        c.differing,
                        c.difference
                    );
                    c.examples
                        .iter()
                        .take(arguments.examples)
                        .for_each(|example| eprintln!("  {}: {example}", program.name));
                }
                Err(e) => {
                    failed = true;
                    println!("| {} | {} | failed | | | | | |", jdk.feature, program.name);
                    eprintln!("  {}: {e}", program.name);
                }
            }
        }
    }
    Ok(ExitCode::from(u8::from(failed)))
}
