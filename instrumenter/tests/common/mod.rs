//! A class-file reader for tests that shares no code with the crate: just enough to execute register updates.
#![allow(dead_code)]

use std::collections::BTreeMap;

/// A constant, as far as probes use any.
#[derive(Clone, Debug, PartialEq)]
pub enum Constant {
    Utf8(Vec<u8>),
    Integer(i32),
    Class(usize),
    NameAndType(usize),
    Methodref(usize, usize),
    Other,
}

pub struct Method {
    pub name: String,
    pub descriptor: String,
    pub max_locals: u16,
    pub code: Vec<u8>,
    /// (start, end, handler)
    pub handlers: Vec<(u32, u32, u32)>,
}

pub struct Class {
    pub pool: BTreeMap<usize, Constant>,
    pub methods: Vec<Method>,
}

struct Cursor<'a>(&'a [u8], usize);

impl<'a> Cursor<'a> {
    fn take(&mut self, n: usize) -> &'a [u8] {
        self.1 += n;
        &self.0[self.1 - n..self.1]
    }
    fn n(&mut self, n: usize) -> usize {
        self.take(n).iter().fold(0, |v, b| v << 8 | *b as usize)
    }
}

impl Class {
    pub fn parse(bytes: &[u8]) -> Class {
        let mut c = Cursor(bytes, 8);
        let mut pool = BTreeMap::new();
        let (count, mut i) = (c.n(2), 1);
        while i < count {
            let tag = c.n(1);
            let entry = match tag {
                1 => {
                    let len = c.n(2);
                    Constant::Utf8(c.take(len).to_vec())
                }
                3 => Constant::Integer(c.n(4) as u32 as i32),
                7 => Constant::Class(c.n(2)),
                10 => Constant::Methodref(c.n(2), c.n(2)),
                12 => {
                    let name = c.n(2);
                    c.n(2);
                    Constant::NameAndType(name)
                }
                _ => {
                    c.take(match tag {
                        8 | 16 | 19 | 20 => 2,
                        15 => 3,
                        4 | 9 | 11 | 17 | 18 => 4,
                        5 | 6 => 8,
                        other => panic!("pool tag {other}"),
                    });
                    Constant::Other
                }
            };
            pool.insert(i, entry);
            i += if tag == 5 || tag == 6 { 2 } else { 1 };
        }
        c.n(6);
        let interfaces = c.n(2);
        c.take(2 * interfaces);
        let text = |i: usize| match &pool[&i] {
            Constant::Utf8(text) => String::from_utf8_lossy(text).into_owned(),
            other => panic!("{other:?} is no text"),
        };
        let mut methods = Vec::new();
        for member_kind in 0..2 {
            for _ in 0..c.n(2) {
                c.n(2);
                let (name, descriptor) = (text(c.n(2)), text(c.n(2)));
                for _ in 0..c.n(2) {
                    let attribute = text(c.n(2));
                    let len = c.n(4);
                    let content = c.take(len);
                    if member_kind == 1 && attribute == "Code" {
                        let mut c = Cursor(content, 2);
                        let max_locals = c.n(2) as u16;
                        let len = c.n(4);
                        let code = c.take(len).to_vec();
                        let handlers = (0..c.n(2)).map(|_| {
                            let entry = (c.n(2) as u32, c.n(2) as u32, c.n(2) as u32);
                            c.n(2);
                            entry
                        });
                        let handlers = handlers.collect();
                        methods.push(Method {
                            name: name.clone(),
                            descriptor: descriptor.clone(),
                            max_locals,
                            code,
                            handlers,
                        });
                    }
                }
            }
        }
        Class { pool, methods }
    }

    fn text(&self, index: usize) -> String {
        match &self.pool[&index] {
            Constant::Utf8(text) => String::from_utf8_lossy(text).into_owned(),
            Constant::Class(name) | Constant::NameAndType(name) => self.text(*name),
            other => panic!("{other:?} is no text"),
        }
    }

    /// Class and name of a method that is called.
    pub fn callee(&self, index: usize) -> (String, String) {
        match &self.pool[&index] {
            Constant::Methodref(class, name) => (self.text(*class), self.text(*name)),
            other => panic!("{other:?} is no method"),
        }
    }
}

pub fn u2(code: &[u8], at: u32) -> u16 {
    u16::from_be_bytes([code[at as usize], code[at as usize + 1]])
}

pub fn i4(code: &[u8], at: u32) -> i32 {
    i32::from_be_bytes(code[at as usize..at as usize + 4].try_into().unwrap())
}

/// Length of the instruction at `pc`, from the tables of JVMS 6.5.
pub fn length(code: &[u8], pc: u32) -> u32 {
    let pad = 3 - pc % 4;
    match code[pc as usize] {
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 2,
        0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 | 0xb2..=0xb8 | 0xbb | 0xbd | 0xc0 | 0xc1 | 0xc6 | 0xc7 => 3,
        0xc5 => 4,
        0xb9 | 0xba | 0xc8 | 0xc9 => 5,
        0xc4 => [4, 6][usize::from(code[pc as usize + 1] == 0x84)],
        0xaa => 13 + pad + 4 * (i4(code, pc + pad + 9) - i4(code, pc + pad + 5) + 1) as u32,
        0xab => 9 + pad + 8 * i4(code, pc + pad + 5) as u32,
        _ => 1,
    }
}

/// (key, target) of all cases of a switch, the default last with key `None`.
pub fn switch(code: &[u8], pc: u32) -> Vec<(Option<i32>, u32)> {
    let at = pc + 1 + (3 - pc % 4);
    let to = |delta: i32| (pc as i32 + delta) as u32;
    let mut cases: Vec<_> = if code[pc as usize] == 0xaa {
        let (low, high) = (i4(code, at + 4), i4(code, at + 8));
        let case = |(i, key): (u32, i32)| (Some(key), to(i4(code, at + 12 + 4 * i)));
        (0..).zip(low..=high).map(case).collect()
    } else {
        let case = |i| (Some(i4(code, at + 8 + 8 * i)), to(i4(code, at + 12 + 8 * i)));
        (0..i4(code, at + 4) as u32).map(case).collect()
    };
    cases.push((None, to(i4(code, at))));
    cases
}

/// A small deterministic random generator (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }
}
