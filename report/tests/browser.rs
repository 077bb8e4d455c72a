//! Opens the page in a real browser, if there is one: no script error, the rows are there, sorting and
//! choosing work. The browser is `TRODDEN_CHROMIUM` or one on the PATH.

mod common;

use std::path::PathBuf;
use std::process::Command;

use scraper::{Html, Selector};
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
    // Listens for errors before our script runs, and plays a reader after it.
    let listen =
        "<script>const errors=[];addEventListener('error',e=>errors.push(e.message));</script><style>";
    let play = "<script>\
        document.querySelectorAll('.sortable th button')[0].click();\
        document.querySelectorAll('#m1 .path')[1].dispatchEvent(new KeyboardEvent('keydown',{key:'Enter',bubbles:true}));\
        document.body.dataset.errors=JSON.stringify(errors);</script></body>";
    let page = page.replacen("<style>", listen, 1).replacen("</body>", play, 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let output = Command::new(&browser)
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
    let select = |selector: &str| -> Vec<String> {
        let selector = Selector::parse(selector).unwrap();
        page.select(&selector).map(|e| e.text().collect()).collect()
    };
    let body = page.select(&Selector::parse("body").unwrap()).next().unwrap();
    assert_eq!(
        body.attr("data-errors"),
        Some("[]"),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
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
