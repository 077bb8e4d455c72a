//! HMACs of windows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::build::hex;

/// What the name of a file with an HMAC has behind its window's.
pub const HMAC_END: &str = ".hmac";
/// The shortest key, in bytes.
pub const MIN_KEY: usize = 16;

/// A key for HMACs.
#[derive(Clone)]
pub struct Key {
    inner: Sha256,
    outer: Sha256,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Its file cannot be read.
    #[error("{}: the key cannot be read: {source}", .file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// A short key is guessed.
    #[error("{}: the key has {bytes} bytes; it takes at least {MIN_KEY}", .file.display())]
    Short {
        /// The file.
        file: PathBuf,
        /// Its length without a last newline.
        bytes: usize,
    },
}

impl Key {
    /// Reads a key: the bytes of a file, without a newline at its end, if there is one.
    ///
    /// # Errors
    /// If it cannot be read, or is too short.
    pub fn read(file: &Path) -> Result<Key, KeyError> {
        let bytes = fs::read(file).map_err(|source| KeyError::Read {
            file: file.to_owned(),
            source,
        })?;
        let key = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        if key.len() < MIN_KEY {
            return Err(KeyError::Short {
                file: file.to_owned(),
                bytes: key.len(),
            });
        }
        Ok(Key::of(key))
    }

    /// The key of these bytes (RFC 2104).
    pub(super) fn of(key: &[u8]) -> Key {
        let mut block = [0u8; 64];
        if key.len() <= block.len() {
            block[..key.len()].copy_from_slice(key)
        } else {
            block[..32].copy_from_slice(&Sha256::digest(key))
        }
        let padded = |pad: u8| Sha256::new_with_prefix(block.map(|byte| byte ^ pad));
        Key {
            inner: padded(0x36),
            outer: padded(0x5c),
        }
    }

    /// The HMAC-SHA-256 of bytes: 64 hex digits.
    pub fn hmac(&self, bytes: &[u8]) -> String {
        let inner = self.inner.clone().chain_update(bytes).finalize();
        hex(&self.outer.clone().chain_update(inner).finalize())
    }

    /// Is this the HMAC of these bytes? White space around it does not matter. How long it takes does not depend on how much of it
    /// is right.
    pub(super) fn is_hmac(&self, bytes: &[u8], code: &str) -> bool {
        let (own, code) = (self.hmac(bytes), code.trim().to_ascii_lowercase());
        let differ = own.bytes().zip(code.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        own.len() == code.len() && differ == 0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 4231, test cases 1, 6 and 2.
    #[test]
    fn the_hmacs_are_those_of_the_rfc() {
        let one = Key::of(&[0x0b; 20]).hmac(b"Hi There");
        assert_eq!(
            one,
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        // Longer than a block.
        let six = Key::of(&[0xaa; 131]).hmac(b"Test Using Larger Than Block-Size Key - Hash Key First");
        assert_eq!(
            six,
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
        let two = Key::of(b"Jefe");
        let text = b"what do ya want for nothing?";
        let code = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843";
        assert_eq!(two.hmac(text), code);
        assert!(two.is_hmac(text, &format!("{code}\n")) && two.is_hmac(text, &code.to_uppercase()));
        for wrong in [
            "",
            "5b",
            &code[1..],
            &code.replace('5', "6"),
            &format!("+{}", &code[1..]),
        ] {
            assert!(!two.is_hmac(text, wrong), "{wrong}");
        }
    }

    #[test]
    fn short_and_missing_keys_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key");
        assert!(matches!(Key::read(&file), Err(KeyError::Read { .. })));
        fs::write(&file, "0123456789abcde\n").unwrap();
        assert!(matches!(Key::read(&file), Err(KeyError::Short { bytes: 15, .. })));
        fs::write(&file, "0123456789abcdef\n").unwrap();
        let key = Key::read(&file).unwrap();
        assert_eq!(key.hmac(b"x"), Key::of(b"0123456789abcdef").hmac(b"x"));
    }
}
