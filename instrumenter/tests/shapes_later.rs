//! Shapes that are made later from the same bytes are those that are made at once.

use trodden_instrumenter::{InstrumentOptions, Instrumenter, Preparation, ProbeKind, shapes};
use trodden_profile::{ClassMap, MethodShape};

const SHAPES: &[u8] = include_bytes!("fixtures/Shapes.class");
const SMALL: &[u8] = include_bytes!("fixtures/Small.class");

fn map(bytes: &[u8], with_shapes: bool) -> ClassMap {
    let options = InstrumentOptions {
        shapes: with_shapes,
        ..InstrumentOptions::new(ProbeKind::Counters)
    };
    match Instrumenter::new(options).prepare(bytes).unwrap() {
        Preparation::Ready(prepared) => ClassMap::clone(prepared.map()),
        Preparation::Unchanged { skipped } => panic!("{skipped:?}"),
    }
}

fn of(map: &ClassMap) -> Vec<Option<MethodShape>> {
    map.methods.iter().map(|method| method.shape.clone()).collect()
}

#[test]
fn later_as_at_once() {
    for bytes in [SHAPES, SMALL] {
        let at_once = of(&map(bytes, true));
        assert!(
            !at_once.is_empty() && at_once.iter().all(Option::is_some),
            "{at_once:?}"
        );
        let without = map(bytes, false);
        assert!(of(&without).iter().all(Option::is_none));
        let later: Vec<_> = shapes(bytes, &without).unwrap().into_iter().map(Some).collect();
        assert_eq!(later, at_once);
    }
}

#[test]
fn another_class_is_an_error() {
    let error = shapes(SMALL, &map(SHAPES, false)).unwrap_err().to_string();
    assert!(error.contains("the method has no code here"), "{error}");
    let error = shapes(&SHAPES[..SHAPES.len() - 40], &map(SHAPES, false)).unwrap_err();
    assert!(error.to_string().contains("Shapes"), "{error}");
    let mut other = map(SHAPES, false);
    other.methods[0].code_length += 1;
    let error = shapes(SHAPES, &other).unwrap_err().to_string();
    assert!(error.contains("the path map is of other code"), "{error}");
}
