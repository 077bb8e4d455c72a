//! The program's class loaders are asked for nothing because of probes.

use std::path::Path;
use std::process::{Command, Output};

use crate::common::{agent, compile, jdks};
use trodden_profile::Profile;

fn run(home: &Path, dir: &Path, options: Option<&str>) -> Output {
    let mut java = Command::new(home.join("bin/java"));
    java.args(["-Xverify:all", "-Xcheck:jni", "-cp", "."])
        .current_dir(dir);
    if let Some(options) = options {
        java.arg(format!(
            "-agentpath:{}=start,file=out.trodden,{options}",
            agent().display()
        ));
    }
    java.arg("Loaders").output().expect("java runs")
}

/// Calls of the loader's method: it has no loop.
fn calls(profile: &Profile) -> u64 {
    let class = profile.classes.iter().find(|c| c.map.name == "Loaders$Inner");
    let class = class.expect("the loader is profiled");
    let method = class.map.methods.iter().position(|m| m.name == "loadClass");
    class.counts[method.expect("its method")].total()
}

#[test]
fn loaders_are_not_asked_for_what_probes_name() {
    for home in jdks() {
        let dir = tempfile::tempdir().expect("a folder");
        compile(&home, "Loaders", dir.path());
        let plain = run(&home, dir.path(), None);
        assert!(plain.status.success(), "{plain:?}");
        for options in [
            "probe=counters",
            "profile=coverage,coverage=paths",
            "probe=yieldpoint",
            "probe=safepoint",
            "probe=auto",
            "profile=contexts,burst=off",
            "profile=contexts,burst=static:2ms:200us",
            "profile=kpaths,burst=off",
            "profile=coverage",
            "profile=structural",
        ] {
            let with = run(&home, dir.path(), Some(options));
            let err = String::from_utf8_lossy(&with.stderr);
            let what = format!("{}, {options}: {err}", home.display());
            assert_eq!(
                String::from_utf8_lossy(&with.stdout),
                String::from_utf8_lossy(&plain.stdout),
                "{what}"
            );
            assert!(
                with.status.success() && !err.contains("WARNING in native"),
                "{what}"
            );
            if options == "probe=counters" {
                let profile = Profile::load(dir.path().join("out.trodden")).expect("a profile");
                let own = String::from_utf8_lossy(&plain.stdout);
                let own = own.split_once(' ').and_then(|(calls, _)| calls.parse().ok());
                assert_eq!(Some(calls(&profile)), own, "{what}");
            }
        }
    }
}
