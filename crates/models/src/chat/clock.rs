//! The date and time, as templates ask for them, in UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use minijinja::{Error, ErrorKind};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];

/// Now, as `strftime` writes it.
///
/// # Errors
/// If the format has a letter that is not known.
pub(super) fn now(format: &str) -> Result<String, Error> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    at(seconds, format)
}

/// A time in seconds since 1970.
fn at(seconds: u64, format: &str) -> Result<String, Error> {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    let (year, month, day) = date(days);
    let (month_name, day_name) = (MONTHS[month as usize - 1], DAYS[(days % 7) as usize]);
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(c) = letters.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        // A dash asks for no zero in front.
        let mut letter = letters.next();
        let dash = letter == Some('-');
        if dash {
            letter = letters.next();
        }
        let number = |n: u64, width: usize| if dash { n.to_string() } else { format!("{n:0width$}") };
        out += &match letter {
            Some('Y') => year.to_string(),
            Some('y') => number(year % 100, 2),
            Some('m') => number(month, 2),
            Some('d') => number(day, 2),
            Some('e') => {
                if dash {
                    day.to_string()
                } else {
                    format!("{day:2}")
                }
            }
            Some('B') => month_name.to_owned(),
            Some('b' | 'h') => month_name[..3].to_owned(),
            Some('A') => day_name.to_owned(),
            Some('a') => day_name[..3].to_owned(),
            Some('H') => number(hour, 2),
            Some('I') => number((hour + 11) % 12 + 1, 2),
            Some('M') => number(minute, 2),
            Some('S') => number(second % 60, 2),
            Some('p') => if hour < 12 { "AM" } else { "PM" }.to_owned(),
            Some('F') => format!("{year}-{month:02}-{day:02}"),
            Some('T') => format!("{hour:02}:{minute:02}:{:02}", second % 60),
            Some('%') => "%".to_owned(),
            other => {
                let letter = other.map_or_else(String::new, String::from);
                let problem = format!("strftime_now does not know %{letter}");
                return Err(Error::new(ErrorKind::InvalidOperation, problem));
            }
        };
    }
    Ok(out)
}

/// The (year, month, day) of a day since 1970: years that begin in March have the odd day at their end. (Hinnant 2013)
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (year + era * 400 + u64::from(month < 3), month, day)
}

#[cfg(test)]
mod tests {
    use super::at;

    #[test]
    fn dates_are_those_of_python() {
        let all = "%A %a %d %e %-d %B %b %Y %y %m %H:%M:%S %I %p %F %T %%";
        assert_eq!(
            at(0, all).unwrap(),
            "Thursday Thu 01  1 1 January Jan 1970 70 01 00:00:00 12 AM 1970-01-01 00:00:00 %"
        );
        let want = "Thursday Thu 29 29 29 February Feb 2024 24 02 13:05:09 01 PM 2024-02-29 13:05:09 %";
        assert_eq!(at(1_709_211_909, all).unwrap(), want);
        assert_eq!(at(1_798_761_599, "%d %b %Y %H").unwrap(), "31 Dec 2026 23");
        assert!(at(0, "%Q").unwrap_err().to_string().contains("does not know %Q"));
        assert!(at(0, "%").is_err());
    }
}
