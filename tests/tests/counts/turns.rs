//! k-iteration paths in bursts, as they are recorded by default: of a loop whose turns are known.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use trodden_profile::Profile;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process};

const LIMIT: Duration = Duration::from_secs(120);
/// The part of the turns that go the rare way, whatever came before.
const RARE: f64 = 0.25;

#[test]
fn shares_of_bursts_are_those_of_the_program() -> Result<()> {
    for jdk in Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("turns.trodden");
        let source = Path::new(build::ROOT).join("stress/Turns.java");
        build::javac(&jdk, ".", &[source], folder.path())?;
        let cli = || Command::new(&artefacts::artefacts().expect("they are built").cli);
        let mut run = cli();
        run.args(["run", "--profile", "kpaths", "--k", "3", "-o"])
            .arg(&file);
        run.arg("--").arg(jdk.command("java").get_program());
        run.args(["-Xverify:all", "-cp"])
            .arg(folder.path())
            .args(["Turns", "5000"]);
        let ran = process::run(&mut run, LIMIT)?.success()?;
        assert!(
            ran.stderr.contains("kpaths: paths are counted in bursts"),
            "{}",
            ran.stderr
        );
        assert_eq!(ran.stdout, "done\n");

        let kpaths = Profile::load(&file)?.kpaths.ok_or("no forests")?;
        assert_eq!(kpaths.bursts.as_deref(), Some("jvm:200ms:2ms"));
        let json = process::run(cli().args(["report", "--format", "json"]).arg(&file), LIMIT)?.success()?;
        let json: serde_json::Value = serde_json::from_str(&json.stdout)?;
        let methods = json["kpaths"]["methods"].as_array().ok_or("no methods")?;
        let method = methods
            .iter()
            .find(|method| method["name"] == "loop")
            .ok_or("no loop")?;
        let what = format!("JDK {}: {method:#}", jdk.feature);
        let mut shares = 0;
        for tree in method["trees"].as_array().ok_or("no trees")? {
            for node in tree.as_array().ok_or("no nodes")? {
                let of_parent = node["of_parent"].as_f64().ok_or("no share")?;
                // Beginnings and ends of calls are rare.
                let is_rare = node["count"].as_u64().is_none_or(|count| count < 20);
                if node["parent"].is_null() || of_parent < 0.05 || is_rare {
                    continue;
                }
                let truth = if of_parent < 0.5 { RARE } else { 1.0 - RARE };
                assert!((of_parent - truth).abs() < 0.1, "{of_parent} of {node:#}, {what}");
                let [low, high]: [f64; 2] = serde_json::from_value(node["share_interval"].clone())?;
                assert!(
                    low <= of_parent && of_parent <= high && low < high,
                    "{node:#}, {what}"
                );
                assert!(low - 0.05 < truth && truth < high + 0.05, "{node:#}, {what}");
                shares += 1;
            }
        }
        // Two ways, each after one or two others.
        assert!(shares >= 12, "{shares}, {what}");
        let text =
            process::run(cli().args(["report", "--method", "Turns#loop"]).arg(&file), LIMIT)?.success()?;
        assert!(
            text.stdout.contains("Only bursts were counted (jvm:200ms:2ms)"),
            "{}",
            text.stdout
        );
        assert!(text.stdout.contains(" ± "), "{}", text.stdout);
    }
    Ok(())
}

/// A program whose paths end after the first burst, which comes with the JVM's start, and before the
/// second one.
const LATE: &str = "
public class Late {
    static int turn(int i) {
        return i % 3 == 0 ? i : -i;
    }

    public static void main(String[] args) throws Exception {
        Thread.sleep(1500);
        int sum = 0;
        for (int i = 0; i < 1000; i++) {
            sum += turn(i);
        }
        System.out.println(sum);
    }
}
";

/// Of a program without a path in a burst nothing is claimed.
#[test]
fn without_a_burst_nothing_is_known() -> Result<()> {
    let jdk = Jdk::ends()?.pop().ok_or("no JDK")?;
    let folder = tempfile::tempdir()?;
    let source = folder.path().join("Late.java");
    std::fs::write(&source, LATE)?;
    build::javac(&jdk, ".", &[source], folder.path())?;
    let mut run = Command::new(&artefacts::artefacts()?.cli);
    run.args(["run", "--profile", "kpaths", "--burst", "jvm:1h:2ms", "-o"]);
    run.arg(folder.path().join("short.trodden")).arg("--");
    run.arg(jdk.command("java").get_program())
        .arg("-cp")
        .arg(folder.path());
    let ran = process::run(run.arg("Late"), LIMIT)?.success()?;
    assert!(ran.stderr.contains("No path ended in a burst"), "{}", ran.stderr);
    Ok(())
}
