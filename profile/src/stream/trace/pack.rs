//! Words to bytes: most take one.
//!
//! A word becomes one LEB128 number, `argument << 4 | code`. The method is left out where it is that of the topmost
//! activation, which both sides know from the chunk's earlier words: each chunk can be read alone.

use crate::model::codec::wire::{Decoded, Decoder, Encoder};
use crate::model::fault::Fault;
use crate::stream::events::{Event, MAX_METHOD, Word};

/// The path, block or register is the argument, the method is the topmost activation's.
const PATH_END: u64 = 0;
const LAST_PATH: u64 = 2;
const BLOCK: u64 = 10;
const PREFIX: u64 = 12;
/// Added to these: the method follows as a number of its own.
const OTHER_METHOD: u64 = 1;
/// The method is the argument.
const ENTER: u64 = 4;
/// The method is the argument, the call site follows.
const ENTER_FROM: u64 = 5;
/// The method is the argument, the path follows.
const ONLY_PATH: u64 = 6;
/// No argument.
const EXIT: u64 = 7;
/// The method is the argument.
const EXIT_OTHER: u64 = 8;
/// The depth is the argument.
const UNWOUND: u64 = 9;
/// No argument.
const GAP: u64 = 14;

/// Methods of the activations on top, as far as the chunk has them: both sides of the codec keep one.
#[derive(Default)]
struct Tops(Vec<u32>);

impl Tops {
    /// An event of the topmost activation was of this method.
    fn is(&mut self, method: u32) {
        if self.0.last() != Some(&method) {
            self.0.clear();
            self.0.push(method);
        }
    }

    fn pop(&mut self, method: u32) {
        self.is(method);
        self.0.pop();
    }

    /// An event of the topmost activation has this code, without [`OTHER_METHOD`].
    fn after(&mut self, code: u64, method: u32) {
        match code {
            LAST_PATH => self.pop(method),
            _ => self.is(method),
        }
    }
}

/// Appends packed words to `out`; returns how many. Those that no probe writes are left out.
pub(super) fn pack(words: &[u64], out: &mut Encoder) -> u64 {
    let mut tops = Tops::default();
    let mut good = 0;
    for &word in words {
        // Nearly all words of a loop.
        let top = tops.0.last().copied();
        if Some(Word(word).upper()) == top {
            out.uint((word & 0xffff_ffff) << 4 | PATH_END);
            good += 1;
            continue;
        }
        let Ok(event) = Word(word).decode() else { continue };
        good += u64::from(put(event, &mut tops, out));
    }
    good
}

/// Returns whether a trace has such words.
fn put(event: Event, tops: &mut Tops, out: &mut Encoder) -> bool {
    match event {
        Event::PathEnd { method, path } => put_of_top(PATH_END, method, path, tops, out),
        Event::LastPath { method, path } => put_of_top(LAST_PATH, method, path, tops, out),
        Event::Block { method, block } => put_of_top(BLOCK, method, block, tops, out),
        Event::Prefix { method, register } => put_of_top(PREFIX, method, register, tops, out),
        Event::Enter { method, call_site } => {
            let code = if call_site.is_none() { ENTER } else { ENTER_FROM };
            out.uint(u64::from(method) << 4 | code);
            if let Some(bci) = call_site {
                out.uint(u64::from(bci));
            }
            tops.0.push(method);
        }
        Event::OnlyPath { method, path } => {
            out.uint(u64::from(method) << 4 | ONLY_PATH);
            out.uint(u64::from(path));
        }
        Event::Exit { method } => {
            if tops.0.last() == Some(&method) {
                out.uint(EXIT);
            } else {
                out.uint(u64::from(method) << 4 | EXIT_OTHER);
            }
            tops.pop(method);
        }
        Event::Unwound { depth } => {
            out.uint(u64::from(depth) << 4 | UNWOUND);
            tops.0.clear();
        }
        Event::Gap => {
            out.uint(GAP);
            tops.0.clear();
        }
        Event::Call { .. }
        | Event::Charge { .. }
        | Event::Burst { .. }
        | Event::Before { .. }
        | Event::Below { .. } => return false,
    }
    true
}

/// An event of the topmost activation, with `argument`.
fn put_of_top(code: u64, method: u32, argument: u32, tops: &mut Tops, out: &mut Encoder) {
    let word = u64::from(argument) << 4 | code;
    if tops.0.last() == Some(&method) {
        out.uint(word);
    } else {
        out.uint(word | OTHER_METHOD);
        out.uint(u64::from(method));
    }
    tops.after(code, method);
}

/// Appends `count` words to `out`.
pub(super) fn unpack(d: &mut Decoder<'_>, count: usize, out: &mut Vec<u64>) -> Decoded<()> {
    let mut tops = Tops::default();
    out.reserve(count);
    for _ in 0..count {
        let number = d.uint("word")?;
        let word = match tops.0.last() {
            Some(&top) if number & 15 == PATH_END && number >> 36 == 0 => u64::from(top) << 32 | number >> 4,
            _ => get(number, d, &mut tops)?.word().0,
        };
        out.push(word);
    }
    Ok(())
}

fn get(number: u64, d: &mut Decoder<'_>, tops: &mut Tops) -> Decoded<Event> {
    let (argument, code) = (number >> 4, number & 15);
    let fits = |what, value: u64, limit: u32| {
        Fault::range(what, value, 0..=limit.into())?;
        Ok::<u32, Fault>(value as u32)
    };
    let wide = || fits("argument of a word", argument, u32::MAX);
    let method = |value| fits("method of a word", value, MAX_METHOD);
    let nothing = || fits("argument of a word without one", argument, 0);
    Ok(match code {
        0..=3 | 10..=13 => {
            let argument = wide()?;
            let method = match code & OTHER_METHOD {
                0 => *tops.0.last().ok_or(Fault::NoActivation)?,
                _ => method(d.uint("method")?)?,
            };
            let code = code & !OTHER_METHOD;
            tops.after(code, method);
            match code {
                PATH_END => Event::PathEnd {
                    method,
                    path: argument,
                },
                LAST_PATH => Event::LastPath {
                    method,
                    path: argument,
                },
                BLOCK => Event::Block {
                    method,
                    block: argument,
                },
                _ => Event::Prefix {
                    method,
                    register: argument,
                },
            }
        }
        ENTER | ENTER_FROM => {
            let method = method(argument)?;
            tops.0.push(method);
            let call_site = match code {
                ENTER => None,
                _ => Some(fits("call site", d.uint("call site")?, 0xfffe)? as u16),
            };
            Event::Enter { method, call_site }
        }
        ONLY_PATH => Event::OnlyPath {
            method: method(argument)?,
            path: fits("path", d.uint("path")?, u32::MAX)?,
        },
        EXIT => {
            nothing()?;
            let method = tops.0.pop().ok_or(Fault::NoActivation)?;
            Event::Exit { method }
        }
        EXIT_OTHER => {
            let method = method(argument)?;
            tops.pop(method);
            Event::Exit { method }
        }
        UNWOUND => {
            tops.0.clear();
            Event::Unwound { depth: wide()? }
        }
        GAP => {
            nothing()?;
            tops.0.clear();
            Event::Gap
        }
        _ => return Err(Fault::NoSuch("code of a word", code as i64).into()),
    })
}
