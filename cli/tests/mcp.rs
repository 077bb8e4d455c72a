//! `trodden mcp` by its protocol: JSON messages, a line each, on standard input and output.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::kpaths::{ROWS, saved};

/// A client.
struct Client {
    server: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    id: u64,
}

impl Client {
    fn start(folder: &Path) -> Client {
        let mut server = Command::new(env!("CARGO_BIN_EXE_trodden"))
            .arg("mcp")
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut client = Client {
            to: server.stdin.take(),
            from: BufReader::new(server.stdout.take().unwrap()),
            server,
            id: 0,
        };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = client.ask("initialize", hello);
        assert_eq!(answer["result"]["serverInfo"]["name"], "trodden", "{answer}");
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        let to = self.to.as_mut().unwrap();
        writeln!(to, "{message}").unwrap();
        to.flush().unwrap();
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// The text of a tool's answer; `Err` if it says that something is wrong.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<String, String> {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("no text: {answer}")).to_owned();
        if result["isError"] == true {
            Err(text)
        } else {
            Ok(text)
        }
    }

    fn ends(mut self) {
        drop(self.to.take());
        assert!(self.server.wait().unwrap().success());
    }
}

/// A folder with a profile: `a.B.walk`, a loop with branches at lines 11 and 13.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    saved(folder.path(), "app.trodden", 3, ROWS);
    folder
}

#[test]
fn every_tool_is_described_and_reads_only() {
    let folder = folder();
    let mut client = Client::start(folder.path());
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    assert!(tools.len() >= 10, "{answer}");
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        let schema = &tool["inputSchema"];
        for required in schema["required"].as_array().unwrap() {
            assert!(
                schema["properties"][required.as_str().unwrap()].is_object(),
                "{tool}"
            );
        }
    }
    client.ends();
}

#[test]
fn tools_answer_as_the_commands_do() {
    let folder = folder();
    let mut client = Client::start(folder.path());
    assert!(
        client
            .call("profiles", json!({}))
            .unwrap()
            .contains("app.trodden")
    );
    let report = assert_cmd::Command::new(env!("CARGO_BIN_EXE_trodden"))
        .env("NO_COLOR", "1")
        .args(["report", "--method", "a.B#walk"])
        .arg(folder.path().join("app.trodden"))
        .output()
        .unwrap();
    let expected = String::from_utf8(report.stdout).unwrap();
    let found = client
        .call(
            "method",
            json!({ "profile": "app.trodden", "method": "a.B#walk" }),
        )
        .unwrap();
    assert_eq!(found, expected);
    let methods = client
        .call("hot_methods", json!({ "profile": "app.trodden" }))
        .unwrap();
    assert!(methods.contains("walk()"), "{methods}");
    let overview = client
        .call("overview", json!({ "profile": "app.trodden" }))
        .unwrap();
    assert!(overview.contains("walk"), "{overview}");
    let branch = |line: u32| json!({ "profile": "app.trodden", "class": "a.B", "line": line });
    let found = client.call("branch_at_line", branch(11)).unwrap();
    assert!(
        found.starts_with("a.B.walk()") && found.contains(" times"),
        "{found}"
    );
    assert!(
        client
            .call("branch_at_line", branch(12))
            .unwrap()
            .starts_with("no branch")
    );
    client.ends();
}

#[test]
fn wrong_questions_say_what_would_be_right() {
    let folder = folder();
    let mut client = Client::start(folder.path());
    for (tool, arguments, says) in [
        ("overview", json!({}), "'profile' is missing"),
        ("overview", json!({ "profile": 7 }), "'profile' is no text"),
        (
            "overview",
            json!({ "profile": "/etc/passwd" }),
            "is not below the folders",
        ),
        (
            "overview",
            json!({ "profile": "none.trodden" }),
            "`profiles` lists profiles",
        ),
        (
            "overview",
            json!({ "profile": "app.trodden", "file": "x" }),
            "no parameter 'file'",
        ),
        (
            "method",
            json!({ "profile": "app.trodden", "method": "--output=x" }),
            "'method' is no name",
        ),
        (
            "overview",
            json!({ "profile": "app.trodden", "cursor": "1" }),
            "'cursor' is no number",
        ),
    ] {
        let error = client.call(tool, arguments).unwrap_err();
        assert!(error.contains(says), "{says}: {error}");
    }
    let answer = client.ask("tools/call", json!({ "name": "none", "arguments": {} }));
    let error = answer["error"]["message"].as_str().unwrap();
    assert!(
        error.contains("there is no tool 'none'") && error.contains("hot_methods"),
        "{answer}"
    );
    client.ends();
}
