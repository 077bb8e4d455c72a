//! A store in an object store, which is a small server of this test that speaks as much S3 as is needed.

mod common;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use common::*;
use percent_encoding::percent_decode_str;
use tempfile::TempDir;

#[derive(Default)]
struct Server {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Number of requests that are answered with 503 before any is served.
    busy: AtomicU32,
    requests: AtomicU32,
}

impl Server {
    /// Serves from now on; its URL.
    fn start(self: &Arc<Self>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = Arc::clone(self);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                std::thread::spawn(move || server.serve(stream));
            }
        });
        url
    }

    fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(stream.try_clone().ok()?);
        let mut first = String::new();
        reader.read_line(&mut first).ok()?;
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            headers.insert(name.to_lowercase(), value.trim().to_owned());
        }
        let length = headers
            .get("content-length")
            .and_then(|text| text.parse().ok())
            .unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        self.requests.fetch_add(1, Ordering::SeqCst);
        let mut words = first.split(' ');
        let (method, target) = (words.next()?, words.next()?);
        let (status, answer) = match self
            .busy
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |busy| busy.checked_sub(1))
        {
            Ok(_) => ("503 Slow Down", Vec::new()),
            Err(_) => self.answer(method, target, &headers, body),
        };
        let mut stream = stream;
        let length = answer.len();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nETag: \"{length}\"\r\nLast-Modified: Wed, 25 Nov 2026 00:00:00 GMT\r\n\
             Connection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(&answer).ok()
    }

    fn answer(
        &self,
        method: &str,
        target: &str,
        headers: &BTreeMap<String, String>,
        body: Vec<u8>,
    ) -> (&'static str, Vec<u8>) {
        let decode = |text: &str| {
            percent_decode_str(&text.replace('+', " "))
                .decode_utf8_lossy()
                .into_owned()
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let key = decode(path.strip_prefix("/bucket").unwrap_or("").trim_start_matches('/'));
        let query: BTreeMap<&str, String> = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
            .map(|(name, value)| (name, decode(value)))
            .collect();
        let mut objects = self.objects.lock().unwrap();
        match method {
            "GET" if key.is_empty() => {
                let prefix = query.get("prefix").map_or("", String::as_str);
                let after = query.get("start-after").map_or("", String::as_str);
                let mut text = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
                for (key, bytes) in objects
                    .iter()
                    .filter(|(key, _)| key.starts_with(prefix) && key.as_str() > after)
                {
                    text += &format!(
                        "<Contents><Key>{key}</Key><LastModified>2026-11-25T00:00:00.000Z</LastModified><ETag>\"e\"</ETag>\
                         <Size>{}</Size></Contents>",
                        bytes.len()
                    );
                }
                ("200 OK", (text + "</ListBucketResult>").into_bytes())
            }
            "GET" => match objects.get(&key) {
                Some(bytes) => ("200 OK", bytes.clone()),
                None => ("404 Not Found", Vec::new()),
            },
            "PUT"
                if headers.get("if-none-match").is_some_and(|value| value == "*")
                    && objects.contains_key(&key) =>
            {
                ("412 Precondition Failed", Vec::new())
            }
            "PUT" => {
                objects.insert(key, body);
                ("200 OK", Vec::new())
            }
            "POST" if query.contains_key("delete") => {
                let text = String::from_utf8(body).unwrap();
                let mut answer = "<DeleteResult>".to_owned();
                for part in text.split("<Key>").skip(1) {
                    let key = part.split("</Key>").next().unwrap();
                    objects.remove(key);
                    answer += &format!("<Deleted><Key>{key}</Key></Deleted>");
                }
                ("200 OK", (answer + "</DeleteResult>").into_bytes())
            }
            _ => ("501 Not Implemented", Vec::new()),
        }
    }
}

fn run(folder: &TempDir, url: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = Command::new(env!("CARGO_BIN_EXE_trodden-store"))
        .args(arguments)
        .current_dir(folder.path())
        .env("AWS_ENDPOINT_URL", url)
        .env("AWS_ALLOW_HTTP", "true")
        .env("AWS_REGION", "eu-central-1")
        .env("AWS_ACCESS_KEY_ID", "test")
        .env("AWS_SECRET_ACCESS_KEY", "test")
        .env("TRODDEN_STORE_TIMEOUT", "0.5")
        .env("TRODDEN_STORE_RETRY", "3")
        .env_remove("HTTP_PROXY")
        .env_remove("http_proxy")
        .output()
        .unwrap();
    (
        status.code(),
        String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned(),
    )
}

#[test]
fn a_store_in_a_bucket() {
    let folder = TempDir::new().unwrap();
    let of = fixture("counters");
    for window in 1..=6 {
        let window = Window {
            service: "shop / é=1%",
            ..Window::new(1, window, 20_000 * 24 * HOUR)
        };
        window.save(&of, folder.path());
    }
    let server = Arc::new(Server::default());
    let url = server.start();
    let store = "s3://bucket/some/prefix";
    let (code, text) = run(&folder, &url, &["ls", store]);
    assert!(code == Some(1) && text.contains("there is no store"), "{text}");
    let first = format!("{:032x}-{:08}.trodden", 1, 1);
    let (code, text) = run(&folder, &url, &["add", "--create", store, &first]);
    assert!(code == Some(0) && text.contains("1 window came in"), "{text}");
    // A server that has much to do is asked again.
    server.busy.store(3, Ordering::SeqCst);
    let (code, text) = run(&folder, &url, &["add", store, "."]);
    assert!(
        code == Some(0) && text.contains("5 windows came in") && text.contains("1 window was there"),
        "{text}"
    );
    assert!(
        server
            .objects
            .lock()
            .unwrap()
            .keys()
            .all(|key| key.starts_with("some/prefix/"))
    );
    for arguments in [
        &["verify", store][..],
        &["compact", store, "--to", "day", "--vacuum", "--keep", "0s"],
        &["verify", store],
    ] {
        let (code, text) = run(&folder, &url, arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {text}");
    }
    let (_, text) = run(&folder, &url, &["ls", store]);
    assert!(text.contains("6 windows in 8 files"), "{text}");
    // Eight files, three commits and the root; what was replaced is gone.
    assert_eq!(server.objects.lock().unwrap().len(), 8 + 3 + 1);
}

#[test]
fn servers_that_do_not_answer() {
    let folder = TempDir::new().unwrap();
    // No connection is accepted, and none is answered.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let (code, text) = run(&folder, &url, &["ls", "s3://bucket/x"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("s3://bucket/x: cannot read trodden-store.json"),
        "{text}"
    );
    drop(silent);
    let (code, text) = run(&folder, &url, &["ls", "s3://bucket/x"]);
    assert_eq!(code, Some(1), "{text}");
    // Always busy.
    let server = Arc::new(Server::default());
    server.busy.store(u32::MAX, Ordering::SeqCst);
    let (code, text) = run(&folder, &server.start(), &["ls", "s3://bucket/x"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(server.requests.load(Ordering::SeqCst) > 1);
}
