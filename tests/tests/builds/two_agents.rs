//! Two agents in one JVM, as where a build file brings one and `trodden run` another: the first one profiles,
//! the second one says that it does nothing, whether it is of the same file or of a copy.

use std::fs;
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, process};

const PROGRAM: &str = "public class Odd {
    public static void main(String[] arguments) {
        int odd = 0;
        for (int i = 0; i < 1000; i++) {
            if (i % 2 == 1) {
                odd++;
            }
        }
        System.out.println(odd);
    }
}
";

#[test]
fn the_first_of_two_agents_profiles() -> Result<()> {
    let agent = &artefacts::artefacts()?.agent;
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let copy = folder.path().join("libtrodden.so");
        fs::copy(agent, &copy)?;
        fs::write(folder.path().join("Odd.java"), PROGRAM)?;
        let mut javac = jdk.command("javac");
        process::run(
            javac.arg("Odd.java").current_dir(folder.path()),
            Duration::from_secs(100),
        )?
        .success()?;
        for second in [agent, &copy] {
            let mut java = jdk.command("java");
            java.current_dir(folder.path());
            java.arg(format!(
                "-agentpath:{}=start,probe=counters,file=first.trodden",
                agent.display()
            ));
            java.arg(format!(
                "-agentpath:{}=start,profile=coverage,file=second.trodden",
                second.display()
            ));
            let outcome =
                process::run(java.args(["-cp", ".", "Odd"]), Duration::from_secs(100))?.success()?;
            assert_eq!(outcome.stdout, "500\n");
            let message =
                "this JVM has Trodden's agent already: that one's options count, this one does nothing";
            assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
            assert!(!outcome.stderr.contains("error"), "{}", outcome.stderr);
            let profile = Profile::load(folder.path().join("first.trodden"))?;
            let counts = profile.classes.iter().flat_map(|class| &class.counts);
            assert_eq!(counts.map(|of| of.total()).sum::<u64>(), 1002);
            assert!(!folder.path().join("second.trodden").exists());
            fs::remove_file(folder.path().join("first.trodden"))?;
        }
    }
    Ok(())
}
