//! Code instrumented ahead in the ways it is used: separate parts, modules, settings from everywhere, things
//! missing. And the commands of docs/offline.md.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use trodden_profile::{Profile, facts};
use trodden_tests::jdk::Jdk;
use trodden_tests::process::{self, Outcome};
use trodden_tests::profile::{self, Counts};
use trodden_tests::{Result, ahead, artefacts, build, pages};

/// A library and an app that uses it, as jars with modules' descriptors.
struct Jars {
    folder: tempfile::TempDir,
    jdk: Jdk,
}

impl Jars {
    fn new(jdk: &Jdk) -> Result<Jars> {
        let jars = Jars {
            folder: tempfile::tempdir()?,
            jdk: jdk.clone(),
        };
        let source = |file: &str| Path::new(build::ROOT).join("offline").join(file);
        for (name, files) in [
            ("lib", ["lib/module-info.java", "lib/lib/Steps.java"]),
            ("app", ["app/module-info.java", "app/app/Main.java"]),
        ] {
            let classes = jars.path(&format!("{name}-classes"));
            let mut javac = jdk.command("javac");
            javac.args(["--release", "17", "-g", "-d"]).arg(&classes);
            javac.arg("-p").arg(jars.path("lib.jar")).args(files.map(source));
            process::run(&mut javac, Duration::from_secs(100))?.success()?;
            let mut jar = jdk.command("jar");
            jar.arg("cf").arg(jars.path(&format!("{name}.jar")));
            jar.arg("-C").arg(&classes).arg(".");
            process::run(&mut jar, Duration::from_secs(100))?.success()?;
        }
        Ok(jars)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Instruments both, each alone.
    fn instrument(&self, options: &[&str], folder: &str) -> Result<()> {
        fs::create_dir_all(self.path(folder))?;
        for name in ["lib.jar", "app.jar"] {
            ahead::instrument_with(&self.path(name), options, &self.path(folder).join(name))?;
        }
        Ok(())
    }

    fn class_path(&self, folder: &str) -> String {
        let folder = self.path(folder);
        format!("{0}/app.jar:{0}/lib.jar", folder.display())
    }

    fn run(&self, folder: &str, flags: &[String]) -> Result<Outcome> {
        ahead::run_java(&self.jdk, flags, &["-cp", &self.class_path(folder), "app.Main"])
    }

    /// Counts of a run of the originals under the agent.
    fn expected(&self) -> Result<(Outcome, Counts)> {
        let file = self.path("agent.trodden");
        let plain = self.run(".", &[])?;
        let flag = profile::agent_flag("counters", "app.*+lib.*", &file)?;
        assert_eq!(self.run(".", &[flag])?, plain);
        let counts = profile::counts(&Profile::load(&file)?);
        assert!(counts.len() >= 3, "{counts:?}");
        Ok((plain.success()?, counts))
    }
}

fn counted(file: &Path) -> Result<Counts> {
    Ok(profile::counts(&Profile::load(file)?))
}

#[test]
fn separate_parts_and_modules_count_together() -> Result<()> {
    for jdk in Jdk::ends()? {
        let jars = Jars::new(&jdk)?;
        let (plain, expected) = jars.expected()?;
        jars.instrument(&["--probe", "counters"], "out")?;
        assert_eq!(jars.run("out", &[])?, plain);
        let file = jars.path("class-path.trodden");
        assert_eq!(jars.run("out", &ahead::library(&jdk, &file)?)?, plain);
        assert_eq!(counted(&file)?, expected);
        let units = Profile::load(&file)?.run.facts.get(facts::INSTRUMENTED_AHEAD);
        assert_eq!(units, Some(2));

        let file = jars.path("modules.trodden");
        let flags: Vec<String> = (ahead::library(&jdk, &file)?.into_iter())
            .map(|flag| flag.replace("ALL-UNNAMED", "app,lib"))
            .collect();
        let path = jars.class_path("out");
        let outcome = ahead::run_java(&jdk, &flags, &["-p", &path, "-m", "app/app.Main"])?;
        assert_eq!(outcome, plain, "as modules on JDK {}", jdk.feature);
        assert_eq!(counted(&file)?, expected);
    }
    Ok(())
}

#[test]
fn settings_come_from_properties_variables_and_files() -> Result<()> {
    let jdk = &Jdk::oldest()?;
    let jars = Jars::new(jdk)?;
    let (plain, expected) = jars.expected()?;
    jars.instrument(&["--probe", "counters", "--embed-map"], "out")?;
    // The maps next to them are not needed then.
    for name in ["lib.jar", "app.jar"] {
        fs::remove_file(jars.path(&format!("out/{name}.map.trodden")))?;
    }
    let library = artefacts::artefacts()?.agent.display();
    let run = |flags: &[String], variables: &[(&str, String)]| -> Result<Outcome> {
        let mut java = jdk.command("java");
        java.current_dir(jars.folder.path()).args(flags);
        java.envs(variables.iter().map(|(name, value)| (name, value)));
        java.args(["-cp", &jars.class_path("out"), "app.Main"]);
        process::run(&mut java, Duration::from_secs(100))
    };
    let check = |name: &str, outcome: Outcome| -> Result<()> {
        assert_eq!(outcome, plain, "{name}");
        assert_eq!(counted(&jars.path(name))?, expected, "{name}");
        Ok(())
    };
    let variables = [
        ("TRODDEN_LIBRARY", library.to_string()),
        ("TRODDEN_OPTIONS", "file=variables.trodden".to_owned()),
    ];
    check("variables.trodden", run(&[], &variables)?)?;
    let flag = "-Dtrodden.options=file=property.trodden".to_owned();
    check("property.trodden", run(&[flag], &variables)?)?;
    let text = format!("library={library}\nfile=by\\\\,file.trodden\nloglevel=error\n");
    fs::write(jars.path("settings"), text.replace("\\\\,", ","))?;
    check(
        "by,file.trodden",
        run(&["-Dtrodden.config=settings".to_owned()], &[])?,
    )?;
    // A resource at the top of the class path.
    let mut jar = jdk.command("jar");
    fs::write(
        jars.path("trodden.properties"),
        format!("library={library}\nfile=resource.trodden\n"),
    )?;
    jar.current_dir(jars.folder.path());
    jar.args(["uf", "out/app.jar", "trodden.properties"]);
    process::run(&mut jar, Duration::from_secs(100))?.success()?;
    check("resource.trodden", run(&[], &[])?)?;
    // An empty variable switches it off.
    let off = run(
        &[],
        &[
            ("TRODDEN_LIBRARY", String::new()),
            ("TRODDEN_CONFIG", "settings".to_owned()),
        ],
    )?;
    assert_eq!(off, plain);
    Ok(())
}

#[test]
fn what_is_missing_is_told_and_the_program_runs() -> Result<()> {
    for jdk in Jdk::ends()? {
        let jars = Jars::new(&jdk)?;
        let (plain, _) = jars.expected()?;
        jars.instrument(&["--probe", "counters"], "out")?;
        let file = jars.path("none.trodden");
        let good = ahead::library(&jdk, &file)?;
        let check = |flags: &[String], words: &[&str]| -> Result<()> {
            let outcome = jars.run("out", flags)?;
            assert_eq!((outcome.status, &outcome.stdout), (plain.status, &plain.stdout));
            for word in words {
                assert!(outcome.stderr.contains(word), "{word}: {}", outcome.stderr);
            }
            assert!(!file.exists());
            Ok(())
        };
        let flags = |text: &str| text.split('|').map(str::to_owned).collect::<Vec<_>>();
        check(
            &flags("-Dtrodden.library=/nowhere/libtrodden.so"),
            &["/nowhere/libtrodden.so is not there", "runs without profiling"],
        )?;
        let cli = format!("-Dtrodden.library={}", artefacts::artefacts()?.cli.display());
        check(&[cli], &["UnsatisfiedLinkError", "runs without profiling"])?;
        check(
            &flags("-Dtrodden.config=/nowhere"),
            &["/nowhere", "runs without profiling"],
        )?;
        let library = good[0].clone();
        for (options, word) in [
            ("nonsense=1", "nonsense"),
            ("probe=yieldpoint", "cannot change that"),
            ("dump", "makes no sense"),
        ] {
            check(
                &[library.clone(), format!("-Dtrodden.options={options}")],
                &[word, "not counted"],
            )?;
        }
        for name in ["lib.jar", "app.jar"] {
            fs::rename(
                jars.path(&format!("out/{name}.map.trodden")),
                jars.path(&format!("{name}.map.trodden")),
            )?;
        }
        check(&good, &["no path map", "-Dtrodden.maps"])?;
        // A map of another output is not taken for it.
        fs::copy(
            jars.path("lib.jar.map.trodden"),
            jars.path("out/app.jar.map.trodden"),
        )?;
        check(&good, &["another output's"])?;
        // Named, they are found.
        let mut flags = good;
        flags.push(format!("-Dtrodden.maps={}", jars.folder.path().display()));
        assert_eq!(jars.run("out", &flags)?, plain);
        assert!(counted(&file)?.len() >= 3);
    }
    Ok(())
}

/// One source file of `offline/` as an instrumented jar that `java -jar` runs.
fn single(jdk: &Jdk, name: &str, options: &[&str], folder: &Path) -> Result<PathBuf> {
    let source = Path::new(build::ROOT).join(format!("offline/{name}.java"));
    let classes = folder.join("classes");
    build::javac(jdk, ".", &[source], &classes)?;
    let mut jar = jdk.command("jar");
    jar.arg("cfe").arg(folder.join("plain.jar")).arg(name);
    jar.arg("-C").arg(&classes).arg(".");
    process::run(&mut jar, Duration::from_secs(100))?.success()?;
    let options = [&["--probe", "counters"], options].concat();
    let out = ahead::instrument_with(&folder.join("plain.jar"), &options, &folder.join("out.jar"))?;
    Ok(out.file)
}

#[test]
fn virtual_threads_may_be_the_first() -> Result<()> {
    let Some(jdk) = Jdk::ends()?.into_iter().find(|jdk| jdk.feature >= 21) else {
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let jar = single(&jdk, "Fibers", &["--include", "Fibers$Work"], folder.path())?;
    let file = folder.path().join("fibers.trodden");
    let outcome = ahead::run(&jar, &jdk, &ahead::library(&jdk, &file)?)?.success()?;
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("16700\n", "")
    );
    let counts = counted(&file)?;
    let paths: Vec<u64> = counts
        .values()
        .flat_map(|paths| paths.values().copied())
        .collect();
    // From the entry and to the return, and 1,000 iterations of which 334 are thirds.
    let mut expected = [50, 50, 50 * 334, 50 * 666];
    let mut found = paths.clone();
    expected.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, expected, "{counts:?}");
    Ok(())
}

#[test]
fn attach_commands_work_without_an_agent() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        let jar = single(&jdk, "Waits", &[], folder.path())?;
        let mut java = jdk.command("java");
        java.args(ahead::library(&jdk, &path("end.trodden"))?)
            .arg("-jar")
            .arg(jar);
        let mut child = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut input = child.stdin.take().ok_or("no input")?;
        let mut output = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        let mut work = || -> Result<()> {
            input.write_all(b".")?;
            let line = output.next().ok_or("it ended")??;
            assert_eq!(line, "1500");
            Ok(())
        };
        let pid = child.id().to_string();
        let attach = |arguments: &[&str]| -> Result<String> {
            let artefacts = artefacts::artefacts()?;
            let mut trodden = Command::new(&artefacts.cli);
            trodden.env("TRODDEN_AGENT", &artefacts.agent);
            trodden.args(["attach", &pid]).args(arguments);
            Ok(process::run(&mut trodden, Duration::from_secs(60))?
                .success()?
                .stdout)
        };
        let sum = |file: &str| -> Result<u64> {
            let counts = counted(&path(file))?;
            Ok(counts.values().flat_map(|paths| paths.values()).sum())
        };
        let file = |name: &str| path(name).display().to_string();
        work()?;
        assert!(attach(&["status"])?.contains("state: running"));
        attach(&["dump", "--file", &file("one.trodden")])?;
        work()?;
        attach(&["dump", "--file", &file("two.trodden")])?;
        // The while loop's own paths come with each line read.
        assert!(sum("one.trodden")? >= 1002 && sum("two.trodden")? >= 2 * 1002);
        attach(&["reset"])?;
        work()?;
        attach(&["stop", "--file", &file("three.trodden")])?;
        assert!((1002..1010).contains(&sum("three.trodden")?));
        assert!(attach(&["status"])?.contains("state: stopped"));
        drop(input);
        assert!(child.wait()?.success());
    }
    Ok(())
}

/// Spring Boot's layout: the app's classes in a folder of the jar, libraries as STORED jars inside of it, and
/// in front of them the class loader for those, which is instrumented too.
#[test]
fn jars_inside_of_a_spring_boot_jar_count() -> Result<()> {
    let pom = Path::new(build::ROOT).join("offline/pom.xml");
    let loader = build::cached("spring-loader", std::slice::from_ref(&pom), &[], |out| {
        let mut maven = Command::new("mvn");
        maven.arg("-q").arg("-B").arg("-f").arg(&pom);
        maven.arg("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies");
        maven.arg(format!("-DoutputDirectory={}", out.display()));
        maven.arg("-DexcludeTransitive=true");
        build::run_maven(&mut maven)?;
        Ok(())
    })?;
    let loader = fs::read_dir(loader)?.next().ok_or("no loader")??.path();
    for jdk in Jdk::ends()? {
        let jars = Jars::new(&jdk)?;
        let (plain, expected) = jars.expected()?;
        let boot = jars.path("boot");
        fs::create_dir_all(boot.join("BOOT-INF/classes/app"))?;
        fs::create_dir_all(boot.join("BOOT-INF/lib"))?;
        let tool = |arguments: &[&str]| -> Result<()> {
            let mut jar = jdk.command("jar");
            jar.current_dir(&boot).args(arguments);
            process::run(&mut jar, Duration::from_secs(100))?
                .success()
                .map(drop)
        };
        tool(&["xf", &loader.display().to_string()])?;
        let class = "app-classes/app/Main.class";
        fs::copy(jars.path(class), boot.join("BOOT-INF/classes/app/Main.class"))?;
        fs::copy(jars.path("lib.jar"), boot.join("BOOT-INF/lib/lib.jar"))?;
        fs::remove_dir_all(boot.join("META-INF"))?;
        let manifest =
            "Main-Class: org.springframework.boot.loader.launch.JarLauncher\nStart-Class: app.Main\n";
        fs::write(jars.path("manifest"), manifest)?;
        tool(&["cf0m", "../boot.jar", "../manifest", "."])?;
        let run = |jar: &str, flags: &[String]| ahead::run(&jars.path(jar), &jdk, flags);
        assert_eq!(run("boot.jar", &[])?, plain);
        for (out, options) in [("beside.jar", &[][..]), ("inside.jar", &["--embed-map"])] {
            let options = [&["--probe", "counters"], options].concat();
            ahead::instrument_with(&jars.path("boot.jar"), &options, &jars.path(out))?;
            if out == "inside.jar" {
                fs::remove_file(jars.path("inside.jar.map.trodden"))?;
            }
            assert_eq!(run(out, &[])?, plain);
            let file = jars.path("boot.trodden");
            assert_eq!(run(out, &ahead::library(&jdk, &file)?)?, plain, "{out}");
            let mut counts = counted(&file)?;
            assert!(
                counts
                    .keys()
                    .any(|id| id.class.starts_with("org/springframework/boot/loader/"))
            );
            counts.retain(|id, _| id.class.starts_with("app/") || id.class.starts_with("lib/"));
            assert_eq!(counts, expected, "{out} on JDK {}", jdk.feature);
        }
    }
    Ok(())
}

/// The blocks of docs/offline.md, one after the other, in an empty folder.
#[test]
fn the_commands_of_the_documentation_work() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let (blocks, outcome) = pages::run("offline.md", &jdk, folder.path())?;
        assert!(blocks >= 8);
        assert_eq!(
            outcome.stdout.matches("500 of 1000 numbers are odd").count(),
            6,
            "{}",
            outcome.stdout
        );
        assert!(outcome.stdout.contains("Hello"), "{}", outcome.stdout);
        let counts = |name: &str| counted(&folder.path().join(format!("{name}.trodden")));
        let first = counts("hello")?;
        let all: u64 = first.values().flat_map(|paths| paths.values()).sum();
        assert!(all > 1000, "{first:?}");
        for name in ["by-file", "folder", "alone", "both"] {
            assert_eq!(counts(name)?, first, "{name}");
        }
    }
    Ok(())
}
