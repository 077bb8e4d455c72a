//! A sample of the verification sweep, and the judge judged.

use std::fs::File;
use std::io::Write;

use trodden_instrumenter::ProbeKind;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, build, sweep};

/// One class of how many is looked at.
const EVERY: u64 = if cfg!(feature = "change") { 1600 } else { 200 };

/// The whole sweep is `cargo run --release -p trodden-tests --bin sweep`.
#[test]
fn some_classes_of_the_jdk_and_of_libraries_are_accepted() -> Result<()> {
    let options = sweep::Options {
        jdks: Jdk::ends()?,
        images: true,
        jars: sweep::jars_below(&build::jars()?)?,
        probes: sweep::Probe::all(),
        sample: Some(sweep::Sample {
            every: EVERY,
            seed: 7,
        }),
    };
    let rows = sweep::sweep(&options, |_| ())?;
    println!("{}", sweep::print(&rows));
    let wrong = sweep::verdict(&rows);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    Ok(())
}

/// A judge that accepts everything is worth nothing: methods that return null where an int is due, in classes
/// of the boot loader and of a jar, must be refused, and all others of the same container accepted.
#[test]
fn the_judge_refuses_broken_classes() -> Result<()> {
    const ICONST_1_IRETURN: [u8; 6] = [0, 0, 0, 2, 0x04, 0xac];
    for jdk in Jdk::ends()? {
        let jars = sweep::jars_below(&build::jars()?)?;
        let options = sweep::Options {
            jdks: vec![jdk.clone()],
            images: true,
            jars: jars
                .iter()
                .filter(|j| j.to_string_lossy().contains("/groovy-"))
                .cloned()
                .collect(),
            probes: vec![],
            sample: None,
        };
        let work = tempfile::tempdir()?;
        let corpus = sweep::Corpus::new(&jdk, &options, work.path())?;
        let mut judge = sweep::Judge::start(&jdk, &options.jars)?;
        for container in &corpus.containers {
            let sample = sweep::Sample { every: 10, seed: 3 };
            let mut classes = Vec::new();
            let mut broken = Vec::new();
            for class in container.classes(Some(&sample))? {
                let mut bytes = class.bytes;
                // HotSpot verifies these four in no case.
                let exempt = ["Object", "Class", "String", "Throwable"]
                    .map(|name| format!("java.base/java/lang/{name}.class"));
                let found = bytes.windows(6).position(|w| w == ICONST_1_IRETURN);
                if let Some(at) = found.filter(|_| !exempt.contains(&class.entry)) {
                    bytes[at + 4] = 0x01; // aconst_null
                    broken.push(class.entry.clone());
                }
                classes.push((class.entry, bytes));
            }
            let shown: Vec<(&str, Vec<u8>)> = classes.iter().map(|(e, b)| (e.as_str(), b.clone())).collect();
            let verdicts = judge.verify(container, &shown, work.path())?;
            let mut refused: Vec<String> = verdicts.rejected.into_iter().map(|(entry, _)| entry).collect();
            refused.sort();
            let unusable: Vec<&String> = verdicts.original.iter().map(|(entry, _)| entry).collect();
            broken.retain(|entry| !unusable.contains(&entry));
            broken.sort();
            assert!(!broken.is_empty(), "{}: nothing was broken", container.name());
            assert_eq!(refused, broken, "{} on JDK {}", container.name(), jdk.feature);
            assert_eq!(verdicts.accepted + refused.len() + unusable.len(), classes.len());
        }
    }
    Ok(())
}

/// A file that is not a class must not pass for one that was verified.
#[test]
fn a_jar_without_classes_is_an_empty_row() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("empty.jar");
    let mut zip = zip::ZipWriter::new(File::create(&path)?);
    zip.start_file("Text.class", zip::write::SimpleFileOptions::default())?;
    zip.write_all(b"only text")?;
    zip.finish()?;
    let options = sweep::Options {
        jdks: vec![Jdk::oldest()?],
        images: false,
        jars: vec![path],
        probes: vec![sweep::Probe::for_kind(ProbeKind::Counters)],
        sample: None,
    };
    let rows = sweep::sweep(&options, |_| ())?;
    assert_eq!((rows[0].classes, rows[0].accepted), (0, 0));
    assert_eq!(sweep::verdict(&rows), ["no method got probes"]);
    Ok(())
}
