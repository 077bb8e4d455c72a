//! A proxy for HTTP that spoils exchanges as tests demand: between us and an S3 server it plays a bad
//! network.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The outcome of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Nothing bad.
    Pass,
    /// The request gets lost.
    Lost,
    /// The request arrives, its answer gets lost: it has been done, and the client does not know.
    AnswerLost,
    /// The answer stops in its middle.
    Cut,
    /// The server is too busy.
    SlowDown,
    /// The server has a fault.
    Fault,
    /// The request arrives, and the answer comes later than anybody waits.
    Late,
}

/// A proxy in front of a server, as long as it lives.
pub struct Proxy {
    /// Where it listens.
    pub address: SocketAddr,
    /// How many exchanges there were of each fate but `Pass`.
    pub spoilt: Arc<AtomicUsize>,
    over: Arc<AtomicBool>,
}

impl Proxy {
    /// Before a server; `fate` is asked for each exchange: its number, its method and path.
    pub fn new(
        server: SocketAddr,
        fate: impl FnMut(usize, &str, &str) -> Fate + Send + 'static,
    ) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let spoilt = Arc::new(AtomicUsize::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let fate = Arc::new(Mutex::new((0, fate)));
        let (count, end) = (Arc::clone(&spoilt), Arc::clone(&over));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if end.load(Ordering::Relaxed) {
                    break;
                }
                let (fate, count) = (Arc::clone(&fate), Arc::clone(&count));
                thread::spawn(move || {
                    let decide = |method: &str, path: &str| {
                        let mut state = fate.lock().unwrap();
                        let number = state.0;
                        state.0 += 1;
                        let fate = (state.1)(number, method, path);
                        if fate != Fate::Pass {
                            count.fetch_add(1, Ordering::Relaxed);
                        }
                        fate
                    };
                    // Whatever goes wrong on the way is one more bad network.
                    let _ = exchange(client, server, decide);
                });
            }
        });
        Ok(Proxy {
            address,
            spoilt,
            over,
        })
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// One request and its answer; then the connection is closed.
fn exchange(
    mut client: TcpStream,
    server: SocketAddr,
    decide: impl FnOnce(&str, &str) -> Fate,
) -> io::Result<()> {
    let Some(request) = read_request(&mut client)? else {
        return Ok(());
    };
    let head = String::from_utf8_lossy(&request.head).into_owned();
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let fate = decide(method, path);
    match fate {
        Fate::Lost => return client.shutdown(Shutdown::Both),
        Fate::SlowDown | Fate::Fault => {
            let (status, code) = match fate {
                Fate::SlowDown => ("503 Slow Down", "SlowDown"),
                _ => ("500 Internal Server Error", "InternalError"),
            };
            let body = format!("<Error><Code>{code}</Code></Error>");
            let answer = format!(
                "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                body.len()
            );
            return client.write_all(answer.as_bytes());
        }
        _ => {}
    }
    let mut upstream = TcpStream::connect(server)?;
    let close: String = head
        .split("\r\n")
        .filter(|line| !line.to_ascii_lowercase().starts_with("connection:"))
        .collect::<Vec<_>>()
        .join("\r\n");
    let close = close.trim_end().to_owned() + "\r\nConnection: close\r\n\r\n";
    upstream.write_all(close.as_bytes())?;
    upstream.write_all(&request.body)?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    match fate {
        Fate::AnswerLost => client.shutdown(Shutdown::Both),
        Fate::Cut => {
            client.write_all(&answer[..answer.len() / 2])?;
            client.shutdown(Shutdown::Both)
        }
        Fate::Late => {
            thread::sleep(Duration::from_secs(20));
            client.write_all(&answer)
        }
        _ => client.write_all(&answer),
    }
}

struct Request {
    /// With the empty line behind it.
    head: Vec<u8>,
    body: Vec<u8>,
}

/// `None` if there is no other request on this connection.
fn read_request(client: &mut TcpStream) -> io::Result<Option<Request>> {
    client.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut bytes = Vec::new();
    let mut part = [0; 16384];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        match client.read(&mut part)? {
            0 => return Ok(None),
            n => bytes.extend_from_slice(&part[..n]),
        }
    };
    let mut body = bytes.split_off(end);
    let head = bytes;
    let text = String::from_utf8_lossy(&head).to_ascii_lowercase();
    let length = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok())
        .unwrap_or(0);
    if text.contains("expect: 100-continue") {
        client.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
    }
    while body.len() < length {
        match client.read(&mut part)? {
            0 => return Ok(None),
            n => body.extend_from_slice(&part[..n]),
        }
    }
    Ok(Some(Request { head, body }))
}
