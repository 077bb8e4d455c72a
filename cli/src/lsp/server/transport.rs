//! Messages on standard input and output.
//!
//! The reader is our own: that of `lsp-server` ends at the first message that is no JSON, and believes any
//! length.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use serde_json::{Value, json};

/// Bytes of a message, at most.
const MAX_BYTES: usize = 256 << 20;
/// Bytes of a line of a header.
const MAX_HEADER: u64 = 10_000;
/// Wrong messages one after another, after which the other side does not speak this protocol.
const MAX_WRONG: usize = 100;

/// Something that came.
#[derive(Debug)]
pub enum Incoming {
    Message(Message),
    /// No message of the protocol; with its id, if it has one.
    Wrong {
        id: Value,
        code: ErrorCode,
        why: String,
    },
    /// Nothing more comes.
    End,
}

/// Reads messages in a thread of its own.
pub fn incoming() -> Receiver<Incoming> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut wrong = 0;
        loop {
            let one = next(&mut input);
            let is_end = matches!(one, Incoming::End);
            wrong = if matches!(one, Incoming::Wrong { .. }) {
                wrong + 1
            } else {
                0
            };
            if sender.send(one).is_err() || is_end {
                break;
            }
            if wrong > MAX_WRONG {
                let _ = sender.send(Incoming::End);
                break;
            }
        }
    });
    receiver
}

/// Reads the next message.
fn next(input: &mut impl BufRead) -> Incoming {
    let wrong = |why: String| Incoming::Wrong {
        id: Value::Null,
        code: ErrorCode::ParseError,
        why,
    };
    let bytes = match frame(input) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Incoming::End,
        Err(e) if e.kind() == io::ErrorKind::InvalidData => return wrong(e.to_string()),
        Err(_) => return Incoming::End,
    };
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(e) => return wrong(format!("the message is no JSON: {e}")),
    };
    let id = value.get("id").cloned().unwrap_or_default();
    match serde_json::from_value(value) {
        Ok(message) => Incoming::Message(message),
        Err(_) => Incoming::Wrong {
            id,
            code: ErrorCode::InvalidRequest,
            why: "this is no request, notification or response".to_owned(),
        },
    }
}

/// The bytes of a message; none at the end.
fn frame(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if (&mut *input).take(MAX_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        if text.is_empty() {
            break;
        }
        let (name, value) = text
            .split_once(':')
            .ok_or_else(|| invalid(format!("this is no header: {text:.80}")))?;
        if name.eq_ignore_ascii_case("Content-Length") {
            let bytes = value
                .trim()
                .parse::<usize>()
                .ok()
                .filter(|&bytes| bytes <= MAX_BYTES);
            length = Some(bytes.ok_or_else(|| invalid(format!("this is no length: {value:.80}")))?);
        }
    }
    let length = length.ok_or_else(|| invalid("the header has no Content-Length".to_owned()))?;
    let mut bytes = Vec::new();
    let read = (&mut *input).take(length as u64).read_to_end(&mut bytes)?;
    Ok((read == length).then_some(bytes))
}

/// The other side: it gets messages.
#[derive(Debug, Default)]
pub struct Client {
    requests: i32,
}

impl Client {
    /// Sends a message. If the other side is gone, its reader says so.
    fn send(&self, message: &Message) {
        let _ = message.write(&mut io::stdout().lock());
    }

    /// Sends a notification.
    pub fn notify<N: lsp_types::notification::Notification>(&self, params: N::Params) {
        self.send(&Notification::new(N::METHOD.to_owned(), params).into());
    }

    /// Sends a request. Answers are not waited for.
    pub fn ask<R: lsp_types::request::Request>(&mut self, params: R::Params) {
        self.requests += 1;
        let id = RequestId::from(self.requests);
        self.send(&Request::new(id, R::METHOD.to_owned(), params).into());
    }

    /// Answers a request; the result is JSON. Lists of a large file are long: they are made into text once.
    pub fn answer(&self, id: &RequestId, result: Result<String, Refused>) {
        let id = json!(id);
        match result {
            Ok(json) => Self::write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{json}}}"#)),
            Err(refused) => self.refuse(&id, refused.code, &refused.why),
        }
    }

    /// Refuses a request, or something that is no message.
    pub fn refuse(&self, id: &Value, code: ErrorCode, why: &str) {
        let error = json!({ "code": code as i32, "message": why });
        Self::write(&json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string());
    }

    fn write(text: &str) {
        let mut out = io::stdout().lock();
        let head = format!("Content-Length: {}\r\n\r\n", text.len());
        let parts = [head.as_bytes(), text.as_bytes()];
        let _ = parts
            .iter()
            .try_for_each(|part| out.write_all(part))
            .and_then(|()| out.flush());
    }
}

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
#[error("{why}")]
pub struct Refused {
    pub code: ErrorCode,
    pub why: String,
}

impl Refused {
    /// A request that cannot be done now.
    pub fn failed(why: impl ToString) -> Self {
        Refused {
            code: ErrorCode::RequestFailed,
            why: why.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Incoming {
        next(&mut text.as_bytes())
    }

    #[test]
    fn what_is_no_message_is_said() {
        let framed = |text: &str| format!("Content-Length: {}\r\n\r\n{text}", text.len());
        let good = framed(r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#);
        assert!(matches!(read(&good), Incoming::Message(Message::Request(_))));
        for (text, said) in [
            ("hello\r\n\r\n", "no header"),
            ("Content-Length: many\r\n\r\n", "no length"),
            ("Content-Length: 99999999999999\r\n\r\n{}", "no length"),
            ("Content-Type: x\r\n\r\n{}", "no Content-Length"),
            (framed("{").as_str(), "no JSON"),
        ] {
            let Incoming::Wrong { why, .. } = read(text) else {
                panic!("{text}");
            };
            assert!(why.contains(said), "{text}: {why}");
        }
        let Incoming::Wrong { id, .. } = read(&framed(r#"{"jsonrpc":"2.0","id":7}"#)) else {
            panic!("a message without a method");
        };
        assert_eq!(id, 7);
        assert!(matches!(read(""), Incoming::End));
        assert!(matches!(read("Content-Length: 10\r\n\r\n{}"), Incoming::End));
    }

    #[test]
    fn a_wrong_message_does_not_hide_the_next() {
        let next_one = r#"{"jsonrpc":"2.0","method":"exit"}"#;
        let text = format!(
            "Content-Length: 2\r\n\r\n}}{{Content-Length: {}\r\n\r\n{next_one}",
            next_one.len()
        );
        let mut input = text.as_bytes();
        assert!(matches!(next(&mut input), Incoming::Wrong { .. }));
        assert!(matches!(
            next(&mut input),
            Incoming::Message(Message::Notification(_))
        ));
    }
}
