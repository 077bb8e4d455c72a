//! An assistant that asks about a profiled program: one made of the library of npm that assistants use,
//! with numbers that follow from the source by hand.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Result, artefacts, build, process, readers};

const LIMIT: Duration = Duration::from_secs(300);

/// Methods of the program beside `price` and `main`: so many that they do not fit into one piece.
const KINDS: usize = 180;

/// The program: every n-th piece has half the price, and none comes after the thousandth.
fn source(n: u32) -> String {
    let mut kinds = String::new();
    let mut calls = String::new();
    for kind in 0..KINDS {
        writeln!(
            kinds,
            "    static int kind{kind}(int n) {{ return n > {kind} ? 1 : 2; }}"
        )
        .expect("text");
        writeln!(calls, "        sum += kind{kind}(n);").expect("text");
    }
    format!(
        "package shop;

public class Shop {{
    static int price(int n) {{
        int price = 100;
        if (n % {n} == 0) {{
            for (int cents = 0; cents < 50; cents++) {{
                price--;
            }}
        }}
        if (n > 1000) {{
            price = 0;
        }}
        return price;
    }}

    static int all(int n) {{
        int sum = price(n);
{calls}        return sum;
    }}

{kinds}
    public static void main(String[] arguments) {{
        int sum = 0;
        for (int n = 0; n < 200; n++) {{
            sum += all(n);
        }}
        System.out.println(sum);
    }}
}}
"
    )
}

/// A change of the second condition.
const DIFF: &str = "--- a/src/shop/Shop.java
+++ b/src/shop/Shop.java
@@ -10,3 +10,3 @@
         }
-        if (n > 100) {
+        if (n > 1000) {
             price = 0;
";

fn recorded(jdk: &Jdk, root: &Path, n: u32, profile: &str) -> Result<()> {
    let file = root.join("src/shop/Shop.java");
    fs::create_dir_all(file.parent().ok_or("no folder")?)?;
    fs::write(&file, source(n))?;
    let mut javac = jdk.command("javac");
    javac.args(["-g", "-d"]).arg(root.join("classes")).arg(&file);
    process::run(&mut javac, LIMIT)?.success()?;
    let mut run = Command::new(&artefacts::artefacts()?.cli);
    run.args(["run", "--quiet", "--probe", "counters", "-o", profile, "--"])
        .arg(jdk.command("java").get_program())
        .args(["-cp", "classes", "shop.Shop"])
        .env("TRODDEN_AGENT", &artefacts::artefacts()?.agent)
        .current_dir(root);
    process::run(&mut run, LIMIT)?.success()?;
    Ok(())
}

/// What the client saw.
fn asked(library: &Path, folder: &Path, calls: &Value) -> Result<Value> {
    let mut node = Command::new("node");
    node.current_dir(library)
        .arg(Path::new(build::ROOT).join("assistants/client.js"))
        .arg(&artefacts::artefacts()?.cli)
        .arg(folder)
        .arg(calls.to_string());
    Ok(serde_json::from_str(
        &process::run(&mut node, LIMIT)?.success()?.stdout,
    )?)
}

/// The pieces of an answer.
fn pieces(answer: &Value) -> Vec<&str> {
    let pieces = answer["pieces"].as_array();
    let pieces = pieces.unwrap_or_else(|| panic!("no answer: {answer}"));
    pieces.iter().filter_map(Value::as_str).collect()
}

#[test]
#[cfg_attr(feature = "change", ignore = "all: a client from npm")]
fn an_assistant_is_told_what_ran() -> Result<()> {
    let Some(package) = readers::from_npm("@modelcontextprotocol/sdk") else {
        return Ok(());
    };
    let library = package.ancestors().nth(3).ok_or("no folder")?;
    for jdk in Jdk::ends()? {
        let all = tempfile::tempdir()?;
        let root = all.path().canonicalize()?.join("project");
        recorded(&jdk, &root, 10, "before.trodden")?;
        recorded(&jdk, &root, 4, "after.trodden")?;
        fs::write(root.join("change.diff"), DIFF)?;
        let outside = all.path().join("other.trodden");
        fs::copy(root.join("after.trodden"), &outside)?;

        let after = "after.trodden";
        let branch = |line: u32| json!({ "profile": after, "class": "shop.Shop", "line": line });
        let seen = asked(
            library,
            &root,
            &json!([
                ["profiles", {}],
                ["overview", { "profile": after }],
                ["hot_methods", { "profile": after }],
                ["method", { "profile": after, "method": "shop.Shop#price" }],
                ["branch_at_line", branch(6)],
                ["branch_at_line", branch(11)],
                ["untested_outcomes", { "profile": after, "diff": "change.diff" }],
                ["diff", { "before": "before.trodden", "after": after }],
                ["overview", { "profile": outside }],
                ["overview", { "profile": "../other.trodden" }],
                ["overview", {}],
                ["no_tool", {}],
            ]),
        )?;
        assert_eq!(seen["server"]["name"], "trodden", "{seen}");
        assert_eq!(seen["faults"], json!([]), "{seen}");
        let about = seen["instructions"].as_str().ok_or("no instructions")?;
        assert!(about.contains("`profiles`"), "{about}");
        check_tools(seen["tools"].as_array().ok_or("no tools")?);
        check_answers(seen["answers"].as_array().ok_or("no answers")?);
    }
    Ok(())
}

/// All tools are there, read only, and take a cursor.
fn check_tools(tools: &[Value]) {
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
    for name in [
        "profiles",
        "overview",
        "hot_methods",
        "method",
        "branch_at_line",
        "callers_and_callees",
        "untested_outcomes",
        "tests_for_line",
        "tests_for_change",
        "slow_requests",
        "diff",
        "gate",
    ] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for tool in tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(
            tool["inputSchema"]["properties"]["cursor"]["type"], "integer",
            "{tool}"
        );
    }
}

/// 200 pieces are priced: of numbers from 0 to 199 every fourth is divisible by 4, and none above 1,000.
fn check_answers(answers: &[Value]) {
    let [
        profiles,
        overview,
        methods,
        method,
        fourth,
        large,
        untested,
        diff,
        wrong @ ..,
    ] = answers
    else {
        panic!("{answers:?}");
    };
    let right = [profiles, overview, methods, method, fourth, large, untested, diff];
    for answer in right {
        assert_eq!(answer["isError"], false, "{answer}");
        // About 2,000 tokens.
        for piece in pieces(answer) {
            assert!(piece.len() < 8_000, "{} bytes: {piece}", piece.len());
        }
    }
    for (answer, parts) in [
        (profiles, &["after.trodden", "before.trodden"][..]),
        (overview, &["Trodden: shop.Shop", "Hot methods"]),
        (
            method,
            &["shop.Shop.price(int)", "150 times", "n % 4 == 0 → no", "50 times"],
        ),
        (fourth, &["n % 4 == 0", "yes: 50 times", "no: 150 times"]),
        (large, &["n > 1000", "yes: 0 times", "no: 200 times"]),
        (
            untested,
            &["1 outcome was never taken", "line 11: `n > 1000` was never true"],
        ),
        (
            diff,
            &[
                "shop.Shop.price",
                "n % 4 == 0 is false: 75.0 % of 200 times, before 90.0 %",
            ],
        ),
    ] {
        let text = pieces(answer).concat();
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    // The pieces are the whole answer: each method once, in several of them.
    let several = pieces(methods);
    assert!(several.len() > 1, "{several:?}");
    let found: Vec<&str> = several
        .iter()
        .flat_map(|piece| piece.lines())
        .filter_map(|line| line.rsplit_once("shop.Shop.").map(|(_, method)| method))
        .collect();
    let mut wanted: BTreeSet<String> = (0..KINDS).map(|kind| format!("kind{kind}(int)")).collect();
    wanted.extend(["price(int)", "main(String[])"].map(str::to_owned));
    for method in &wanted {
        let times = found.iter().filter(|found| *found == method).count();
        assert_eq!(times, 1, "{method}: {found:?}");
    }

    let [outside, above, missing, no_tool] = wrong else {
        panic!("{wrong:?}");
    };
    for (answer, says) in [
        (outside, "is not below the folders"),
        (above, "is not below the folders"),
        (missing, "'profile' is missing"),
    ] {
        assert_eq!(answer["isError"], true, "{answer}");
        assert!(pieces(answer).concat().contains(says), "{says}: {answer}");
    }
    let refused = no_tool["refused"].as_str().unwrap_or_default();
    assert!(
        refused.contains("there is no tool 'no_tool'") && no_tool["code"] == -32602,
        "{no_tool}"
    );
}
