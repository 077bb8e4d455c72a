//! The page of a fleet: what was planted is on its first screen, nothing is loaded from anywhere, and an
//! empty store has one.

mod common;
mod fleet;
mod slow;
mod support;

use common::{DAY, Window};
use trodden_profile::Profile;
use trodden_store::page::{PageOptions, page};
use trodden_store::query::Given;
use trodden_store::{AddOptions, Adder, Place, Store};

fn options(given: &[(&str, &str)]) -> PageOptions {
    PageOptions {
        store: "<fleet>".to_owned(),
        given: support::given(given).into_iter().collect::<Given>(),
        top: 20,
    }
}

/// The text of an element with this id, up to the end of its section.
fn part<'p>(page: &'p str, id: &str) -> &'p str {
    let from = page
        .find(&format!("id=\"{id}\""))
        .unwrap_or_else(|| panic!("no {id}"));
    page[from..].split("</section>").next().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_planted_is_on_the_first_screen() {
    let (fleet, kept) = support::small().await;
    let page = page(&support::engine(&kept).await, &options(&[])).await.unwrap();
    let first = part(&page, "findings");
    for text in [
        "things differently from one",
        &format!("Host {} runs other paths than the rest", fleet.odd_host()),
        "shop.Shop.lookup(int, int): ",
        "Since 2026-10-01, no JVM took 4 ways out of branches, and no JVM ran 1 method",
    ] {
        assert!(first.contains(text), "{text}: {first}");
    }
    assert!(part(&page, "never-taken").contains("amount &lt; 0 → yes"));
    assert!(part(&page, "never-ran").contains("shop.Shop.refund(int)"));
    assert!(part(&page, "builds").matches("<svg").count() == 2);
    // A name from elsewhere is text.
    assert!(page.contains("&lt;fleet&gt;") && !page.contains("<fleet>"));
    for outside in ["src=", "@import", "url(", "fetch(", "http:", "https:"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

/// Where requests were recorded.
#[tokio::test(flavor = "multi_thread")]
async fn what_slow_requests_share() {
    let (_, kept) = support::small().await;
    let without = page(&support::engine(&kept).await, &options(&[])).await.unwrap();
    assert!(!without.contains("slow-requests"));
    let files = slow::write(kept.folder.path(), slow::PLANTED);
    let mut adder = Adder::new(&kept.store);
    adder.add(&files, &AddOptions::default()).await.unwrap();
    let page = page(&support::engine(&kept).await, &options(&[])).await.unwrap();
    let slow = part(&page, "slow-requests");
    assert!(
        slow.contains("hit != null → no") && slow.contains(slow::NAME),
        "{slow}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn of_one_build_and_of_none() {
    let (_, kept) = support::small().await;
    let engine = support::engine(&kept).await;
    let refused = page(&engine, &options(&[("service", "shpo")])).await.unwrap_err();
    assert!(refused.to_string().contains("did you mean 'shop'?"), "{refused}");
    let folder = tempfile::tempdir().unwrap();
    let store = Store::create(&Place::parse(&folder.path().join("empty").to_string_lossy()).unwrap())
        .await
        .unwrap();
    let empty = support::Kept { store, folder };
    let page = page(&support::engine(&empty).await, &options(&[])).await.unwrap();
    assert!(page.contains("Nothing has come in"));
    assert!(!page.contains("What stands out"));
}

/// Two services with a build each, without any class: nothing is as before, and not everything ran.
#[tokio::test(flavor = "multi_thread")]
async fn of_windows_that_counted_nothing() {
    let kept = support::empty().await;
    let windows = [("shop", 1), ("bank", 2)].map(|(service, jvm)| {
        let window = Window {
            service,
            ..Window::new(jvm, 1, DAY)
        };
        let profile = window.profile(&Profile::default());
        let file = kept.folder.path().join(format!("{service}.trodden"));
        profile.save(&file).unwrap();
        file
    });
    let mut adder = Adder::new(&kept.store);
    adder.add(&windows, &AddOptions::default()).await.unwrap();
    let page = page(&support::engine(&kept).await, &options(&[])).await.unwrap();
    let first = part(&page, "findings");
    assert!(first.contains("No service has two builds to compare"), "{first}");
    assert!(!first.contains("Everything that was loaded"), "{first}");
    assert!(part(&page, "never-taken").contains("no window has ways out of branches or paths since"));
}
