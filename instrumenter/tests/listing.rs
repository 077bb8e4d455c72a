//! The bytes each strategy puts into one small method. Old instructions are shown with their old bytecode
//! index, probe code is indented: register updates (`iinc`, or `iconst; istore`), path ends (id, register,
//! `invokestatic`), and gotos around updates that only some of a block's edges run through.

use std::fmt::Write;

use crate::common::{self, Class};
use trodden_instrumenter::{ClassIds, InstrumentOptions, Instrumenter, Preparation, ProbeKind};

fn listing(kind: ProbeKind) -> String {
    let bytes = include_bytes!("fixtures/Small.class");
    let instrumenter = Instrumenter::new(InstrumentOptions::new(kind));
    let Ok(Preparation::Ready(prepared)) = instrumenter.prepare(bytes) else {
        panic!("not instrumented")
    };
    let ids = ClassIds::new(7, 300);
    let (emitted, codes) = prepared.emit_with_code(ids);
    let class = Class::parse(&emitted);
    let method = class.methods.iter().find(|m| m.name == "small").unwrap();
    let mut text = format!(
        "{} paths, register in local {}\n",
        prepared.map().methods[0].num_paths(),
        codes[0].register_slot
    );
    let mut pc = 0u32;
    while pc < method.code.len() as u32 {
        let length = common::length(&method.code, pc);
        let bytes = &method.code[pc as usize..(pc + length) as usize];
        let hex: Vec<String> = bytes.iter().map(|b| format!("{b:02x}")).collect();
        let note = match bytes[0] {
            0x02..=0x08 => "iconst".to_owned(),
            0x11 => format!("sipush {}", common::u2(bytes, 1)),
            0x15 | 0x1a..=0x1d => "iload".to_owned(),
            0x36 | 0x3b..=0x3e => "istore".to_owned(),
            0x16 | 0x1e..=0x21 => "lload".to_owned(),
            0x37 | 0x3f..=0x42 => "lstore".to_owned(),
            0x84 => format!("iinc local {} by {}", bytes[1], bytes[2] as i8),
            0x99..=0xa6 => format!("if.. to {}", pc as i32 + i32::from(common::u2(bytes, 1) as i16)),
            0xa7 => format!("goto {}", pc as i32 + i32::from(common::u2(bytes, 1) as i16)),
            0xb8 => class.callee(common::u2(bytes, 1) as usize).1,
            _ => String::new(),
        };
        let line = match codes[0].pc_map.iter().find(|(new, _)| *new == pc) {
            Some((_, old)) => format!("{pc:3}: {:10} {note} (was {old})", hex.join(" ")),
            None => format!("{pc:3}:     {:10} {note}", hex.join(" ")),
        };
        writeln!(text, "{}", line.trim_end()).unwrap();
        pc += length;
    }
    text
}

#[test]
fn yieldpoint() {
    insta::assert_snapshot!(listing(ProbeKind::Yieldpoint));
}

#[test]
fn counters() {
    insta::assert_snapshot!(listing(ProbeKind::Counters));
}

#[test]
fn safepoint() {
    insta::assert_snapshot!(listing(ProbeKind::Safepoint));
}

#[test]
fn events() {
    insta::assert_snapshot!(listing(ProbeKind::Events));
}

/// Methods without probes keep their code to the byte, the others are those of the whole class.
#[test]
fn probes_in_some_methods_only() {
    let bytes = include_bytes!("fixtures/Shapes.class");
    let instrumenter = Instrumenter::new(InstrumentOptions::new(ProbeKind::Counters));
    let Ok(Preparation::Ready(prepared)) = instrumenter.prepare(bytes) else {
        panic!("not instrumented")
    };
    let ids = ClassIds::new(7, 300);
    assert_eq!(prepared.emit_where(ids, |_| true), prepared.emit(ids));
    let methods = &prepared.map().methods;
    assert!(methods.len() > 1);
    let original = Class::parse(bytes);
    for wanted in 0..methods.len() {
        let some = Class::parse(&prepared.emit_where(ids, |position| position == wanted));
        for (position, map) in methods.iter().enumerate() {
            let of = |class: &Class| {
                let same = |m: &&common::Method| m.name == map.name && m.descriptor == map.descriptor;
                class.methods.iter().find(same).unwrap().code.clone()
            };
            assert_eq!(of(&some) == of(&original), position != wanted, "{}", map.name);
        }
    }
}
