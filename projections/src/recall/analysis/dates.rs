//! Dates, however they are written.
//!
//! `25 May 2022`, `May 25th, 2022` and `2022-05-25T13:56:00Z` also give the words `2022-05-25` and
//! `2022-05`, so that a question finds a time stamp. The order of bare numbers is only trusted when the
//! year comes first.

use alloc::format;
use alloc::string::String;

/// Folded names of the months in English and Turkish. The English ones are also known by three letters.
const MONTHS: [(&str, &str); 12] = [
    ("january", "ocak"),
    ("february", "subat"),
    ("march", "mart"),
    ("april", "nisan"),
    ("may", "mayis"),
    ("june", "haziran"),
    ("july", "temmuz"),
    ("august", "agustos"),
    ("september", "eylul"),
    ("october", "ekim"),
    ("november", "kasim"),
    ("december", "aralik"),
];

/// What a word can be in a date.
#[derive(Clone, Copy, Debug, Default)]
enum Part {
    #[default]
    None,
    Year(u32),
    Month(u32),
    /// A number from 1 to 31.
    Small(u32),
}

/// Watches words go by.
#[derive(Debug, Default)]
pub(super) struct Dates {
    before_last: Part,
    last: Part,
}

/// A date that just became complete.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) day: Option<String>,
    pub(super) month: Option<String>,
}

impl Dates {
    /// Takes the next folded word and says which date ends with it.
    pub(super) fn next(&mut self, word: &str) -> Found {
        let part = part(word);
        let window = (self.before_last, self.last, part);
        self.before_last = self.last;
        self.last = part;
        match window {
            (Part::Small(day), Part::Month(month), Part::Year(year))
            | (Part::Month(month), Part::Small(day), Part::Year(year))
            | (Part::Year(year), Part::Small(month @ 1..=12), Part::Small(day)) => {
                Found { day: Some(format!("{year}-{month:02}-{day:02}")), month: Some(format!("{year}-{month:02}")) }
            }
            (_, Part::Month(month), Part::Year(year)) => Found { day: None, month: Some(format!("{year}-{month:02}")) },
            _ => Found::default(),
        }
    }
}

fn part(word: &str) -> Part {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = word.split_at(digits);
    match digits {
        0 => month(word).map_or(Part::None, Part::Month),
        4 if rest.is_empty() => number.parse().map_or(Part::None, Part::Year),
        1 | 2 if matches!(rest, "" | "st" | "nd" | "rd" | "th") || is_hour(rest) => match number.parse() {
            Ok(small @ 1..=31) => Part::Small(small),
            _ => Part::None,
        },
        _ => Part::None,
    }
}

/// `08T13` is what a time stamp has between its date and its minutes.
fn is_hour(rest: &str) -> bool {
    rest.strip_prefix('t').is_some_and(|hour| hour.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The lengths of months' names, a bit each, by their first letter: nearly no other word has both.
#[allow(clippy::indexing_slicing, reason = "an index out of range does not compile")]
const LENGTHS: [u16; 26] = {
    let mut lengths = [0; 26];
    let mut month = 0;
    while month < MONTHS.len() {
        let (english, turkish) = MONTHS[month];
        lengths[(english.as_bytes()[0] - b'a') as usize] |= 1 << english.len() | 1 << 3;
        lengths[(turkish.as_bytes()[0] - b'a') as usize] |= 1 << turkish.len();
        month += 1;
    }
    lengths[(b's' - b'a') as usize] |= 1 << "sept".len();
    lengths
};

fn month(word: &str) -> Option<u32> {
    let first = word.bytes().next()?.wrapping_sub(b'a');
    let lengths = u32::from(LENGTHS.get(usize::from(first)).copied()?);
    if lengths.checked_shr(u32::try_from(word.len()).ok()?)? & 1 == 0 {
        return None;
    }
    name(word)
}

/// The month of that name.
fn name(word: &str) -> Option<u32> {
    let is_name = |&(_, (english, turkish)): &(u32, (&str, &str))| {
        let shortened = word == "sept" || word.len() == 3;
        word == turkish || word == english || shortened && english.starts_with(word)
    };
    (1..).zip(MONTHS).find(is_name).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use super::{MONTHS, month, name};

    #[test]
    fn no_name_of_a_month_is_passed_over() {
        let names = MONTHS.iter().flat_map(|(english, turkish)| {
            [*english, english.get(..3).unwrap_or_default(), *turkish, english.get(1..).unwrap_or_default()]
        });
        for word in names.chain(["sept", "", "jun1", "şubat", "maya", "a", "octobers", "decemberdecember"]) {
            assert_eq!(month(word), name(word), "{word}");
        }
    }
}
