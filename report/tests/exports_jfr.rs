//! Files of Java Flight Recorder, by the reader of the crate `jfrs`, against the rows of the samples.

use std::collections::BTreeMap;
use std::io::Cursor;

use jfrs::reader::JfrReader;
use jfrs::reader::event::Accessor;
use trodden_profile::{CpuFrame, CpuFrameKind, CpuRow, CpuTime, Profile, is_control};
use trodden_report::{Report, ReportError, ReportOptions};

use crate::common::cpu::{frame, row, samples, shop, shop_frames, time};
use crate::common::{self, Random};

/// A frame: class, method, descriptor, kind, bytecode index, line.
type Place = (String, String, String, String, i32, i32);

/// A file's content.
#[derive(Default)]
struct Read {
    /// Number of samples and their nanoseconds, by stack, the innermost frame first.
    stacks: BTreeMap<Vec<Place>, (u64, u64)>,
    /// When samples were taken, in the order of the file.
    times: Vec<u64>,
    /// Stacks that lack their outermost frames.
    truncated: u64,
    lasted_ns: u64,
    bytes: usize,
    period: Option<String>,
}

fn text(of: &Accessor, name: &str) -> String {
    let value = of.get_field(name).unwrap_or_else(|| panic!("no {name}"));
    let value = value.get_field("string").unwrap_or(value);
    let value = value.get_field("description").unwrap_or(value);
    <&str>::try_from(value.value).unwrap().to_owned()
}

fn number(of: &Accessor, name: &str) -> i64 {
    let value = of.get_field(name).unwrap_or_else(|| panic!("no {name}"));
    i64::try_from(value.value).unwrap_or_else(|()| i32::try_from(value.value).unwrap().into())
}

fn place(frame: &Accessor) -> Place {
    let method = frame.get_field("method").unwrap();
    let class = method.get_field("type").unwrap();
    (
        text(&class, "name"),
        text(&method, "name"),
        text(&method, "descriptor"),
        text(frame, "type"),
        number(frame, "bytecodeIndex") as i32,
        number(frame, "lineNumber") as i32,
    )
}

fn file(profile: &Profile) -> Vec<u8> {
    let report = Report::new(profile, &ReportOptions::default()).unwrap();
    report.jfr().unwrap()
}

fn read(profile: &Profile) -> Read {
    let mut read = Read::default();
    let file = file(profile);
    read.bytes = file.len();
    let mut reader = JfrReader::new(Cursor::new(file));
    let chunks: Vec<_> = reader.chunks().map(Result::unwrap).collect();
    assert_eq!(chunks.len(), 1);
    for (mut events, chunk) in chunks {
        read.lasted_ns = chunk.header.duration_nanos as u64;
        for event in events.events(&chunk).map(Result::unwrap) {
            let value = event.value();
            match event.class.name() {
                "jdk.ExecutionSample" => {
                    let stack = value.get_field("stackTrace").unwrap();
                    let truncated = stack.get_field("truncated").unwrap();
                    read.truncated += u64::from(bool::try_from(truncated.value).unwrap());
                    let frames = stack.get_field("frames").unwrap().as_iter().unwrap();
                    let frames = frames.map(|frame| place(&frame)).collect();
                    let (samples, ns) = read.stacks.entry(frames).or_default();
                    *samples += 1;
                    *ns += number(&value, "samplingPeriod") as u64;
                    read.times.push(number(&value, "startTime") as u64);
                }
                "jdk.ActiveSetting" if text(&value, "name") == "period" => {
                    read.period = Some(text(&value, "value"));
                }
                "jdk.ActiveSetting" | "jdk.ActiveRecording" | "jdk.JVMInformation" => {}
                other => panic!("{other}"),
            }
        }
    }
    read
}

fn kind(frame: &CpuFrame) -> (String, String) {
    match frame.kind {
        CpuFrameKind::Java => (frame.descriptor.clone(), "Java".to_owned()),
        CpuFrameKind::Native => (frame.descriptor.clone(), "Native".to_owned()),
        CpuFrameKind::Other => ("()V".to_owned(), "Other".to_owned()),
    }
}

/// The stacks of rows, each frame looked up in its row.
fn expected(
    frames: &[CpuFrame],
    rows: &[CpuRow],
    line: impl Fn(u32, Option<u16>) -> i32,
) -> BTreeMap<Vec<Place>, (u64, u64)> {
    let mut all = BTreeMap::new();
    for (at, of) in rows.iter().enumerate().filter(|(_, row)| row.own.samples > 0) {
        let mut stack = Vec::new();
        let mut next = Some(at as u32);
        while let Some(at) = next {
            let row = &rows[at as usize];
            let frame = &frames[row.frame as usize];
            let (descriptor, kind) = kind(frame);
            stack.push((
                frame.class.clone(),
                frame.name.clone(),
                descriptor,
                kind,
                row.bci.map_or(-1, i32::from),
                line(row.frame, row.bci),
            ));
            next = row.parent;
        }
        let (samples, ns): &mut (u64, u64) = all.entry(stack).or_default();
        *samples += of.own.samples;
        *ns += of.own.ns;
    }
    all
}

#[test]
fn each_stack_has_its_samples() {
    let mut random = Random(11);
    let mut frames = shop_frames();
    frames.push(CpuFrame::other("[GC]"));
    for _ in 0..300 {
        let mut rows = Vec::new();
        for at in 0..random.below(40) as u32 + 1 {
            let parent = (at > 0 && random.below(4) > 0).then(|| random.below(at.into()) as u32);
            let bci = (random.below(4) > 0).then(|| random.below(16) as u16);
            let own = CpuTime {
                samples: random.below(5),
                ns: 0,
            };
            let ns = own.samples * (1 + random.below(2_000_000));
            rows.push(row(parent, random.below(4) as u32, bci, CpuTime { ns, ..own }));
        }
        rows[0].own = time(1);
        let profile = Profile {
            cpu: Some(samples(frames.clone(), &rows)),
            ..shop([9, 1], [0; 4], 0, 0)
        };
        // Lines of `lookup` and `spin` by the made-up code: four bytes a line.
        let line = |frame: u32, bci: Option<u16>| {
            let lines: &[i32] = match frame {
                0 => &[5, 6, 8, 9],
                2 => &[20, 21, 22],
                _ => return -1,
            };
            let last = lines.len() - 1;
            bci.map_or(-1, |bci| lines[usize::from(bci / 4).min(last)])
        };
        let read = read(&profile);
        assert_eq!(read.stacks, expected(&frames, &rows, line));
        assert_eq!(read.truncated, 0);
        assert!(read.times.is_sorted());
        assert!(
            read.times.iter().all(|&at| at < read.lasted_ns),
            "{:?}",
            read.times
        );
    }
}

/// `lookup` is on the stack, and has ended no path yet.
#[test]
fn a_method_without_counts_has_its_lines() {
    let read = read(&shop([0, 0], [4, 0, 0, 0], 0, 0));
    let frames = read.stacks.keys().flatten();
    let lines: Vec<_> = frames.map(|frame| (&*frame.1, frame.5)).collect();
    assert_eq!(lines, [("lookup", 5)]);
}

#[test]
fn any_part_of_the_recording_has_the_shares_of_all() {
    let read = read(&shop([9, 1], [0, 0, 0, 500], 300, 200));
    let half = read.times.partition_point(|&at| at < read.lasted_ns / 2);
    assert!((499..=501).contains(&half), "{half}");
    assert_eq!(read.period.as_deref(), Some("1000000 ns"));
}

#[test]
fn a_large_profile_makes_a_bounded_file() {
    let read = read(&shop(
        [9, 1],
        [u64::MAX / 4_000_000, 0, 0, 0],
        u64::MAX / 4_000_000,
        0,
    ));
    let events: u64 = read.stacks.values().map(|(samples, _)| samples).sum();
    assert_eq!(events, 1 << 20);
    assert!(read.stacks.values().all(|&(samples, _)| samples == 1 << 19));
}

#[test]
fn very_deep_stacks_have_their_innermost_frames() {
    // 2,000 stacks of up to 100,000 frames: 100 million frames in all.
    let depth = 100_000;
    let rows: Vec<CpuRow> = (0..depth)
        .map(|at: u32| {
            let own = if at % 50 == 49 { time(1) } else { time(0) };
            row(at.checked_sub(1), 0, Some((at % 9) as u16), own)
        })
        .collect();
    let profile = Profile {
        cpu: Some(samples(shop_frames(), &rows)),
        ..shop([9, 1], [0; 4], 0, 0)
    };
    let read = read(&profile);
    assert!(read.bytes < 100 << 20, "{}", read.bytes);
    assert_eq!(
        read.stacks.values().map(|(samples, _)| samples).sum::<u64>(),
        2_000
    );
    assert!(read.truncated > 1_000, "{}", read.truncated);
}

#[test]
fn names_are_kept_but_for_control_characters() {
    let long = "x".repeat(65_535);
    let names = ["a\u{1b}[31m\nb\0", "\u{fffd}\u{1F600}\u{e9}", "", &long];
    let frames: Vec<CpuFrame> = (names.iter())
        .map(|name| frame(&format!("demo/{name}"), name, "(Lq;", CpuFrameKind::Java))
        .collect();
    let rows: Vec<CpuRow> = (0..4).map(|at| row(None, at, None, time(1))).collect();
    let profile = Profile {
        cpu: Some(samples(frames, &rows)),
        ..shop([9, 1], [0; 4], 0, 0)
    };
    let read = read(&profile);
    let methods: Vec<&String> = read.stacks.keys().map(|stack| &stack[0].1).collect();
    assert_eq!(methods.len(), 4);
    for name in &names[1..] {
        assert!(methods.iter().any(|method| method == name), "{name}");
    }
    assert!(
        methods.iter().all(|name| !name.chars().any(is_control)),
        "{methods:?}"
    );
}

#[test]
fn a_profile_without_samples_says_so() {
    let profile = common::profile();
    let report = Report::new(&profile, &ReportOptions::default()).unwrap();
    assert!(matches!(report.jfr(), Err(ReportError::NoSamples)));
}
