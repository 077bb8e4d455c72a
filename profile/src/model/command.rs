//! The command line of a program, without what may be secret in it.

/// Put in place of values.
const CUT: &str = "…";

/// A command line with the values of its options cut: the main class or jar and the words up to the first option are kept,
/// from there on only names of options (`--token=…`). As the JVM joins arguments by spaces, a value may be several words.
pub fn without_values(command: &str) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut options = false;
    for (index, word) in command.split(' ').enumerate() {
        let is_option = index > 0 && word.starts_with('-') && word.len() > 1;
        let kept = match word.split_once('=') {
            Some((name, _)) if index > 0 && (is_option || !options) => format!("{name}={CUT}"),
            _ if is_option || !options && !word.contains("://") => word.to_owned(),
            _ => CUT.to_owned(),
        };
        options |= is_option || kept.ends_with(CUT);
        if kept != CUT || out.last().is_none_or(|last| !last.ends_with(CUT)) {
            out.push(kept);
        }
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_cut() {
        for (command, kept) in [
            ("", ""),
            ("shop.Main", "shop.Main"),
            ("shop.Main serve", "shop.Main serve"),
            (
                "shop.Main serve --port 80 --token=s3cret -p a b",
                "shop.Main serve --port … --token=… -p …",
            ),
            // A value with spaces: none of its words is kept.
            (
                "shop.Main --greeting=good morning sir -v",
                "shop.Main --greeting=… -v",
            ),
            ("lib/shop.jar user=me password=hunter2 x", "lib/shop.jar user=…"),
            ("shop.Main https://me:hunter2@shop/ x", "shop.Main …"),
            ("shop.Main - 1500 30", "shop.Main - 1500 30"),
            // A folder's name is no option.
            ("/opt/a=b/shop.jar serve", "/opt/a=b/shop.jar serve"),
        ] {
            assert_eq!(without_values(command), kept, "{command}");
        }
    }
}
