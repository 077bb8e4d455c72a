//! CPU samples made by hand.

use trodden_profile::BlockExit::{Branch, Goto, Return};
use trodden_profile::{CpuFrame, CpuFrameKind, CpuRow, CpuSamples, CpuTime, Profile};

use super::{Method, class, run};

/// So many samples of a millisecond.
pub fn time(samples: u64) -> CpuTime {
    CpuTime {
        samples,
        ns: samples * 1_000_000,
    }
}

pub fn frame(class: &str, name: &str, descriptor: &str, kind: CpuFrameKind) -> CpuFrame {
    CpuFrame {
        class: class.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        kind,
    }
}

pub fn row(parent: Option<u32>, frame: u32, bci: Option<u16>, own: CpuTime) -> CpuRow {
    CpuRow {
        parent,
        frame,
        bci,
        own,
    }
}

/// Rows speak of frames by their position.
pub fn samples(frames: Vec<CpuFrame>, rows: &[CpuRow]) -> CpuSamples {
    let mut cpu = CpuSamples {
        reader: "async".to_owned(),
        interval_ns: 1_000_000,
        ..CpuSamples::default()
    };
    cpu.set_stacks(frames, rows);
    cpu
}

/// `if (hit) { 6 } else { load() } 9`: block 1 is the hit, block 2 the miss. Blocks have four bytes each.
pub fn lookup(hits: u64, misses: u64) -> Method {
    Method::new("lookup", "()V")
        .block(&[5], Branch, &[2, 1])
        .block(&[6], Goto, &[3])
        .block(&[8], Goto, &[3])
        .block(&[9], Return, &[])
        .count(&[0, 1, 3], hits)
        .count(&[0, 2, 3], misses)
}

/// A method that decides more and takes less time.
pub fn spin(times: u64) -> Method {
    Method::new("spin", "()V")
        .block(&[20], Branch, &[2, 1])
        .block(&[21], Goto, &[2])
        .block(&[22], Return, &[])
        .count(&[0, 1, 2], times)
}

/// The frames of a shop: `lookup`, which has counts, `read` of the JDK, and `spin`, which has counts.
pub fn shop_frames() -> Vec<CpuFrame> {
    vec![
        frame("demo/Shop", "lookup", "()V", CpuFrameKind::Java),
        frame("java/io/FileInputStream", "read", "()I", CpuFrameKind::Native),
        frame("demo/Shop", "spin", "()V", CpuFrameKind::Java),
    ]
}

/// A shop with these counts of hits and misses, and samples: in the blocks of `lookup`, in what block 2 calls in the JDK, in
/// `spin`.
pub fn shop([hits, misses]: [u64; 2], blocks: [u64; 4], read: u64, spun: u64) -> Profile {
    let rows = [
        row(None, 0, Some(1), time(blocks[0])),
        row(None, 0, Some(5), time(blocks[1])),
        row(None, 0, Some(9), time(blocks[2])),
        row(Some(2), 1, None, time(read)),
        row(None, 0, Some(13), time(blocks[3])),
        row(None, 2, Some(2), time(spun)),
    ];
    Profile {
        run: run(true),
        classes: vec![class(
            "demo/Shop",
            Some("Shop.java"),
            vec![spin(500_000), lookup(hits, misses)],
        )],
        cpu: Some(samples(shop_frames(), &rows)),
        ..Profile::default()
    }
}

/// A shop with samples of `lookup` that waited for their path, by place: hits, misses, and those that have seen neither.
pub fn with_answers(mut shop: Profile, places: &[(u16, [u64; 3])]) -> Profile {
    let counts = &shop.classes[0].counts[1].paths;
    let [hit, miss] = [[0, 1, 3], [0, 2, 3]].map(|blocks| {
        let map = &shop.classes[0].map.methods[1];
        let is_it = |number: &&u64| {
            let path = map.dag.regenerate(&map.graph, **number).unwrap();
            let found = path.blocks(&map.graph);
            found.iter().map(|block| block.index()).eq(blocks)
        };
        counts.keys().find(is_it).copied()
    });
    let cpu = shop.cpu.as_mut().unwrap();
    for &(bci, samples) in places {
        for (path, samples) in [hit, miss, None].into_iter().zip(samples) {
            if samples > 0 {
                cpu.paths.add((0, Some(bci), path), time(samples));
            }
        }
    }
    shop
}
