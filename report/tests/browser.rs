//! Opens the page in a real browser, if there is one: no script error, the rows are there, sorting and
//! choosing work. The browser is `TRODDEN_CHROMIUM` or one on the PATH.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use scraper::{Html, Selector};
use trodden_profile::{KPaths, PathForest, Profile};
use trodden_report::{Report, ReportOptions};

fn chromium() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("TRODDEN_CHROMIUM") {
        return Some(given.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// The page after the browser has read it and our script has run, and then `play`. Fails if there was an error.
fn played(browser: &Path, page: &str, play: &str) -> Html {
    // Listens for errors before our script runs, and plays a reader after it.
    let listen =
        "<script>const errors=[];addEventListener('error',e=>errors.push(e.message));</script><style>";
    let play = format!("<script>{play}document.body.dataset.errors=JSON.stringify(errors);</script></body>");
    let page = page.replacen("<style>", listen, 1).replacen("</body>", &play, 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--disable-dev-shm-usage",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("user").display()
        ))
        .arg("--dump-dom")
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", browser.display()));
    let dom = String::from_utf8_lossy(&output.stdout);
    let page = Html::parse_document(&dom);
    let body = page.select(&Selector::parse("body").unwrap()).next().unwrap();
    assert_eq!(
        body.attr("data-errors"),
        Some("[]"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    page
}

fn select(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    page.select(&selector).map(|e| e.text().collect()).collect()
}

#[test]
fn page_works_in_a_browser() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    let options = ReportOptions {
        sources: vec![common::sources()],
        ..ReportOptions::default()
    };
    let profile = common::profile();
    let page = Report::new(&profile, &options).unwrap().html().unwrap();
    let play = "document.querySelectorAll('.sortable th button')[0].click();\
        document.querySelectorAll('#m1 .path')[1].dispatchEvent(new KeyboardEvent('keydown',{key:'Enter',bubbles:true}));";
    let page = played(&browser, &page, play);
    let select = |selector: &str| select(&page, selector);
    let rows = select(".sortable tbody tr td:first-child");
    assert_eq!(rows.len(), 5);
    assert!(rows[0].starts_with("demo.Shop.fill"), "sorted by name: {rows:?}");
    let marked = select("#m1 .source tr.on-path");
    assert!(
        marked.iter().any(|row| row.contains("sum += item;")),
        "{marked:?}"
    );
    assert!(
        !marked.iter().any(|row| row.contains("sum += item - rebate;")),
        "{marked:?}"
    );
    assert_eq!(select("#m1 .path[aria-pressed=true]").len(), 1);
    assert_eq!(select("#m1 svg .block.on-path").len(), 4);
}

/// A click on a number in a tree marks that path in the method's list, and the number wherever it stands.
#[test]
fn trees_work_in_a_browser() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    let method = common::price();
    let (plain, rebate) = (method.number(&[1, 2, 3, 4, 6]), method.number(&[1, 2, 5, 6]));
    let (first, second) = (plain.min(rebate), plain.max(rebate));
    let rows = [(1, first, 9), (2, second, 9), (1, second, 9), (2, first, 8)];
    let mut profile = Profile {
        classes: vec![common::class("demo/Shop", Some("Shop.java"), vec![method])],
        ..Profile::default()
    };
    profile.kpaths = Some(KPaths {
        k: 2,
        methods: [((0, 0), PathForest::from_preorder(rows).unwrap())].into(),
        ..KPaths::default()
    });
    let page = Report::new(&profile, &ReportOptions::default())
        .unwrap()
        .html()
        .unwrap();
    let play = "const step=document.querySelectorAll('.tree li .step')[1];step.click();\
        document.body.dataset.clicked=step.dataset.goto;\
        document.body.dataset.open=String(document.querySelectorAll('.tree')[1].open);";
    let page = played(&browser, &page, play);
    let body = page.select(&Selector::parse("body").unwrap()).next().unwrap();
    let clicked = body.attr("data-clicked").unwrap();
    assert_eq!(
        body.attr("data-open"),
        Some("true"),
        "the click is not for the tree"
    );
    let chosen = format!("#m1 .path[aria-pressed=true][data-path='{clicked}']");
    assert_eq!(select(&page, &chosen).len(), 1);
    assert_eq!(select(&page, "#m1 .path[aria-pressed=true]").len(), 1);
    let marked = select(&page, ".step.on");
    assert_eq!(marked, vec![clicked.to_owned(); 2]);
}
