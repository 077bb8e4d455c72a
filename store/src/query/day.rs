//! Days, as `DATE` columns have them.

use std::fmt::{self, Display};
use std::str::FromStr;

use chrono::{Days, NaiveDate};

/// A day (UTC): days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub i32);

impl Day {
    /// So many days earlier.
    pub fn before(self, days: u32) -> Day {
        Day(self.0.saturating_sub_unsigned(days))
    }
}

impl Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let epoch = NaiveDate::default();
        let days = Days::new(self.0.unsigned_abs().into());
        let date = match self.0 < 0 {
            true => epoch.checked_sub_days(days),
            false => epoch.checked_add_days(days),
        };
        match date {
            Some(date) => write!(f, "{}", date.format("%Y-%m-%d")),
            None => write!(f, "day {}", self.0),
        }
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let date = NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
        let date = date.ok_or_else(|| format!("'{text}' is no day; one looks like 2026-11-25"))?;
        Ok(Day(date.signed_duration_since(NaiveDate::default()).num_days() as i32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_as_they_are_written() {
        for text in ["1970-01-01", "1969-12-31", "2026-11-25", "2024-02-29"] {
            assert_eq!(text.parse::<Day>().unwrap().to_string(), text);
        }
        assert_eq!("1970-01-31".parse(), Ok(Day(30)));
        assert_eq!("2026-11-25".parse::<Day>().unwrap().before(25).to_string(), "2026-10-31");
        assert!("2026-02-30".parse::<Day>().is_err());
        assert!("yesterday".parse::<Day>().unwrap_err().contains("2026-11-25"));
    }
}
