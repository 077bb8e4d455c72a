//! Code of Kotlin's inline functions, which stands in the methods that call them: the class's SourceDebugExtension (JSR 45)
//! says from which line on.
//!
//! kotlinc gives inlined code line numbers behind the end of the file, and a table that leads from these to the
//! file that they come from. As in JaCoCo, what has such a line is not of this source.

use super::Findings;
use crate::decide::Known;

pub fn find(known: &Known, findings: &mut Findings) {
    let mut attributes = known.class.attributes();
    let Some(table) = attributes.find(|a| a.name == b"SourceDebugExtension") else {
        return;
    };
    let own = known.class.source_file.unwrap_or_default();
    let text = String::from_utf8_lossy(table.content);
    let Some(first) = first_inlined(
        &text,
        &String::from_utf8_lossy(own),
        &String::from_utf8_lossy(known.class.name),
    ) else {
        return;
    };
    let map = known.map;
    for (index, block) in map.blocks.iter().enumerate() {
        let begin = map.line(block.start).into_iter();
        let within = map
            .lines
            .iter()
            .filter(|entry| (block.start..block.end).contains(&entry.bci));
        let mut lines = begin.chain(within.map(|entry| entry.line)).peekable();
        if lines.peek().is_some() && lines.all(|line| line >= first) {
            findings.block(index);
        } else if known.line_of(index).is_some_and(|line| line >= first) {
            findings.branch(index);
        }
    }
}

/// The first line number that stands for code of another file or class, in a source map of Kotlin.
fn first_inlined(table: &str, own_file: &str, own_class: &str) -> Option<u32> {
    // SMAP, the file's name, the default stratum; then strata, each with files (*F) and lines (*L).
    let mut lines = table.lines().skip_while(|line| *line != "*S Kotlin").skip(1);
    let mut own_ids: Vec<&str> = Vec::new();
    let mut part = "";
    let mut first: Option<u32> = None;
    while let Some(line) = lines.next() {
        match line {
            "*F" | "*L" => part = line,
            _ if line.starts_with('*') => break,
            _ if part == "*F" => {
                // `+ 1 Shop.kt`, and the class in the next line.
                let Some(file) = line.strip_prefix("+ ") else {
                    continue;
                };
                let (id, name) = file.split_once(' ')?;
                let class = lines.next()?;
                if name == own_file && class == own_class {
                    own_ids.push(id);
                }
            }
            _ => {
                // `7#2,3:120`: three lines from line 7 of file 2 on have the numbers 120, 121, 122 here.
                let (from, to) = line.split_once(':')?;
                let id = from.split_once('#')?.1.split(',').next()?;
                let number = to.split(',').next()?.parse().ok()?;
                if !own_ids.contains(&id) {
                    first = Some(first.map_or(number, |first| first.min(number)));
                }
            }
        }
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_of_another_file() {
        let table = "SMAP\nShop.kt\nKotlin\n*S Kotlin\n*F\n+ 1 Shop.kt\ndemo/ShopKt\n+ 2 _Collections.kt\nkotlin/CollectionsKt\n\
                     *L\n1#1,20:1\n774#2:21\n865#2,2:22\n*S KotlinDebug\n*F\n+ 1 Shop.kt\ndemo/ShopKt\n*L\n7#1:21\n*E";
        assert_eq!(first_inlined(table, "Shop.kt", "demo/ShopKt"), Some(21));
        // A function of another class in the same file is inlined code as well.
        assert_eq!(first_inlined(table, "Shop.kt", "demo/Other"), Some(1));
        assert_eq!(
            first_inlined(
                "SMAP\nShop.kt\nKotlin\n*S Kotlin\n*F\n+ 1\n*L\n",
                "Shop.kt",
                "demo/ShopKt"
            ),
            None
        );
        assert_eq!(first_inlined("", "Shop.kt", "demo/ShopKt"), None);
    }
}
