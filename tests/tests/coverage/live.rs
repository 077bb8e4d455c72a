//! `profile=coverage` of a program that keeps a log of its own blocks, by hand: attached to in the middle, in
//! several JVMs, over restarts, and with probes put in and taken out in a loop while threads run.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, process};

const LIMIT: Duration = Duration::from_secs(600);
const METHODS: usize = 60;

type Lines = BTreeSet<u32>;

/// Methods whose blocks each have a line of their own and log it. `run SEED` calls some of them in eight
/// threads and says what was logged; `noise` lets two more threads call the last ten for ever.
fn source() -> String {
    let head = "import java.util.*;
public class Blocks {
    static volatile boolean[] log = new boolean[5000];
    static int at(int line) { log[line] = true; return line; }
    static int call(int method, int x) {
        switch (method) {
CASES
            default: return 0;
        }
    }
    static String run(long seed) throws Exception {
        log = new boolean[5000];
        Thread[] threads = new Thread[8];
        for (int t = 0; t < threads.length; t++) {
            Random random = new Random(seed * 100 + t);
            threads[t] = new Thread(() -> {
                for (int i = 0; i < 12; i++) { call(random.nextInt(50), random.nextInt(40)); }
            });
        }
        for (Thread thread : threads) { thread.start(); }
        for (Thread thread : threads) { thread.join(); }
        StringBuilder lines = new StringBuilder();
        for (int line = 0; line < log.length; line++) { if (log[line]) { lines.append(' ').append(line); } }
        return lines.toString();
    }
    static void noise(int seed) {
        Random random = new Random(seed);
        while (true) { call(50 + random.nextInt(10), random.nextInt(40)); }
    }
    public static void main(String[] args) throws Exception {
        Scanner in = new Scanner(System.in);
        System.out.println(\"ready\");
        while (in.hasNext()) {
            switch (in.next()) {
                case \"run\": System.out.println(\"ran\" + run(in.nextLong())); break;
                case \"noise\":
                    for (int t = 0; t < 2; t++) {
                        int seed = t;
                        Thread thread = new Thread(() -> noise(seed));
                        thread.setDaemon(true);
                        thread.start();
                    }
                    System.out.println(\"ran\");
                    break;
                default: Runtime.getRuntime().halt(0);
            }
        }
    }
BODIES
}
";
    let cases: Vec<String> = (0..METHODS)
        .map(|m| format!("            case {m}: return m{m}(x);"))
        .collect();
    let head = head.replace("CASES", &cases.join("\n"));
    let first = 1 + head[..head.find("BODIES").unwrap_or(0)].matches('\n').count();
    let mut lines: Vec<String> = Vec::new();
    for m in 0..METHODS {
        let (a, b, c) = (m % 5 + 2, m % 7 + 2, m % 11 + 3);
        for text in [
            format!("    static int m{m}(int x) {{"),
            "        int s = at(LINE);".to_owned(),
            format!("        if (x % {a} == 0)"),
            "            s += at(LINE);".to_owned(),
            format!("        else if (x % {b} == 1)"),
            "            s += at(LINE);".to_owned(),
            format!("        for (int i = 0; i < x % {c}; i++)"),
            "            s += at(LINE);".to_owned(),
            "        try {".to_owned(),
            "            s += at(LINE);".to_owned(),
            format!("            s += 60 / (x % {c});"),
            "        } catch (ArithmeticException e) {".to_owned(),
            "            s += at(LINE);".to_owned(),
            "        }".to_owned(),
            "        return s;".to_owned(),
            "    }".to_owned(),
        ] {
            let line = first + lines.len();
            lines.push(text.replace("LINE", &line.to_string()));
        }
    }
    head.replace("BODIES", &lines.join("\n"))
}

/// The lines that log themselves.
fn logged(source: &str) -> Lines {
    let lines = source.lines().filter(|line| line.contains("= at("));
    let number = |line: &str| line.split("at(").nth(1)?.split(')').next()?.parse().ok();
    lines.filter_map(number).collect()
}

struct Program {
    folder: tempfile::TempDir,
    jdk: Jdk,
    logged: Lines,
}

/// One JVM of it.
struct Running {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Program {
    fn new(jdk: &Jdk) -> Result<Program> {
        let folder = tempfile::tempdir()?;
        let source = source();
        fs::write(folder.path().join("Blocks.java"), &source)?;
        let mut javac = jdk.command("javac");
        javac
            .current_dir(folder.path())
            .args(["-g", "-d", "classes", "Blocks.java"]);
        process::run(&mut javac, LIMIT)?.success()?;
        Ok(Program {
            logged: logged(&source),
            folder,
            jdk: jdk.clone(),
        })
    }

    fn start(&self, agent: Option<&str>) -> Result<Running> {
        let mut java = self.jdk.command("java");
        java.current_dir(self.folder.path());
        if let Some(options) = agent {
            let library = artefacts::artefacts()?.agent.display();
            java.arg(format!(
                "-agentpath:{library}=start,profile=coverage,quiet=true,include=Blocks,{options}"
            ));
        }
        java.args(["-XX:+EnableDynamicAgentLoading", "-cp", "classes", "Blocks"]);
        let mut child = java.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let output = BufReader::new(child.stdout.take().ok_or("no output")?);
        let mut running = Running { child, output };
        assert_eq!(running.line()?, "ready");
        Ok(running)
    }

    fn trodden(&self, arguments: &[&str]) -> Result<String> {
        let mut trodden = Command::new(&artefacts::artefacts()?.cli);
        trodden.current_dir(self.folder.path()).args(arguments);
        Ok(process::run(&mut trodden, LIMIT)?.success()?.stdout)
    }

    /// The lines that log themselves and ran according to profiles.
    fn covered(&self, files: &[&str]) -> Result<Lines> {
        let json: Value = serde_json::from_str(
            &self.trodden(&[&["coverage", "--classes", "classes", "--format", "json"], files].concat())?,
        )?;
        assert_eq!(
            json["other_bytes"],
            Value::Array(Vec::new()),
            "classes are known again"
        );
        let lcov =
            self.trodden(&[&["coverage", "--classes", "classes", "--format", "lcov"], files].concat())?;
        let entries = lcov
            .lines()
            .filter_map(|line| line.strip_prefix("DA:")?.split_once(','));
        let ran = entries.filter(|(_, count)| *count != "0");
        let lines: Lines = ran.filter_map(|(line, _)| line.parse().ok()).collect();
        Ok(lines.intersection(&self.logged).copied().collect())
    }
}

impl Running {
    fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err("the program ended".into()),
            _ => Ok(line.trim().to_owned()),
        }
    }

    /// The lines that it runs, by its own log.
    fn ask(&mut self, what: &str) -> Result<Lines> {
        let mut input = self.child.stdin.as_ref().ok_or("no input")?;
        writeln!(input, "{what}")?;
        let line = self.line()?;
        let lines = line.strip_prefix("ran").ok_or(line.as_str())?.split_whitespace();
        Ok(lines.filter_map(|line| line.parse().ok()).collect())
    }

    fn halt(mut self) -> Result<()> {
        writeln!(self.child.stdin.as_ref().ok_or("no input")?, "halt")?;
        self.child.wait()?;
        Ok(())
    }

    fn attach(&self, program: &Program, rest: &[&str]) -> Result<()> {
        let pid = self.child.id().to_string();
        program
            .trodden(&[&["attach", pid.as_str()], rest].concat())
            .map(drop)
    }
}

const START: [&str; 5] = ["start", "--profile", "coverage", "--include", "Blocks"];

/// Lines that ran before the attach are in no profile, all lines that ran since are.
#[test]
fn attached_in_the_middle() -> Result<()> {
    for jdk in Jdk::ends()? {
        let program = Program::new(&jdk)?;
        let mut jvm = program.start(None)?;
        let before = jvm.ask("run 1")?;
        jvm.attach(&program, &START)?;
        let after = jvm.ask("run 2")?;
        jvm.attach(&program, &["dump", "--file", "middle.trodden"])?;
        assert_eq!(program.covered(&["middle.trodden"])?, after);
        assert!(!before.is_subset(&after) && !after.is_subset(&before) && !after.is_disjoint(&before));
    }
    Ok(())
}

/// Two JVMs, one of which was killed after a dump and started again into the same folder: together what any
/// of them ran.
#[test]
fn several_jvms_and_a_restart_are_one() -> Result<()> {
    for jdk in Jdk::ends()? {
        let program = Program::new(&jdk)?;
        fs::create_dir(program.folder.path().join("all"))?;
        let options = "dump=100ms,file=all/%p.trodden";
        let mut expected = Lines::new();
        let mut each = Vec::new();
        for seeds in [[1, 2], [3, 4], [5, 6]] {
            let mut jvm = program.start(Some(options))?;
            let file = format!("all/{}.trodden", jvm.child.id());
            let mut own = Lines::new();
            for seed in seeds {
                own.extend(jvm.ask(&format!("run {seed}"))?);
            }
            // It halts without a last dump: the one that is made all the time has to be there first.
            let since = Instant::now();
            while !Path::new(&program.folder.path().join(&file)).exists() || program.covered(&[&file])? != own
            {
                assert!(since.elapsed() < LIMIT, "a dump has everything that ran");
                std::thread::sleep(Duration::from_millis(100));
            }
            jvm.halt()?;
            assert_eq!(program.covered(&[&file])?, own);
            expected.extend(own);
            each.push(file);
        }
        let files: Vec<&str> = each.iter().map(String::as_str).collect();
        assert_eq!(program.covered(&files)?, expected);
        assert_eq!(program.covered(&["--since", "1d", "all"])?, expected);
        program.trodden(&[&["merge", "-o", "merged.trodden"], &files[..]].concat())?;
        assert_eq!(program.covered(&["merged.trodden"])?, expected);
        assert!(
            each.iter()
                .all(|file| program.covered(&[file]).is_ok_and(|one| one != expected))
        );
    }
    Ok(())
}

/// Probes come and go while other threads run: nothing that ran while they were there is lost, nothing else
/// is there.
#[test]
fn nothing_is_lost_while_probes_come_and_go() -> Result<()> {
    for jdk in Jdk::ends()? {
        let program = Program::new(&jdk)?;
        let mut jvm = program.start(None)?;
        let by_noise: Lines = {
            let all = program.logged.iter().copied();
            let per_method = program.logged.len() / METHODS;
            all.skip(50 * per_method).collect()
        };
        let early = jvm.ask("run 1000")?;
        jvm.ask("noise")?;
        let mut ran = Lines::new();
        for round in 0..25 {
            jvm.attach(&program, &START)?;
            let now = jvm.ask(&format!("run {round}"))?;
            ran.extend(now.difference(&by_noise));
            let file = format!("{round}.trodden");
            jvm.attach(&program, &["stop", "--file", &file])?;
            let covered = program.covered(&[&file])?;
            let own: Lines = covered.difference(&by_noise).copied().collect();
            assert_eq!(own, ran, "round {round}");
            // At first, that is less than what ran while there were no probes.
            assert!(round > 0 || !early.is_subset(&ran));
            // Without probes, nothing is seen.
            jvm.ask("run 1000")?;
        }
        assert!(ran.len() > 150, "{}", ran.len());
    }
    Ok(())
}
