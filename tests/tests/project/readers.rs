//! Class-file readers that share nothing with ours read a sample of a JDK's classes before and after probes
//! were put in, and must see the same class but for the code.
//!
//! - `krakatau2` disassembles and assembles again, to the same bytes: it has understood every byte that we
//!   wrote;
//! - `ristretto_classfile` decodes every attribute and instruction;
//! - `classfile-parser` is the least clever: it leaves attributes as bytes, and cannot read some classes at
//!   all.

use std::mem::discriminant;

use classfile_parser::attribute_info::{AttributeInfo, code_attribute_parser};
use classfile_parser::constant_info::ConstantInfo;
use rayon::prelude::*;
use ristretto_classfile::attributes::{Attribute, Instruction};
use ristretto_classfile::{ClassFile, Method};
use trodden_instrumenter::{ClassIds, Filter, InstrumentOptions, Instrumenter, Preparation, ProbeKind};
use trodden_tests::jdk::Jdk;
use trodden_tests::{Error, Result, sweep};

/// The verdict of a reader on a class with probes, which it knows without.
type Verdict = std::result::Result<(), String>;
/// Looks at a class without and with probes; `None` if it cannot even read the one without.
type Reader = fn(&[u8], &[u8]) -> Option<Verdict>;

const READERS: [(&str, Reader, usize); 3] = [
    ("krakatau2", krakatau, 0),
    ("ristretto_classfile", ristretto, 0),
    // No dynamic constants, no modules.
    ("classfile-parser", classfile_parser, 5),
];

#[test]
fn other_readers_see_the_same_class_but_for_its_code() -> Result<()> {
    for jdk in Jdk::ends()? {
        let options = sweep::Options {
            jdks: vec![jdk.clone()],
            images: true,
            jars: Vec::new(),
            probes: Vec::new(),
            sample: None,
        };
        let work = tempfile::tempdir()?;
        let corpus = sweep::Corpus::new(&jdk, &options, work.path())?;
        let sample = sweep::Sample { every: 40, seed: 11 };
        let classes = corpus.containers[0].classes(Some(&sample))?;
        for probe in ProbeKind::ALL {
            let mut options = InstrumentOptions::new(probe);
            options.filter = Filter::everything();
            let instrumenter = Instrumenter::new(options);
            let pairs: Vec<(&str, &[u8], Vec<u8>)> = classes
                .iter()
                .filter_map(|class| {
                    let with_probes = instrument(&instrumenter, &class.bytes, class.number);
                    Some((class.entry.as_str(), class.bytes.as_slice(), with_probes?))
                })
                .collect();
            assert!(
                pairs.len() > classes.len() / 4,
                "{} of {}",
                pairs.len(),
                classes.len()
            );
            for (name, reader, percent) in READERS {
                let verdicts: Vec<(&str, Option<Verdict>)> = pairs
                    .par_iter()
                    .map(|(entry, before, after)| (*entry, reader(before, after)))
                    .collect();
                let unread: Vec<&str> = verdicts.iter().filter(|v| v.1.is_none()).map(|v| v.0).collect();
                println!(
                    "jdk{} {} {name}: {} of {} classes have probes, cannot read {}: {unread:?}",
                    jdk.feature,
                    probe.name(),
                    pairs.len(),
                    classes.len(),
                    unread.len()
                );
                assert!(
                    unread.len() * 100 <= percent * pairs.len(),
                    "{name} cannot read {unread:?}"
                );
                let wrong: Vec<String> = verdicts
                    .into_iter()
                    .filter_map(|(entry, verdict)| Some(format!("{entry}: {}", verdict?.err()?)))
                    .collect();
                assert!(wrong.is_empty(), "{name}, {}: {}", probe.name(), wrong.join("\n"));
            }
        }
    }
    Ok(())
}

/// The class with probes; `None` if it takes none.
fn instrument(instrumenter: &Instrumenter, class: &[u8], number: u32) -> Option<Vec<u8>> {
    // Ids of all widths.
    let ids = ClassIds::new(number * 7, number * 11);
    match instrumenter.prepare(class) {
        Ok(Preparation::Ready(prepared)) => Some(prepared.emit(ids)),
        _ => None,
    }
}

fn krakatau(before: &[u8], after: &[u8]) -> Option<Verdict> {
    let round_trip = |class: &[u8]| -> std::result::Result<Vec<u8>, String> {
        let parsing = krakatau2::ParserOptions {
            no_short_code_attr: true,
        };
        let options = krakatau2::DisassemblerOptions { roundtrip: true };
        let text = krakatau2::disassemble(class, parsing, options).map_err(|e| format!("{e:?}"))?;
        let made = krakatau2::assemble(&text.data, krakatau2::AssemblerOptions {});
        let [made] = made
            .map_err(|_| "does not assemble")?
            .try_into()
            .map_err(|_| "one class")?;
        Ok(made.data)
    };
    if round_trip(before).ok()? != before {
        return None;
    }
    Some(round_trip(after).and_then(|again| same("bytes", &again.as_slice(), &after)))
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, before: &T, after: &T) -> Verdict {
    if before == after {
        return Ok(());
    }
    let short = |t: &T| format!("{t:?}").chars().take(300).collect::<String>();
    Err(format!("{what}: {} became {}", short(before), short(after)))
}

/// Checks that all of these are among those, in the same order.
fn in_order<T: PartialEq + std::fmt::Debug>(what: &str, these: &[T], those: &[T]) -> Verdict {
    let mut rest = those.iter();
    match these.iter().position(|one| !rest.any(|other| other == one)) {
        None => Ok(()),
        Some(lost) => Err(format!(
            "{what}: number {lost}, {:?}, is no longer there",
            these[lost]
        )),
    }
}

fn ristretto(before: &[u8], after: &[u8]) -> Option<Verdict> {
    let before = ClassFile::from_bytes(before).ok()?;
    let compare = || {
        let after = ClassFile::from_bytes(after).map_err(|e| e.to_string())?;
        same("version", &before.version, &after.version)?;
        same("access flags", &before.access_flags, &after.access_flags)?;
        same("name", &before.this_class, &after.this_class)?;
        same("super class", &before.super_class, &after.super_class)?;
        same("interfaces", &before.interfaces, &after.interfaces)?;
        same("fields", &before.fields, &after.fields)?;
        same("attributes", &before.attributes, &after.attributes)?;
        let old = before.constant_pool.iter().count();
        let kept = after.constant_pool.iter().take(old);
        same(
            "constants",
            &before.constant_pool.iter().collect::<Vec<_>>(),
            &kept.collect(),
        )?;
        same("number of methods", &before.methods.len(), &after.methods.len())?;
        let methods = before.methods.iter().zip(&after.methods);
        for (index, (a, b)) in methods.enumerate() {
            ristretto_method(a, b).map_err(|e| format!("method {index}: {e}"))?;
        }
        Ok(())
    };
    Some(compare())
}

fn ristretto_method(before: &Method, after: &Method) -> Verdict {
    let head = |m: &Method| (m.access_flags, m.name_index, m.descriptor_index);
    same("head", &head(before), &head(after))?;
    let names = |attributes: &[Attribute]| attributes.iter().map(Attribute::name).collect::<Vec<_>>();
    same(
        "attributes",
        &names(&before.attributes),
        &names(&after.attributes),
    )?;
    for pair in before.attributes.iter().zip(&after.attributes) {
        let (
            Attribute::Code {
                max_stack: old_stack,
                max_locals: old_locals,
                code: old_code,
                exception_table: old_table,
                attributes: old_attributes,
                ..
            },
            Attribute::Code {
                max_stack,
                max_locals,
                code,
                exception_table,
                attributes,
                ..
            },
        ) = pair
        else {
            same("attribute", pair.0, pair.1)?;
            continue;
        };
        if max_stack < old_stack || max_locals < old_locals || code.len() < old_code.len() {
            return Err("the code has shrunk".to_owned());
        }
        same("code's attributes", &names(old_attributes), &names(attributes))?;
        let catches = |table: &[ristretto_classfile::attributes::ExceptionTableEntry]| {
            table.iter().map(|e| e.catch_type).collect::<Vec<_>>()
        };
        in_order("handlers", &catches(old_table), &catches(exception_table))?;
        // What instructions are, not where they jump to.
        let kinds = |code: &[Instruction]| code.iter().map(kind).collect::<Vec<_>>();
        in_order("instructions", &kinds(old_code), &kinds(code))?;
        let lines = |attributes: &[Attribute]| -> Vec<u16> {
            let tables = attributes.iter().filter_map(|a| match a {
                Attribute::LineNumberTable { line_numbers, .. } => Some(line_numbers),
                _ => None,
            });
            tables.flatten().map(|l| l.line_number).collect()
        };
        in_order("lines", &lines(old_attributes), &lines(attributes))?;
    }
    Ok(())
}

/// Two instructions are of one kind if they have one opcode; a goto may have become a wide one.
fn kind(instruction: &Instruction) -> std::mem::Discriminant<Instruction> {
    match instruction {
        Instruction::Goto_w(_) => discriminant(&Instruction::Goto(0)),
        other => discriminant(other),
    }
}

fn classfile_parser(before: &[u8], after: &[u8]) -> Option<Verdict> {
    let read = |bytes| match classfile_parser::class_parser(bytes) {
        Ok(([], class)) => Some(class),
        _ => None,
    };
    let before = read(before)?;
    let compare = || {
        let after = read(after).ok_or("cannot be read any more")?;
        let head = |c: &classfile_parser::ClassFile| {
            let version = (c.major_version, c.minor_version);
            (
                version,
                c.access_flags,
                c.this_class,
                c.super_class,
                c.interfaces.clone(),
            )
        };
        same("head", &head(&before), &head(&after))?;
        same("attributes", &raw(&before.attributes), &raw(&after.attributes))?;
        let fields = |c: &classfile_parser::ClassFile| -> Vec<_> {
            let all = c.fields.iter();
            all.map(|f| {
                (
                    f.access_flags,
                    f.name_index,
                    f.descriptor_index,
                    raw(&f.attributes),
                )
            })
            .collect()
        };
        same("fields", &fields(&before), &fields(&after))?;
        same("methods", &before.methods.len(), &after.methods.len())?;
        for (a, b) in before.methods.iter().zip(&after.methods) {
            let is_code = |info: &AttributeInfo| {
                let name = &before.const_pool[usize::from(info.attribute_name_index) - 1];
                matches!(name, ConstantInfo::Utf8(text) if text.utf8_string == "Code")
            };
            let head = |m: &classfile_parser::method_info::MethodInfo| {
                (
                    m.access_flags,
                    m.name_index,
                    m.descriptor_index,
                    m.attributes.len(),
                )
            };
            same("method", &head(a), &head(b))?;
            for (a, b) in a.attributes.iter().zip(&b.attributes) {
                same("attribute", &a.attribute_name_index, &b.attribute_name_index)?;
                if !is_code(a) {
                    same("attribute", &a.info, &b.info)?;
                    continue;
                }
                let code = |info| match code_attribute_parser(info) {
                    Ok(([], code)) => Ok(code),
                    _ => Err("Code cannot be read"),
                };
                let (a, b) = (code(&a.info)?, code(&b.info)?);
                let names = |all: &[AttributeInfo]| -> Vec<u16> {
                    all.iter().map(|info| info.attribute_name_index).collect()
                };
                same("attributes of Code", &names(&a.attributes), &names(&b.attributes))?;
                let (_, instructions) = classfile_parser::code_attribute::code_parser(&b.code)
                    .map_err(|_| "instructions cannot be read")?;
                if instructions.is_empty() || a.max_locals > b.max_locals || a.max_stack > b.max_stack {
                    return Err("the code has shrunk".to_owned());
                }
            }
        }
        Ok(())
    };
    Some(compare())
}

fn raw(attributes: &[AttributeInfo]) -> Vec<(u16, Vec<u8>)> {
    attributes
        .iter()
        .map(|a| (a.attribute_name_index, a.info.clone()))
        .collect()
}

/// The readers must be able to notice something.
#[test]
fn other_readers_notice_a_change() -> Result<()> {
    let target = trodden_tests::target::Target::all()?
        .into_iter()
        .find(|t| t.name == "Loops")
        .ok_or("no Loops")?;
    let class = std::fs::read(target.classes()?.join("Loops.class"))?;
    let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
    let good = instrument(&instrumenter, &class, 1).ok_or("no probes")?;
    // Another access flag of a method, another name of a field or method, one byte less of code or
    // attributes: every byte behind the constant pool matters to some reader, but for those that only say
    // what the new code is.
    let mut noticed = [0usize; 3];
    let changes = good.len() / 3..good.len();
    let tried = changes.clone().step_by(7).count();
    for at in changes.step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 0x15;
        for (count, (_, reader, _)) in noticed.iter_mut().zip(READERS) {
            let verdict = std::panic::catch_unwind(|| reader(&class, &bad));
            let verdict = verdict.map(|v| v.ok_or_else(|| Error::from("cannot read the original")));
            *count += usize::from(!matches!(verdict, Ok(Ok(Ok(())))));
        }
    }
    println!("of {tried} changed bytes noticed: {noticed:?}");
    assert!(noticed.iter().all(|&n| n > tried / 20), "{noticed:?} of {tried}");
    Ok(())
}
