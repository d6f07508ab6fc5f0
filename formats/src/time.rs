//! Instants as text: ISO 8601 in UTC, rounded the way Python's `datetime.fromtimestamp` rounds, so
//! that front matter and prompt records agree with what Hermes itself writes.

use jiff::Timestamp;

/// Seconds since the epoch, as an instant with whole microseconds; `None` beyond the calendar.
pub(crate) fn instant(seconds: f64) -> Option<Timestamp> {
    if !is_in_calendar(seconds) {
        return None;
    }
    let micros = (seconds.fract() * 1e6).round_ties_even();
    let whole = seconds.trunc();
    #[expect(clippy::cast_possible_truncation, reason = "both are whole and far inside i64")]
    let (whole, micros) = (whole as i64, micros as i64);
    Timestamp::from_microsecond(whole * 1_000_000 + micros).ok()
}

/// Whether a time has a date: years 1 to 9999.
pub fn is_in_calendar(seconds: f64) -> bool {
    // The last day is left out, as it is not that day in every zone.
    (-62_135_596_800.0..=253_402_207_199.0).contains(&seconds)
}

/// `2026-07-05T14:30:00.250000Z`; the fraction is left out where it is zero.
pub fn iso_micros(seconds: f64) -> Option<String> {
    let t = instant(seconds)?;
    let fraction = t.as_microsecond().rem_euclid(1_000_000);
    let clock = t.strftime("%Y-%m-%dT%H:%M:%S");
    Some(if fraction == 0 { format!("{clock}Z") } else { format!("{clock}.{fraction:06}Z") })
}

/// `2026-07-05T14:30:00.250Z`, always with milliseconds; what is below them is cut off.
pub(crate) fn iso_millis(seconds: f64) -> Option<String> {
    let t = instant(seconds)?;
    let millis = t.as_millisecond().rem_euclid(1000);
    Some(format!("{}.{millis:03}Z", t.strftime("%Y-%m-%dT%H:%M:%S")))
}

/// `2026-07-05T14:30:00Z`; a fraction of a second is cut off.
pub fn iso_seconds(seconds: f64) -> Option<String> {
    Some(format!("{}Z", instant(seconds)?.strftime("%Y-%m-%dT%H:%M:%S")))
}

#[cfg(test)]
mod tests {
    use super::{iso_micros, iso_seconds};

    #[test]
    fn fractions_round_half_to_even_microseconds() {
        assert_eq!(iso_micros(0.5).as_deref(), Some("1970-01-01T00:00:00.500000Z"));
        assert_eq!(iso_micros(1.999_999_9).as_deref(), Some("1970-01-01T00:00:02Z"));
        assert_eq!(iso_micros(-0.25).as_deref(), Some("1969-12-31T23:59:59.750000Z"));
        assert_eq!(iso_seconds(1.999_999_4).as_deref(), Some("1970-01-01T00:00:01Z"));
    }

    #[test]
    fn times_beyond_the_calendar_have_no_text() {
        for odd in [1e30, -1e30, 1e18, f64::INFINITY, f64::NAN, -62_135_596_801.0] {
            assert_eq!(iso_micros(odd), None, "{odd}");
        }
        assert_eq!(iso_seconds(253_402_200_000.0).as_deref(), Some("9999-12-30T20:00:00Z"));
        assert_eq!(iso_seconds(253_402_300_800.0), None);
    }
}
