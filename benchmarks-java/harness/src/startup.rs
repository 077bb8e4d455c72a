//! What the agent adds to the start of a JVM: a program that prints something and ends, with and without
//! it; if need be with classes from a cache that the JVM made before (JDK 24 and later: AOT cache; before:
//! archive of class data).

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result, io};
use crate::jvm::{Config, Launch};
use crate::parts::Part;
use crate::record::Record;
use crate::stats::Spread;
use crate::workspace::Workspace;
use crate::{Plan, progress};

/// How often the threads of a JVM that ends soon are looked up.
const LOOK: Duration = Duration::from_millis(5);

/// What is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Program {
    /// One class that prints one line.
    Hello,
    /// Checkstyle, for its help.
    Checkstyle,
    /// The compiler ECJ, for its help.
    Ecj,
}

impl Program {
    fn arguments(self, workspace: &Workspace) -> Result<Vec<OsString>> {
        let (path, words) = match self {
            Program::Hello => (
                vec![workspace.build().join("kernels")],
                &["trodden.kernels.Hello"][..],
            ),
            Program::Checkstyle => (
                workspace.set("checkstyle")?,
                &["com.puppycrawl.tools.checkstyle.Main", "--help"][..],
            ),
            Program::Ecj => (
                workspace.set("ecj")?,
                &["org.eclipse.jdt.internal.compiler.batch.Main", "-help"][..],
            ),
        };
        let path = std::env::join_paths(path).map_err(|e| Error::Usage(format!("class path: {e}")))?;
        let words = words.iter().map(OsString::from);
        Ok(["-cp".into(), path].into_iter().chain(words).collect())
    }
}

/// Has the JVM make a cache of the program's classes; the option that uses it.
fn cache(launch: &Launch, program: Program, arguments: &[OsString], file: &Path) -> Result<String> {
    if program == Program::Hello {
        return Err(Error::Usage(
            "a cache holds classes of jars only; --program checkstyle has some".into(),
        ));
    }
    let (make, using) = match launch.jdk.feature() {
        Some(24..) => ("AOTCacheOutput", "AOTCache"),
        _ => ("ArchiveClassesAtExit", "SharedArchiveFile"),
    };
    let options = [format!("-XX:{make}={}", file.display())];
    let launch = Launch {
        jvm_options: &options,
        ..launch.clone()
    };
    launch.run("the program whose classes are cached", arguments)?;
    Ok(format!("-XX:{using}={}", file.display()))
}

/// Runs the pairs (after one discarded round), writes `raw.csv` and `summary.md`, and returns the summary.
///
/// # Errors
/// If the program fails or prints something else.
pub fn run(
    plan: &Plan,
    workspace: &Workspace,
    configs: &[Config],
    (program, with_cache): (Program, bool),
    pairs: u32,
    record: &Record,
) -> Result<String> {
    let arguments = program.arguments(workspace)?;
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let profile = folder.path().join("profile.trodden");
    let mut raw = record.raw("jdk,config,pair,milliseconds,program,c1,c2,agent,jvm")?;
    let mut text = format!(
        "{program:?} from start to exit, {pairs} interleaved pairs after a discarded one, milliseconds: median \
         (least-greatest). *more*: difference to `base`, *ratio*: quotient, both pair by pair; they hold the agent's start, the \
         rewriting of the program's classes, and the writing of its profile at exit. Then medians of \
         processor time in milliseconds by what threads are for, at the last look before the exit (looks are {} ms apart).\n",
        LOOK.as_millis()
    );
    for jdk in &plan.jdks {
        let mut times: Vec<Vec<f64>> = vec![Vec::new(); configs.len()];
        let mut parts: Vec<[Vec<f64>; Part::ALL.len()]> = vec![Default::default(); configs.len()];
        let mut options = plan.jvm_options.clone();
        if with_cache {
            let file = folder.path().join(format!("{}.cache", jdk.version));
            options.push(cache(&plan.plain(jdk), program, &arguments, &file)?);
        }
        let mut said: Option<String> = None;
        for pair in 0..=pairs {
            for ((config, times), parts) in configs.iter().zip(&mut times).zip(&mut parts) {
                progress(&format!("{} {} {pair}/{pairs}", jdk.version, config.name));
                let launch = Launch {
                    jvm_options: &options,
                    look: Some(LOOK),
                    ..plan.launch(jdk, config, None, &profile)?
                };
                let outcome = launch.run(&format!("{program:?}"), &arguments)?;
                let said = said.get_or_insert_with(|| outcome.output.clone());
                if outcome.output != *said || said.trim().is_empty() {
                    return Err(Error::Program {
                        program: format!("{program:?}"),
                        problem: format!("printed '{}' under '{}'", outcome.output, config.name),
                    });
                }
                if pair > 0 {
                    let milliseconds = outcome.elapsed.as_secs_f64() * 1e3;
                    let of_parts = Part::ALL.map(|(part, _)| outcome.parts.milliseconds(part));
                    let columns = of_parts.map(|of_part| format!(",{of_part:.3}")).concat();
                    raw.line(&format!(
                        "{},{},{pair},{milliseconds:.3}{columns}",
                        jdk.version, config.name
                    ))?;
                    times.push(milliseconds);
                    for (all, of_part) in parts.iter_mut().zip(of_parts) {
                        all.push(of_part);
                    }
                }
            }
        }
        let _ = write!(
            text,
            "\n## JDK {}{}\n| configuration | ms | more | ratio |{}\n| --- | --- | --- | --- |{}\n",
            jdk.version,
            if with_cache { ", classes from a cache" } else { "" },
            Part::ALL.map(|(_, words)| format!(" {words} |")).concat(),
            " --- |".repeat(Part::ALL.len())
        );
        for ((config, values), parts) in configs.iter().zip(&times).zip(&parts) {
            let more: Vec<f64> = values.iter().zip(&times[0]).map(|(a, b)| a - b).collect();
            let show = |values: &[f64]| Spread::of(values).map_or("-".into(), |s| s.show(1));
            let ratio: Vec<f64> = values.iter().zip(&times[0]).map(|(a, b)| a / b).collect();
            let ratio = Spread::of(&ratio).map_or("-".into(), |s| s.show(3));
            let median =
                |values: &Vec<f64>| Spread::of(values).map_or("-".into(), |s| format!("{:.0}", s.median));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {ratio} | {} |",
                config.name,
                show(values),
                show(&more),
                parts.each_ref().map(median).join(" | ")
            );
        }
    }
    record.write("summary.md", &text)?;
    Ok(text)
}
