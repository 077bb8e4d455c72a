//! Code that was instrumented ahead of its run, by `trodden instrument`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use trodden_profile::{ClassMap, CounterLayout, Profile};
use zip::ZipArchive;

use crate::jdk::Jdk;
use crate::process::{self, Outcome};
use crate::profile::{Counts, SUSPICIOUS};
use crate::target::Target;
use crate::trace::MethodId;
use crate::{Result, artefacts, build};

const LIMIT: Duration = Duration::from_secs(120);

/// A jar of a Java target's classes that `java -jar` runs.
///
/// # Errors
/// If the target cannot be compiled or packed.
pub fn jar(target: &Target, jdk: &Jdk, folder: &Path) -> Result<PathBuf> {
    let path = folder.join(format!("{}.jar", target.name));
    let mut jar = jdk.command("jar");
    jar.arg("cfe").arg(&path).arg(&target.name);
    jar.arg("-C").arg(target.classes()?).arg(".");
    process::run(&mut jar, LIMIT)?.success()?;
    Ok(path)
}

/// A jar or class with probes, and its path map.
#[derive(Debug)]
pub struct Instrumented {
    /// The output of `trodden instrument`.
    pub file: PathBuf,
    /// The path map beside it.
    pub map: Profile,
}

/// Runs `trodden instrument` on a jar.
///
/// # Errors
/// If it does not succeed.
pub fn instrument(jar: &Path, probe: &str, out: &Path) -> Result<Instrumented> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.arg("instrument").arg(jar).arg("-o").arg(out);
    command.args(["--probe", probe]);
    process::run(&mut command, LIMIT)?.success()?;
    let mut map = out.as_os_str().to_owned();
    map.push(".map.trodden");
    let map = Profile::load(Path::new(&map))?;
    Ok(Instrumented {
        file: out.to_owned(),
        map,
    })
}

/// The entries of a jar, in order.
///
/// # Errors
/// If it cannot be read.
pub fn entries(jar: &Path) -> Result<Vec<(String, Vec<u8>)>> {
    let mut zip = ZipArchive::new(File::open(jar)?)?;
    let mut entries = Vec::new();
    for index in 0..zip.len() {
        let mut entry = zip.by_index(index)?;
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes)?;
        entries.push((entry.name()?.into_owned(), bytes));
    }
    Ok(entries)
}

/// Runs a jar by `java -jar`, with JVM flags and, if there is a file for what probes count, with the class that
/// they call (`runtime/`).
///
/// # Errors
/// If it cannot be run.
pub fn run(jar: &Path, jdk: &Jdk, counts: Option<&Path>) -> Result<Outcome> {
    let mut java = jdk.command("java");
    // As Target::command runs it.
    java.args(["-Xmx512m", "-Xss1m", "-XX:+UseSerialGC"])
        .args(SUSPICIOUS);
    if let Some(counts) = counts {
        java.arg(format!("-Xbootclasspath/a:{}", runtime()?.display()));
        java.arg(format!("-Dtrodden.counts={}", counts.display()));
    }
    java.arg("-jar").arg(jar);
    process::run(&mut java, LIMIT)
}

/// The class that probes call, compiled.
fn runtime() -> Result<PathBuf> {
    let jdk = &Jdk::all()?[0];
    let files = build::sources("runtime/trodden", "java")?;
    build::cached("runtime", &files, &[&jdk.feature.to_string()], |out| {
        build::javac(jdk, ".", &files, out)
    })
}

/// What the probes of an instrumented jar counted, by the path map. Ids are handed out in the order of the jar's
/// entries: method ids one per method of the map, slots as each class's layout has them.
///
/// # Errors
/// If they counted what is not in the map.
pub fn counts(jar: &Instrumented, counts: &Path) -> Result<Counts> {
    let by_name: BTreeMap<&str, &ClassMap> = jar
        .map
        .classes
        .iter()
        .map(|c| (c.map.name.as_str(), &*c.map))
        .collect();
    let mut methods = Vec::new();
    let mut slots = Vec::new();
    for (entry, _) in entries(&jar.file)? {
        let name = entry.strip_suffix(".class");
        let Some(class) = name.and_then(|name| by_name.get(name)) else {
            continue;
        };
        let layout = CounterLayout::of(class);
        let mut own = vec![None; layout.slots as usize];
        for (method, base) in class.methods.iter().zip(layout.base) {
            let id = MethodId::of(class, method);
            for path in (0..method.num_paths()).take_while(|_| base.is_some()) {
                own[base.unwrap_or(0) as usize + path as usize] = Some((id.clone(), path));
            }
            methods.push((id, method.num_paths()));
        }
        slots.extend(own);
    }
    let mut all = Counts::new();
    for line in std::fs::read_to_string(counts)?.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (id, path, count) = match words.as_slice() {
            ["path", method, path, count] => {
                let (id, paths) = methods
                    .get(method.parse::<usize>()?)
                    .ok_or_else(|| format!("{line}: there is no such method"))?;
                let path: u64 = path.parse()?;
                if path >= *paths {
                    return Err(format!("{line}: {id:?} has {paths} paths").into());
                }
                (id.clone(), path, count)
            }
            ["slot", slot, count] => {
                let slot = slots.get(slot.parse::<usize>()?).cloned().flatten();
                let (id, path) = slot.ok_or_else(|| format!("{line}: there is no such slot"))?;
                (id, path, count)
            }
            _ => return Err(format!("what is '{line}'?").into()),
        };
        *all.entry(id).or_default().entry(path).or_default() += count.parse::<u64>()?;
    }
    Ok(all)
}
