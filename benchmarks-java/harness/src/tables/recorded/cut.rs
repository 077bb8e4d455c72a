//! What a stream of calls would be if the program's probes were off between bursts: the bursts, each behind a
//! walk of the stack.

use trodden_analyses::contexts::{BurstOptions, ContextBursts, ContextSink, Frame, UNKNOWN_SITE};
use trodden_profile::events::{CALL_UNDER_WAY, Event, Word};

/// Writes down what happens in bursts as probes would.
#[derive(Default)]
struct Writer {
    words: Vec<u64>,
    /// Where the word stands by which the current burst begins.
    burst: Option<usize>,
    /// Activations that it reports.
    placed: u32,
    /// Has anything happened since?
    used: bool,
    /// Methods of the open activations.
    open: Vec<u32>,
}

impl Writer {
    fn burst(&mut self) -> usize {
        *self.burst.get_or_insert_with(|| {
            self.words.push(Word::burst(1, 0, 0).0);
            self.words.len() - 1
        })
    }
}

impl ContextSink for Writer {
    fn enter(&mut self, frame: Frame, weight: u64) {
        // How many calls each stands for is known from the first one on; returns have no weight.
        let at = self.burst();
        self.words[at] = Word::burst(weight as u32, 0, self.placed).0;
        self.used = true;
        if let (Some(&caller), true) = (self.open.last(), frame.site != UNKNOWN_SITE) {
            self.words.push(Word::call(caller, frame.site.into()).0);
            self.words.push(Word::enter(frame.method, Some(CALL_UNDER_WAY)).0);
        } else {
            self.words.push(Word::enter(frame.method, None).0);
        }
        self.open.push(frame.method);
    }

    fn exit(&mut self) {
        self.burst();
        self.used = true;
        if let Some(method) = self.open.pop() {
            self.words.push(Word::exit(method).0);
        }
    }

    fn unwind(&mut self, depth: u32) {
        // Each activation has a handler that reports its end.
        while self.open.len() > depth as usize {
            self.exit();
        }
    }

    /// A burst begins, or is over: no word says this.
    fn gap(&mut self) {
        if let (Some(at), false) = (self.burst, self.used) {
            self.words.truncate(at);
        }
        (self.burst, self.placed, self.used) = (None, 0, false);
        self.open.clear();
    }

    fn place(&mut self, frame: Frame) {
        let at = self.burst();
        self.placed += 1;
        self.words[at] = Word::burst(1, 0, self.placed).0;
        let site = (frame.site != UNKNOWN_SITE).then_some(frame.site);
        self.words.push(Word::enter(frame.method, site).0);
        self.open.push(frame.method);
    }

    fn charge(&mut self, _: u64) {}

    fn switch(&mut self, _: u64) {}

    fn end_thread(&mut self) {}
}

/// Cuts a thread's stream into bursts.
pub fn cut(words: &[u64], options: BurstOptions, seed: u64) -> Result<Vec<u64>, String> {
    let writer = Writer::default();
    let mut bursts = ContextBursts::new(writer, options.interval, options.length, options.kind, seed)
        .map_err(|e| e.to_string())?;
    let (mut open, mut below) = (0usize, 0usize);
    for &word in words {
        match Word(word).decode().map_err(|e| e.to_string())? {
            Event::Enter { method, call_site } => {
                open += 1;
                bursts.enter(Frame::new(method, call_site.unwrap_or(UNKNOWN_SITE)), 1);
            }
            Event::Exit { .. } => {
                open = open.checked_sub(1).ok_or("a return of nothing")?;
                bursts.exit();
            }
            Event::Unwound { depth } if open == 0 => below = depth as usize,
            Event::Unwound { depth } => {
                open = (depth as usize)
                    .checked_sub(below)
                    .filter(|&n| n <= open)
                    .ok_or("more is left than there was")?;
                bursts.unwind(open as u32);
            }
            event => return Err(format!("{event:?} in a trace for contexts alone")),
        }
    }
    Ok(bursts.into_inner().words)
}
