//! Names of results that stay the same from build to build.

use sha2::{Digest, Sha256};

/// The fingerprint of a result: a hash of the parts that make it what it is, none of which is a line number,
/// and its position among equals.
pub fn fingerprint(parts: &[&str], position: usize) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part.as_bytes());
        // No text of a class file has this character.
        hash.update([0]);
    }
    let hash = hash.finalize();
    let digits: String = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}:{}", position + 1)
}
