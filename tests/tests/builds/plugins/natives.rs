//! The program and the agent that come with the plugins.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, process};

use super::repository;

/// Prints where the plugins find the agent.
const FIND: &str = "public class Find {
    public static void main(String[] args) throws Exception {
        System.out.println(trodden.build.Tools.find(null, null).library());
    }
}
";

#[test]
fn program_and_agent_are_unpacked_once_and_checked_always() -> Result<()> {
    if !process::is_there("mvn") {
        return Ok(());
    }
    let jdk = &Jdk::oldest()?;
    let temporary = tempfile::tempdir()?;
    let cache = temporary.path().join("a cache");
    fs::write(temporary.path().join("Find.java"), FIND)?;
    let version = env!("CARGO_PKG_VERSION");
    let jar = |artifact: &str, classifier: &str| -> Result<String> {
        let name = format!("trodden/{artifact}/{version}/{artifact}-{version}{classifier}.jar");
        Ok(repository()?.join(name).display().to_string())
    };
    let platform = format!("-linux-{}", std::env::consts::ARCH);
    let path = format!(
        "{}:{}:.",
        jar("trodden-gradle-plugin", "")?,
        jar("trodden-natives", &platform)?
    );
    let limit = Duration::from_secs(120);
    let mut javac = jdk.command("javac");
    javac
        .args(["-cp", &path, "Find.java"])
        .current_dir(temporary.path());
    process::run(&mut javac, limit)?.success()?;
    let find = |cache: &Path| {
        let mut java = jdk.command("java");
        java.args(["-cp", &path, "Find"])
            .current_dir(temporary.path())
            .env("TRODDEN_CACHE", cache)
            .env_remove("TRODDEN")
            .env_remove("TRODDEN_AGENT");
        java
    };
    // Many at once.
    let children: std::io::Result<Vec<_>> = (0..6)
        .map(|_| {
            let mut java = find(&cache);
            java.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
        })
        .collect();
    let mut found = BTreeSet::new();
    for child in children? {
        found.insert(process::wait(child, limit)?.success()?.stdout);
    }
    assert_eq!(found.len(), 1, "{found:?}");
    let library = PathBuf::from(found.pop_first().ok_or("nothing")?.trim_end());
    let folder = library.parent().ok_or("no folder")?;
    let names: BTreeSet<_> = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<Result<_>>()?;
    assert_eq!(names, BTreeSet::from(["libtrodden.so".into(), "trodden".into()]));
    for place in [&*cache, folder, &*library, &folder.join("trodden")] {
        assert_eq!(
            fs::metadata(place)?.permissions().mode() & 0o777,
            0o700,
            "{place:?}"
        );
    }
    // What was changed since is not run.
    let right = fs::read(&library)?;
    fs::write(&library, b"something else")?;
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o777))?;
    process::run(&mut find(&cache), limit)?.success()?;
    assert!(fs::read(&library)? == right);
    assert_eq!(fs::metadata(&cache)?.permissions().mode() & 0o777, 0o700);
    // A link of another user is not followed, and the remedy is printed.
    let link = temporary.path().join("link");
    std::os::unix::fs::symlink(&cache, &link)?;
    let outcome = process::run(&mut find(&link), limit)?;
    assert!(!outcome.status.success());
    for wanted in ["is no folder", "TRODDEN_CACHE", "trodden.program"] {
        assert!(outcome.stderr.contains(wanted), "{}", outcome.stderr);
    }
    // What is named goes first.
    let artefacts = artefacts::artefacts()?;
    let mut java = find(&link);
    java.env("TRODDEN", &artefacts.cli)
        .env("TRODDEN_AGENT", &artefacts.agent);
    let named = process::run(&mut java, limit)?.success()?.stdout;
    assert_eq!(
        Path::new(named.trim_end()),
        artefacts.agent.canonicalize()?.as_path()
    );
    Ok(())
}
