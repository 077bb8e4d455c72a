//! Synthetic streams of activations with fixed seeds. What each is a picture of stands with it.

#[path = "../random/mod.rs"]
mod random;

use random::Random;
use trodden_analyses::kpaths::ActivationEvent::{self, Enter, Exit, Path};
use trodden_profile::events::Word;

/// A stream and its name.
pub struct Stream {
    /// For tables.
    pub name: &'static str,
    /// One thread's events.
    pub events: Vec<ActivationEvent>,
    /// How many of them end a path.
    pub paths: u64,
}

impl Stream {
    /// The words that probes would write.
    pub fn words(&self) -> Vec<u64> {
        let (mut words, mut open) = (Vec::new(), Vec::new());
        let mut events = self.events.iter().peekable();
        while let Some(&event) = events.next() {
            words.push(match (event, open.last().copied()) {
                (ActivationEvent::Enter(method), _) => {
                    open.push(method);
                    Word::enter(method, None)
                }
                (ActivationEvent::Path(path), Some(method)) => {
                    // A probe ends path and activation at once.
                    if events.next_if_eq(&&ActivationEvent::Exit).is_some() {
                        open.pop();
                        Word::last_path(method, path as u32)
                    } else {
                        Word::path_end(method, path as u32)
                    }
                }
                (ActivationEvent::Exit, Some(method)) => {
                    open.pop();
                    Word::exit(method)
                }
                (_, None) => unreachable!("the streams begin with an entry"),
            });
        }
        words.into_iter().map(|word| word.0).collect()
    }
}

/// Four streams of about `paths` path ends each.
pub fn all(paths: u64) -> Vec<Stream> {
    vec![
        stream("regular", paths, regular),
        stream("alternating", paths, alternating),
        stream("high-fanout", paths, high_fanout),
        stream("short activations", paths, short),
    ]
}

fn stream(
    name: &'static str,
    paths: u64,
    activation: impl Fn(&mut Random, &mut Vec<ActivationEvent>),
) -> Stream {
    let (mut random, mut events, mut done) = (Random(1), Vec::new(), 0);
    while done < paths {
        let from = events.len();
        activation(&mut random, &mut events);
        done += events[from..].iter().filter(|e| matches!(e, Path(_))).count() as u64;
    }
    Stream {
        name,
        events,
        paths: done,
    }
}

/// Loops whose iterations repeat in long runs, as in k-BLPP figure 6: 20 methods, runs of 100 to 500
/// iterations.
fn regular(random: &mut Random, out: &mut Vec<ActivationEvent>) {
    let method = random.below(20);
    out.extend([Enter(method as u32), Path(0)]);
    for _ in 0..4 {
        let path = 1 + random.below(3) * 17;
        out.extend((0..100 + random.below(400)).map(|_| Path(path)));
    }
    out.extend([Path(2), Exit]);
}

/// Iterations that alternate with some noise, as in k-BLPP figure 9, and a call in every tenth.
fn alternating(random: &mut Random, out: &mut Vec<ActivationEvent>) {
    let method = random.below(50) as u32;
    out.extend([Enter(method), Path(0)]);
    for i in 0..20 + random.below(80) {
        match random.below(10) {
            0 => out.extend([Path(87), Path(755)]),
            _ => out.extend([38, 86, 86, 86, 755].map(Path)),
        }
        if i % 10 == 0 {
            out.extend([Enter(100 + method), Path(3), Path(i % 2), Exit]);
        }
    }
    out.extend([Path(9), Exit]);
}

/// An interpreter's loop: 200 paths, the rarer the higher their number, in 150 fixed sequences of 5 to 40
/// that come in any order and are repeated up to eight times. The likeliest paths are followed by a hundred
/// others.
fn high_fanout(random: &mut Random, out: &mut Vec<ActivationEvent>) {
    out.extend([Enter(0), Path(0)]);
    for _ in 0..40 {
        let mut program = Random(random.below(150));
        let length = 5 + program.below(36);
        let among: Vec<u64> = (0..length).map(|_| 1 + program.below(200)).collect();
        let sequence: Vec<_> = among.into_iter().map(|n| Path(program.below(n))).collect();
        for _ in 0..=random.below(8) {
            out.extend_from_slice(&sequence);
        }
    }
    out.push(Exit);
}

/// Small methods without long loops: 500 methods, one to four paths each.
fn short(random: &mut Random, out: &mut Vec<ActivationEvent>) {
    let among = 1 + random.below(500);
    out.push(Enter(random.below(among) as u32));
    for _ in 0..=random.below(4) {
        out.push(Path(random.below(3)));
    }
    out.push(Exit);
}
