//! A real program, javac, under the event probes: its trace replayed and its live profile against brute
//! force.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{self, SequenceCounts, Sequences};
use trodden_tests::{Result, artefacts, process, recorded};

const LIMIT: Duration = Duration::from_secs(300);
const K: usize = 5;
/// Without these javac does not the same twice: tables sorted by identity hash codes, caches that a
/// collection empties. (On JDK 25, three of twelve runs took other paths than the rest; with them, none of
/// forty.)
const REPEATABLE: [&str; 3] = [
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    "-XX:+UseSerialGC",
];
const SOURCE: &str = r#"
import java.util.*;
public class Sample {
    interface Shape { double area(); default String text() { return "area " + area(); } }
    record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }
    static <T extends Comparable<T>> T most(List<T> all) {
        T best = null;
        for (T one : all) { if (best == null || one.compareTo(best) > 0) { best = one; } }
        return best;
    }
    static int count(String text) {
        int words = 0;
        boolean inside = false;
        for (char c : text.toCharArray()) {
            switch (c) {
                case ' ', '\t', '\n' -> inside = false;
                default -> { if (!inside) { words++; } inside = true; }
            }
        }
        return words;
    }
    public static void main(String[] args) throws Exception {
        Map<String, Integer> counts = new TreeMap<>();
        for (String arg : args) { counts.merge(arg, count(arg), Integer::sum); }
        Runnable show = () -> System.out.println(counts + " " + most(new ArrayList<>(counts.values())));
        try { show.run(); } catch (RuntimeException e) { throw new Exception("wrapped", e); } finally { System.out.println("end"); }
    }
}
"#;

/// Compiles the sample under the agent with these options.
fn compile(jdk: &Jdk, folder: &Path, options: &str) -> Result<()> {
    let source = folder.join("Sample.java");
    std::fs::write(&source, SOURCE)?;
    let agent = artefacts::artefacts()?.agent.display().to_string();
    let mut java = jdk.command("java");
    java.args(profile::SUSPICIOUS)
        .args(REPEATABLE)
        .arg(format!(
            "-agentpath:{agent}=start,include=com.sun.tools.javac.*,quiet=true,{options}"
        ))
        .args(["-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-d"])
        .arg(folder)
        .arg(source);
    process::run(&mut java, LIMIT)?.success()?;
    Ok(())
}

fn singles(sequences: &Sequences) -> profile::Counts {
    let mut counts = profile::Counts::new();
    for (method, sequences) in sequences {
        let counts: &mut BTreeMap<u64, u64> = counts.entry(method.clone()).or_default();
        for &path in sequences.iter().flatten() {
            *counts.entry(path).or_default() += 1;
        }
    }
    counts
}

fn up_to(counts: &SequenceCounts, length: usize) -> SequenceCounts {
    let short = |counts: &BTreeMap<Vec<u64>, u64>| {
        let short = counts.iter().filter(|(sequence, _)| sequence.len() <= length);
        short.map(|(s, &n)| (s.clone(), n)).collect()
    };
    counts
        .iter()
        .map(|(id, counts)| (id.clone(), short(counts)))
        .collect()
}

fn replay(trace: &Path, out: &Path, k: usize) -> Result<Profile> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command
        .args(["replay", "--profile", "paths+kpaths", "--k", &k.to_string(), "-o"])
        .args([out, trace]);
    process::run(&mut command, LIMIT)?.success()?;
    Ok(Profile::load(out)?)
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a trace of javac")]
fn the_forests_of_javac_are_what_brute_force_finds() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let trace = at("javac.trace");
        compile(&jdk, folder.path(), &format!("file={}", trace.display()))?;
        let found = recorded::read(&trace)?;
        assert!(found.words > 50_000, "{} words", found.words);
        assert!(found.sequences.len() > 300, "{} methods", found.sequences.len());
        let expected = profile::brute_force(&found.sequences, K);

        let replayed = replay(&trace, &at("replayed.trodden"), K)?;
        assert_eq!(profile::counts(&replayed), singles(&found.sequences));
        assert_eq!(profile::forests(&replayed)?, expected);
        // A longer k adds levels and changes none.
        let longer = profile::forests(&replay(&trace, &at("longer.trodden"), K + 3)?)?;
        assert_eq!(up_to(&longer, K), expected);
        assert_ne!(longer, expected);

        // The compiler does the same again, so the live profile is the same.
        let live = at("live.trodden");
        let options = format!("profile=paths+kpaths,k={K},file={}", live.display());
        compile(&jdk, folder.path(), &options)?;
        let live = Profile::load(&live)?;
        let counted = at("counters.trodden");
        compile(
            &jdk,
            folder.path(),
            &format!("probe=counters,file={}", counted.display()),
        )?;
        let counted = profile::counts(&Profile::load(&counted)?);
        assert_eq!(profile::counts(&live), counted);
        assert_eq!(profile::counts(&replayed), counted);
        assert_eq!(profile::forests(&live)?, expected);
    }
    Ok(())
}
