//! Profiles of large programs, and files made to look like them: reports need a few times the bytes that a
//! profile unpacks to.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use tempfile::TempDir;
use trodden_numbering::{EdgeWeights, NumberingOptions, PathDag, SimpleGraph};
use trodden_profile::{
    BlockExit, BlockInfo, ClassMap, ClassProfile, EdgeLabel, LineEntry, MethodCounts, MethodMap, Profile,
    RunInfo,
};

/// Classes of the program: as many as an IDE loads.
const CLASSES: usize = 50_000;
/// Bytes of memory for a byte of the unpacked profile: a method with four paths has 200 of them, and names
/// of its own.
const TIMES: usize = 11;
/// As above, for a site of coverage, which has the methods that did not run, too.
const TIMES_OF_SITE: usize = 14;

/// A method of ten blocks: a loop around a choice, then a choice. Its four paths were counted.
fn method(name: String) -> (MethodMap, MethodCounts) {
    use BlockExit::{Branch, FallThrough, Goto, Return};
    let shape: [(BlockExit, &[usize]); 10] = [
        (FallThrough, &[1]),
        (Branch, &[6, 2]),
        (Branch, &[4, 3]),
        (Goto, &[5]),
        (FallThrough, &[5]),
        (Goto, &[1]),
        (Branch, &[8, 7]),
        (Goto, &[9]),
        (FallThrough, &[9]),
        (Return, &[]),
    ];
    let mut edges = Vec::new();
    let mut blocks = Vec::new();
    let mut lines = Vec::new();
    for (at, (exit, targets)) in shape.into_iter().enumerate() {
        edges.extend(targets.iter().map(|&to| (at, to)));
        let labels: &'static [EdgeLabel] = match exit {
            Branch => &[EdgeLabel::Taken, EdgeLabel::NotTaken],
            Goto => &[EdgeLabel::Goto],
            FallThrough => &[EdgeLabel::FallThrough],
            _ => &[],
        };
        let start = 8 * at as u32;
        lines.push(LineEntry {
            bci: start,
            line: 10 + at as u32,
        });
        blocks.push(BlockInfo {
            start,
            end: start + 8,
            last: start + 6,
            exit,
            labels: labels.into(),
        });
    }
    let graph = SimpleGraph::new(blocks.len(), &edges);
    let dag = PathDag::build(
        &graph,
        &EdgeWeights::uniform(&graph),
        &NumberingOptions::default(),
    )
    .unwrap();
    let counts = MethodCounts {
        paths: (0..dag.num_paths()).map(|path| (path, 10 + path)).collect(),
        ..MethodCounts::default()
    };
    let map = MethodMap {
        name,
        descriptor: "(Ljava/lang/String;I)Ljava/util/List;".to_owned(),
        code_length: 80,
        blocks,
        graph,
        dag,
        lines,
        unobserved: Vec::new(),
        inlined: Vec::new(),
        shape: None,
    };
    (map, counts)
}

/// Four methods a class, of which one ran.
fn large(classes: usize) -> Profile {
    let class = |number: usize| {
        let methods = ["get", "set", "parse", "visit"].map(|name| method(format!("{name}{}", number % 97)));
        let (methods, mut counts): (Vec<_>, Vec<_>) = methods.into_iter().unzip();
        counts[1..]
            .iter_mut()
            .for_each(|counts| *counts = MethodCounts::default());
        let map = ClassMap {
            name: format!(
                "com/example/part{}/module{}/Class{number:05}",
                number % 31,
                number % 211
            ),
            sha256: [number as u8; 32],
            source_file: Some(format!("Class{number:05}.java")),
            methods,
        };
        ClassProfile {
            map: Arc::new(map),
            counts,
        }
    };
    Profile {
        run: RunInfo {
            probe: "counters".to_owned(),
            exact: true,
            ..RunInfo::default()
        },
        classes: (0..classes).map(class).collect(),
        ..Profile::default()
    }
}

/// Bytes of a profile when unpacked: what the headers of its sections say.
fn unpacked(bytes: &[u8]) -> usize {
    let mut at = 10;
    let mut sum = 0;
    while let Some(header) = bytes.get(at..).and_then(<[u8]>::first_chunk::<17>) {
        let number = |i: usize| u32::from_le_bytes(header[i..i + 4].try_into().unwrap()) as usize;
        sum += number(9);
        at += 17 + number(5);
    }
    sum
}

/// Runs the command with this number of bytes of memory for data.
fn limited(folder: &Path, bytes: usize, arguments: &str) -> Output {
    let text = format!("ulimit -d {}; exec \"$0\" {arguments}", bytes >> 10);
    let mut shell = Command::new("bash");
    shell
        .current_dir(folder)
        .args(["-c", &text, env!("CARGO_BIN_EXE_trodden")]);
    shell.env("RAYON_NUM_THREADS", "2").output().unwrap()
}

#[test]
fn reports_need_a_few_times_the_bytes_of_a_profile() {
    let folder = TempDir::with_prefix("trodden large ").unwrap();
    let bytes = large(CLASSES).to_bytes().unwrap();
    let unpacked = unpacked(&bytes);
    fs::write(folder.path().join("large.trodden"), bytes).unwrap();
    for (times, arguments) in [
        (TIMES, "report large.trodden"),
        (TIMES, "report large.trodden -o page.html"),
        (TIMES, "report large.trodden -o large.json"),
        (TIMES_OF_SITE, "coverage large.trodden --format html -o site"),
    ] {
        let output = limited(folder.path(), times * unpacked, arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{arguments}, {times} times {unpacked} bytes: {said}"
        );
    }
    let json = fs::File::open(folder.path().join("large.json")).unwrap();
    assert!(json.metadata().unwrap().len() > 10_000_000);
}

/// A section whose contents are all zeros.
fn section_of_zeros(tag: &[u8; 4], length: usize) -> Vec<u8> {
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&vec![0; length]).unwrap();
    let packed = packed.finish().unwrap();
    let mut section = tag.to_vec();
    section.push(1);
    section.extend((packed.len() as u32).to_le_bytes());
    section.extend((length as u32).to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&section);
    crc.update(&packed);
    section.extend(crc.finalize().to_le_bytes());
    section.extend(packed);
    section
}

/// Each section is within its limit; all of them claim 6 GiB. None is unpacked.
#[test]
fn a_file_that_claims_too_much_is_refused_before_it_is_unpacked() {
    let folder = TempDir::with_prefix("trodden large ").unwrap();
    let mut bytes = large(1).to_bytes().unwrap();
    // Behind magic and version there is the first section.
    let stored = u32::from_le_bytes(bytes[15..19].try_into().unwrap()) as usize;
    bytes.truncate(10 + 17 + stored);
    let section = section_of_zeros(b"zero", 64 << 20);
    bytes.extend(std::iter::repeat_n(section, 96).flatten());
    fs::write(folder.path().join("made.trodden"), &bytes).unwrap();
    assert!(bytes.len() < 8_000_000);
    let output = limited(folder.path(), 50 << 20, "report made.trodden");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("claims to hold 64424"), "{said}");
}
