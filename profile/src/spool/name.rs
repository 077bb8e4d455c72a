//! Names of windows.

use std::fmt;
use std::path::Path;

/// What a window is known by: its recording and its number in there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WindowName {
    /// 32 hex digits.
    pub jvm_id: String,
    /// From 1.
    pub number: u64,
}

impl WindowName {
    /// The name of a file, if it is one of a window.
    pub fn of(file: &Path) -> Option<WindowName> {
        let stem = file.file_name()?.to_str()?.strip_suffix(".trodden")?;
        let (jvm_id, number) = stem.split_once('-')?;
        let hex = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
        let good = jvm_id.len() == 32 && jvm_id.bytes().all(hex);
        let digits = number.len() >= 8 && number.bytes().all(|c| c.is_ascii_digit());
        let number = number
            .parse()
            .ok()
            .filter(|&number: &u64| good && digits && number > 0)?;
        let name = WindowName {
            jvm_id: jvm_id.to_owned(),
            number,
        };
        // With more digits than needed it would be another name of the same window.
        (name.to_string() == file.file_name()?.to_str()?).then_some(name)
    }
}

/// The file's name.
impl fmt::Display for WindowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{:08}.trodden", self.jvm_id, self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        let id = "0123456789abcdef0123456789abcdef";
        for number in [1, 99_999_999, 100_000_000] {
            let name = WindowName {
                jvm_id: id.to_owned(),
                number,
            };
            let file = format!("some/folder/{name}");
            assert_eq!(WindowName::of(Path::new(&file)), Some(name));
        }
        for other in [
            format!("{id}-00000000.trodden"),
            format!("{id}-1.trodden"),
            format!("{id}-000000001.trodden"),
            format!("{id}-00000001.trodden.hmac"),
            format!("{}-00000001.trodden", &id[1..]),
            format!("{}-00000001.trodden", id.to_uppercase()),
            format!("{id}-+0000001.trodden"),
            "trodden-1.trodden".to_owned(),
        ] {
            assert_eq!(WindowName::of(Path::new(&other)), None, "{other}");
        }
    }
}
