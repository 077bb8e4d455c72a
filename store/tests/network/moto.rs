//! A real S3 server from PyPI (`moto`), on a port of this machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::python;

/// A running server; it ends with this.
pub struct Moto {
    process: Child,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Moto {
    /// With one empty bucket `fleet`. `None`, with the reason printed, if it cannot be had.
    pub fn start() -> Option<Moto> {
        let python = python::interpreter()?;
        // No other process takes a port that was free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let process = Command::new(python)
            .args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("moto starts");
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let moto = Moto { process, address };
        let since = Instant::now();
        while !moto
            .answers("PUT /fleet HTTP/1.1\r\nHost: s3\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        {
            assert!(since.elapsed() < Duration::from_secs(120), "moto does not answer");
            std::thread::sleep(Duration::from_millis(100));
        }
        Some(moto)
    }

    fn answers(&self, request: &str) -> bool {
        let Ok(mut stream) = TcpStream::connect(self.address) else {
            return false;
        };
        let mut answer = String::new();
        stream.write_all(request.as_bytes()).is_ok()
            && stream.read_to_string(&mut answer).is_ok()
            && answer.starts_with("HTTP/1.1 200")
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// For a command that talks to such a server, or to a proxy before it.
pub fn s3(command: &mut Command, address: SocketAddr) -> &mut Command {
    command
        .env("AWS_ENDPOINT_URL", format!("http://{address}"))
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("AWS_REGION", "us-east-1")
}
