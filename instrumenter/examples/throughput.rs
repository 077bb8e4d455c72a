//! How fast classes are prepared and written, single-threaded: `throughput <directory of .class files>`.
//!
//! Prints MB/s of class-file bytes per probe kind (best of three rounds, classes held in memory), and what
//! was left alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use trodden_instrumenter::{
    ClassIds, Filter, InstrumentOptions, Instrumenter, Preparation, ProbeKind, round_trip,
};

fn collect(directory: &Path, into: &mut Vec<Vec<u8>>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "class") {
            into.push(std::fs::read(path)?);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = std::env::args().nth(1).ok_or("usage: throughput <directory>")?;
    let mut classes = Vec::new();
    collect(Path::new(&directory), &mut classes)?;
    let megabytes = classes.iter().map(Vec::len).sum::<usize>() as f64 / 1e6;
    println!("{} classes, {megabytes:.1} MB", classes.len());

    let best = |work: &mut dyn FnMut()| {
        let round = |_| {
            let from = Instant::now();
            work();
            from.elapsed().as_secs_f64()
        };
        megabytes / (0..3).map(round).fold(f64::INFINITY, f64::min)
    };
    let speed = best(&mut || {
        for class in &classes {
            let _ = round_trip(class);
        }
    });
    println!("round trip: {speed:.1} MB/s");
    let changed = classes
        .iter()
        .filter(|c| round_trip(c).is_ok_and(|again| again != **c));
    println!("round trips that change bytes: {}", changed.count());
    for kind in ProbeKind::ALL {
        let mut options = InstrumentOptions::new(kind);
        options.filter = Filter::new(
            &["*", "java.*", "javax.*", "jdk.*", "sun.*", "com.sun.*"],
            &[] as &[&str],
        )?;
        let instrumenter = Instrumenter::new(options);
        let ids = ClassIds::new(1, 1);
        let mut methods = 0;
        let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
        let mut bytes = 0;
        let prepare = best(&mut || {
            for class in &classes {
                let _ = instrumenter.prepare(class);
            }
        });
        let both = best(&mut || {
            (methods, bytes) = (0, 0);
            reasons.clear();
            for class in &classes {
                match instrumenter.prepare(class) {
                    Ok(Preparation::Ready(prepared)) => {
                        methods += prepared.map().methods.len();
                        bytes += prepared.emit(ids).len();
                        for s in prepared.skipped() {
                            *reasons.entry(s.reason.clone()).or_default() += 1;
                        }
                    }
                    Ok(Preparation::Unchanged { skipped }) => {
                        for s in skipped {
                            *reasons.entry(s.reason).or_default() += 1;
                        }
                    }
                    Err(_) => *reasons.entry("error".to_owned()).or_default() += 1,
                }
            }
        });
        println!(
            "{}: prepare {prepare:.1} MB/s, with emit {both:.1} MB/s, {methods} methods, {:.1} MB written, left alone: {reasons:?}",
            kind.name(),
            bytes as f64 / 1e6
        );
    }
    Ok(())
}
