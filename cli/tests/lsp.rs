//! `trodden lsp` by its protocol: framed JSON messages on standard input and output. The oracle of numbers is
//! `trodden report --format json` of the same profile.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use trodden_profile::{ClassMap, ClassProfile, MethodCounts, MethodMap, Profile};

use crate::kpaths::walk;

/// The source of the profiled class; `walk`'s code is in lines 10 to 14, with branches at 11 and 13.
const SOURCE: &str = "package a;

public class B {
    private int n;

    // Walks.

    private int size() { return n; }
    void walk() {
        int i = 0;
        while (i < n) {
            i++;
            if (i > 3) {
                return;
            }
        }
    }
}
";

/// A project with a source and a profile whose run begins in ten seconds: files written now were not edited
/// since.
struct Project {
    folder: tempfile::TempDir,
    began: SystemTime,
}

impl Project {
    fn new() -> Project {
        let project = Project {
            folder: tempfile::tempdir().unwrap(),
            began: SystemTime::now() + Duration::from_secs(10),
        };
        fs::create_dir_all(project.source().parent().unwrap()).unwrap();
        fs::write(project.source(), SOURCE).unwrap();
        project
    }

    fn recorded() -> Project {
        let project = Project::new();
        project.record(1);
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn source(&self) -> PathBuf {
        self.path().join("src/main/java/a/B.java")
    }

    fn profile(&self) -> PathBuf {
        self.path().join("app.trodden")
    }

    /// Writes the profile; `times` is a factor of all counts. With 0 only the path ran that never enters the
    /// loop's second branch.
    fn record(&self, times: u64) {
        let map = walk();
        let paths = (0..map.num_paths()).map(|number| (number, (number * number + 2) * times));
        let one = walk_out(&map).map(|number| (number, 1));
        let paths = paths.filter(|_| times > 0).chain(one.filter(|_| times == 0));
        let class = ClassMap {
            name: "a/B".to_owned(),
            sha256: [1; 32],
            source_file: Some("B.java".to_owned()),
            methods: vec![map.clone()],
        };
        let counts = MethodCounts {
            paths: paths.collect(),
            ..MethodCounts::default()
        };
        let mut profile = Profile {
            classes: vec![ClassProfile {
                map: Arc::new(class),
                counts: vec![counts],
            }],
            ..Profile::default()
        };
        profile.run.exact = true;
        let began = self.began.duration_since(UNIX_EPOCH).unwrap();
        profile.run.started_ms = began.as_millis() as u64;
        profile.save(self.profile()).unwrap();
    }

    /// Writes the source, as if it was edited after the run.
    fn edit(&self, text: &str) {
        fs::write(self.source(), text).unwrap();
        let file = File::options().write(true).open(self.source()).unwrap();
        file.set_modified(self.began + Duration::from_secs(10)).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=Test", "-c", "user.email=test@example.com"]);
        let output = git.args(arguments).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// The method in the JSON report.
    fn reported(&self) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_trodden"))
            .args(["report", "--format", "json"])
            .arg(self.profile())
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["methods"][0].clone()
    }
}

/// An editor.
struct Editor {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    id: u64,
    /// Notifications and requests that came in between.
    came: Vec<Value>,
}

impl Editor {
    fn start(folder: &Path, arguments: &[&str]) -> Editor {
        let mut editor = Editor::connect(folder, arguments);
        let uri = uri(folder);
        let hello = json!({
            "processId": null,
            "rootUri": uri,
            "workspaceFolders": [{ "uri": uri, "name": "test" }],
            "capabilities": {
                "workspace": { "codeLens": { "refreshSupport": true } },
                "textDocument": { "codeLens": {} },
                "window": { "showDocument": { "support": true } },
            },
        });
        let answer = editor.ask("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "trodden", "{answer}");
        editor.send(&json!({ "jsonrpc": "2.0", "method": "initialized", "params": {} }));
        editor
    }

    fn connect(folder: &Path, arguments: &[&str]) -> Editor {
        let mut server = Command::new(env!("CARGO_BIN_EXE_trodden"))
            .arg("lsp")
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Editor {
            to: server.stdin.take(),
            from: BufReader::new(server.stdout.take().unwrap()),
            server,
            id: 0,
            came: Vec::new(),
        }
    }

    fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    fn send_text(&mut self, text: &str) {
        let to = self.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n{text}", text.len()).unwrap();
        to.flush().unwrap();
    }

    fn read(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the server ended");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", bytes)) => length = bytes.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.from.read_exact(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Reads until such a message came; what came before is kept.
    fn read_until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.came.iter().position(&wanted) {
            return self.came.remove(at);
        }
        loop {
            let message = self.read();
            if wanted(&message) {
                return message;
            }
            self.came.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        self.read_until(|message| message["id"] == id && message.get("method").is_none())
    }

    fn open(&mut self, file: &Path, text: &str) {
        let document = json!({ "uri": uri(file), "languageId": "java", "version": 1, "text": text });
        let params = json!({ "textDocument": document });
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params }));
    }

    fn change(&mut self, file: &Path, text: &str) {
        let params = json!({
            "textDocument": { "uri": uri(file), "version": 2 },
            "contentChanges": [{ "text": text }],
        });
        self.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": params }));
    }

    /// `LINE: title` of each code lens.
    fn lenses(&mut self, file: &Path) -> Vec<String> {
        let answer = self.ask(
            "textDocument/codeLens",
            json!({ "textDocument": { "uri": uri(file) } }),
        );
        let lenses = answer["result"].as_array();
        let lenses = lenses.unwrap_or_else(|| panic!("no lenses: {answer}")).iter();
        let line = |lens: &Value| {
            let line = lens["range"]["start"]["line"].as_u64().unwrap() + 1;
            format!("{line}: {}", lens["command"]["title"].as_str().unwrap())
        };
        lenses.map(line).collect()
    }

    fn hover(&mut self, file: &Path, line: u64) -> Option<String> {
        let position = json!({ "line": line - 1, "character": 5 });
        let params = json!({ "textDocument": { "uri": uri(file) }, "position": position });
        let answer = self.ask("textDocument/hover", params);
        Some(answer["result"]["contents"]["value"].as_str()?.to_owned())
    }

    fn ends(mut self) {
        assert_eq!(self.ask("shutdown", Value::Null)["result"], Value::Null);
        self.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
        assert!(self.server.wait().unwrap().success());
    }
}

fn uri(path: &Path) -> String {
    format!("file://{}", path.display())
}

/// The paths that go by the way of the entry to the loop's top, and not to its second branch.
fn walk_out(map: &MethodMap) -> impl Iterator<Item = u64> + '_ {
    let second = |number: &u64| {
        let path = map.dag.regenerate(&map.graph, *number).unwrap();
        path.blocks(&map.graph).iter().any(|block| block.index() == 3)
    };
    (0..map.num_paths()).filter(move |number| !second(number))
}

/// The number with this word behind it.
fn number(text: &str, word: &str) -> u64 {
    let at = text.find(word).unwrap_or_else(|| panic!("no {word}: {text}"));
    let digits: String = text[..at]
        .chars()
        .rev()
        .skip_while(|c| *c == ' ')
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(char::is_ascii_digit)
        .collect();
    digits.chars().rev().collect::<String>().parse().unwrap()
}

#[test]
fn lenses_and_hovers_have_the_numbers_of_the_report() {
    let project = Project::recorded();
    let mut editor = Editor::start(project.path(), &[]);
    let source = project.source();
    editor.open(&source, SOURCE);
    let lenses = editor.lenses(&source);
    let lines: Vec<&str> = lenses
        .iter()
        .map(|lens| lens.split(':').next().unwrap())
        .collect();
    assert_eq!(lines, ["9", "11", "13"], "{lenses:?}");

    let method = project.reported();
    let paths = method["paths"].as_array().unwrap();
    let entered = paths.iter().filter(|path| path["start"]["kind"] == "entry");
    let calls: u64 = entered.map(|path| path["count"].as_u64().unwrap()).sum();
    assert!(calls > 0);
    assert_eq!(number(&lenses[0], " call"), calls, "{lenses:?}");
    assert!(
        lenses[0].contains(&format!("{0} of {0} paths", paths.len())),
        "{lenses:?}"
    );
    for (lens, branch) in lenses[1..].iter().zip(method["branches"].as_array().unwrap()) {
        let [taken, not] = ["taken", "not_taken"].map(|way| branch[way].as_u64().unwrap());
        let share = |count: u64| format!("({:.1} %)", count as f64 * 100.0 / (taken + not) as f64);
        for said in [
            format!("taken {taken} {}", share(taken)),
            format!("not taken {not} {}", share(not)),
        ] {
            assert!(lens.contains(&said), "{said}: {lens}");
        }
        let line = branch["line"].as_u64().unwrap();
        let hover = editor.hover(&source, line).unwrap();
        for said in [
            format!("| taken | {taken} |"),
            format!("| not taken | {not} |"),
            "app.trodden".to_owned(),
        ] {
            assert!(hover.contains(&said), "{said}: {hover}");
        }
    }
    let hover = editor.hover(&source, 9).unwrap();
    assert!(
        hover.contains("a.B.walk") && hover.contains(&format!("{calls} calls")),
        "{hover}"
    );
    for path in paths {
        let row = format!("| {} |", path["count"].as_u64().unwrap());
        assert!(hover.contains(&row), "{row}: {hover}");
    }
    assert_eq!(editor.hover(&source, 10), None);
    assert_eq!(editor.hover(&source, 8), None);
    editor.ends();
}

/// A line of another text above `walk`, and `walk` itself unchanged.
fn with_a_line_more() -> String {
    SOURCE.replace("    // Walks.", "    int more;\n    // Walks.")
}

#[test]
fn lines_follow_edits_and_edited_methods_say_so() {
    let project = Project::recorded();
    let mut editor = Editor::start(project.path(), &[]);
    let source = project.source();
    editor.open(&source, SOURCE);
    let before = editor.lenses(&source);
    editor.change(&source, &with_a_line_more());
    let moved: Vec<String> = before
        .iter()
        .map(|lens| {
            let (line, title) = lens.split_once(':').unwrap();
            format!("{}:{title}", line.parse::<u32>().unwrap() + 1)
        })
        .collect();
    assert_eq!(editor.lenses(&source), moved);
    assert!(
        editor
            .hover(&source, 12)
            .unwrap()
            .contains("lines of paths are those")
    );

    // A statement in front of the first one; the condition at line 13 is another.
    let edited = SOURCE
        .replace("int i = 0;", "check();\n        int i = 0;")
        .replace("i > 3", "i > 4");
    editor.change(&source, &edited);
    let lenses = editor.lenses(&source);
    assert_eq!(
        lenses[0], "1: 1 of 1 methods edited since app.trodden was recorded",
        "{lenses:?}"
    );
    assert!(lenses[1].starts_with("9: edited since: "), "{lenses:?}");
    assert!(lenses[2].starts_with("12: edited since: "), "{lenses:?}");
    assert_eq!(lenses.len(), 3, "the edited branch is not there: {lenses:?}");
    assert!(
        editor
            .hover(&source, 12)
            .unwrap()
            .contains("facts of the code before")
    );

    // A method that is gone.
    let gone = format!("{}}}\n", SOURCE.split("    void walk").next().unwrap());
    editor.change(&source, &gone);
    assert_eq!(
        editor.lenses(&source),
        ["1: 1 method that app.trodden knows is gone"]
    );
    // One whose only line of code is another.
    let short = SOURCE.replace("while (i < n)", "for (;;)").replace("i++;", "");
    let short = short
        .replace("int i = 0;", "")
        .replace("if (i > 3)", "")
        .replace("return;", "");
    editor.change(&source, &short);
    let lenses = editor.lenses(&source);
    assert!(lenses[1].starts_with("9: edited since: "), "{lenses:?}");
    assert_eq!(lenses.len(), 2, "{lenses:?}");
    // And back again.
    editor.change(&source, SOURCE);
    assert_eq!(editor.lenses(&source), before);
    editor.ends();
}

#[test]
fn a_text_that_was_written_since_is_compared_with_the_commit_before_the_run() {
    let project = Project::recorded();
    let source = project.source();
    project.edit(&with_a_line_more());
    let mut editor = Editor::start(project.path(), &[]);
    let lenses = editor.lenses(&source);
    assert_eq!(lenses.len(), 1, "{lenses:?}");
    assert!(
        lenses[0].starts_with("1: app.trodden was recorded of another text"),
        "{lenses:?}"
    );
    assert_eq!(editor.hover(&source, 11), None);
    editor.ends();

    fs::write(&source, SOURCE).unwrap();
    project.git(&["init", "--quiet", "--initial-branch", "main"]);
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message", "Recorded"]);
    project.edit(&with_a_line_more());
    for (arguments, named) in [(&[][..], false), (&["--recorded-at", "main"], true)] {
        let mut editor = Editor::start(project.path(), arguments);
        let mut lenses = editor.lenses(&source);
        let said = lenses[0].contains("lines by commit");
        assert_eq!(said, !named, "{lenses:?}");
        if said {
            lenses.remove(0);
        }
        let lines: Vec<&str> = lenses
            .iter()
            .map(|lens| lens.split(':').next().unwrap())
            .collect();
        assert_eq!(lines, ["10", "12", "14"], "{lenses:?}");
        assert!(!lenses[0].contains("edited since"), "{lenses:?}");
        editor.ends();
    }
    // A commit of a text that cannot be the recorded one: it declares nothing of the profile.
    fs::write(&source, "package a;\n\npublic class B {\n}\n").unwrap();
    project.git(&["commit", "--quiet", "--all", "--message", "Other"]);
    project.edit(SOURCE);
    let mut editor = Editor::start(project.path(), &["--recorded-at", "main"]);
    let lenses = editor.lenses(&source);
    assert!(
        lenses[0].contains("recorded of another text") && lenses.len() == 1,
        "{lenses:?}"
    );
    editor.ends();
}

#[test]
fn a_profile_that_is_written_again_is_read_again() {
    let project = Project::new();
    let source = project.source();
    let mut editor = Editor::start(project.path(), &[]);
    assert_eq!(editor.lenses(&source), Vec::<String>::new());
    assert_eq!(editor.hover(&source, 11), None);
    let said = editor.read_until(|message| message["method"] == "window/showMessage");
    assert!(
        said["params"]["message"]
            .as_str()
            .unwrap()
            .contains("no profile yet"),
        "{said}"
    );
    let refused = editor.ask(
        "workspace/executeCommand",
        json!({ "command": "trodden.openPage" }),
    );
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no profile yet"),
        "{refused}"
    );

    project.record(1);
    // It says on its own that there is something to ask for.
    editor.read_until(|message| message["method"] == "workspace/codeLens/refresh");
    let first = loop {
        let lenses = editor.lenses(&source);
        if !lenses.is_empty() {
            break lenses;
        }
        editor.read_until(|message| message["method"] == "workspace/codeLens/refresh");
    };
    project.record(1000);
    let second = editor.lenses(&source);
    assert_eq!(number(&second[0], " call"), 1000 * number(&first[0], " call"));
    fs::write(project.profile(), "no profile").unwrap();
    assert_eq!(editor.lenses(&source), Vec::<String>::new());
    let said = editor.read_until(|message| message["method"] == "window/showMessage");
    assert!(
        said["params"]["message"]
            .as_str()
            .unwrap()
            .contains("app.trodden"),
        "{said}"
    );
    editor.ends();
}

#[test]
fn the_page_is_opened_at_a_method() {
    let project = Project::recorded();
    let mut editor = Editor::start(project.path(), &[]);
    let source = project.source();
    let answer = editor.ask(
        "textDocument/codeLens",
        json!({ "textDocument": { "uri": uri(&source) } }),
    );
    let command = answer["result"][0]["command"].clone();
    let of_action = json!({
        "textDocument": { "uri": uri(&source) },
        "range": { "start": { "line": 8, "character": 0 }, "end": { "line": 8, "character": 0 } },
        "context": { "diagnostics": [] },
    });
    let actions = editor.ask("textDocument/codeAction", of_action);
    assert_eq!(
        actions["result"][0]["arguments"], command["arguments"],
        "{actions}"
    );
    let asked = json!({ "command": command["command"], "arguments": command["arguments"] });
    let answer = editor.ask("workspace/executeCommand", asked);
    let page = answer["result"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
        .to_owned();
    let shown = editor.read_until(|message| message["method"] == "window/showDocument");
    assert_eq!(shown["params"]["uri"], page.as_str());
    assert_eq!(shown["params"]["external"], true);
    let (file, place) = page.strip_prefix("file://").unwrap().split_once('#').unwrap();
    let html = fs::read_to_string(file).unwrap();
    let place = percent_encoding::percent_decode_str(place).decode_utf8().unwrap();
    assert_eq!(place, "a.B.walk()");
    assert!(html.contains(&format!("id=\"{place}\"")));
    let whole = editor.ask(
        "workspace/executeCommand",
        json!({ "command": "trodden.openPage" }),
    );
    assert!(whole["result"].as_str().unwrap().ends_with(".html"), "{whole}");
    let file = PathBuf::from(file);
    editor.ends();
    assert!(!file.exists(), "pages go with the server");
}

#[test]
fn outcomes_of_a_change_that_nothing_took_are_warnings() {
    let project = Project::new();
    let source = project.source();
    let without = SOURCE.replace("i > 3", "i > 5");
    fs::write(&source, without).unwrap();
    project.git(&["init", "--quiet", "--initial-branch", "main"]);
    project.git(&["add", "--all"]);
    project.git(&["commit", "--quiet", "--message", "Before"]);
    fs::write(&source, SOURCE).unwrap();
    // Only the path that leaves the loop at once ran.
    project.record(0);
    let diff = project.path().join("change.diff");
    let output = Command::new("git")
        .arg("diff")
        .current_dir(project.path())
        .output()
        .unwrap();
    fs::write(&diff, output.stdout).unwrap();
    let expected = Command::new(env!("CARGO_BIN_EXE_trodden"))
        .args([
            "coverage",
            "--changed",
            "change.diff",
            "--format",
            "github",
            "app.trodden",
        ])
        .current_dir(project.path())
        .output()
        .unwrap();
    let expected = String::from_utf8(expected.stdout).unwrap();
    let wanted = expected.lines().count();
    assert!(wanted > 0, "{expected}");
    for arguments in [["--changed", "change.diff"], ["--base", "main"]] {
        let mut editor = Editor::start(project.path(), &arguments);
        let is_diagnostics = |message: &Value| message["method"] == "textDocument/publishDiagnostics";
        let found = editor.read_until(is_diagnostics);
        assert_eq!(found["params"]["uri"], uri(&source), "{arguments:?}");
        let found = found["params"]["diagnostics"].as_array().unwrap();
        assert_eq!(found.len(), wanted, "{found:?}\n{expected}");
        for (diagnostic, line) in found.iter().zip(expected.lines()) {
            assert_eq!(diagnostic["severity"], 2);
            assert_eq!(diagnostic["source"], "trodden");
            let at = diagnostic["range"]["start"]["line"].as_u64().unwrap() + 1;
            assert!(line.contains(&format!("line={at},")), "{diagnostic}: {line}");
            let message = diagnostic["message"].as_str().unwrap();
            let said = message.split("; ").next().unwrap();
            assert!(line.contains(said), "{message}: {line}");
        }
        editor.ends();
    }
    // Edited on the disk since the run: warnings move; what is newer says that nothing is known of it.
    project.git(&["commit", "--quiet", "--all", "--message", "Recorded"]);
    project.edit(&with_a_line_more());
    let mut editor = Editor::start(project.path(), &["--base", "main~1", "--recorded-at", "main"]);
    let found = editor.read_until(|message| message["method"] == "textDocument/publishDiagnostics");
    let found = found["params"]["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), wanted + 1, "{found:?}");
    let newer = (&found[0]["range"]["start"]["line"], &found[0]["severity"]);
    assert_eq!(newer, (&json!(5), &json!(4)), "{found:?}");
    assert_eq!(found[1]["range"]["start"]["line"], 13, "{found:?}");
    editor.ends();
}

#[test]
fn what_cannot_be_answered_has_a_clear_answer() {
    let project = Project::recorded();
    let mut editor = Editor::connect(project.path(), &["--stdio"]);
    let early = editor.ask("textDocument/hover", json!({}));
    assert_eq!(early["error"]["code"], -32002, "{early}");
    editor.send_text("{");
    let wrong = editor.read();
    assert_eq!(
        (&wrong["id"], &wrong["error"]["code"]),
        (&Value::Null, &json!(-32700)),
        "{wrong}"
    );
    let wrong = editor.ask("initialize", json!({ "capabilities": 7 }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let hello = json!({ "processId": null, "rootUri": uri(project.path()), "capabilities": {} });
    let answer = editor.ask("initialize", hello);
    // An editor without code lenses has hints.
    assert_eq!(
        answer["result"]["capabilities"]["inlayHintProvider"], true,
        "{answer}"
    );
    let all = json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99, "character": 0 } });
    let hints = json!({ "textDocument": { "uri": uri(&project.source()) }, "range": all });
    let hints = editor.ask("textDocument/inlayHint", hints);
    let places: Vec<_> = hints["result"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hint| &hint["position"])
        .collect();
    let expected = [(8, 17), (10, 23), (12, 24)]
        .map(|(line, character)| json!({ "line": line, "character": character }));
    assert_eq!(places, expected.iter().collect::<Vec<_>>(), "{hints}");

    for text in ["[]", "7", r#"{"jsonrpc":"2.0","id":5}"#] {
        editor.send_text(text);
        let wrong = editor.read();
        assert_eq!(wrong["error"]["code"], -32600, "{text}: {wrong}");
    }
    let wrong = editor.ask("textDocument/hover", json!({ "textDocument": 7 }));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
    let wrong = editor.ask("textDocument/formatting", json!({}));
    assert_eq!(wrong["error"]["code"], -32601, "{wrong}");
    let wrong = editor.ask("workspace/executeCommand", json!({ "command": "rm" }));
    assert!(
        wrong["error"]["message"]
            .as_str()
            .unwrap()
            .contains("no command 'rm'"),
        "{wrong}"
    );
    let gone = json!({ "command": "trodden.openPage", "arguments": ["a/B.gone()V"] });
    let wrong = editor.ask("workspace/executeCommand", gone);
    assert!(
        wrong["error"]["message"].as_str().unwrap().contains("a.B#gone"),
        "{wrong}"
    );
    editor.send(&json!({ "jsonrpc": "2.0", "method": "textDocument/didOpen", "params": 7 }));

    // Outside of the workspace, though it has the class's name; not there; in no file; a class that is not
    // known.
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().join("src/main/java/a/B.java");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, SOURCE).unwrap();
    let other = project.source().with_file_name("Other.java");
    fs::write(&other, "package a;\nclass Other {}\n").unwrap();
    for place in [
        uri(&file),
        uri(&project.path().join("none/a/B.java")),
        "untitled:Untitled-1".to_owned(),
        uri(&other),
        uri(project.path()),
    ] {
        let document = json!({ "textDocument": { "uri": place } });
        let answer = editor.ask("textDocument/codeLens", document.clone());
        assert_eq!(answer["result"], json!([]), "{place}: {answer}");
        let mut hover = document;
        hover["position"] = json!({ "line": 10, "character": 0 });
        let answer = editor.ask("textDocument/hover", hover);
        assert_eq!(answer["result"], Value::Null, "{place}: {answer}");
    }
    // Far behind the end.
    let last = json!({ "line": u32::MAX, "character": u32::MAX });
    let params = json!({ "textDocument": { "uri": uri(&project.source()) }, "position": last });
    assert_eq!(editor.ask("textDocument/hover", params)["result"], Value::Null);
    assert_eq!(editor.ask("shutdown", Value::Null)["result"], Value::Null);
    let late = editor.ask("textDocument/hover", json!({}));
    assert_eq!(late["error"]["code"], -32600, "{late}");
    editor.send(&json!({ "jsonrpc": "2.0", "method": "exit" }));
    assert!(editor.server.wait().unwrap().success());
    // A connection that ends without a word.
    let mut editor = Editor::start(project.path(), &[]);
    drop(editor.to.take());
    assert_eq!(editor.server.wait().unwrap().code(), Some(1));
}
