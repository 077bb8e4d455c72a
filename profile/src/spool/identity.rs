//! Who a JVM is among many, and whether it records.

use std::fs::{self, File};
use std::io::Read;
use std::num::NonZeroU32;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};

use super::build::hex;

/// The name of this host; `unknown` if the system does not tell.
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim_end() {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

/// A new `jvm_id`: 128 random bits as 32 hex digits.
///
/// # Errors
/// If the system has no random numbers.
pub fn new_jvm_id() -> std::io::Result<String> {
    let mut bytes = [0u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}

/// The running program: the first word of the command line that a JVM reports (`sun.java.command`), which is a main class,
/// a module's one or a jar. It is a jar's name without folder, and a module's class.
pub fn service_of(command: &str) -> String {
    let main = command.split(' ').next().unwrap_or_default();
    match main.rsplit('/').next() {
        None | Some("") => "unknown".to_owned(),
        Some(name) => name.to_owned(),
    }
}

/// A draw that holds for some time: one host in `of`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The host.
    pub host: String,
    /// One in this number is drawn.
    pub of: NonZeroU32,
    /// How long a draw holds: a day of UTC by default. At least a second.
    pub holds: Duration,
}

impl Draw {
    /// Is the host drawn at this time? The first 64 bits (big-endian) of the SHA-256 of a text, taken modulo `of`, are 0. The text is
    /// `trodden fleet 1`, the host, and the number of draws since 1970-01-01 UTC (of days, that is), each with a newline.
    pub fn is_drawn(&self, now: SystemTime) -> bool {
        let text = format!("trodden fleet 1\n{}\n{}\n", self.host, self.number(now));
        let hash: [u8; 32] = Sha256::digest(text).into();
        let first = hash[..8]
            .iter()
            .fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
        first % u64::from(self.of.get()) == 0
    }

    /// How long this draw holds from now on.
    pub fn rest(&self, now: SystemTime) -> Duration {
        let next = (self.number(now) + 1).saturating_mul(self.holds.as_secs().max(1));
        Duration::from_secs(next).saturating_sub(since_1970(now))
    }

    fn number(&self, now: SystemTime) -> u64 {
        since_1970(now).as_secs() / self.holds.as_secs().max(1)
    }
}

fn since_1970(now: SystemTime) -> Duration {
    now.duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn draw(host: &str, of: u32) -> Draw {
        Draw {
            host: host.to_owned(),
            of: NonZeroU32::new(of).unwrap(),
            holds: Duration::from_secs(86_400),
        }
    }

    /// The expected ones by `printf 'trodden fleet 1\nHOST\nDAY\n' | sha256sum`.
    #[test]
    fn the_draw_is_the_documented_one() {
        // Hashes that begin with 783a65702fb7f5db, 71432af07750ac5d and 87a29c12393e6278.
        for (host, of, drawn) in [
            ("web-7", 1, true),
            ("web-7", 2, false),
            ("web-8", 4, false),
            ("host-12", 8, true),
            ("host-12", 16, false),
        ] {
            for second in [0, 86_399] {
                let now = at(20_782 * 86_400 + second);
                assert_eq!(draw(host, of).is_drawn(now), drawn, "{host} 1/{of}");
            }
        }
    }

    #[test]
    fn one_in_so_many_is_drawn() {
        assert!(draw("any", 1).is_drawn(at(0)));
        let drawn = (0..20_000).filter(|host| draw(&format!("host-{host}"), 100).is_drawn(at(1_700_000_000)));
        let count = drawn.count();
        // Binomial: 200 with a standard deviation of 14.
        assert!((130..270).contains(&count), "{count}");
        let days = (0..20_000)
            .filter(|day| draw("host", 100).is_drawn(at(day * 86_400)))
            .count();
        assert!((130..270).contains(&days), "{days}");
    }

    #[test]
    fn a_draw_holds_until_the_day_ends() {
        let draw = draw("host", 3);
        assert_eq!(draw.rest(at(86_400 * 5)), Duration::from_secs(86_400));
        assert_eq!(draw.rest(at(86_400 * 5 + 86_399)), Duration::from_secs(1));
    }

    #[test]
    fn services_are_named_by_what_was_started() {
        for (command, service) in [
            ("com.acme.Main --port 80", "com.acme.Main"),
            ("/opt/app/shop-1.2.jar --port 80", "shop-1.2.jar"),
            ("shop/com.acme.Main", "com.acme.Main"),
            ("", "unknown"),
        ] {
            assert_eq!(service_of(command), service);
        }
    }

    #[test]
    fn ids_differ() {
        let (a, b) = (new_jvm_id().unwrap(), new_jvm_id().unwrap());
        assert!(a != b && a.len() == 32, "{a} {b}");
    }
}
