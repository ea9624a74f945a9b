//! Numbers: whole ones in the spellings that models use, and those that the protocol can carry.
//!
//! Clients and the protocol's library hold a number as 64 bits. A longer one would come back as
//! another number, so it is refused where it comes in, and given as text where another surface put
//! it in.

/// Reads a whole number: `30`, `30.0`, `3e1`, `"30"`.
pub(super) fn whole(raw: &str) -> Option<u64> {
    let text = unquoted(raw);
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    let number = decimal(text)?;
    // Above this, a float no longer tells neighbours apart.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    (number.fract() == 0.0 && (0.0..=EXACT).contains(&number)).then_some(number as u64)
}

/// Reads a number, also one that came as text.
pub(super) fn number(raw: &str) -> Option<f64> {
    // Without the sign that a zero may have.
    decimal(unquoted(raw)).map(|number| number + 0.0)
}

fn unquoted(raw: &str) -> &str {
    raw.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(raw).trim()
}

/// A decimal number; not the other words that a float is spelled with.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse::<f64>().ok().filter(|number| plain && number.is_finite())
}

/// The first number in a JSON text that the protocol cannot carry.
pub(super) fn first_unkept(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some((_, number, after)) = next_number(rest) {
        if !is_kept(number) {
            return Some(number);
        }
        rest = after;
    }
    None
}

/// The same JSON text with each number that the protocol cannot carry as a string.
pub(super) fn as_kept(json: &str) -> String {
    let mut kept = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, number, after)) = next_number(rest) {
        kept.push_str(before);
        if is_kept(number) {
            kept.push_str(number);
        } else {
            kept.extend(["\"", number, "\""]);
        }
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The next number outside a string, with what is before and behind it.
fn next_number(json: &str) -> Option<(&str, &str, &str)> {
    let (mut in_string, mut escaped) = (false, false);
    for (at, byte) in json.bytes().enumerate() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
        } else if byte == b'"' {
            in_string = true;
        } else if byte == b'-' || byte.is_ascii_digit() {
            let (before, from) = json.split_at_checked(at)?;
            let end = from.bytes().position(|byte| !(byte.is_ascii_digit() || b"+-.eE".contains(&byte)));
            let (number, after) = from.split_at_checked(end.unwrap_or(from.len()))?;
            return Some((before, number, after));
        }
    }
    None
}

/// Whether 64 bits hold this very number; how it is spelled does not matter.
fn is_kept(text: &str) -> bool {
    if text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok() {
        return true;
    }
    let Some(number) = text.parse::<f64>().ok().filter(|number| number.is_finite()) else { return false };
    match (Parts::of(text), Parts::of(&format!("{number:e}"))) {
        (Some(text), Some(held)) => text == held,
        _ => false,
    }
}

/// A decimal number without what only its spelling says.
#[derive(PartialEq, Eq)]
struct Parts {
    negative: bool,
    digits: String,
    /// Of the last digit.
    exponent: i64,
}

impl Parts {
    fn of(text: &str) -> Option<Self> {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        let digits = digits.trim_start_matches('0');
        let significant = digits.trim_end_matches('0');
        if significant.is_empty() {
            return Some(Self { negative: false, digits: String::new(), exponent: 0 });
        }
        let zeros = i64::try_from(digits.len().checked_sub(significant.len())?).ok()?;
        let behind = i64::try_from(fraction.len()).ok()?;
        let exponent = exponent.parse::<i64>().ok()?.checked_sub(behind)?.checked_add(zeros)?;
        Some(Self { negative, digits: significant.to_owned(), exponent })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_come_in_the_spellings_of_models() {
        for thirty in ["30", "30.0", "3e1", "\"30\"", "\"30.0\"", "\" 30 \""] {
            assert_eq!(whole(thirty), Some(30), "{thirty}");
        }
        assert_eq!(whole("18446744073709551615"), Some(u64::MAX));
        for wrong in ["30.5", "-1", "\"\"", "\"thirty\"", "true", "[30]", "1e400", "\"NaN\"", "\"inf\"", "1e300"] {
            assert_eq!(whole(wrong), None, "{wrong}");
        }
        assert_eq!(number("\"0.5\""), Some(0.5));
        assert_eq!(number("\"nan\""), None);
    }

    #[test]
    fn only_a_number_that_would_come_back_as_another_is_not_kept() {
        for kept in ["0", "-0", "1.10", "0.1", "1e+16", "12345678901234567890", "-9223372036854775808", "5e-324"] {
            assert_eq!(first_unkept(kept), None, "{kept}");
        }
        for lost in ["1e400", "1e-400", "0.1000000000000000001", "123456789012345678901", "1e99999999999999999999"] {
            assert_eq!(first_unkept(lost), Some(lost), "{lost}");
        }
    }

    #[test]
    fn digits_inside_a_string_are_text() {
        let json = r#"{"a\"1e400":"1e400","b":[1,"\\",1e400]}"#;
        assert_eq!(first_unkept(json), Some("1e400"));
        assert_eq!(as_kept(json), r#"{"a\"1e400":"1e400","b":[1,"\\","1e400"]}"#);
        assert_eq!(first_unkept(r#"{"a\"1e400":"1e400"}"#), None);
    }
}
