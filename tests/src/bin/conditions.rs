//! Conditions recovered from bytecode against the sources of libraries; see `trodden_tests::conditions`.

use std::io::Write;

use clap::Parser;
use trodden_tests::Result;
use trodden_tests::conditions::{self, Jar, Judgement, LIBRARIES};

/// Recovers every condition of libraries from their class files and compares it with their sources.
#[derive(Parser)]
struct Arguments {
    /// group:artifact:version on Maven Central; given more than once: all of them. Default: four libraries.
    library: Vec<String>,
    /// List up to this many that are wrong, by bytecode or with source.
    #[arg(long, default_value_t = 0)]
    list: usize,
    /// List up to this many of another judgement: same, compatible, opposite, unknown, kind.
    #[arg(long)]
    also: Option<String>,
    /// Shows each N-th of those that are listed.
    #[arg(long, default_value_t = 1)]
    every: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut libraries: Vec<&str> = arguments.library.iter().map(String::as_str).collect();
    if libraries.is_empty() {
        libraries = LIBRARIES.to_vec();
    }
    let mut rows = Vec::new();
    for library in libraries {
        let (jar, sources) = conditions::fetch(library)?;
        let truths = conditions::truths(&sources)?;
        let judged = conditions::judge(&Jar::read(&jar)?, &sources, &truths)?;
        rows.push((library.to_owned(), judged));
    }
    let mut out = std::io::stdout().lock();
    for (_, library) in &rows {
        let wanted = |j: &&conditions::Judged| match arguments.also.as_deref() {
            None => {
                j.bytecode == Judgement::Wrong
                    || matches!(j.with_source, Judgement::Wrong | Judgement::Opposite)
            }
            Some("same") => j.bytecode == Judgement::Same,
            Some("compatible") => j.bytecode == Judgement::Compatible,
            Some("opposite") => j.bytecode == Judgement::Opposite,
            Some("kind") => j.kind == Some(false),
            Some("source") => j.with_source == Judgement::Unknown && j.bytecode == Judgement::Same,
            Some(_) => j.bytecode == Judgement::Unknown,
        };
        let listed = library
            .judged
            .iter()
            .filter(wanted)
            .step_by(arguments.every.max(1));
        for j in listed.take(arguments.list) {
            writeln!(
                out,
                "{} {} {:?} {:?} {:?} | source {:?} | {}",
                j.place,
                j.method,
                j.bytecode,
                j.condition.kind,
                j.condition.text.as_deref().unwrap_or("-"),
                j.text.as_deref().unwrap_or("-"),
                j.truths.join(" # "),
            )?;
        }
    }
    write!(out, "{}", conditions::table(&rows))?;
    for (name, library) in &rows {
        writeln!(out, "{name}: made by the compiler {:?}", library.made)?;
    }
    Ok(())
}
