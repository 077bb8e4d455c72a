//! Classes that the JVM takes from a cache (JDK 24 and later: AOT cache; before: archive of class data): the
//! agent leaves the cache in use, and counts what comes from it like anything else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::{Result, artefacts, build};

const LIMIT: Duration = Duration::from_secs(120);
const MAIN: &str = "Greeting";
/// Where the JVM's log says that a class is from.
const FROM_CACHE: &str = "source: shared objects file";

/// The program in a jar (caches take nothing from folders), with the cache that a run of it left.
struct Cached {
    folder: tempfile::TempDir,
    jdk: Jdk,
    using: String,
}

impl Cached {
    fn new(jdk: Jdk) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let classes = folder.path().join("classes");
        let mut javac = jdk.command("javac");
        javac.args(["-g", "--release", "17", "-d"]).arg(&classes);
        javac.arg(Path::new(build::ROOT).join("start/Greeting.java"));
        process::run(&mut javac, LIMIT)?.success()?;
        let mut jar = jdk.command("jar");
        jar.arg("cf").arg(folder.path().join("greeting.jar"));
        jar.arg("-C").arg(&classes).arg(".");
        process::run(&mut jar, LIMIT)?.success()?;
        let (making, using) = match jdk.feature {
            24.. => ("AOTCacheOutput", "AOTCache"),
            _ => ("ArchiveClassesAtExit", "SharedArchiveFile"),
        };
        let option = |name: &str| format!("-XX:{name}={}", folder.path().join("classes.cache").display());
        let (making, using) = (option(making), option(using));
        let cached = Cached { folder, jdk, using };
        cached.run(&[making])?;
        Ok(cached)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, options: &[String]) -> Result<Outcome> {
        let mut java = self.jdk.command("java");
        java.args(options);
        java.arg("-cp").arg(self.path("greeting.jar")).arg(MAIN);
        process::run(&mut java, LIMIT)?.success()
    }

    /// Runs it with its cache, which the JVM has to use, and an agent with these options if there are any:
    /// what it printed, where its classes came from, and the profile.
    fn with_cache(&self, options: Option<&str>) -> Result<(String, Loaded, Option<Profile>)> {
        let (log, profile) = (self.path("log"), self.path("run.trodden"));
        let must = match self.jdk.feature {
            24.. => "-XX:AOTMode=on",
            _ => "-Xshare:on",
        };
        let mut all = vec![self.using.clone(), must.to_owned()];
        all.push(format!("-Xlog:class+load:file={}:none", log.display()));
        // An archive that was made without verification cannot be used with it, so not `-Xverify:all`.
        all.push("-Xcheck:jni".to_owned());
        if let Some(options) = options {
            let agent = artefacts::artefacts()?.agent.display();
            all.push(format!(
                "-agentpath:{agent}=start,{options},file={}",
                profile.display()
            ));
        }
        let outcome = self.run(&all)?;
        let loaded = Loaded::read(&log)?;
        let profile = options.map(|_| Profile::load(&profile)).transpose()?;
        Ok((outcome.stdout, loaded, profile))
    }
}

/// The classes in the JVM's log.
struct Loaded {
    /// How many of the JDK's own came from a cache, and from elsewhere.
    of_jdk: (usize, usize),
    /// True if the program's was.
    main: bool,
}

impl Loaded {
    fn read(log: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(log)?;
        let mut found = Loaded {
            of_jdk: (0, 0),
            main: false,
        };
        for line in text.lines() {
            let cached = line.contains(FROM_CACHE);
            match line.split(' ').next().unwrap_or_default() {
                MAIN => found.main |= cached,
                // Ours, and those that the JVM makes while it runs, are in no cache.
                name if name.contains("Trodden") || name.contains('$') || !name.contains('.') => {}
                _ if cached => found.of_jdk.0 += 1,
                _ => found.of_jdk.1 += 1,
            }
        }
        Ok(found)
    }
}

fn counts(profile: &Profile) -> BTreeMap<(String, u64), u64> {
    let mut all = BTreeMap::new();
    for class in &profile.classes {
        for (method, counts) in class.map.methods.iter().zip(&class.counts) {
            for (path, count) in &counts.paths {
                all.insert((method.name.clone(), *path), *count);
            }
        }
    }
    all
}

#[test]
fn the_cache_stays_in_use_and_what_comes_from_it_is_counted() -> Result<()> {
    for jdk in Jdk::ends()? {
        let how = format!("JDK {}", jdk.feature);
        let cached = Cached::new(jdk)?;
        let (said, plain, _) = cached.with_cache(None)?;
        assert!(plain.main && plain.of_jdk.0 > 300, "{how}: {:?}", plain.of_jdk);
        // Nothing of the program gets probes: its class comes from the cache, too.
        for options in ["probe=counters,include=no.such.*", "probe=none,sample=1ms"] {
            let (found, loaded, _) = cached.with_cache(Some(options))?;
            assert_eq!(found, said, "{how} {options}");
            assert!(loaded.main, "{how} {options}");
            let (least, other) = (plain.of_jdk.0, loaded.of_jdk);
            assert!(
                other.0 >= least && other.1 <= plain.of_jdk.1 + 5,
                "{how} {options}: {other:?}"
            );
        }
        // With probes: all is counted, and the JDK's classes still come from the cache.
        let (found, loaded, profile) = cached.with_cache(Some("probe=counters"))?;
        assert_eq!(found, said, "{how}");
        assert!(loaded.of_jdk.0 >= plain.of_jdk.0, "{how}: {:?}", loaded.of_jdk);
        let profile = profile.ok_or("no profile")?;
        let file = cached.path("whole.trodden");
        let agent = artefacts::artefacts()?.agent.display();
        cached.run(&[
            "-Xshare:off".to_owned(),
            format!("-agentpath:{agent}=start,probe=counters,file={}", file.display()),
        ])?;
        assert_eq!(counts(&profile), counts(&Profile::load(&file)?), "{how}");
        let kinds: u64 = counts(&profile)
            .iter()
            .filter(|((method, _), _)| method == "kind")
            .map(|(_, count)| count)
            .sum();
        assert_eq!(kinds, 10_000, "{how}");
    }
    Ok(())
}
