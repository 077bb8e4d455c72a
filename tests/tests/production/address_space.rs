//! Programs under `ulimit -v`: with the agent they behave as they do without it, but for the eighth that it
//! may take.

use std::process::Command;
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{agent_flag, methods};
use trodden_tests::{Result, process, stress};

/// Threads that live at the same time. With a block of 256 MB each they would take 37 GB.
const THREADS: u64 = 150;
/// Limits in megabytes: from what the JVM does not start with to more than blocks take.
const LIMITS: [u64; 7] = [1_500, 2_500, 4_000, 6_000, 7_000, 8_000, 16_000];
/// Flags under which the memory that a JVM itself takes does not depend on the machine's size.
const SMALL: [&str; 4] = [
    "-Xmx64m",
    "-Xss512k",
    "-XX:ReservedCodeCacheSize=64m",
    "-XX:CompressedClassSpaceSize=64m",
];

/// The same command, with at most `megabytes` megabytes of address space.
fn limited(java: &Command, megabytes: u64) -> Command {
    let mut shell = Command::new("sh");
    shell.args([
        "-c",
        r#"ulimit -v "$0" && exec "$@""#,
        &(megabytes * 1024).to_string(),
    ]);
    shell.arg(java.get_program()).args(java.get_args());
    shell
}

#[test]
fn programs_get_the_address_space_that_they_need() -> Result<()> {
    let threads = THREADS.to_string();
    for jdk in Jdk::ends()? {
        let mut worked = 0;
        for megabytes in LIMITS {
            let folder = tempfile::tempdir()?;
            let file = folder.path().join("out.trodden");
            let mut flags: Vec<String> = SMALL.iter().map(|&flag| flag.to_owned()).collect();
            // Of a JVM that has too little for itself.
            flags.push(format!(
                "-XX:ErrorFile={}",
                folder.path().join("hs_err.log").display()
            ));
            // The agent may take an eighth of what is free; a program that needs that as well has too little.
            let plain = stress::java("Crowd", &jdk, &flags, &[&threads])?;
            let plain = process::run(&mut limited(&plain, megabytes / 8 * 7), Duration::from_secs(120))?;
            flags.push(agent_flag("counters", "Crowd*", &file)?);
            let profiled = stress::java("Crowd", &jdk, &flags, &[&threads])?;
            let profiled = process::run(&mut limited(&profiled, megabytes), Duration::from_secs(120))?;
            let Ok(plain) = plain.success() else {
                // The JVM itself needs more.
                continue;
            };
            worked += 1;
            let about = |e| format!("JDK {}, {megabytes} MB: {e}", jdk.feature);
            let profiled = profiled.success().map_err(about)?;
            assert_eq!(
                plain.stdout, profiled.stdout,
                "JDK {}, {megabytes} MB",
                jdk.feature
            );
            if !file.is_file() {
                assert!(profiled.stderr.contains("ulimit -v"), "{}", profiled.stderr);
                continue;
            }
            let profile = Profile::load(&file)?;
            let odd: u64 = methods(&profile)
                .filter(|(id, ..)| id.name == "odd")
                .flat_map(|(_, _, counts)| counts.values().copied())
                .sum();
            assert_eq!(odd, THREADS * 1_000, "JDK {}, {megabytes} MB", jdk.feature);
            assert_eq!(profile.run.facts.text("lost").as_deref(), Some("0"));
        }
        assert!(worked >= 3, "JDK {}: only {worked} of {LIMITS:?} MB", jdk.feature);
    }
    Ok(())
}
