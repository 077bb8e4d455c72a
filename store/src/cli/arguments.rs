//! Values of options, read from texts.

use std::time::Duration;

/// Why the value of an option makes no sense.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum WrongValue {
    #[error("it is empty")]
    Empty,
    #[error("a label is KEY=VALUE")]
    Label,
    #[error("a parameter is given as NAME=VALUE")]
    Param,
    #[error("'{0}' is no time, such as 90s, 15m, 12h or 7d")]
    Time(String),
}

pub(super) fn name(text: &str) -> Result<String, WrongValue> {
    if text.is_empty() {
        Err(WrongValue::Empty)
    } else {
        Ok(text.to_owned())
    }
}

/// `KEY=VALUE`, the value of a label.
pub(super) fn label(text: &str) -> Result<(String, String), WrongValue> {
    let parts = text.split_once('=').filter(|(key, _)| !key.is_empty());
    let (key, value) = parts.ok_or(WrongValue::Label)?;
    Ok((key.to_owned(), value.to_owned()))
}

/// `NAME=VALUE`, the value of a parameter.
pub(super) fn param(text: &str) -> Result<(String, String), WrongValue> {
    let (name, value) = text.split_once('=').ok_or(WrongValue::Param)?;
    Ok((name.to_owned(), value.to_owned()))
}

/// `90s`, `15m`, `12h`, `7d`.
pub(super) fn time(text: &str) -> Result<Duration, WrongValue> {
    let wrong = || WrongValue::Time(text.to_owned());
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3_600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = text[..text.len() - 1].parse().map_err(|_| wrong())?;
    number
        .checked_mul(seconds)
        .map(Duration::from_secs)
        .ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(time("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(time("2d"), Ok(Duration::from_secs(172_800)));
        for text in ["", "d", "1", "1w", "-1h", "1é", "99999999999999999999d"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
