//! Opens the page in a real browser, if there is one: no script error, the rows are there, sorting and
//! choosing work. The browser is `TRODDEN_CHROMIUM` or one on the PATH.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common;
use scraper::{Html, Selector};
use trodden_profile::{KPaths, PathForest, Profile};
use trodden_report::{Report, ReportOptions};

pub fn chromium() -> Option<PathBuf> {
    if let Some(given) = std::env::var_os("TRODDEN_CHROMIUM") {
        return Some(given.into());
    }
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|file| file.is_file())
}

/// The page after the browser has read it and our script has run, and then `play`. Fails if there was an error, or the
/// browser had anything to say on its console.
pub fn played(browser: &Path, page: &str, fragment: &str, play: &str) -> Html {
    // Listens for errors before our script runs, and plays a reader after it.
    let listen = "<script>const errors=[];addEventListener('error',e=>errors.push(e.message));\
        addEventListener('unhandledrejection',e=>errors.push(String(e.reason)));</script><style>";
    let play = format!("<script>{play};document.body.dataset.errors=JSON.stringify(errors);</script></body>");
    let page = page.replacen("<style>", listen, 1).replacen("</body>", &play, 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let output = opened(browser, &file, fragment);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("CONSOLE"), "{said}");
    let dom = String::from_utf8_lossy(&output.stdout);
    let page = Html::parse_document(&dom);
    assert_eq!(told(&page, "errors"), "[]", "{said}");
    page
}

/// What `play` makes of a page in a frame of this width; `page` is its window there. On paper, if that is wanted: with the
/// rules for print.
fn framed(browser: &Path, page: &str, width: u32, paper: bool, play: &str) -> Html {
    let folder = tempfile::tempdir().unwrap();
    let page = if paper {
        page.replace("@media print", "@media all")
    } else {
        page.to_owned()
    };
    std::fs::write(folder.path().join("page.html"), page).unwrap();
    let file = folder.path().join("frame.html");
    let frame = format!(
        "<!DOCTYPE html><body><iframe src=page.html style='width:{width}px;height:900px;border:0'></iframe><script>\
         document.querySelector('iframe').onload=(event)=>{{const page=event.target.contentWindow;\
         const all=(s)=>[...page.document.querySelectorAll(s)];{play}}};</script></body>"
    );
    std::fs::write(&file, frame).unwrap();
    let output = opened(browser, &file, "");
    Html::parse_document(&String::from_utf8_lossy(&output.stdout))
}

/// What the browser makes of a file, and says.
fn opened(browser: &Path, file: &Path, fragment: &str) -> std::process::Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            "--disable-background-networking",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--no-first-run",
            "--disable-dev-shm-usage",
        ])
        .args(["--enable-logging=stderr", "--window-size=1280,900"])
        .arg(format!("--user-data-dir={}", folder.path().display()))
        .arg("--dump-dom")
        .arg(format!("file://{}{fragment}", file.display()))
        .output()
        .unwrap_or_else(|e| panic!("{}: {e}", browser.display()))
}

/// What a play left behind as `document.body.dataset.KEY`.
fn told(page: &Html, key: &str) -> String {
    let body = page.select(&Selector::parse("body").unwrap()).next().unwrap();
    let value = body.attr(&format!("data-{key}"));
    value
        .unwrap_or_else(|| panic!("nothing told of {key}"))
        .to_owned()
}

fn page_of(profile: &Profile) -> String {
    let options = ReportOptions {
        sources: vec![common::sources()],
        ..ReportOptions::default()
    };
    Report::new(profile, &options).unwrap().html().unwrap()
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
    let page = page_of(&common::profile());
    let play = "document.querySelectorAll('.sortable th button')[0].click();\
        document.querySelectorAll('#m1 .path')[1].dispatchEvent(new KeyboardEvent('keydown',{key:'Enter',bubbles:true}));";
    let page = played(&browser, &page, "", play);
    let select = |selector: &str| select(&page, selector);
    let rows = select("#all-methods tbody tr td:first-child");
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
    let page = played(&browser, &page, "", play);
    let clicked = told(&page, "clicked");
    assert_eq!(told(&page, "open"), "true", "the click is not for the tree");
    let chosen = format!("#m1 .path[aria-pressed=true][data-path='{clicked}']");
    assert_eq!(select(&page, &chosen).len(), 1);
    assert_eq!(select(&page, "#m1 .path[aria-pressed=true]").len(), 1);
    let marked = select(&page, ".step.on");
    assert_eq!(marked, vec![clicked; 2]);
}

/// A key pressed on what has the focus.
const PRESS: &str = "const press=(key)=>document.activeElement.dispatchEvent(new KeyboardEvent('keydown',{key,bubbles:true}));\
    const tell=(key,value)=>document.body.dataset[key]=String(value);const all=(s)=>[...document.querySelectorAll(s)];";

/// Search, tree and table of a program with many methods: rows and branches are made when they are looked at.
#[test]
fn many_methods_are_found_in_a_browser() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    let page = page_of(&common::many_methods(3_000));
    let play = format!(
        "{PRESS}
        const box=document.querySelector('#all-methods').closest('.scrolled');
        tell('first',all('#all-methods tbody tr').length);
        box.scrollTop=box.scrollHeight;box.dispatchEvent(new Event('scroll'));
        tell('second',all('#all-methods tbody tr').length);
        tell('packages',all('#tree > li').length);
        document.querySelector('#tree .item').click();
        tell('classes',all('#tree > li:first-child > ul > li').length);
        press('ArrowDown');press('ArrowRight');press('ArrowDown');
        tell('method',document.activeElement.getAttribute('aria-label'));
        tell('level',document.activeElement.getAttribute('aria-level'));
        press('Enter');
        tell('hash',location.hash);
        document.querySelector('#tree [aria-level=\"3\"]').focus();press('ArrowLeft');press('ArrowLeft');
        tell('closed',all('#tree [aria-expanded=true]').length);
        document.body.dispatchEvent(new KeyboardEvent('keydown',{{key:'/',bubbles:true}}));
        tell('searching',document.activeElement.id);
        const search=document.getElementById('search');
        search.value='part3 METHOD2999';search.dispatchEvent(new Event('input'));
        tell('none',document.getElementById('search-found').textContent);
        search.value='class2980 METHOD2999';search.dispatchEvent(new Event('input'));
        tell('found',document.getElementById('search-found').textContent);
        tell('row',all('#all-methods tbody tr').map(r=>r.cells[0].textContent).join());
        tell('leaf',all('#tree [aria-level=\"3\"]').map(r=>r.getAttribute('aria-label')).join('|'));
        search.value='';search.dispatchEvent(new Event('input'));
        const times=all('#all-methods th button')[3];times.click();times.click();
        tell('least',document.querySelector('#all-methods tbody tr').cells[0].textContent);
        tell('sorted',all('#all-methods th[aria-sort]').map(h=>h.textContent+h.getAttribute('aria-sort')).join())"
    );
    let page = played(&browser, &page, "", &play);
    let told = |key: &str| told(&page, key);
    let number = |key: &str| told(key).parse::<usize>().unwrap();
    assert!((50..500).contains(&number("first")), "{}", told("first"));
    assert!(number("second") > number("first"));
    assert_eq!(number("packages"), 9);
    // 150 classes in 9 packages, in turn.
    assert_eq!(number("classes"), 17);
    assert!(
        told("method").starts_with("method0(int, String), "),
        "{}",
        told("method")
    );
    assert_eq!(told("level"), "3");
    assert_eq!(told("hash"), "#demo.part0.Class0.method0(int,String)");
    assert_eq!(select(&page, "details.method[open] span.anchor").len(), 3);
    assert_eq!(told("closed"), "1", "the class is closed, the package is open");
    assert_eq!(told("searching"), "search");
    assert_eq!(told("none"), "0 of 3,000");
    assert_eq!(told("found"), "1 of 3,000");
    assert_eq!(told("row"), "demo.part5.Class2980.method2999(int, String)");
    assert!(
        told("leaf").starts_with("method2999(int, String), "),
        "{}",
        told("leaf")
    );
    assert!(told("least").contains("method2999("), "{}", told("least"));
    assert_eq!(told("sorted"), "Times countedascending");
}

/// A page is opened at a method: one in full, one that is not, one whose name has what a link cannot have.
#[test]
fn links_open_methods_in_a_browser() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    let page = page_of(&common::profile());
    let grade = "#demo.Shop.fill(byte[])";
    let opened = played(&browser, &page, grade, "");
    assert_eq!(select(&opened, "#m4[open]").len(), 1);
    // Its elements are made as it is opened, those of the next are text still.
    assert!(!select(&opened, "#m4 .path[role=button]").is_empty());
    assert_eq!(select(&opened, "#m4 .zoom").len(), 1);
    assert_eq!(select(&opened, "#m4 noscript, #m5 .path").len(), 0);
    assert_eq!(select(&opened, "#m5 noscript").len(), 1);
    assert_eq!(select(&opened, "#elsewhere[hidden]").len(), 1);

    let many = page_of(&common::many_methods(300));
    let link = "#demo.part1.Class200.method205(int,String)";
    let opened = played(&browser, &many, link, "");
    assert_eq!(
        select(&opened, "#elsewhere:not([hidden]) h2"),
        ["demo.part1.Class200.method205(int, String)"]
    );
    assert_eq!(
        select(&opened, "#elsewhere-command"),
        ["trodden report FILE --method 'demo.part1.Class200#method205' -o method.html"]
    );
    // Neither a method nor anything else.
    let opened = played(&browser, &many, "#nothing%", "");
    assert_eq!(select(&opened, "#elsewhere[hidden]").len(), 1);

    let mut odd = common::price().count(&[1, 2, 5, 6], 5);
    odd.rename("50%_off</script>'");
    let profile = Profile {
        classes: vec![common::class("demo/Odd", None, vec![odd])],
        ..Profile::default()
    };
    let play = format!(
        "{PRESS}const m=document.getElementById('m1');m.open=false;document.querySelector('#all-methods a').click();\
        tell('open',m.open);m.open=false;document.querySelector('#tree [role=treeitem]').focus();press('End');press('Enter');"
    );
    // The second time the link is the page's own already.
    let opened = played(&browser, &page_of(&profile), "", &play);
    assert_eq!(told(&opened, "open"), "false", "links are followed later");
    assert_eq!(select(&opened, "#m1[open]").len(), 1);
    assert_eq!(select(&opened, "#all-methods tbody tr").len(), 1);
}

/// A path's lines are coloured and come into view; its steps can be walked; the graph fits, and can be zoomed.
#[test]
fn paths_and_graphs_work_in_a_browser() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    let page = page_of(&common::profile());
    let play = format!(
        "{PRESS}
        const paths=all('#m1 .path[role=button]');
        paths[2].click();
        tell('marked',all('#m1 .source tr.on-path').map(r=>r.dataset.line).join());
        tell('wanted',paths[2].dataset.lines.split(' ').join());
        paths[1].focus();press('ArrowRight');
        tell('step',all('#m1 .source tr.at').map(r=>r.dataset.line).join());
        tell('said',document.getElementById('said').textContent);
        tell('pressed',paths[1].getAttribute('aria-pressed'));
        paths[0].querySelectorAll('.hop')[1].click();
        tell('hop',all('#m1 .source tr.at').map(r=>r.dataset.line).join());
        all('#m1 .branches .place')[1].focus();press('Enter');
        tell('place',document.activeElement.textContent+' '+all('#m1 .source tr.at').map(r=>r.dataset.line).join());
        const box=document.querySelector('#m1 .graph'), svg=box.querySelector('svg');
        const buttons=all('#m1 .zoom button');
        buttons[2].click();
        tell('fits',svg.getBoundingClientRect().height<=box.clientHeight&&svg.getBoundingClientRect().width<=box.clientWidth);
        const zoom=()=>Number(box.dataset.zoom);let z=zoom();
        buttons[0].click();tell('button',zoom()>z);z=zoom();
        box.focus();press('+');tell('key',zoom()>z);z=zoom();
        const wheel=new WheelEvent('wheel',{{deltaY:-100,ctrlKey:true,cancelable:true,bubbles:true}});box.dispatchEvent(wheel);
        tell('wheel',zoom()>z&&wheel.defaultPrevented);z=zoom();
        const plain=new WheelEvent('wheel',{{deltaY:-100,cancelable:true,bubbles:true}});box.dispatchEvent(plain);
        tell('plain',zoom()===z&&!plain.defaultPrevented);
        press('0');tell('back',zoom()<z);
        const seen=(e)=>getComputedStyle(e).display!=='none';
        const fold=document.querySelector('#m1 .fold');
        tell('folded',fold?seen(fold)&&!seen(fold.nextElementSibling):'none');
        if(fold){{fold.closest('.path').click();tell('unfolded',!seen(fold)&&seen(fold.nextElementSibling));}}"
    );
    let page = played(&browser, &page, "", &play);
    let told = |key: &str| told(&page, key);
    assert_eq!(told("marked"), told("wanted"));
    assert_eq!(told("pressed"), "true");
    assert!(!told("step").is_empty() && !told("said").is_empty());
    assert_eq!(told("hop"), "9");
    let place = told("place");
    let (said, line) = place.rsplit_once(' ').unwrap();
    assert_eq!(said, format!("line {line}"));
    for key in [
        "fits", "button", "key", "wheel", "plain", "back", "folded", "unfolded",
    ] {
        assert_eq!(told(key), "true", "{key}");
    }
}

/// The icicle has a box per chain, the first caller on top; a box can be enlarged; callers are told.
#[test]
fn contexts_work_in_a_browser() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    let page = page_of(&common::contexts());
    let play = format!(
        "{PRESS}
        const at=(text)=>all('#icicle .call').find(e=>e.textContent===text);
        const place=(text)=>at(text).getBoundingClientRect();
        tell('boxes',all('#icicle .call').map(e=>e.textContent).join());
        tell('order',place('all').top<place('Shop.price').top&&place('Shop.price').top<place('Shop.grade').top);
        tell('full',at('Shop.grade').getAttribute('title'));
        const before=place('Shop.grade').width;at('Shop.grade').click();
        tell('enlarged',place('Shop.grade').width>before);
        press('Escape');tell('back',Math.abs(place('Shop.grade').width-before)<1);
        at('all').focus();press('ArrowDown');press('ArrowRight');
        tell('focus',document.activeElement.textContent);
        tell('told',document.getElementById('icicle-told').textContent);
        const button=all('#context-methods button').find(b=>b.textContent==='Shop.grade(int)');button.click();
        tell('title',document.getElementById('callers-title').textContent);
        tell('callers',all('#callers > li').map(l=>l.getAttribute('aria-label')).join('|'));
        tell('chosen',all('#icicle .chosen').map(e=>e.textContent).join());
        all('#callers .item')[0].click();
        const search=document.getElementById('context-search');search.value='DEMO fill';search.dispatchEvent(new Event('input'));
        tell('found',document.getElementById('context-found').textContent+' '+all('#context-methods tbody tr').map(r=>r.cells[0].textContent).join());
        tell('above',all('#callers ul li').map(l=>l.getAttribute('aria-label')).join('|'))"
    );
    let page = played(&browser, &page, "", &play);
    let told = |key: &str| told(&page, key);
    assert_eq!(told("boxes"), "all,Shop.price,Shop.grade,Shop.fill,Shop.grade");
    assert_eq!(told("order"), "true");
    assert_eq!(
        told("full"),
        "demo.Shop.grade(int): 60 calls (60.0 %), 60 of its own (60.0 %)"
    );
    assert_eq!(
        (told("enlarged"), told("back")),
        ("true".to_owned(), "true".to_owned())
    );
    assert_eq!(told("focus"), "Shop.fill");
    assert!(
        told("told").starts_with("demo.Shop.fill(byte[]): 30 calls"),
        "{}",
        told("told")
    );
    assert_eq!(told("title"), "Who called Shop.grade(int)");
    assert_eq!(
        told("callers"),
        "demo.Shop.price(int[], int), 60 calls, 60.0 %|demo.Shop.fill(byte[]), 10 calls, 10.0 %"
    );
    assert_eq!(told("chosen"), "Shop.grade,Shop.grade");
    assert_eq!(told("found"), "1 of 3 Shop.fill(byte[])");
    assert_eq!(
        told("above"),
        "no caller: where a thread’s chain begins, 60 calls, 60.0 %"
    );
}

/// Names as no compiler makes them: nothing of them runs, wherever the script puts them.
#[test]
fn hostile_names_do_nothing_in_a_browser() {
    let Some(browser) = chromium() else {
        println!("skipped: no chromium found (set TRODDEN_CHROMIUM)");
        return;
    };
    let bad = "</script><img src=x onerror=errors.push(1)><script>errors.push(2)</script>\u{202e}\"'`${errors.push(3)}";
    let mut profile = common::contexts();
    let class = std::sync::Arc::get_mut(&mut profile.classes[0].map).unwrap();
    class.name = format!("demo/{bad}");
    for method in &mut class.methods {
        method.name = format!("{}{bad}", method.name);
    }
    let mut paths = profile.clone();
    paths.contexts = None;
    let play = format!(
        "{PRESS}const said=(text)=>document.body.textContent.includes(text);\
        all('details').forEach(d=>{{d.open=true;d.dispatchEvent(new Event('toggle'));}});\
        all('button').forEach(b=>b.click());all('[role=treeitem] .item, .call, .path').forEach(e=>e.click());\
        all('[role=treeitem] .item').forEach(e=>e.click());tell('images',all('img').length);tell('shown',said('on'+'error'));\
        tell('turned',said(String.fromCharCode(0x202e)))"
    );
    for profile in [profile, paths] {
        let page = played(&browser, &page_of(&profile), "", &play);
        assert_eq!(told(&page, "images"), "0");
        assert_eq!(
            (told(&page, "shown"), told(&page, "turned")),
            ("true".to_owned(), "false".to_owned())
        );
    }
}

/// How long a page takes to open and to search, of a file of yours (`TRODDEN_PAGE`); figures are in
/// `benchmarks-java/book/benchmarks.md`.
#[test]
#[ignore = "measures a file; asserts no time"]
fn times_of_a_page() {
    let (Some(browser), Some(file)) = (chromium(), std::env::var_os("TRODDEN_PAGE")) else {
        panic!("needs chromium, and a page in TRODDEN_PAGE");
    };
    let page = std::fs::read_to_string(file).unwrap();
    let play = "addEventListener('load',()=>{
        const search=document.getElementById('search');const times=[];
        const opened=performance.now();
        for(const words of ['a','parse','visit tree','nothing of the kind','']){const start=performance.now();search.value=words;
          search.dispatchEvent(new Event('input'));document.body.offsetHeight;times.push((performance.now()-start).toFixed(1));}
        const sort=performance.now();document.querySelectorAll('#all-methods th button')[0].click();document.body.offsetHeight;
        document.body.dataset.times=JSON.stringify({opened_ms:opened.toFixed(0),search_ms:times,sort_ms:(performance.now()-sort).toFixed(1),
          rows:document.querySelectorAll('tbody tr').length,elements:document.querySelectorAll('*').length});})";
    for _ in 0..5 {
        let played = played(&browser, &page, "", play);
        println!("{} bytes, {}", page.len(), told(&played, "times"));
    }
}

/// The icicle of CPU time: a method is split by path, widths are the division's, what is certain is plain.
#[test]
fn time_is_split_by_path_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let page = page_of(&common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100));
    // Label, level, width and what is certain of each box: at first, with `lookup` split, with all split, and together again.
    let play = "const seen = () => [...document.querySelectorAll('#time-icicle .call')].map((e) => \
            [e.textContent.split(':')[0], e.getAttribute('aria-level'), e.style.width, e.style.getPropertyValue('--sure'), e.title]);\
        const states = [seen()];\
        const press = (e, key) => e.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));\
        const lookup = () => [...document.querySelectorAll('#time-icicle .call')].find((e) => e.textContent.includes('lookup'));\
        press(lookup(), 'p');\
        states.push(seen());\
        press(lookup(), 'p');\
        states.push(seen());\
        document.getElementById('time-all').click();\
        document.getElementById('time-split').click();\
        states.push(seen());\
        document.body.dataset.states = JSON.stringify(states)";
    let page = played(&browser, &page, "", play);
    let states: Vec<Vec<[String; 5]>> = serde_json::from_str(&told(&page, "states")).unwrap();
    let boxes = |at: usize| -> Vec<(&str, &str, &str, &str)> {
        let of = states[at].iter();
        of.map(|[name, level, width, sure, _]| (&**name, &**level, &**width, &**sure))
            .collect()
    };
    assert_eq!(
        boxes(0),
        [
            ("all", "1", "100%", ""),
            ("▸Shop.lookup", "2", "90%", ""),
            ("FileInputStream.read", "3", "70%", ""),
            ("▸Shop.spin", "2", "10%", ""),
        ]
    );
    // Enlarged: widths are of 900 ms. 742 are the miss's, 730 of them for sure; 158 the hit's, 50 for sure.
    let split = boxes(1);
    let paths: Vec<&(&str, &str, &str, &str)> = split.iter().filter(|b| b.0.starts_with("path")).collect();
    assert_eq!(paths.len(), 2, "{split:?}");
    assert_eq!((paths[0].2, paths[0].3), ("82.4444%", "98.38%"));
    assert_eq!((paths[1].2, paths[1].3), ("17.5556%", "31.65%"));
    let read = split.iter().find(|b| b.0.contains("read")).unwrap();
    assert_eq!((read.1, read.2), ("4", "77.7778%"));
    let titles: Vec<&str> = states[1].iter().map(|b| &*b[4]).collect();
    assert!(
        titles
            .iter()
            .any(|t| t.contains("742 ms (74.2 %); 730 ms are certain, 12 ms divided by how often paths ran")),
        "{titles:#?}"
    );
    assert!(
        !states[2].iter().any(|b| b[0].starts_with("path")),
        "{:?}",
        states[2]
    );
    // Of all methods at once: `spin` has one path, all of it certain.
    let all = boxes(3);
    let spin = all.iter().position(|b| b.0.contains("spin")).unwrap();
    assert_eq!(
        (all[spin + 1].1, all[spin + 1].2, all[spin + 1].3),
        ("3", "10%", "100.00%")
    );
}

/// Samples that saw their path are plain, those that did not are hatched; a call below a path is as certain as its path.
#[test]
fn measured_time_is_plain_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let shop = common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100);
    let html = page_of(&common::cpu::with_answers(shop, &[(1, [10, 80, 10])]));
    let play = "document.getElementById('time-split').click();\
        const seen = [...document.querySelectorAll('#time-icicle .call')].map((e) => \
            [e.textContent.split(':')[0], e.style.width, e.style.getPropertyValue('--sure'), e.title]);\
        document.body.dataset.seen = JSON.stringify(seen)";
    let page = played(&browser, &html, "", play);
    let seen: Vec<[String; 4]> = serde_json::from_str(&told(&page, "seen")).unwrap();
    let paths: Vec<&[String; 4]> = seen.iter().filter(|b| b[0].starts_with("path")).collect();
    // Misses: 730 in code of their own, 80 that were seen, a tenth of 10 and of 20. Hits: 50, 10, the rest.
    assert_eq!((&*paths[0][1], &*paths[0][2]), ("81.3%", "99.63%"), "{seen:#?}");
    assert_eq!((&*paths[1][1], &*paths[1][2]), ("8.7%", "68.97%"), "{seen:#?}");
    for words in [
        "813 ms (81.3 %); 810 ms are certain, 3 ms divided by how often paths ran",
        "87 ms (8.7 %); 60 ms are certain, 27 ms divided by how often paths ran",
    ] {
        assert!(seen.iter().any(|b| b[3].contains(words)), "{seen:#?}");
    }
    let read = seen.iter().find(|b| b[0].contains("read")).unwrap();
    assert!(read[3].ends_with("700 ms of its own"), "{read:?}");
    assert!(
        html.contains("3.0 % of the samples in methods with counted paths are divided (30 of 1,000)"),
        "the figure"
    );
}

/// Elements that are wider than the page, that are not inside of their parent, or that cover the one behind them; and how many
/// were looked at. What can be scrolled, and what is drawn freely (graphs, icicles), may be larger than its box.
const SPILLS: &str = "
    const spills=(page)=>{
      const found=[];let looked=0;
      const style=(e)=>page.getComputedStyle(e);
      const name=(e)=>e.tagName.toLowerCase()+'.'+(e.getAttribute('class')||'').replaceAll(' ','.')+'#'+e.id+' '+e.textContent.slice(0,30);
      const scrolls=(e)=>e&&(style(e).overflowX!=='visible'||scrolls(e.parentElement));
      const flows=(e)=>!['absolute','fixed','sticky'].includes(style(e).position);
      const block=(e)=>!['inline','contents','none'].includes(style(e).display);
      const box=(e)=>e.getBoundingClientRect();
      for(const e of page.document.body.querySelectorAll('*')){
        const r=box(e);
        if(!r.width||!r.height||e.rowSpan>1||e.closest('svg,.icicle,.unseen,.skip,details:not([open])>*:not(summary)')||!flows(e)){continue;}
        looked++;
        if(r.right>page.innerWidth+1&&!scrolls(e.parentElement)){found.push('beyond the page: '+name(e));}
        const parent=e.parentElement,p=box(parent);
        if(block(parent)&&style(parent).overflowX==='visible'&&parent!==page.document.body&&
           (r.left<p.left-2||r.right>p.right+2||r.top<p.top-4||r.bottom>p.bottom+4)){found.push('outside of '+name(parent)+': '+name(e));}
        const next=e.nextElementSibling;
        if(next&&block(e)&&block(next)&&flows(next)){
          const n=box(next);
          const across=Math.min(r.right,n.right)-Math.max(r.left,n.left), down=Math.min(r.bottom,n.bottom)-Math.max(r.top,n.top);
          if(n.width&&n.height&&across>2&&down>4){found.push('covered: '+name(e)+' by '+name(next));}
        }
      }
      return [String(looked),...found];
    };";

/// No box of the page covers another, or leaves its own: wide and narrow, on paper, with all kinds of data that have rules of
/// their own.
#[test]
fn nothing_spills_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let mut timed = common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100);
    timed.classes.extend(common::profile().classes);
    let mut chains = common::contexts();
    chains.cpu = timed.cpu.clone();
    for (what, profile) in [("time", timed), ("chains", chains)] {
        let page = page_of(&profile);
        for (width, paper) in [(1400, false), (980, false), (400, false), (720, true)] {
            let play = format!("{SPILLS}document.body.dataset.found=JSON.stringify(spills(page))");
            let played = framed(&browser, &page, width, paper, &play);
            let found: Vec<String> = serde_json::from_str(&told(&played, "found")).unwrap();
            assert!(found[0].parse::<usize>().unwrap() > 100, "{found:?}");
            assert_eq!(found[1..], [""; 0], "{what}, {width} pixels, paper: {paper}");
        }
    }
}

/// The table of CPU time begins at its left edge; on paper it is not cut, and the icicle is there.
#[test]
fn cpu_time_is_on_paper_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let mut profile = common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100);
    let long = "com/example/department/of/long/names/AbstractSingletonProxyFactoryBeanFactory$InnerHandler";
    let frames = &mut profile.cpu.as_mut().unwrap().frames;
    frames
        .iter_mut()
        .find(|frame| frame.name == "read")
        .unwrap()
        .class = long.to_owned();
    let page = page_of(&profile);
    let play = "
        const table=page.document.querySelector('#time table'), left=table.getBoundingClientRect().left;
        const first=page.document.createRange();first.selectNodeContents(table.tBodies[0].rows[0].cells[0]);
        document.body.dataset.gap=String(first.getBoundingClientRect().left-left);
        const code=all('#time table code').map((e)=>e.getBoundingClientRect().right);
        document.body.dataset.cut=String(Math.max(...code)>all('#time')[0].getBoundingClientRect().right);
        const seen=(e)=>page.getComputedStyle(e).display!=='none'&&e.getBoundingClientRect().height>20&&(!e.parentElement||seen(e.parentElement)||e.parentElement===page.document.body);
        document.body.dataset.boxes=all('#time-icicle .call').filter(seen).map((e)=>e.textContent).join();";
    for (width, paper) in [(1400, false), (720, true)] {
        let played = framed(&browser, &page, width, paper, play);
        let gap: f64 = told(&played, "gap").parse().unwrap();
        assert!(gap < 30.0, "{gap} pixels are empty");
        if paper {
            assert_eq!(told(&played, "cut"), "false", "names are cut");
        }
        let boxes = told(&played, "boxes");
        assert!(
            boxes.contains("Shop.lookup") && boxes.contains(".read"),
            "{boxes}"
        );
    }
}

/// `/` brings the search to the top, with what it finds below; Enter opens the first of it, arrows go through it.
#[test]
fn a_search_is_used_with_the_keyboard_alone_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let page = page_of(&common::many_methods(300));
    let play = format!(
        "{PRESS}
        const search=document.getElementById('search');
        document.body.dispatchEvent(new KeyboardEvent('keydown',{{key:'/',bubbles:true}}));
        tell('top',search.getBoundingClientRect().top);
        search.value='part3 method';search.dispatchEvent(new Event('input'));
        const link=(at)=>all('#all-methods tbody tr')[at].querySelector('a');
        const seen=link(0).getBoundingClientRect();
        tell('seen',seen.top>search.getBoundingClientRect().bottom&&seen.bottom<innerHeight);
        press('ArrowDown');tell('first',document.activeElement===link(0));
        press('ArrowDown');tell('second',document.activeElement===link(1));
        press('ArrowUp');press('ArrowUp');tell('back',document.activeElement===search);
        tell('link',link(0).hash);press('Enter');tell('hash',location.hash);
        press('ArrowDown');press('Escape');tell('out',document.activeElement===search);"
    );
    let page = played(&browser, &page, "", &play);
    let told = |key: &str| told(&page, key);
    let top: f64 = told("top").parse().unwrap();
    assert!(
        (0.0..100.0).contains(&top),
        "the field is {top} pixels from the top"
    );
    for key in ["seen", "first", "second", "back", "out"] {
        assert_eq!(told(key), "true", "{key}");
    }
    assert_eq!(told("hash"), told("link"));
}

/// Methods without counts, as the JDK's, are found, and say how much time they have and why there are no paths.
#[test]
fn methods_without_counts_are_found_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let page = page_of(&common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100));
    let play = format!(
        "{PRESS}const search=document.getElementById('search');
        tell('all',all('#all-methods tbody tr').length);
        search.value='fileinput';search.dispatchEvent(new Event('input'));
        tell('row',all('#all-methods tbody tr').map(r=>[...r.cells].map(c=>c.textContent).join('|')).join());
        search.focus();press('Enter');tell('hash',location.hash)"
    );
    let opened = played(&browser, &page, "", &play);
    assert_eq!(told(&opened, "all"), "2", "its time is that of its caller");
    assert_eq!(
        told(&opened, "row"),
        "java.io.FileInputStream.read()|in its callers|70.0 %||||"
    );
    assert_eq!(told(&opened, "hash"), "#java.io.FileInputStream.read()");
    let opened = played(&browser, &page, "#java.io.FileInputStream.read()", "");
    assert_eq!(
        select(&opened, "#elsewhere:not([hidden]) h2"),
        ["java.io.FileInputStream.read()"]
    );
    assert_eq!(
        select(&opened, "#elsewhere-numbers"),
        ["70.0 % of the CPU time in itself · 70.0 % with callees"]
    );
    let reason = select(&opened, "#elsewhere-reason");
    assert!(
        reason[0].starts_with("Native code: it has no bytecode"),
        "{reason:?}"
    );
    assert_eq!(select(&opened, "#elsewhere-more[hidden]").len(), 1);
}

/// A word marks its boxes in the icicle; what they have of the time is counted once.
#[test]
fn the_icicle_is_searched_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let page = page_of(&common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100));
    let play = format!(
        "{PRESS}const search=document.getElementById('time-search');
        const find=(text)=>{{search.value=text;search.dispatchEvent(new Event('input'));
          return document.getElementById('time-found').textContent+': '+all('#time-icicle .match').map(e=>e.textContent).join();}};
        tell('read',find('READ'));tell('lookup',find('shop lookup'));tell('both',find('o'));tell('none',find('nothing'));
        find('read');document.querySelectorAll('#time-icicle .call')[1].click();
        tell('kept',all('#time-icicle .match').length);tell('cleared',find(''));tell('plain',all('#time-icicle.searched').length)"
    );
    let page = played(&browser, &page, "", &play);
    let told = |key: &str| told(&page, key);
    assert_eq!(told("read"), "70.0 % of the CPU time: FileInputStream.read");
    assert_eq!(told("lookup"), "90.0 % of the CPU time: ▸Shop.lookup");
    assert_eq!(
        told("both"),
        "100.0 % of the CPU time: ▸Shop.lookup,FileInputStream.read,▸Shop.spin"
    );
    assert_eq!(told("none"), "0.0 % of the CPU time: ");
    assert_eq!(
        (told("kept"), told("cleared"), told("plain")),
        ("1".into(), ": ".into(), "0".into())
    );
}

/// Lines have their time, and that of the methods that they call.
#[test]
fn lines_have_their_time() {
    let page = page_of(&common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100));
    let page = Html::parse_document(&page);
    let times = select(&page, "#m1 .source .time");
    let times: Vec<&str> = times
        .iter()
        .map(|time| time.trim())
        .filter(|time| !time.is_empty())
        .collect();
    assert_eq!(times, ["11.1 %", "5.6 %", "81.1 %", "2.2 %"]);
    assert_eq!(
        select(&page, "#m1 .source tr[data-line='8'] .callee"),
        ["→ FileInputStream.read 77.8 %"]
    );
}

/// A click on a finding chooses its path, and brings it into view.
#[test]
fn a_finding_chooses_its_path_in_a_browser() {
    let Some(browser) = chromium() else {
        return;
    };
    let page = page_of(&common::cpu::shop([99_000, 1_000], [100, 50, 30, 20], 700, 100));
    let play = format!(
        "{PRESS}const link=document.querySelector('#findings a[data-path]');
        const path=()=>document.querySelector('.path[aria-pressed=true]').dataset.path;
        const other=all('#m1 .path[role=button]').find(e=>e.dataset.path!==link.dataset.path);other.click();
        tell('wanted',link.dataset.path);tell('before',path());
        addEventListener('hashchange',()=>{{const box=document.querySelector('.path[aria-pressed=true]').getBoundingClientRect();
          tell('after',path());tell('seen',box.top>=0&&box.bottom<=innerHeight);}});
        link.click();"
    );
    let page = played(&browser, &page, "", &play);
    let told = |key: &str| told(&page, key);
    assert_ne!(told("before"), told("wanted"));
    assert_eq!((told("after"), told("seen")), (told("wanted"), "true".to_owned()));
}

/// A method that was left as it was has a section: its time by place, what it calls, and the reason.
#[test]
fn methods_without_probes_have_sections() {
    let mut profile = common::cpu::shop([9_000, 1_000], [100, 50, 30, 20], 700, 100);
    profile.classes = vec![common::class(
        "demo/Shop",
        Some("Shop.java"),
        vec![common::cpu::spin(500_000)],
    )];
    profile.skipped = vec![trodden_profile::Skipped {
        class: "demo/Shop".to_owned(),
        method: Some("lookup()V".to_owned()),
        reason: "probes would push it over 8,000 bytes".to_owned(),
    }];
    let page = Html::parse_document(&page_of(&profile));
    let section = "details.left-out[open]";
    assert_eq!(select(&page, &format!("{section} h2")), ["demo.Shop.lookup()"]);
    let facts = select(&page, &format!("{section} .facts"));
    assert_eq!(facts, ["90.0 % own time · 90.0 % with callees · paths not known"]);
    let reason = select(&page, &format!("{section} > p"));
    assert_eq!(
        reason[0],
        "Its paths are not known: probes would push it over 8,000 bytes."
    );
    let rows = select(&page, &format!("{section} tbody tr"));
    assert_eq!(rows[0], "@981.1 %→ FileInputStream.read 77.8 %");
    // It takes most time, so it comes first.
    assert_eq!(select(&page, "details.method h2")[0], "demo.Shop.lookup()");
    // With lines of the samples they are in place of bytecode indices.
    let cpu = profile.cpu.as_mut().unwrap();
    let frames = cpu.frames.clone();
    let lookup = frames.iter().position(|frame| frame.name == "lookup").unwrap() as u32;
    cpu.set_lines(&frames, [(lookup, 9, 8), (lookup, 1, 5)]);
    let page = Html::parse_document(&page_of(&profile));
    let rows = select(&page, &format!("{section} tbody tr"));
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert_eq!(
        rows[0],
        "881.1 %int item = items[i];→ FileInputStream.read 77.8 %"
    );
}

/// Branch tables have the time of each outcome, with its interval.
#[test]
fn outcomes_have_their_time() {
    let page = Html::parse_document(&page_of(&common::cpu::shop(
        [9_000, 1_000],
        [100, 50, 30, 20],
        700,
        100,
    )));
    let rows = select(&page, "#m1 .branches tbody tr td:last-child");
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(
        rows.iter()
            .any(|row| row.starts_with("82.4 % (") && row.ends_with(" %)")),
        "{rows:?}"
    );
}

/// The time of a method that calls itself is with the paths of the innermost call.
#[test]
fn paths_of_recursive_methods_have_no_more_than_the_programs_time() {
    let mut profile = common::cpu::shop([9_000, 1_000], [0, 0, 0, 0], 0, 0);
    let rows = [
        common::cpu::row(None, 0, Some(5), common::cpu::time(0)),
        common::cpu::row(Some(0), 0, Some(9), common::cpu::time(80)),
        common::cpu::row(None, 2, Some(2), common::cpu::time(20)),
    ];
    profile.cpu = Some(common::cpu::samples(common::cpu::shop_frames(), &rows));
    let page = Html::parse_document(&page_of(&profile));
    let shares = select(&page, "#m1 .path-head .soft:last-child");
    assert_eq!(shares.len(), 2, "{shares:?}");
    let of_time = |share: &str| share.rsplit(" · ").next().unwrap().to_owned();
    let shares: Vec<String> = shares.iter().map(|share| of_time(share)).collect();
    assert_eq!(shares, ["80.0 % of the CPU time", "0.0 % of the CPU time"]);
}
