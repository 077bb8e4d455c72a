//! Keys that are typed, and their meaning. The bytes are read by a thread of our own: crossterm's reader
//! never comes back from a terminal that was closed.

use std::io::{self, Read};
use std::sync::mpsc::Sender;
use std::thread;

use super::model::{Key, Sort};
use super::worker::UiEvent;

/// Hands on what is typed, until the terminal is closed, which is an event as well. The thread ends with us.
pub fn listen(events: Sender<UiEvent>) {
    thread::spawn(move || {
        let mut typed = [0; 256];
        loop {
            let event = match io::stdin().read(&mut typed) {
                Ok(0) => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
                Ok(length) => Ok(meaning(&typed[..length])),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => Err(error),
            };
            let closed = event.is_err();
            let event = event.map_or_else(UiEvent::Closed, UiEvent::Keys);
            if events.send(event).is_err() || closed {
                return;
            }
        }
    });
}

/// The bytes that terminals send for a key, after ESC.
const SEQUENCES: [(&[u8], Key); 18] = [
    (b"[A", Key::Up),
    (b"OA", Key::Up),
    (b"[B", Key::Down),
    (b"OB", Key::Down),
    (b"[C", Key::Open),
    (b"OC", Key::Open),
    (b"[D", Key::Back),
    (b"OD", Key::Back),
    (b"[5~", Key::PageUp),
    (b"[6~", Key::PageDown),
    (b"[H", Key::First),
    (b"OH", Key::First),
    (b"[1~", Key::First),
    (b"[7~", Key::First),
    (b"[F", Key::Last),
    (b"OF", Key::Last),
    (b"[4~", Key::Last),
    (b"[8~", Key::Last),
];

/// The keys in what was read at once. ESC with nothing behind it is the key of that name.
fn meaning(mut typed: &[u8]) -> Vec<Key> {
    let mut keys = Vec::new();
    while let Some((&first, rest)) = typed.split_first() {
        typed = rest;
        if first != 0x1b {
            keys.extend(of_byte(first));
            continue;
        }
        if rest.is_empty() {
            keys.push(Key::Back);
            continue;
        }
        match SEQUENCES.iter().find(|(sequence, _)| rest.starts_with(sequence)) {
            Some((sequence, key)) => {
                keys.push(*key);
                typed = &rest[sequence.len()..];
            }
            None => typed = &rest[unknown(rest)..],
        }
    }
    keys
}

/// The length of a sequence of no meaning: its letters are no keys.
fn unknown(rest: &[u8]) -> usize {
    match rest.first() {
        Some(b'[' | b'O') => {
            let end = rest.iter().skip(1).position(|byte| (0x40..=0x7e).contains(byte));
            end.map_or(rest.len(), |end| end + 2)
        }
        _ => rest.len().min(1),
    }
}

fn of_byte(byte: u8) -> Option<Key> {
    Some(match byte {
        b'k' => Key::Up,
        b'j' => Key::Down,
        b'g' => Key::First,
        b'G' => Key::Last,
        b'\r' | b'\n' => Key::Open,
        0x08 | 0x7f => Key::Back,
        b't' => Key::Sort(Sort::Time),
        b'e' => Key::Sort(Sort::Executions),
        b'd' => Key::Sort(Sort::Decisions),
        b' ' => Key::Freeze,
        b'r' => Key::Span,
        b'?' | b'h' => Key::Help,
        // The terminal is raw: it makes no signals of Ctrl-C and Ctrl-\\, and no end of Ctrl-D.
        b'q' | 0x03 | 0x04 | 0x1c => Key::Quit,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_sequences() {
        for (typed, keys) in [
            (&b"q"[..], &[Key::Quit][..]),
            (b"\x03", &[Key::Quit]),
            (b"c", &[]),
            (b"\x1b", &[Key::Back]),
            (b"\x1b[A\x1bOBj", &[Key::Up, Key::Down, Key::Down]),
            (b"\x1b[5~\x1b[6~", &[Key::PageUp, Key::PageDown]),
            // F5, a mouse, Alt-q: nothing, and none of their letters.
            (b"\x1b[15~", &[]),
            (b"\x1b[<0;1;1M", &[]),
            (b"\x1bq", &[]),
            (b"\x1b[1;2", &[]),
            (b"d\x7f\r", &[Key::Sort(Sort::Decisions), Key::Back, Key::Open]),
            ("ä".as_bytes(), &[]),
        ] {
            assert_eq!(meaning(typed), keys, "{typed:?}");
        }
    }
}
