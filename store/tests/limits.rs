//! Rows that do not fit into memory go to disk, and the answer stays the same.

mod fleet;
mod support;

use std::num::NonZeroUsize;

use fleet::Fleet;
use trodden_store::query::{Answer, Given, Limits, Query, ready};

/// The answer with memory enough, and the same question's with little; and how much of that was spilled.
async fn both(kept: &support::Kept, query: &Query, memory: usize) -> (Answer, Answer, usize) {
    let ask = async |memory: usize| {
        // As many lanes on every machine: how much is held at once depends on them.
        let limits = Limits {
            memory,
            threads: NonZeroUsize::new(2),
        };
        let engine = support::engine_within(kept, limits).await;
        let answered = engine.ask(query, &Given::new()).await;
        answered.unwrap_or_else(|error| panic!("{error}"))
    };
    let (roomy, spent) = ask(1 << 30).await;
    assert_eq!(spent.spilled, 0);
    let (narrow, spent) = ask(memory).await;
    (roomy, narrow, spent.spilled)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sort_goes_to_disk() {
    let fleet = Fleet {
        jvms: 120,
        copies: 20,
        ..Fleet::default()
    };
    let kept = support::stored(&fleet).await;
    let columns = "host, class, method, path, day, count";
    let sql = format!("SELECT {columns} FROM paths ORDER BY {columns}");
    let (roomy, narrow, spilled) = both(&kept, &Query::parse("sql", &sql).unwrap(), 24 << 20).await;
    assert!(roomy.rows.len() > 100_000, "{}", roomy.rows.len());
    assert_eq!(roomy.csv(), narrow.csv());
    assert!(spilled > 16 << 20, "{spilled} bytes were spilled");
}

/// The question about hosts for all of them at the same time, in SQL of its own.
fn odd_hosts_at_once() -> Query {
    Query::parse("odd-hosts", include_str!("data/odd-hosts-at-once.sql")).unwrap()
}

/// Hosts in parts, the smallest of which is a host alone, against all at once with other SQL.
#[tokio::test(flavor = "multi_thread")]
async fn hosts_in_parts() {
    let fleet = Fleet {
        jvms: 50,
        copies: 20,
        ..Fleet::default()
    };
    let kept = support::stored(&fleet).await;
    let at_once = odd_hosts_at_once();
    let engine = support::engine(&kept).await;
    for given in [vec![], vec![("min_count", "100000")], vec![("build", "two")]] {
        let given: Given = given
            .iter()
            .map(|&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned()))
            .collect();
        let (expected, _) = engine.ask(&at_once, &given).await.unwrap();
        let (whole, _) = engine.ask(&ready("odd-hosts").unwrap(), &given).await.unwrap();
        assert_eq!(whole.rows.len(), 50);
        assert_eq!(whole.csv(), expected.csv());
        for memory in [64 << 20, 24 << 20] {
            let limits = Limits {
                memory,
                threads: NonZeroUsize::new(2),
            };
            let engine = support::engine_within(&kept, limits).await;
            let (parts, _) = engine.ask(&ready("odd-hosts").unwrap(), &given).await.unwrap();
            assert_eq!(parts.csv(), expected.csv(), "{memory}");
        }
    }
}

/// Tables of joins by hash cannot go to disk: the question is asked again, and joins sort.
#[tokio::test(flavor = "multi_thread")]
async fn joins_whose_tables_do_not_fit() {
    let fleet = Fleet {
        jvms: 24,
        copies: 20,
        ..Fleet::default()
    };
    let kept = support::stored(&fleet).await;
    let at_once = odd_hosts_at_once();
    let (roomy, narrow, _) = both(&kept, &at_once, 16 << 20).await;
    assert_eq!(roomy.rows.len(), 24);
    assert_eq!(roomy.json(), narrow.json());
}
