//! Time of paths, against what the program measures itself: which call is slow is decided by a branch, and
//! each way reads the thread's CPU clock. On both JDKs.

use std::fs;
use std::time::Duration;

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::profile::{SUSPICIOUS, agent_flag};
use trodden_tests::{Result, artefacts, process};

const LIMIT: Duration = Duration::from_secs(300);
/// One call in ten is slow; `Work` is not instrumented. `handle`'s own clock readings are in both.
const PROGRAM: &str = "import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;

public class Served {
    static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
    static long sum;

    static void handle(int request) {
        if (request % 10 == 0) {
            sum += Work.spin(600_000);
        } else {
            sum += Work.spin(30_000);
        }
    }

    public static void main(String[] args) {
        long[] spent = new long[2];
        long end = CLOCK.getCurrentThreadCpuTime() + 3_000_000_000L;
        for (int i = 0; ; i++) {
            long before = CLOCK.getCurrentThreadCpuTime();
            if (before > end) {
                break;
            }
            handle(i);
            spent[i % 10 == 0 ? 0 : 1] += CLOCK.getCurrentThreadCpuTime() - before;
        }
        System.out.println((double) spent[0] / (spent[0] + spent[1]) + \" \" + (sum != 0));
    }
}

class Work {
    static long spin(int rounds) {
        long x = rounds;
        for (int i = 0; i < rounds; i++) {
            x = x * 31 + (x >>> 7);
        }
        return x;
    }
}
";

#[test]
fn the_slow_way_has_its_time() -> Result<()> {
    for jdk in &Jdk::ends()? {
        let folder = tempfile::tempdir()?;
        fs::write(folder.path().join("Served.java"), PROGRAM)?;
        let mut javac = jdk.command("javac");
        process::run(
            javac.args(["-g", "Served.java"]).current_dir(folder.path()),
            LIMIT,
        )?
        .success()?;
        let file = folder.path().join("out.trodden");
        let mut java = jdk.command("java");
        java.args(SUSPICIOUS)
            .arg(agent_flag("counters,sample=1ms", "Served", &file)?)
            .args(["-cp", ".", "Served"])
            .current_dir(folder.path());
        let outcome = process::run(&mut java, LIMIT)?.success()?;
        let spent: f64 = outcome.stdout.split(' ').next().ok_or("no share")?.parse()?;

        let mut report = std::process::Command::new(&artefacts::artefacts()?.cli);
        report.arg("report").arg(&file).args(["--format", "json"]);
        let report = process::run(&mut report, LIMIT)?.success()?;
        let json: Value = serde_json::from_str(&report.stdout)?;
        let methods = json["methods"].as_array().ok_or("no methods")?;
        let handle = methods.iter().find(|method| method["name"] == "handle");
        let handle = handle.ok_or("no method 'handle'")?;
        let paths = handle["paths"].as_array().ok_or("no paths")?;
        assert_eq!(paths.len(), 2, "{handle}");
        // The rarer one is the slow one.
        let slow = paths.iter().min_by_key(|path| path["count"].as_u64());
        let time = &slow.ok_or("no path")?["time"];
        let share = time["share"].as_f64().ok_or("no share")?;
        let interval: [f64; 2] = serde_json::from_value(time["interval"].clone())?;
        let what = format!("JDK {}: measured {spent}, found {time}", jdk.feature);
        // The program's clock readings are spread over all calls alike: most of the difference.
        assert!((share - spent).abs() < 0.08, "{what}");
        assert!(interval[0] <= share && share <= interval[1], "{what}");
        assert!(interval[1] - interval[0] < 0.3, "{what}");
        // The two ways have the branch in common, and nothing else.
        assert!(
            share - time["certain"].as_f64().ok_or("no share")? < 0.1,
            "{what}"
        );
        let found = json["findings"].as_array().ok_or("no findings")?;
        assert_eq!(found[0]["kind"], "slow-path", "{found:?}");
        assert_eq!(found[0]["name"], "handle", "{found:?}");
    }
    Ok(())
}
