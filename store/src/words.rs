//! Numbers in sentences.

use trodden_report::thousands;

/// `1 window`, `2,000 windows`.
pub(crate) fn several(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {what}{plural}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::several;

    #[test]
    fn numbers_of_things() {
        assert_eq!(several(1, "window"), "1 window");
        assert_eq!(several(1_234_567, "window"), "1,234,567 windows");
        assert_eq!(several(0, "file"), "0 files");
    }
}
