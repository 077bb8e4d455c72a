//! What the fuzz targets share. A `.trodden` file and a trace have the same frame.

/// Makes the checksums of all whole sections right, so that mutations get past them.
#[must_use]
pub fn mend(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let mut at = 10;
    while let Some(header) = out.get(at..at + 17) {
        let stored = u32::from_le_bytes([header[5], header[6], header[7], header[8]]) as usize;
        let end = at.saturating_add(17).saturating_add(stored);
        let Some(body) = out.get(at + 17..end) else { break };
        let mut crc = crc32fast::Hasher::new();
        crc.update(&header[..13]);
        crc.update(body);
        let crc = crc.finalize().to_le_bytes();
        out[at + 13..at + 17].copy_from_slice(&crc);
        at = end;
    }
    out
}
