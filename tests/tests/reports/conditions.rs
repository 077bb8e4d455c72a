//! Conditions recovered from the bytecode of a real library, against its source.

use trodden_tests::conditions::{self, Jar, Judgement};

/// A small sample of what `cargo run -p trodden-tests --bin conditions` reports for larger libraries.
#[test]
fn a_library_reads_as_its_source() {
    let (jar, sources) = conditions::fetch("commons-cli:commons-cli:1.6.0").unwrap();
    let truths = conditions::truths(&sources).unwrap();
    let library = conditions::judge(&Jar::read(&jar).unwrap(), &sources, &truths).unwrap();
    let of = |judgement: Judgement| library.judged.iter().filter(|j| j.bytecode == judgement).count();
    let wrong: Vec<_> = library
        .judged
        .iter()
        .filter(|j| j.bytecode == Judgement::Wrong)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(library.judged.len() >= 350, "{}", library.judged.len());
    assert!((of(Judgement::Same) + of(Judgement::Compatible)) * 100 >= library.judged.len() * 95);
    let bad = |j: &&conditions::Judged| matches!(j.with_source, Judgement::Wrong | Judgement::Opposite);
    let wrong: Vec<_> = library.judged.iter().filter(bad).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
