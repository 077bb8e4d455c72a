//! `trodden top` in a pseudo terminal on the newest JDK: what it shows, and that the program has its own code
//! back however it is left.

use std::fs;
use std::io::{Read, Write};
use std::num::NonZero;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use trodden_tests::jdk::Jdk;
use trodden_tests::talker::Talker;
use trodden_tests::{Result, artefacts, process};

const LIMIT: Duration = Duration::from_secs(600);

const PROGRAM: &str = "public class Spinner {
    static int even(int i) {
        return i % 2 == 0 ? i : 1;
    }

    static int third(int i) {
        int sum = 0;
        for (int j = 0; j < 100; j++) {
            sum += (i + j) % 3 == 0 ? j : even(j);
        }
        return sum;
    }

    public static void main(String[] args) throws Exception {
        System.out.println(\"ready\");
        int sum = 0;
        while (System.in.available() == 0) {
            for (int i = 0; i < 10000; i++) {
                sum += third(i);
            }
            Thread.sleep(1);
        }
        System.out.println(sum != 0);
    }
}
";

fn state(program: &Talker) -> Result<String> {
    let mut command = Command::new(&artefacts::artefacts()?.cli);
    command.args(["attach", &program.pid(), "status"]);
    Ok(process::run(&mut command, LIMIT)?.success()?.stdout)
}

/// The size of the terminal.
const ROWS: NonZero<u16> = NonZero::new(30).unwrap();
const COLUMNS: NonZero<u16> = NonZero::new(110).unwrap();

/// A terminal with a view in it: `script` makes the terminal, and hands on what is typed.
struct View {
    script: Child,
    keys: ChildStdin,
    seen: Arc<Mutex<Vec<u8>>>,
}

impl View {
    /// Opens one; the process id of the view comes into `pid`.
    fn open(spinner: &Talker, pid: &Path) -> Result<Self> {
        let top = format!(
            "echo $$ > '{}'; exec '{}' top {} --include Spinner --every 300ms",
            pid.display(),
            artefacts::artefacts()?.cli.display(),
            spinner.pid()
        );
        // Afterwards, how the terminal was left.
        let line = format!("stty cols {COLUMNS} rows {ROWS}; sh -c \"$TOP\"; code=$?; stty -a; exit $code");
        let mut script = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("TOP", top)
            .env("TERM", "xterm")
            .env("SHELL", "/bin/sh")
            .env_remove("NO_COLOR")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (mut output, all) = (script.stdout.take().ok_or("no stdout")?, Arc::clone(&seen));
        thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(length @ 1..) = output.read(&mut some) {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend_from_slice(&some[..length]);
            }
        });
        Ok(View {
            keys: script.stdin.take().ok_or("no stdin")?,
            script,
            seen,
        })
    }

    fn seen(&self) -> String {
        let all = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&all).into_owned()
    }

    /// What stands on the screen. The view writes only the characters that change.
    fn screen(&self) -> String {
        let mut terminal = vt100::Parser::new(ROWS, COLUMNS, 0);
        terminal.process(&self.seen.lock().unwrap_or_else(PoisonError::into_inner));
        terminal.screen().contents()
    }

    /// Waits until something stands on the screen.
    fn shows(&self, wanted: &str) -> Result<()> {
        let start = Instant::now();
        while !self.screen().contains(wanted) {
            if start.elapsed() > LIMIT {
                return Err(format!("{wanted:?} was not shown in:\n{}", self.screen()).into());
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    fn press(&mut self, keys: &str) -> Result<()> {
        self.keys.write_all(keys.as_bytes())?;
        Ok(self.keys.flush()?)
    }

    /// Waits for its end, which must be a good one, with the terminal restored.
    fn ends(mut self) -> Result<String> {
        let start = Instant::now();
        let status = loop {
            match self.script.try_wait()? {
                Some(status) => break status,
                None if start.elapsed() > LIMIT => {
                    self.script.kill()?;
                    return Err(format!("the view does not end:\n{:?}", self.seen()).into());
                }
                None => thread::sleep(Duration::from_millis(20)),
            }
        };
        // Its last words come through a thread.
        self.shows("icanon")?;
        let seen = self.seen();
        assert!(status.success(), "{status}: {seen:?}");
        let (_, after) = seen
            .rsplit_once("\u{1b}[?1049l")
            .ok_or("the other screen is left")?;
        let modes: Vec<&str> = after.split([' ', ';', '\r', '\n']).collect();
        for mode in ["icanon", "echo", "isig"] {
            assert!(modes.contains(&mode), "{mode}: {after}");
        }
        Ok(after.to_owned())
    }
}

#[test]
fn the_program_has_its_own_code_back_however_the_view_is_left() -> Result<()> {
    let jdk = Jdk::newest()?;
    let mut spinner = Talker::start(&jdk, "Spinner", PROGRAM)?;
    let pid = spinner.file("pid");

    // By a key, after a look at a method.
    let mut view = View::open(&spinner, &pid)?;
    view.shows("Spinner.third(int)")?;
    view.shows("Spinner.even(int)")?;
    assert!(state(&spinner)?.contains("state: running"));
    view.press("G")?;
    view.press("d")?;
    // On a busy machine the last row is that of the time elsewhere.
    view.press("g")?;
    view.press("\r")?;
    view.shows("branches")?;
    view.shows("from method entry")?;
    view.press("q")?;
    let told = view.ends()?;
    assert!(told.contains("runs its own code again"), "{told}");
    assert!(state(&spinner)?.contains("state: stopped"));

    // By Ctrl-C, which is a key of a raw terminal.
    let mut view = View::open(&spinner, &pid)?;
    view.shows("Spinner.third(int)")?;
    view.press("\u{3}")?;
    view.ends()?;
    assert!(state(&spinner)?.contains("state: stopped"));

    // By a signal.
    let view = View::open(&spinner, &pid)?;
    view.shows("Spinner.third(int)")?;
    let signal = ["-TERM".to_owned(), fs::read_to_string(&pid)?.trim().to_owned()];
    process::run(Command::new("kill").args(signal), LIMIT)?.success()?;
    view.ends()?;
    assert!(state(&spinner)?.contains("state: stopped"));

    // The terminal is closed.
    let mut view = View::open(&spinner, &pid)?;
    view.shows("Spinner.third(int)")?;
    view.script.kill()?;
    view.script.wait()?;
    let start = Instant::now();
    while !state(&spinner)?.contains("state: stopped") {
        assert!(start.elapsed() < LIMIT, "it records without a view");
        thread::sleep(Duration::from_millis(100));
    }

    // The program ends.
    let view = View::open(&spinner, &pid)?;
    view.shows("Spinner.third(int)")?;
    spinner.go_on()?;
    let told = view.ends()?;
    assert!(told.contains("the JVM has ended"), "{told}");
    assert!(told.contains("Spinner.third(int)"), "{told}");
    spinner.says("true")?;
    spinner.ends()?;
    Ok(())
}

#[test]
fn what_cannot_be() -> Result<()> {
    let top = |words: &[&str]| {
        let mut command = Command::new(&artefacts::artefacts()?.cli);
        process::run(command.arg("top").args(words), LIMIT)
    };
    for (words, message) in [
        (&["1"][..], "trodden attach 1 --for 30s"),
        (&["1", "--every", "1ms"], "less than 200ms"),
        (&[], "required"),
    ] {
        let outcome = top(words)?;
        assert_eq!(outcome.status.code(), Some(2), "{words:?}: {outcome:?}");
        assert!(outcome.stderr.contains(message), "{words:?}: {outcome:?}");
    }
    Ok(())
}
