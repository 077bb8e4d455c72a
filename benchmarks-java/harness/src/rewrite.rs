//! Rewriting throughput: our instrumenter against ASM's reader and writer on the same classes, one thread
//! each.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use trodden_instrumenter::{ClassIds, InstrumentOptions, Instrumenter, Preparation, ProbeKind};

use crate::error::{Error, Result, io};
use crate::record::Record;
use crate::stats::Spread;
use crate::workspace::Workspace;
use crate::{Plan, progress};

/// What one pass over the classes did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pass {
    nanos: u64,
    rewritten: usize,
    unchanged: usize,
    errors: usize,
}

/// Measures `pairs` times: each of our probe kinds (two passes, the second counts), then ASM in a fresh JVM
/// (its first pass is the cold one, the fastest of the later ones the warm one).
///
/// # Errors
/// If a jar cannot be read, or the Java side fails.
pub fn run(
    plan: &Plan,
    workspace: &Workspace,
    jars: &[PathBuf],
    pairs: u32,
    record: &Record,
) -> Result<String> {
    let mut jars = jars.to_vec();
    if jars.is_empty() {
        jars = workspace.set("corpus")?;
    }
    let mut classes = Vec::new();
    for jar in &jars {
        read_classes(jar, &mut classes)?;
    }
    let bytes: usize = classes.iter().map(Vec::len).sum();
    if bytes == 0 {
        return Err(Error::Usage("there is no class in these jars".into()));
    }
    let folder = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
    let list = folder.path().join("classes");
    write_list(&list, &classes).map_err(io("write", &list))?;

    let rate = |nanos: u64| bytes as f64 / 1e6 / (nanos as f64 / 1e9);
    let mut raw = record.raw("jdk,who,pair,nanos,bytes,rewritten,unchanged,errors")?;
    let mut text = format!(
        "Rewriting {} classes ({:.1} MB of class bytes) of {} jars in memory, one thread, {pairs} interleaved pairs; \
         million bytes of input per second, median (least-greatest). Ours reads, numbers and inserts probes; ASM reads \
         every class into events and writes it anew (`ClassReader.accept(ClassWriter(0), 0)`) and changes nothing, so it \
         does less. *cold*: the first pass in a fresh JVM, its start not counted. *warm*: the fastest of {} later passes. \
         Ours: the second of two passes.\n",
        classes.len(),
        bytes as f64 / 1e6,
        jars.len(),
        plan.iterations
    );
    for jdk in &plan.jdks {
        let mut ours: Vec<Vec<f64>> = vec![Vec::new(); ProbeKind::ALL.len()];
        let (mut cold, mut warm) = (Vec::new(), Vec::new());
        let mut last = Pass::default();
        for pair in 0..pairs {
            for (kind, rates) in ProbeKind::ALL.into_iter().zip(&mut ours) {
                progress(&format!("{} {} {}/{pairs}", jdk.version, kind.name(), pair + 1));
                rewrite_all(&classes, kind);
                last = rewrite_all(&classes, kind);
                raw.line(&format!(
                    "{},{},{pair},{},{bytes},{},{},{}",
                    jdk.version,
                    kind.name(),
                    last.nanos,
                    last.rewritten,
                    last.unchanged,
                    last.errors
                ))?;
                rates.push(rate(last.nanos));
            }
            progress(&format!("{} ASM {}/{pairs}", jdk.version, pair + 1));
            let passes = asm(plan, workspace, jdk, &list)?;
            for (name, nanos, rates) in [
                ("asm-cold", passes.0, &mut cold),
                ("asm-warm", passes.1, &mut warm),
            ] {
                raw.line(&format!("{},{name},{pair},{nanos},{bytes},,,", jdk.version))?;
                rates.push(rate(nanos));
            }
        }
        let show = |rates: &[f64]| Spread::of(rates).map_or("-".into(), |s| s.show(1));
        let against = |rates: &[f64], other: &[f64]| {
            let ratios: Vec<f64> = rates.iter().zip(other).map(|(a, b)| a / b).collect();
            Spread::of(&ratios).map_or("-".into(), |s| s.show(2))
        };
        let _ = write!(
            text,
            "\n## ASM on JDK {}\n| who | MB/s | times ASM warm | times ASM cold |\n| --- | --- | --- | --- |\n",
            jdk.version
        );
        for (kind, rates) in ProbeKind::ALL.into_iter().zip(&ours) {
            let (to_warm, to_cold) = (against(rates, &warm), against(rates, &cold));
            let _ = writeln!(
                text,
                "| trodden, {} | {} | {to_warm} | {to_cold} |",
                kind.name(),
                show(rates)
            );
        }
        let _ = writeln!(
            text,
            "| ASM, warm | {} | | |\n| ASM, cold | {} | | |",
            show(&warm),
            show(&cold)
        );
        let _ = writeln!(
            text,
            "\nWith {}: {} classes rewritten, {} left as they were (no branch, or a reason that `instrument` lists), {} errors.",
            ProbeKind::ALL[ProbeKind::ALL.len() - 1].name(),
            last.rewritten,
            last.unchanged,
            last.errors
        );
    }
    record.write("summary.md", &text)?;
    Ok(text)
}

fn rewrite_all(classes: &[Vec<u8>], kind: ProbeKind) -> Pass {
    // As the agent at class load.
    let instrumenter = Instrumenter::new(InstrumentOptions {
        shapes: false,
        ..InstrumentOptions::new(kind)
    });
    let mut pass = Pass::default();
    let mut ids = ClassIds::new(0, 0);
    let start = Instant::now();
    for class in classes {
        match instrumenter.prepare(class) {
            Ok(Preparation::Ready(prepared)) => {
                std::hint::black_box(prepared.emit(ids));
                ids.first_counter = ids.first_counter.plus(100);
                ids.first_method = ids.first_method.at(prepared.map().methods.len());
                pass.rewritten += 1;
            }
            Ok(Preparation::Unchanged { .. }) => pass.unchanged += 1,
            Err(_) => pass.errors += 1,
        }
    }
    pass.nanos = start.elapsed().as_nanos() as u64;
    pass
}

/// Nanoseconds of ASM's first pass and of the fastest later one.
fn asm(plan: &Plan, workspace: &Workspace, jdk: &crate::workspace::Jdk, list: &Path) -> Result<(u64, u64)> {
    let mut class_path = vec![workspace.build().join("drivers/asm")];
    class_path.extend(workspace.set("asm")?);
    let class_path =
        std::env::join_paths(class_path).map_err(|e| Error::Usage(format!("class path of asm: {e}")))?;
    let passes = (plan.iterations + 1).to_string();
    let outcome = plan.plain(jdk).run(
        "AsmRewrite",
        &[
            "-cp".into(),
            class_path,
            "trodden.drivers.AsmRewrite".into(),
            list.into(),
            passes.into(),
        ],
    )?;
    asm_passes(&outcome.output).ok_or_else(|| Error::Program {
        program: "AsmRewrite".into(),
        problem: format!("printed '{}'", outcome.output),
    })
}

fn asm_passes(output: &str) -> Option<(u64, u64)> {
    let passes: Option<Vec<u64>> = output.lines().map(|line| line.parse().ok()).collect();
    let passes = passes?;
    let (cold, later) = passes.split_first()?;
    Some((*cold, *later.iter().min()?))
}

/// Length (big-endian) and bytes of each class, as the Java side reads it.
fn write_list(path: &Path, classes: &[Vec<u8>]) -> std::io::Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    for class in classes {
        out.write_all(&(class.len() as u32).to_be_bytes())?;
        out.write_all(class)?;
    }
    out.flush()
}

fn read_classes(jar: &Path, classes: &mut Vec<Vec<u8>>) -> Result<()> {
    let file = File::open(jar).map_err(io("open", jar))?;
    let damaged = |e: zip::result::ZipError| Error::Program {
        program: jar.display().to_string(),
        problem: e.to_string(),
    };
    let mut archive = zip::ZipArchive::new(file).map_err(damaged)?;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(damaged)?;
        // Module descriptors hold no code, and ASM 9.7 knows class files up to Java 24.
        let name = entry.name().map_err(damaged)?.into_owned();
        if name.ends_with(".class") && !name.ends_with("module-info.class") {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(io("read", jar))?;
            classes.push(bytes);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_pass_is_cold_and_the_best_later_one_warm() {
        assert_eq!(asm_passes("500\n200\n150\n180\n"), Some((500, 150)));
        assert_eq!(asm_passes("500\n"), None);
        assert_eq!(asm_passes("500\nx\n"), None);
    }

    #[test]
    fn list_has_lengths() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        write_list(&path, &[vec![1, 2, 3], vec![]]).unwrap();
        assert_eq!(std::fs::read(path).unwrap(), [0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0]);
    }
}
