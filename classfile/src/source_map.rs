//! The SourceDebugExtension attribute as Kotlin writes it (JSR 45): which line numbers of a class represent
//! code that was inlined, where that comes from, and where it was called.
//!
//! kotlinc gives inlined code line numbers past the end of the file. The stratum `Kotlin` leads from these
//! to the file, class and line that the code comes from, `KotlinDebug` to the line of this file that has the
//! call.

/// The line numbers of one class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap<'t> {
    /// Inlined code, in the table's order.
    inlined: Vec<Range<'t>>,
    /// Calls of it.
    calls: Vec<Range<'t>>,
}

/// Where a line number of the class leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin<'t> {
    /// Name of the source file, without folders.
    pub file: &'t str,
    /// Internal name of the class that the code was written in.
    pub class: &'t str,
    /// Line of that file.
    pub line: u32,
}

/// A run of lines, each with the same number of line numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range<'t> {
    from: Origin<'t>,
    lines: u32,
    /// First number in the class.
    to: u32,
    /// Numbers per line.
    each: u32,
}

impl<'t> Range<'t> {
    fn origin(&self, number: u32) -> Option<Origin<'t>> {
        let behind = number.checked_sub(self.to)?;
        let line = behind.checked_div(self.each)?;
        (line < self.lines).then(|| Origin {
            line: self.from.line.saturating_add(line),
            ..self.from
        })
    }
}

impl<'t> SourceMap<'t> {
    /// Reads the table of a class with this internal name. What cannot be read is left out.
    pub fn read(text: &'t str, class: &str) -> Self {
        let mut map = SourceMap::default();
        let (mut stratum, mut part) = ("", "");
        let mut files: Vec<(&str, &str, &str)> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            if let Some(name) = line.strip_prefix("*S ") {
                (stratum, part) = (name, "");
                files.clear();
            } else if line.starts_with('*') {
                part = line;
            } else if part == "*F" {
                // `+ 1 Shop.kt`, and the class in the next line; `1 Shop.kt` has none.
                let (entry, path) = match line.strip_prefix("+ ") {
                    Some(entry) => (entry, lines.next().unwrap_or_default()),
                    None => (line, ""),
                };
                if let Some((id, file)) = entry.split_once(' ') {
                    files.push((id, file, path));
                }
            } else if part == "*L"
                && let Some(range) = range(line, &files)
            {
                match stratum {
                    // The file's own lines map to themselves.
                    "Kotlin" if range.from.class == class && range.from.line == range.to => {}
                    "Kotlin" => map.inlined.push(range),
                    "KotlinDebug" => map.calls.push(range),
                    _ => {}
                }
            }
        }
        map
    }

    /// Returns true if it lists no inlined code.
    pub fn is_empty(&self) -> bool {
        self.inlined.is_empty()
    }

    /// Where code with this line number was inlined from; `None` if it is the file's own.
    pub fn inlined(&self, number: u32) -> Option<Origin<'t>> {
        self.inlined.iter().find_map(|range| range.origin(number))
    }

    /// The line with the call that was replaced by the code with this line number.
    pub fn call(&self, number: u32) -> Option<Origin<'t>> {
        self.calls.iter().find_map(|range| range.origin(number))
    }
}

/// `7#2,3:120,1`: three lines from line 7 of file 2 on have one number each, from 120 on. All but the first
/// number and the one behind the colon may be left out.
fn range<'t>(line: &'t str, files: &[(&str, &'t str, &'t str)]) -> Option<Range<'t>> {
    let (from, to) = line.split_once(':')?;
    let (from, lines) = from.split_once(',').unwrap_or((from, "1"));
    let (from, id) = from.split_once('#').unwrap_or((from, ""));
    let (to, each) = to.split_once(',').unwrap_or((to, "1"));
    // Without an id it is the file of the line before: kotlinc always writes one.
    let &(_, file, class) = files.iter().find(|&&(known, ..)| known == id)?;
    Some(Range {
        from: Origin {
            file,
            class,
            line: from.parse().ok()?,
        },
        lines: lines.parse().ok()?,
        to: to.parse().ok()?,
        each: each.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHOP: &str = "SMAP\nShop.kt\nKotlin\n*S Kotlin\n*F\n+ 1 Shop.kt\ndemo/ShopKt\n+ 2 _Collections.kt\nkotlin/CollectionsKt\n\
                        *L\n1#1,20:1\n774#2:21\n865#2,2:22\n7#1:24\n*S KotlinDebug\n*F\n+ 1 Shop.kt\ndemo/ShopKt\n*L\n7#1:21\n\
                        9#1:22,2\n12#1:24\n*E";

    #[test]
    fn inlined_lines_and_their_calls() {
        let map = SourceMap::read(SHOP, "demo/ShopKt");
        let of = |number| map.inlined(number).map(|o| (o.file, o.class, o.line));
        assert_eq!(of(20), None);
        assert_eq!(of(21), Some(("_Collections.kt", "kotlin/CollectionsKt", 774)));
        assert_eq!(of(23), Some(("_Collections.kt", "kotlin/CollectionsKt", 866)));
        // A function of the same file.
        assert_eq!(of(24), Some(("Shop.kt", "demo/ShopKt", 7)));
        assert_eq!(of(25), None);
        let calls = [20, 21, 22, 23, 24].map(|number| map.call(number).map(|o| o.line));
        assert_eq!(calls, [None, Some(7), Some(9), Some(9), Some(12)]);
    }

    #[test]
    fn lines_of_another_class_of_the_file_are_inlined() {
        let map = SourceMap::read(SHOP, "demo/Other");
        assert_eq!(map.inlined(3).map(|o| o.line), Some(3));
    }

    #[test]
    fn what_is_no_table_says_nothing() {
        let bad = [
            "",
            "SMAP\n*S Kotlin\n*F\n+ 1",
            "*S Kotlin\n*F\n+ 1 A.kt\nA\n*L\nx#1:3\n1#9:4\n1:5\n1#1,99999999999:6\n2#1:7,x\n",
            "*S Other\n*F\n+ 1 A.kt\nB\n*L\n1#1:5\n",
        ];
        for table in bad {
            assert!(SourceMap::read(table, "A").is_empty(), "{table}");
        }
        let zero = SourceMap::read("*S Kotlin\n*F\n+ 1 A.kt\nB\n*L\n1#1:5,0\n", "A");
        assert_eq!(zero.inlined(5), None);
    }
}
