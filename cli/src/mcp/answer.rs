//! Texts in pieces that fit into a conversation.

/// Characters of a piece: about 2,000 tokens of three and a half.
const MAX_CHARS: usize = 6_800;
/// Characters of a line.
const MAX_LINE: usize = 400;

/// The piece of a text that begins with a line, the first of which is 0. Its last line says how to get the
/// next piece.
pub fn piece(text: &str, from: usize) -> String {
    let all = text.lines().count();
    let mut out = String::new();
    let mut next = from;
    for line in text.lines().skip(from) {
        let short: String = line.chars().take(MAX_LINE).collect();
        let cut = if short.len() < line.len() { "…" } else { "" };
        if next > from && out.chars().count() + short.chars().count() > MAX_CHARS {
            break;
        }
        out += &format!("{short}{cut}\n");
        next += 1;
    }
    if next < all {
        out += &format!("… {} more lines: ask again with cursor {next}\n", all - next);
    } else if from > 0 && from >= all {
        out += &format!("no more: the answer has {all} lines\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_text() {
        let lines: Vec<String> = (0..1000)
            .map(|i| format!("line {i} {}", "x".repeat(i % 90)))
            .collect();
        let text = lines.join("\n");
        let (mut from, mut found) = (0, Vec::new());
        loop {
            let piece = piece(&text, from);
            assert!(piece.chars().count() < MAX_CHARS + 100);
            let mut parts: Vec<&str> = piece.lines().collect();
            let last = parts.pop().unwrap();
            found.extend(parts.iter().map(|line| line.to_string()));
            match last.split_once("cursor ") {
                Some((_, cursor)) => from = cursor.parse().unwrap(),
                None => {
                    found.push(last.to_owned());
                    break;
                }
            }
        }
        assert_eq!(found, lines);
        assert_eq!(piece("a\nb", 2), "no more: the answer has 2 lines\n");
        assert_eq!(piece("", 0), "");
        assert!(piece(&"y".repeat(50_000), 0).chars().count() < MAX_LINE + 10);
    }
}
