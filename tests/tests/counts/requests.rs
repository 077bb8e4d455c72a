//! Requests: a program that knows how many there were and which paths each took, on platform and on virtual
//! threads.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trodden_profile::{EdgeProfile, MethodPart, Profile, RequestName};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(120);

/// First JDK with virtual threads.
const VIRTUAL_THREADS: u32 = 21;

/// What the program says of its requests, by name: even and odd iterations of each, and the time.
type Truth = BTreeMap<String, Vec<(u64, u64, u64)>>;

struct Program {
    folder: tempfile::TempDir,
    classes: PathBuf,
    jdk: Jdk,
}

impl Program {
    fn compiled(jdk: Jdk) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let root = Path::new(build::ROOT);
        let sources = [
            root.join("../java-shim/ahead/trodden/Span.java"),
            root.join("requests/Served.java"),
        ];
        let classes = folder.path().join("classes");
        build::javac(&jdk, ".", &sources, &classes)?;
        Ok(Program { folder, classes, jdk })
    }

    /// Runs it; its own words, and the profile.
    fn run(&self, flags: &[&str], options: &str, arguments: &[&str]) -> Result<(Truth, Profile)> {
        let file = self.folder.path().join("out.trodden");
        let mut java = self.jdk.command("java");
        java.env_remove("JAVA_TOOL_OPTIONS")
            .args(["-Xverify:all", "-Xcheck:jni"])
            .args(flags)
            .arg(format!(
                "-agentpath:{}=start,{options},quiet=true,file={}",
                artefacts::artefacts()?.agent.display(),
                file.display()
            ))
            .arg("-cp")
            .arg(&self.classes)
            .arg("Served")
            .args(arguments);
        let said = process::run(&mut java, LIMIT)?.success()?.stdout;
        let mut truth = Truth::new();
        for line in said.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, numbers @ ..] = &words[..] else {
                continue;
            };
            let numbers: Vec<u64> = numbers.iter().filter_map(|word| word.parse().ok()).collect();
            if let [even, odd, nanos] = numbers[..] {
                truth
                    .entry((*name).to_owned())
                    .or_default()
                    .push((even, odd, nanos));
            }
        }
        Ok((truth, Profile::load(&file)?))
    }
}

/// Even and odd iterations in the paths of a request.
fn iterations(profile: &Profile, vector: &[MethodPart]) -> (u64, u64) {
    let mut sums = (0, 0);
    for part in vector {
        let map = &profile.classes[part.class as usize].map.methods[part.method as usize];
        if map.name != "work" {
            continue;
        }
        let edges = EdgeProfile::of(map, &part.counts);
        // The loop's own condition, and the one in it.
        let branches = edges.branches(map);
        let [_, inner] = &branches[..] else {
            panic!("{branches:?}");
        };
        sums.0 += inner.not_taken().unwrap_or(0);
        sums.1 += inner.taken().unwrap_or(0);
    }
    sums
}

fn named<'p>(profile: &'p Profile, name: &str) -> &'p RequestName {
    let requests = profile.requests.as_ref().expect("requests");
    let found = requests.names.iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", requests.names))
}

/// Few requests: all of them are chosen.
fn each_request_has_its_paths(jdk: Jdk, flags: &[&str], threads: &str) -> Result<()> {
    let program = Program::compiled(jdk)?;
    let options = "requests=Served#handle*,include=Served";
    let (truth, profile) = program.run(flags, options, &[threads, "40"])?;
    assert_eq!(truth.len(), 3);
    assert_eq!(truth["Served#handle"].len(), 31);
    let requests = profile.requests.as_ref().unwrap();
    assert_eq!(requests.names.len(), 3, "{requests:?}");
    for (name, expected) in &truth {
        let found = named(&profile, name);
        assert_eq!(found.count(), expected.len() as u64, "{name}");
        if name == "moved" {
            assert_eq!((found.unreadable, found.samples.len()), (1, 0));
            continue;
        }
        assert_eq!(found.unreadable, 0, "{name}");
        let mut paths: Vec<(u64, u64)> = (found.samples.iter())
            .map(|sample| iterations(&profile, &requests.vectors[sample.vector as usize]))
            .collect();
        let mut known: Vec<(u64, u64)> = expected.iter().map(|&(even, odd, _)| (even, odd)).collect();
        paths.sort_unstable();
        known.sort_unstable();
        assert_eq!(paths, known, "{name} on {threads} threads");
        assert!(found.samples.iter().all(|sample| sample.weight == 1.0));
        // Each took no longer than the program saw from outside, longest to shortest.
        let mut own: Vec<u64> = found.samples.iter().map(|sample| sample.latency_ns).collect();
        let mut outside: Vec<u64> = expected.iter().map(|&(.., nanos)| nanos).collect();
        own.sort_unstable();
        outside.sort_unstable();
        assert!(own.iter().zip(&outside).all(|(own, outside)| own <= outside));
        assert!(found.samples.iter().all(|sample| sample.cpu_ns.is_some()));
    }
    // They are parts of the whole counts.
    let all: u64 = profile
        .classes
        .iter()
        .flat_map(|class| &class.counts)
        .map(|c| c.total())
        .sum();
    let parts: u64 = (requests.names.iter())
        .flat_map(|name| &name.samples)
        .flat_map(|sample| &requests.vectors[sample.vector as usize])
        .map(|part| part.counts.total())
        .sum();
    assert!(parts > 0 && parts <= all, "{parts} of {all}");
    Ok(())
}

#[test]
fn requests_of_platform_threads_have_their_paths() -> Result<()> {
    for jdk in Jdk::ends()? {
        each_request_has_its_paths(jdk, &[], "platform")?;
    }
    Ok(())
}

#[test]
fn requests_of_virtual_threads_have_their_paths() -> Result<()> {
    for jdk in Jdk::ends()?
        .into_iter()
        .filter(|jdk| jdk.feature >= VIRTUAL_THREADS)
    {
        each_request_has_its_paths(jdk, &[], "virtual")?;
    }
    Ok(())
}

/// Many more requests than are read: the latencies are of all, the samples represent them, and no count is
/// lost.
#[test]
fn samples_represent_all_requests() -> Result<()> {
    for jdk in Jdk::ends()? {
        let virtually = jdk.feature >= VIRTUAL_THREADS;
        let program = Program::compiled(jdk)?;
        let threads = if virtually { "virtual" } else { "platform" };
        let options = "requests=Served#handle,include=Served";
        let (truth, profile) = program.run(&[], options, &[threads, "60000"])?;
        let expected = &truth["Served#handle"];
        let found = named(&profile, "Served#handle");
        assert_eq!(found.count(), expected.len() as u64);
        let weights: f64 = found.samples.iter().map(|sample| sample.weight).sum();
        let share = weights / found.count() as f64;
        // The first ones are chosen for certain; the standard error of what follows is some percent.
        assert!(
            (0.5..2.0).contains(&share),
            "{share} of {} samples",
            found.samples.len()
        );
        let handle = profile
            .classes
            .iter()
            .find(|class| class.map.name == "Served")
            .unwrap();
        let work = handle.map.methods.iter().position(|m| m.name == "work").unwrap();
        let map = &handle.map.methods[work];
        let edges = EdgeProfile::of(map, &handle.counts[work]);
        let counted: u64 = edges.branches(map).iter().map(|b| b.total()).max().unwrap();
        // Each even or odd iteration, and the end of each loop; spans have an empty one, too.
        let of_loops: u64 = truth.values().flatten().map(|(even, odd, _)| even + odd).sum();
        assert!(counted >= of_loops, "{counted} of {of_loops}");
        let rest = counted - of_loops;
        let calls = 2 * truth.values().map(Vec::len).sum::<usize>() as u64;
        assert!(rest <= calls, "{rest} ends of {calls} loops");
    }
    Ok(())
}

#[test]
fn a_pattern_that_is_none_is_refused() -> Result<()> {
    let jdk = Jdk::oldest()?;
    let program = Program::compiled(jdk)?;
    let mut java = program.jdk.command("java");
    java.env_remove("JAVA_TOOL_OPTIONS")
        .arg(format!(
            "-agentpath:{}=start,requests=a#b#c",
            artefacts::artefacts()?.agent.display()
        ))
        .arg("-cp")
        .arg(&program.classes)
        .args(["Served", "platform", "4"]);
    let output = process::run(&mut java, LIMIT)?;
    let all = format!("{}{}", output.stdout, output.stderr);
    assert!(all.contains("more than one '#'"), "{all}");
    // The program runs all the same.
    assert!(all.contains("Served#handle 1 0"), "{all}");
    Ok(())
}
