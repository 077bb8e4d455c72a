//! A program that is attached to.

use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use trodden_tests::jdk::Jdk;
use trodden_tests::talker::Talker;
use trodden_tests::{Result, artefacts, process};

pub const LIMIT: Duration = Duration::from_secs(600);

/// Calls `one` until a line comes, then `two` until there are no more lines.
pub const PROGRAM: &str = "public class Attendee {
    static int one(int i) {
        return i % 3 == 0 ? i : 1;
    }

    static int two(int i) {
        return i % 5 == 0 ? i : 2;
    }

    public static void main(String[] args) throws Exception {
        System.out.println(\"ready\");
        int sum = 0;
        for (int phase = 0; phase < 2; phase++) {
            boolean more = true;
            while (more) {
                for (int i = 0; i < 1000; i++) {
                    sum += phase == 0 ? one(i) : two(i);
                }
                Thread.sleep(1);
                more = System.in.available() == 0 && !Boolean.getBoolean(\"never\");
            }
            if (System.in.read() != '\\n') {
                break;
            }
        }
        System.out.println(sum != 0);
    }
}
";

/// The program, as it runs.
pub struct Attendee {
    talker: Talker,
    /// The JVM's process id: that of a child where the program was started through another one.
    jvm: u32,
}

impl Deref for Attendee {
    type Target = Talker;

    fn deref(&self) -> &Talker {
        &self.talker
    }
}

impl DerefMut for Attendee {
    fn deref_mut(&mut self) -> &mut Talker {
        &mut self.talker
    }
}

/// A session, with what it writes.
pub fn session(program: &Talker, jvm: &str, time: &str, file: &str) -> Result<Command> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command
        .args([
            "attach",
            jvm,
            "--probe",
            "counters",
            "--include",
            "Attendee*",
            "--for",
            time,
            "-o",
        ])
        .arg(program.file(file))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Ok(command)
}

/// A short session in which some method is seen: what it said. On a busy machine the program may not run at
/// all in a short time; then it gets more.
pub fn session_that_sees(
    program: &Talker,
    jvm: &str,
    file: &str,
    seen: impl Fn(&process::Outcome) -> Result<bool>,
) -> Result<process::Outcome> {
    session_with_that_sees(program, jvm, file, &[], seen)
}

/// Like [`session_that_sees`], but with options.
pub fn session_with_that_sees(
    program: &Talker,
    jvm: &str,
    file: &str,
    options: &[&str],
    seen: impl Fn(&process::Outcome) -> Result<bool>,
) -> Result<process::Outcome> {
    let mut said = Vec::new();
    for time in ["200ms", "2s", "20s"] {
        let mut command = session(program, jvm, time, file)?;
        let outcome = process::run(command.args(options), LIMIT)?.success()?;
        if seen(&outcome)? {
            return Ok(outcome);
        }
        said.push(outcome);
    }
    Err(format!("{file}: what should be seen is not: {said:#?}").into())
}

/// The program's classes, and a jar of that name, in a folder that every user may look into.
pub fn classes(jdk: &Jdk, jar: &str) -> Result<TempDir> {
    // Not in /tmp: containers have another one.
    classes_in(jdk, jar, tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?)
}

/// The same in that folder.
pub fn classes_in(jdk: &Jdk, jar: &str, folder: TempDir) -> Result<TempDir> {
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755))?;
    fs::write(folder.path().join("Attendee.java"), PROGRAM)?;
    let mut javac = jdk.command("javac");
    javac.args(["-g", "Attendee.java"]).current_dir(folder.path());
    process::run(&mut javac, LIMIT)?.success()?;
    if !jar.is_empty() {
        let mut make = jdk.command("jar");
        make.args([
            "--create",
            "--file",
            jar,
            "--main-class",
            "Attendee",
            "Attendee.class",
        ]);
        process::run(make.current_dir(folder.path()), LIMIT)?.success()?;
    }
    Ok(folder)
}

impl Attendee {
    /// Starts it as a plain program.
    pub fn start(jdk: &Jdk) -> Result<Self> {
        Self::launch(jdk, classes(jdk, "")?, &[], &["-cp", ".", "Attendee"])
    }

    /// Starts it through other programs: `before` is a command line that the JVM's is added to.
    pub fn launch(jdk: &Jdk, folder: TempDir, before: &[&str], what: &[&str]) -> Result<Self> {
        let java = jdk.command("java");
        let mut command = match before.split_first() {
            None => jdk.command("java"),
            Some((first, others)) => {
                let mut command = Command::new(first);
                command.args(others).arg(java.get_program());
                for variable in [
                    "JAVA_TOOL_OPTIONS",
                    "JDK_JAVA_OPTIONS",
                    "_JAVA_OPTIONS",
                    "CLASSPATH",
                ] {
                    command.env_remove(variable);
                }
                command
            }
        };
        command
            .args(["-Xverify:all", "-Xcheck:jni", "-XX:+EnableDynamicAgentLoading"])
            .args(what);
        let talker = Talker::launch(command, folder)?;
        let mut jvm = talker.pid().parse()?;
        while let Some(pid) = only_child(jvm) {
            jvm = pid;
        }
        Ok(Attendee { talker, jvm })
    }

    /// The JVM's process id.
    pub fn pid(&self) -> String {
        self.jvm.to_string()
    }

    /// A session, with what it writes.
    pub fn session(&self, jvm: &str, time: &str, file: &str) -> Result<Command> {
        session(self, jvm, time, file)
    }

    /// An action.
    pub fn attach(&self, arguments: &[&str]) -> Result<process::Outcome> {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        process::run(command.args(["attach", &self.pid()]).args(arguments), LIMIT)
    }

    /// The sum that its methods have counted until now, by the report.
    pub fn counted(&self) -> Result<u64> {
        let told = self.attach(&["report"])?.success()?.stdout;
        let number = told
            .split(" paths with")
            .next()
            .and_then(|text| text.split_whitespace().last());
        let digits: String = number.unwrap_or_default().chars().filter(|&c| c != ',').collect();
        Ok(digits.parse().map_err(|e| format!("{e} in:\n{told}"))?)
    }

    /// Waits until more is counted. While probes are in that comes: the program runs all the time.
    pub fn counts_on(&self) -> Result<()> {
        let before = self.counted()?;
        await_that("more is counted", || Ok(self.counted()? != before))
    }

    /// Returns true if it runs its own code again. While probes are in, their counts would grow.
    pub fn counts_no_more(&self) -> Result<bool> {
        let before = self.counted()?;
        thread::sleep(Duration::from_millis(100));
        Ok(self.counted()? == before)
    }

    /// Files that the JVM maps, by their endings.
    pub fn maps(&self, wanted: &str) -> Result<Vec<String>> {
        let maps = fs::read_to_string(format!("/proc/{}/maps", self.jvm))?;
        let names = maps.lines().filter(|line| line.contains(wanted));
        Ok(names.map(str::to_owned).collect())
    }
}

impl Drop for Attendee {
    fn drop(&mut self) {
        // The first process of a PID namespace takes all others with it.
        let _ = Command::new("kill").args(["-KILL", &self.pid()]).output();
    }
}

fn only_child(pid: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

/// A session that runs: it has said so.
pub fn begin(mut command: Command, told: &Path) -> Result<Child> {
    let child = command
        .stdout(Stdio::null())
        .stderr(fs::File::create(told)?)
        .spawn()?;
    await_that("the session has begun", || {
        Ok(fs::read_to_string(told)?.contains("profiling "))
    })?;
    Ok(child)
}

/// Sends a signal.
pub fn signal(name: &str, pid: impl ToString) -> Result<()> {
    let mut kill = Command::new("kill");
    kill.arg(format!("-{name}")).arg(pid.to_string());
    process::run(&mut kill, LIMIT)?.success()?;
    Ok(())
}

/// Waits until something holds.
pub fn await_that(what: &str, mut holds: impl FnMut() -> Result<bool>) -> Result<()> {
    let start = Instant::now();
    while !holds()? {
        if start.elapsed() > LIMIT {
            return Err(format!("never: {what}").into());
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Returns true if this machine can do that for this user. If not, says what was not tested.
pub fn can(command: &[&str], what: &str) -> bool {
    let tried = command.split_first().is_some_and(|(program, arguments)| {
        let output = Command::new(OsStr::new(program)).args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    });
    if !tried {
        eprintln!("not tested: {what} ({} does not work here)", command.join(" "));
    }
    tried
}
