//! Signatures of jars: known, and taken off.

/// True if this entry is part of a jar's signature.
pub fn is_signature(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    match name.strip_prefix("META-INF/") {
        Some(file) if !file.contains('/') => {
            file.starts_with("SIG-")
                || [".SF", ".RSA", ".DSA", ".EC"]
                    .iter()
                    .any(|end| file.ends_with(end))
        }
        _ => false,
    }
}

/// The manifest without entries' digests, and without sections that held nothing else.
pub fn strip_manifest(manifest: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(manifest.len());
    for (index, section) in sections(manifest).into_iter().enumerate() {
        let kept: Vec<&Vec<u8>> = section.iter().filter(|attribute| !is_digest(attribute)).collect();
        let only_name = kept.len() == 1 && has_name(kept[0], b"name");
        if index > 0 && (only_name && kept.len() < section.len() || kept.is_empty()) {
            continue;
        }
        kept.into_iter()
            .for_each(|attribute| out.extend_from_slice(attribute));
        out.extend_from_slice(b"\r\n");
    }
    out
}

/// Sections of attributes, each with its continuation lines and line ends.
fn sections(manifest: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let mut sections: Vec<Vec<Vec<u8>>> = vec![Vec::new()];
    for line in manifest.split_inclusive(|&b| b == b'\n') {
        let blank = line.iter().all(|b| matches!(b, b'\r' | b'\n'));
        let Some(section) = sections.last_mut() else { break };
        match section.last_mut() {
            None if blank => {}
            _ if blank => sections.push(Vec::new()),
            Some(attribute) if line.starts_with(b" ") => attribute.extend_from_slice(line),
            _ => section.push(line.to_vec()),
        }
    }
    sections.retain(|section| !section.is_empty());
    sections
}

fn attribute_name(attribute: &[u8]) -> Vec<u8> {
    let end = attribute
        .iter()
        .position(|&b| b == b':')
        .unwrap_or(attribute.len());
    attribute[..end].to_ascii_lowercase()
}

fn has_name(attribute: &[u8], name: &[u8]) -> bool {
    attribute_name(attribute) == name
}

fn is_digest(attribute: &[u8]) -> bool {
    let name = attribute_name(attribute);
    name.ends_with(b"-digest") || name.windows(8).any(|part| part == b"-digest-") || name == b"magic"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signature_files_are_known() {
        for name in [
            "META-INF/A.SF",
            "META-INF/a.rsa",
            "META-INF/X.EC",
            "meta-inf/SIG-1",
        ] {
            assert!(is_signature(name), "{name}");
        }
        for name in ["META-INF/MANIFEST.MF", "META-INF/sub/A.SF", "A.SF", "META-INF/sf"] {
            assert!(!is_signature(name), "{name}");
        }
    }

    #[test]
    fn digests_go_and_the_rest_stays() {
        let manifest = b"Manifest-Version: 1.0\r\nMain-Class: a.very.long\r\n .Name\r\n\r\n\
            Name: a/B.class\r\nSHA-256-Digest: abc\r\n def\r\n\r\n\
            Name: a/\r\nSealed: true\r\nSHA-256-Digest: x\r\n\r\nName: plain\r\n\r\n";
        let expected = "Manifest-Version: 1.0\r\nMain-Class: a.very.long\r\n .Name\r\n\r\n\
            Name: a/\r\nSealed: true\r\n\r\nName: plain\r\n\r\n";
        assert_eq!(String::from_utf8(strip_manifest(manifest)).unwrap(), expected);
    }
}
