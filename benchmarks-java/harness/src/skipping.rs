//! What skipping costs: the probes of `profile=subpaths`, interleaved with prototypes of other ways to skip
//! (`benchmarks-java/skipping`), on the same kernels.
//!
//! Each prototype comes twice: as it is, and `-idle`, with samples so far apart that there are hardly any.
//! The difference is what OSP's table 2 calls the sampling overhead.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::compile::compile;
use crate::error::{Error, Result, io};
use crate::jvm::Config;
use crate::long;
use crate::workload::Workload;
use crate::workspace::{Jdk, Workspace};

/// A distance between samples at which there are hardly any.
const FAR: u64 = 2_000_000_000;
/// The prototypes' modes.
const PROTOTYPES: [&str; 4] = ["blocks", "copies", "checks", "local"];

/// All configurations, `base` first.
pub fn configs(agent: &Path) -> Vec<Config> {
    let config = |name: &str, options: Option<String>, jvm| Config {
        name: name.to_owned(),
        options,
        jvm,
        ..Config::default()
    };
    let kernels = "profile=subpaths,include=trodden.kernels.*";
    let mut all = vec![
        config("base", None, Vec::new()),
        config("probes", Some(kernels.to_owned()), Vec::new()),
    ];
    for mode in PROTOTYPES {
        // In the other modes there is a check for every few blocks.
        let mean = if mode == "blocks" { 4096 } else { 4096 / 3 };
        for (name, mean) in [(mode.to_owned(), mean), (format!("{mode}-idle"), FAR)] {
            let flag = format!("-javaagent:{}={mode},trodden/kernels/", agent.display());
            all.push(config(&name, None, vec![format!("-Dskip.mean={mean}"), flag]));
        }
    }
    all
}

/// Compiles the agent of the prototypes into a jar in this folder.
///
/// # Errors
/// If the compiler or `jar` fails, or ASM has not been fetched.
pub fn build(workspace: &Workspace, jdk: &Jdk, folder: &Path) -> Result<PathBuf> {
    let sources =
        ["Skip.java", "SkippingAgent.java"].map(|name| workspace.root().join("skipping").join(name));
    let classes = folder.join("classes");
    compile(jdk, &sources, &workspace.set("asm")?, &classes)?;
    let manifest = folder.join("manifest");
    std::fs::write(&manifest, "Premain-Class: SkippingAgent\n").map_err(io("write", &manifest))?;
    let jar = folder.join("skipping.jar");
    let tool = jdk.home.join("bin/jar");
    let output = Command::new(&tool)
        .arg("cfm")
        .args([&jar, &manifest])
        .arg("-C")
        .arg(&classes)
        .arg(".")
        .output()
        .map_err(io("start", &tool))?;
    if output.status.success() {
        return Ok(jar);
    }
    Err(Error::Program {
        program: "jar".to_owned(),
        problem: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// A kernel with the prototypes' classes on its class path.
///
/// # Errors
/// If ASM has not been fetched.
pub fn with_class_path(workspace: &Workspace, mut workload: Workload, jar: &Path) -> Result<Workload> {
    let mut path = vec![workspace.build().join("kernels"), jar.to_owned()];
    path.extend(workspace.set("asm")?);
    let path = std::env::join_paths(path).map_err(|e| Error::Usage(format!("class path: {e}")))?;
    workload.arguments[1] = path;
    Ok(workload)
}

/// What a JVM sampled: by its profile, or by what the prototype printed on standard error.
///
/// # Errors
/// If a prototype was not at work, or the profile cannot be read.
pub fn samples(trodden: &Path, config: &Config, profile: &Path, errors: &str) -> Result<Option<String>> {
    if config.options.is_some() {
        let about = long::json(trodden, "report", &[profile])?["subpaths"].take();
        return Ok(Some(format!(
            "{} samples, {} blocks, {} different kept, of {} blocks",
            about["drawn"], about["drawn_blocks"], about["distinct"], about["blocks"]
        )));
    }
    if config.jvm.is_empty() {
        return Ok(None);
    }
    let said: Vec<&str> = errors
        .lines()
        .filter_map(|line| line.split_once("skipping: "))
        .map(|l| l.1)
        .collect();
    if said.is_empty() {
        return Err(Error::Program {
            program: config.name.clone(),
            problem: format!("the prototype was not at work\n{errors}"),
        });
    }
    Ok(Some(said.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_comes_with_its_idle_twin() {
        let configs = configs(Path::new("/x/a.jar"));
        let names: Vec<&str> = configs.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names[..5], ["base", "probes", "blocks", "blocks-idle", "copies"]);
        assert_eq!(names.len(), 2 + 2 * PROTOTYPES.len());
        assert_eq!(
            configs[2].jvm,
            ["-Dskip.mean=4096", "-javaagent:/x/a.jar=blocks,trodden/kernels/"]
        );
    }

    #[test]
    fn a_prototype_that_says_nothing_was_not_at_work() {
        let all = configs(Path::new("a.jar"));
        let of = |config: &Config, errors| samples(Path::new("none"), config, Path::new("none"), errors);
        assert_eq!(of(&all[0], "").unwrap(), None);
        assert_eq!(
            of(&all[3], "skipping: 3 samples\n").unwrap().as_deref(),
            Some("3 samples")
        );
        assert!(of(&all[3], "nothing").is_err());
    }
}
