//! The `.trodden` file: what is written is read; whatever else is read gives an error and no panic.

use crate::common::*;
use proptest::prelude::*;
use trodden_profile::{
    ContextNode, ContextTree, Contexts, FORMAT_VERSION, KPaths, LoadError, MapsWriter, MethodCounts,
    PathForest, Profile, ReadError, SectionProblem, WriteError, merge,
};

fn describe_everything(profile: &Profile) -> usize {
    let mut steps = 0;
    for class in &profile.classes {
        for (map, counts) in class.map.methods.iter().zip(&class.counts) {
            for number in counts.paths.keys().copied().chain(0..map.num_paths().min(50)) {
                steps += map.describe(number).map_or(0, |d| d.branches as usize);
            }
            steps += trodden_profile::EdgeProfile::of(map, counts).branches(map).len();
        }
    }
    steps
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read(profile in any_profile()) {
        let bytes = profile.to_bytes().unwrap();
        let back = Profile::read(&bytes).unwrap();
        prop_assert_eq!(&back, &profile);
        prop_assert_eq!(back.to_bytes().unwrap(), bytes, "deterministic");
    }

    #[test]
    fn maps_written_class_by_class_are_the_same_file(mut profile in any_profile()) {
        profile = Profile {
            run: profile.run,
            classes: profile.classes,
            skipped: profile.skipped,
            ..Profile::default()
        };
        for counts in profile.classes.iter_mut().flat_map(|class| &mut class.counts) {
            *counts = MethodCounts::default();
        }
        let mut writer = MapsWriter::default();
        for class in &profile.classes {
            writer.add(&class.map, &[]).unwrap();
        }
        prop_assert_eq!(writer.finish(&profile.run, &profile.skipped).unwrap(), profile.to_bytes().unwrap());
    }

    #[test]
    fn random_damage_is_noticed(profile in any_profile(), at in any::<prop::sample::Index>(), bit in 0..8u8) {
        let mut bytes = profile.to_bytes().unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1u8 << bit;
        prop_assert!(Profile::read(&bytes).is_err(), "bit {} of byte {}", bit, at);
    }

    #[test]
    fn noise_behind_the_header_is_refused(noise in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bytes = example().to_bytes().unwrap()[..10].to_vec();
        bytes.extend(noise);
        prop_assert!(Profile::read(&bytes).is_err());
    }

    /// With a right checksum: the damage reaches the decoder and the rules of the data model.
    #[test]
    fn damage_under_a_right_checksum_never_panics(
        profile in any_profile(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8u8), 1..4),
    ) {
        let bytes = plain_file(&profile, |tag, plain| {
            let tags = [b"CLAS", b"RUN ", b"kpth", b"kptr", b"ctxt", b"ctxn", b"ctxg", b"cpus", b"cpuf", b"cpun"];
            if tags.iter().any(|known| *known == tag) && !plain.is_empty() {
                for (at, bit) in &flips {
                    let at = at.index(plain.len());
                    plain[at] ^= 1u8 << bit;
                }
            }
        });
        if let Ok(read) = Profile::read(&bytes) {
            describe_everything(&read);
            read.cpu.iter().for_each(|cpu| assert_eq!(cpu.by_place().len(), cpu.frames.len()));
            prop_assert_eq!(Profile::read(&read.to_bytes().unwrap()).unwrap(), read);
        }
    }
}

/// Rewrites a file with every section stored plainly, after `change`.
fn plain_file(profile: &Profile, change: impl FnMut(&[u8], &mut Vec<u8>)) -> Vec<u8> {
    let inflate = |stored: &[u8], _| {
        let (mut inflated, mut plain) = (flate2::read::ZlibDecoder::new(stored), Vec::new());
        std::io::Read::read_to_end(&mut inflated, &mut plain).unwrap();
        plain
    };
    with_plain_sections(&profile.to_bytes().unwrap(), inflate, change)
}

#[test]
fn every_truncation_says_that_it_is_one() {
    let bytes = example().to_bytes().unwrap();
    for length in 0..bytes.len() {
        match Profile::read(&bytes[..length]) {
            Err(ReadError::Truncated { offset, missing, .. }) => {
                assert_eq!(offset, length as u64);
                assert!(missing > 0 && length as u64 + missing <= bytes.len() as u64);
            }
            other => panic!("{length} of {} bytes: {other:?}", bytes.len()),
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let bytes = example().to_bytes().unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            assert!(Profile::read(&damaged).is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn foreign_newer_and_longer_files_say_so() {
    assert_eq!(
        Profile::read(b"PK\x03\x04 a zip, say"),
        Err(ReadError::NotTrodden)
    );
    let mut bytes = example().to_bytes().unwrap();
    bytes.push(0);
    let end = bytes.len() as u64 - 1;
    assert_eq!(
        Profile::read(&bytes),
        Err(ReadError::Trailing {
            offset: end,
            extra: 1
        })
    );
    bytes[8] = 9;
    let message = Profile::read(&bytes).unwrap_err().to_string();
    assert_eq!(
        message,
        format!("format version 9 is not supported (this build reads 1..={FORMAT_VERSION})")
    );
}

#[test]
fn sections_unknown_missing_and_twice() {
    let example = example();
    let file = |sections: &[Vec<u8>]| {
        let mut out = example.to_bytes().unwrap()[..10].to_vec();
        sections.iter().for_each(|s| out.extend(s));
        out
    };
    let mut run = Vec::new();
    plain_file(&example, |tag, plain| {
        if tag == b"RUN " {
            run = section(b"RUN ", plain);
        }
    });
    let end = section(b"END ", &[0, 0]);
    let read = |sections: &[Vec<u8>]| Profile::read(&file(sections));
    assert_eq!(
        read(&[run.clone(), section(b"note", b"may be ignored"), end.clone()])
            .unwrap()
            .run,
        example.run
    );
    assert!(matches!(
        read(std::slice::from_ref(&end)),
        Err(ReadError::Section {
            problem: SectionProblem::BeforeRun,
            ..
        })
    ));
    assert!(matches!(
        read(&[run.clone(), run.clone(), end]),
        Err(ReadError::Section {
            problem: SectionProblem::Twice,
            ..
        })
    ));
    assert!(matches!(
        read(&[run.clone(), section(b"NOTE", b"")]),
        Err(ReadError::Section {
            problem: SectionProblem::Unknown,
            ..
        })
    ));
    let wrong_end = read(&[run, section(b"END ", &[1, 0])]).unwrap_err().to_string();
    assert!(
        wrong_end.contains("0 classes") && wrong_end.contains("says 1"),
        "{wrong_end}"
    );
}

#[test]
fn a_bomb_is_refused_before_it_goes_off() {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    std::io::Write::write_all(&mut packed, &vec![0; 8 << 20]).unwrap();
    let packed = packed.finish().unwrap();
    let mut bytes = example().to_bytes().unwrap()[..10].to_vec();
    let mut header = b"RUN \x01".to_vec();
    header.extend((packed.len() as u32).to_le_bytes());
    header.extend(100u32.to_le_bytes());
    let mut crc = crc32fast::Hasher::new();
    crc.update(&header);
    crc.update(&packed);
    header.extend(crc.finalize().to_le_bytes());
    bytes.extend(header);
    bytes.extend(packed);
    let message = Profile::read(&bytes).unwrap_err().to_string();
    assert!(
        message.contains("holds 101 bytes, its header says 100"),
        "{message}"
    );
}

#[test]
fn inconsistent_profiles_are_not_written() {
    let mut profile = example();
    profile.classes[0].counts.clear();
    let message = profile.to_bytes().unwrap_err().to_string();
    assert!(
        message.contains("class Abs: there are 0 counts of methods, but 1 methods in the path map"),
        "{message}"
    );

    let mut profile = example();
    profile.run.seconds = f64::NAN;
    assert!(matches!(profile.to_bytes(), Err(WriteError::Invalid(_))));

    let mut profile = example();
    profile.classes[0].counts[0].partial.insert((4, 0), 1);
    let message = profile.to_bytes().unwrap_err().to_string();
    assert!(
        message.contains("method abs(I)I") && message.contains("block of a partial path 4"),
        "{message}"
    );
}

#[test]
fn saved_in_one_step_and_errors_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.trodden");
    example().save(&file).unwrap();
    assert_eq!(Profile::load(&file).unwrap(), example());
    let merged = merge([&example(), &example()]).unwrap();
    merged.save(&file).unwrap();
    assert_eq!(Profile::load(&file).unwrap(), merged);

    let mut broken = example();
    broken.run.seconds = -1.0;
    assert!(broken.save(&file).unwrap_err().to_string().contains("a.trodden"));
    assert_eq!(Profile::load(&file).unwrap(), merged, "the old file stays whole");
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        1,
        "no temporary file is left"
    );

    let nowhere = dir.path().join("no/such/dir.trodden");
    assert!(
        example()
            .save(&nowhere)
            .unwrap_err()
            .to_string()
            .contains("dir.trodden")
    );
    assert!(matches!(Profile::load(&nowhere), Err(LoadError::Io { .. })));
    std::fs::write(&file, b"hello").unwrap();
    let message = Profile::load(&file).unwrap_err().to_string();
    assert!(message.contains("a.trodden: not a Trodden file"), "{message}");
}

/// For a change of the example: writes the golden file anew and prints what the documentation has to show.
#[test]
#[ignore = "rewrites the golden file"]
fn rewrite_the_golden_file() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/example-v1.trodden");
    example().save(file).unwrap();
    example_with_forest()
        .save(file.replace("example-v1", "kpaths-v1"))
        .unwrap();
    for byte in plain_file(&example(), |_, _| ()) {
        print!("{byte:02x} ");
    }
}

/// Files of version 1 stay readable. (Their bytes may differ from today's: packing is zlib's business.)
#[test]
fn the_golden_file_is_still_read() {
    assert_eq!(
        Profile::read(include_bytes!("data/example-v1.trodden")).unwrap(),
        example()
    );
    assert_eq!(
        Profile::read(include_bytes!("data/kpaths-v1.trodden")).unwrap(),
        example_with_forest()
    );
}

/// The example's profile with the path forest of the documentation.
fn example_with_forest() -> Profile {
    let rows = [(1, 0, 2), (2, 1, 2), (1, 1, 3), (2, 0, 1), (2, 1, 1)];
    Profile {
        kpaths: Some(KPaths {
            k: 2,
            slab_nodes: 5,
            slab_bytes: 300,
            methods: [((0, 0), PathForest::from_preorder(rows).unwrap())].into(),
            ..KPaths::default()
        }),
        ..example()
    }
}

#[test]
fn the_documented_forest_is_right() {
    let dump = include_str!("forest.hex");
    let bytes = |part: &str| -> Vec<u8> {
        part.lines()
            .map(|line| line.split('#').next().unwrap())
            .flat_map(str::split_whitespace)
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect()
    };
    let (about, trees) = dump.split_once("# kptr").unwrap();
    let with_forest = example_with_forest();
    let mut found = Vec::new();
    plain_file(&with_forest, |tag, plain| match tag {
        b"kpth" | b"kptr" => found.push(plain.clone()),
        _ => (),
    });
    assert_eq!(found, [bytes(about), bytes(trees)]);
    assert_eq!(
        Profile::read(&with_forest.to_bytes().unwrap()).unwrap(),
        with_forest
    );
    // A reader that does not know the sections may leave them out; one that does wants both.
    let file = plain_file(&with_forest, |_, _| ());
    let at = |tag: &[u8]| file.windows(4).position(|w| w == tag).unwrap();
    let (about, trees, skip) = (at(b"kpth"), at(b"kptr"), at(b"SKIP"));
    let without = |from: usize, to: usize| Profile::read(&[&file[..from], &file[to..]].concat());
    assert_eq!(without(about, skip).unwrap(), example());
    let message = without(about, trees).unwrap_err().to_string();
    assert!(
        message.contains("1 path forests, but nothing tells about them"),
        "{message}"
    );
    let message = without(trees, skip).unwrap_err().to_string();
    assert!(message.contains("holds 0 path forests, it says 1"), "{message}");
}

/// Forests that break a rule, under right checksums: each error names the section and what is wrong.
#[test]
fn forests_that_cannot_be_are_refused() {
    let refused = |change: &dyn Fn(&[u8], &mut Vec<u8>)| {
        let bytes = plain_file(&example_with_forest(), change);
        Profile::read(&bytes).unwrap_err().to_string()
    };
    let trees = |at: usize, byte: u8| {
        refused(&move |tag, plain| {
            if tag == b"kptr" {
                plain[at] = byte;
            }
        })
    };
    assert!(trees(0, 1).contains("there is no method 0 of class 1"));
    assert!(trees(1, 7).contains("there is no method 7 of class 0"));
    assert!(trees(4, 5).contains("a node rises above its root"));
    assert!(trees(9, 9).contains("section 'END '") && trees(9, 9).contains("exceed its own, 2"));
    assert!(trees(11, 0).contains("path 0, does not come in order"));
    assert!(trees(3, 6).contains("section 'kptr'"));
    let k = refused(&|tag, plain| {
        if tag == b"kpth" {
            plain[0] = 1;
        }
    });
    assert!(k.contains("k: 1 is not from 2 to 1024"), "{k}");
    let twice = refused(&|tag, plain| {
        if tag == b"kptr" {
            *plain = [&plain[..], &plain[..]].concat();
        }
    });
    assert!(twice.contains("holds 2 path forests, it says 1"), "{twice}");
}

/// The example's profile with the contexts of the documentation.
fn example_with_contexts() -> Profile {
    let node = |depth, site, calls| ContextNode {
        depth,
        class: 0,
        method: 0,
        site,
        prefix: None,
        calls,
    };
    let nodes = vec![
        node(1, None, Some((2, 2))),
        node(2, Some(5), None),
        node(3, Some(5), Some((3, 4))),
        node(2, Some(7), Some((1, 2))),
    ];
    Profile {
        contexts: Some(Contexts {
            algorithm: "lss".to_owned(),
            thresholds: Some((0.5, 0.25)),
            calls: 8,
            absent: 1,
            peak_nodes: 4,
            peak_bytes: 96,
            tree: ContextTree::from_preorder(nodes).unwrap(),
            ..Contexts::default()
        }),
        ..example()
    }
}

#[test]
fn the_documented_contexts_are_right() {
    let dump = include_str!("contexts.hex");
    let bytes = |part: &str| -> Vec<u8> {
        part.lines()
            .map(|line| line.split('#').next().unwrap())
            .flat_map(str::split_whitespace)
            .map(|byte| u8::from_str_radix(byte, 16).unwrap())
            .collect()
    };
    let (about, nodes) = dump.split_once("# ctxn").unwrap();
    let with_contexts = example_with_contexts();
    let mut found = Vec::new();
    plain_file(&with_contexts, |tag, plain| match tag {
        b"ctxt" | b"ctxn" => found.push(plain.clone()),
        _ => (),
    });
    assert_eq!(found, [bytes(about), bytes(nodes)]);
    let file = with_contexts.to_bytes().unwrap();
    assert_eq!(Profile::read(&file).unwrap(), with_contexts);
}

/// Contexts that break a rule, under right checksums: each error names the section and what is wrong.
#[test]
fn contexts_that_cannot_be_are_refused() {
    let refused = |wanted: &[u8], change: &dyn Fn(&mut Vec<u8>)| {
        let bytes = plain_file(&example_with_contexts(), |tag, plain| {
            if tag == wanted {
                change(plain);
            }
        });
        Profile::read(&bytes).unwrap_err().to_string()
    };
    let node = |at: usize, byte: u8| refused(b"ctxn", &move |plain| plain[at] = byte);
    assert!(node(0, 1).contains("a context rises above its root"));
    assert!(node(1, 1).contains("there is no method 0 of class 1"));
    assert!(node(2, 7).contains("there is no method 7 of class 0"));
    assert!(
        node(5, 9).contains("calls of all contexts: 13 is not from 0 to 8")
            && node(5, 9).contains("section 'END '")
    );
    assert!(node(22, 6).contains("is not behind its sibling"));
    let about = |at: usize, byte: u8| refused(b"ctxt", &move |plain| plain[at] = byte);
    assert!(about(11, 0x7f).contains("contexts with phi ="));
    assert!(
        about(28, 9).contains("holds 4 contexts, it says 9"),
        "{}",
        about(28, 9)
    );
    let missing = refused(b"ctxn", &|plain| plain.truncate(7));
    assert!(missing.contains("holds 1 contexts, it says 4"), "{missing}");
    let exact = refused(b"ctxt", &|plain| drop(plain.splice(4..21, [0])));
    assert!(
        exact.contains("calls that exact contexts may lack: 1 is not from 0 to 0"),
        "{exact}"
    );
}

/// The annotated example of the format's documentation is a file, and the one that it says it is.
#[test]
fn the_documented_example_is_right() {
    let page = include_str!("../../docs/file-format.md");
    let dump = page.split("```hex").nth(1).unwrap().split("```").next().unwrap();
    let bytes: Vec<u8> = dump
        .lines()
        .map(|line| line.split('#').next().unwrap())
        .flat_map(str::split_whitespace)
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    let example = example();
    assert_eq!(Profile::read(&bytes).unwrap(), example);
    assert_eq!(bytes, plain_file(&example, |_, _| ()));
}
