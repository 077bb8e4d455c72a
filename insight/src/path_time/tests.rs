use trodden_numbering::BlockId;
use trodden_profile::{CUT_OFF, CpuTime};

use super::division::{Division, Through, Wait, WaitsInBlock};
use super::groups::{Divided, Groups, PathTime, divide};

fn time(samples: u64) -> CpuTime {
    CpuTime {
        samples,
        ns: samples * 1_000_000,
    }
}

fn block(index: usize) -> BlockId {
    BlockId::new(index)
}

fn way(blocks: &[BlockId], stopped: Option<BlockId>, count: u64) -> Through<'_> {
    Through {
        blocks,
        stopped,
        number: None,
        count,
        catches: false,
    }
}

/// Blocks 0 → 1 or 2 → 3; 90 times by 1, 10 times by 2.
fn diamond(blocks: &[CpuTime; 4], known: [bool; 4], unplaced: CpuTime) -> Divided {
    let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
    let division = Division::of_counts(4, &[way(&left, None, 90), way(&right, None, 10)], &known);
    divide((blocks, unplaced), &division, &Groups::single(2))
}

#[test]
fn what_is_certain_and_what_is_divided() {
    let found = diamond(&[time(100), time(50), time(800), time(50)], [true; 4], time(0));
    let [left, right] = found.groups[..] else { panic!() };
    // 50 + 0.9 · 150 and 800 + 0.1 · 150 of 1,000.
    assert!((left.share - 0.185).abs() < 1e-9, "{left:?}");
    assert!((right.share - 0.815).abs() < 1e-9, "{right:?}");
    assert_eq!((left.certain, right.certain), (0.05, 0.8));
    // Wilson's bounds of 800 and of 950 in 1,000.
    assert!((right.interval[0] - 0.7741).abs() < 1e-3, "{right:?}");
    assert!((right.interval[1] - 0.9619).abs() < 1e-3, "{right:?}");
    assert!((left.samples + right.samples - 1000.0).abs() < 1e-6);
    assert_eq!(found.unplaced, time(0));
}

#[test]
fn what_is_not_known_is_no_ones() {
    // Block 2 lies in a loop that is not counted, and ten samples have no place.
    let known = [true, true, false, true];
    let found = diamond(&[time(0), time(30), time(60), time(0)], known, time(10));
    let [left, right] = found.groups[..] else { panic!() };
    assert_eq!((left.share, right.share), (0.3, 0.0));
    assert_eq!(found.unplaced, time(70));
    assert!(
        right.interval[1] > 0.7 && left.interval[1] > 0.99,
        "{left:?} {right:?}"
    );
}

#[test]
fn readings_tell_of_the_block_where_they_were_taken() {
    // 60 of 80 readings in block 3 came by 2; one was taken in 2 itself, and none in 0 and 1.
    let (left, right) = ([block(0), block(1)], [block(0), block(2)]);
    let ways = [
        way(&left, Some(block(3)), 20),
        way(&right, Some(block(3)), 60),
        way(&right[..1], Some(block(2)), 1),
    ];
    let division = Division::of_readings(4, &ways);
    let found = divide(
        (&[time(10), time(20), time(70), time(900)], time(0)),
        &division,
        &Groups::single(3),
    );
    let [left, right, earlier] = found.groups[..] else {
        panic!()
    };
    assert!((left.share - 0.225).abs() < 1e-9 && (right.share - 0.675).abs() < 1e-9);
    assert!((earlier.share - 0.07).abs() < 1e-9, "{earlier:?}");
    assert_eq!(found.unplaced, time(30));
    // Wilson's bounds of 60 in 80, of 900, and what is not known.
    assert!((right.certain - 0.9 * 0.645_3).abs() < 1e-3, "{right:?}");
    assert!((right.most - (0.9 * 0.832_0 + 0.03)).abs() < 1e-3, "{right:?}");
    // A single reading proves little.
    assert!((earlier.certain - 0.07 * 0.206_5).abs() < 1e-3, "{earlier:?}");
}

#[test]
fn what_two_paths_share_is_certain_for_both_together() {
    // 0 → 1 → 3 → 4 or 6, and 0 → 2 → 3: two paths come by 1, and share its time and that of no other.
    let ways = [
        [0, 1, 3, 4].map(block),
        [0, 1, 3, 6].map(block),
        [0, 2, 3, 5].map(block),
    ];
    let ways = [
        way(&ways[0], None, 1),
        way(&ways[1], None, 1),
        way(&ways[2], None, 98),
    ];
    let division = Division::of_counts(7, &ways, &[true; 7]);
    let blocks = [0, 450, 100, 400, 5, 40, 5].map(time);
    let by_first = Groups {
        of_path: vec![vec![0], vec![0], vec![1]],
        of_block: Vec::new(),
        count: 2,
    };
    let found = divide((&blocks, time(0)), &division, &by_first);
    let [left, right] = found.groups[..] else { panic!() };
    assert!((left.certain - 0.46).abs() < 1e-9, "{left:?}");
    assert!((left.share - 0.468).abs() < 1e-9, "{left:?}");
    assert!(left.interval[0] > 0.42 && left.interval[1] < 0.89, "{left:?}");
    assert!((right.certain - 0.14).abs() < 1e-9, "{right:?}");
    let alone = divide((&blocks, time(0)), &division, &Groups::single(3));
    assert!(alone.groups[0].certain < 0.01, "{:?}", alone.groups[0]);
}

/// 0 → 1 or 2, 2 is a loop of one path whose rounds are not counted, and both go on to 3.
#[test]
fn what_an_outcome_alone_leads_to_is_its_own_whichever_path_it_is_of() {
    let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2)]);
    let ways = [way(&left, None, 90), way(&right, None, 10)];
    let division = Division::of_counts(4, &ways, &[true, true, false, true]);
    let groups = Groups {
        of_path: vec![vec![0], vec![1]],
        of_block: vec![vec![], vec![0], vec![1], vec![]],
        count: 2,
    };
    let blocks = [20, 30, 900, 50].map(time);
    let found = divide((&blocks, time(0)), &division, &groups);
    let [left, right] = found.groups[..] else { panic!() };
    assert_eq!(found.unplaced, time(900));
    assert!(
        (right.share - 0.902).abs() < 1e-9 && (right.certain - 0.9).abs() < 1e-9,
        "{right:?}"
    );
    assert!((right.most - 0.92).abs() < 1e-9, "{right:?}");
    assert!((left.share - 0.098).abs() < 1e-9, "{left:?}");
    assert_eq!(
        (0..4).map(|at| groups.part(&division, at, 1)).collect::<Vec<_>>(),
        [0.1, 0.0, 1.0, 0.0]
    );
    // Of what is in no path the other outcome may have all but what is this one's alone; that is not looked for.
    assert!((left.most - 1.0).abs() < 1e-9, "{left:?}");
}

/// Half of 1,000 samples are in the block that both paths share, of which the first has 30 %; a tenth of the samples waited.
#[test]
fn intervals_hold_where_few_samples_waited() {
    let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
    let ways = [
        Through {
            number: Some(0),
            ..way(&left, None, 500)
        },
        Through {
            number: Some(1),
            ..way(&right, None, 500)
        },
    ];
    let mut random = 1u64;
    let mut draw = |share: f64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((random >> 33) as f64 / (1u64 << 31) as f64) < share
    };
    let (mut hold, mut width) = (0, 0.0);
    for _ in 0..500 {
        let mut waits: Vec<WaitsInBlock> = vec![Vec::new(); 4];
        let mut blocks = [0; 4];
        for _ in 0..1000 {
            let is_shared = draw(0.5);
            let path = u64::from(!draw(0.3));
            blocks[if is_shared { 3 } else { 1 + path as usize }] += 1;
            if draw(0.1) && is_shared {
                waits[3].push(Wait {
                    place: 3,
                    path: Some(path),
                    samples: 1,
                    ns: 1e6,
                });
            }
        }
        let division = Division::new(4, &ways, &[true; 4], false, &waits);
        let found = divide((&blocks.map(time), time(0)), &division, &Groups::single(2));
        let [from, to] = found.groups[0].interval;
        hold += u32::from((from..=to).contains(&0.3));
        width += (to - from) / 500.0;
    }
    assert!((460..=495).contains(&hold), "{hold} of 500");
    // By hand: 1.96 · √(0.3 · 0.7 / 1000 + 0.5² · 0.3 · 0.7 / 50 · 0.9) on either side.
    assert!((width - 0.136).abs() < 0.01, "{width}");
}

#[test]
fn no_path_no_time() {
    let division = Division::of_counts(1, &[way(&[block(0)], None, 0)], &[true]);
    let found = divide((&[time(5)], time(0)), &division, &Groups::single(1));
    assert_eq!((found.groups[0].share, found.unplaced), (0.0, time(5)));
}

/// Paths 0 → 1 → 3 (number 7) and 0 → 2 → 3 (number 9), counted 90 and 10 times, and waits in block 0.
fn answered(known: [bool; 4], waits: &[(u16, Option<u64>, u64)]) -> Division {
    let (left, right) = ([block(0), block(1), block(3)], [block(0), block(2), block(3)]);
    let ways = [(&left, 7, 90), (&right, 9, 10)].map(|(blocks, number, count)| Through {
        number: Some(number),
        ..way(blocks, None, count)
    });
    let waits = waits.iter().map(|&(place, path, samples)| Wait {
        place,
        path,
        samples,
        ns: samples as f64 * 1e6,
    });
    let waits = [waits.collect(), Vec::new(), Vec::new(), Vec::new()];
    Division::new(4, &ways, &known, false, &waits)
}

#[test]
fn samples_that_saw_their_path_are_not_divided() {
    let division = answered([true; 4], &[(0, Some(7), 30), (0, Some(9), 60), (2, None, 10)]);
    let blocks = [time(200), time(50), time(0), time(10)];
    let found = divide((&blocks, time(0)), &division, &Groups::single(2));
    let [left, right] = found.groups[..] else { panic!() };
    // Of block 0 three tenths and nine tenths of the tenth that was not seen; of block 3 nine tenths.
    assert!(
        (left.samples - (60.0 + 18.0 + 50.0 + 9.0)).abs() < 1e-9,
        "{left:?}"
    );
    assert!((right.samples - (120.0 + 2.0 + 1.0)).abs() < 1e-9, "{right:?}");
    assert!((left.by_counts - 27.0).abs() < 1e-9 && (right.by_counts - 3.0).abs() < 1e-9);
    assert_eq!((left.answered, right.answered), (30 + 50, 60));
    assert_eq!((found.answered, found.by_counts.round()), (140, 30.0));
    assert!((left.certain - 110.0 / 260.0).abs() < 1e-9, "{left:?}");
    assert!((left.most - 140.0 / 260.0).abs() < 1e-9, "{left:?}");
    // Both together have all of it, whatever was seen.
    let both = Groups {
        of_path: vec![vec![0], vec![0]],
        of_block: Vec::new(),
        count: 1,
    };
    let both = divide((&blocks, time(0)), &division, &both).groups[0];
    assert_eq!((both.share, both.certain, both.by_counts), (1.0, 1.0, 0.0));
}

/// A block that one counted path goes through, with a call that throws: half of its samples saw the path of the handler,
/// a tenth saw no path end in the method any more.
#[test]
fn what_an_exception_cut_off_is_not_the_returning_paths() {
    let (whole, handler) = ([block(0)], [block(1)]);
    let ways = [(&whole, 3, 90), (&handler, 4, 10)].map(|(blocks, number, count)| Through {
        number: Some(number),
        catches: number == 4,
        ..way(blocks, None, count)
    });
    let wait = |(path, samples): (Option<u64>, u64)| Wait {
        place: 0,
        path,
        samples,
        ns: samples as f64 * 1e6,
    };
    let waits = [(Some(3), 30), (Some(4), 50), (Some(CUT_OFF), 10), (None, 10)].map(wait);
    let division = Division::new(2, &ways, &[true; 2], false, &[waits.to_vec(), Vec::new()]);
    let found = divide((&[time(1000), time(0)], time(0)), &division, &Groups::single(2));
    let [returns, caught] = found.groups[..] else {
        panic!()
    };
    assert_eq!((found.cut_off, found.unplaced), (time(100), time(0)));
    assert!((returns.share - 0.4).abs() < 1e-9 && (caught.share - 0.5).abs() < 1e-9);
    let holds = |time: PathTime, share: f64| time.interval[0] < share && share < time.interval[1];
    assert!(
        holds(returns, 0.3) && holds(returns, 0.4) && !holds(returns, 0.9),
        "{returns:?}"
    );
    assert!(holds(caught, 0.5) && !holds(caught, 0.1), "{caught:?}");
    // Without an exception the block has one path, whatever the samples.
    let ways = &ways[..1];
    let division = Division::new(2, ways, &[true; 2], false, &[waits[..1].to_vec(), Vec::new()]);
    let found = divide((&[time(1000), time(0)], time(0)), &division, &Groups::single(1));
    assert_eq!((found.groups[0].certain, found.by_counts), (1.0, 0.0));
}

#[test]
fn without_counts_what_was_not_seen_is_no_paths() {
    let division = answered([false, true, true, true], &[(0, Some(9), 60), (0, None, 40)]);
    let blocks = [time(100), time(100), time(0), time(0)];
    let found = divide((&blocks, time(0)), &division, &Groups::single(2));
    let [left, right] = found.groups[..] else { panic!() };
    assert_eq!((left.samples, right.samples), (100.0, 60.0));
    assert_eq!((found.unplaced, found.by_counts), (time(40), 0.0));
    assert!(
        (right.certain - 0.3).abs() < 1e-9 && (right.most - 0.5).abs() < 1e-9,
        "{right:?}"
    );
    assert!((left.most - 0.7).abs() < 1e-9, "{left:?}");
}

#[test]
fn readings_are_not_divided_by_counts() {
    let (left, right) = ([block(0)], [block(0)]);
    let ways = [way(&left, Some(block(0)), 20), way(&right, Some(block(0)), 60)];
    let found = divide(
        (&[time(80)], time(0)),
        &Division::of_readings(1, &ways),
        &Groups::single(2),
    );
    assert_eq!((found.answered, found.by_counts), (0, 0.0));
    assert!(
        found
            .groups
            .iter()
            .all(|path| path.by_counts == 0.0 && path.answered == 0)
    );
}
