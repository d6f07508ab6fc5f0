//! Points in time as people type them: `5h`, `2d`, `90`, `2026-07-05`, `"2026-07-05 14:30"`, ISO 8601
//! with a zone.
//!
//! A duration means "that long ago", a bare number is days, a time without a zone is local. In an
//! hour that a change to winter time repeats, the first one is meant; in an hour that a change to
//! summer time skips, the time after the gap, as Python's `datetime.timestamp` has it. Clock and
//! zone are given, never looked up.

use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, ZonedDateTime};

/// What the words of a flag are measured against.
#[derive(Debug, Clone)]
pub struct Clock {
    /// Now.
    pub now: Timestamp,
    /// The user's zone.
    pub zone: TimeZone,
}

/// A point in time, and what its words may have been mistaken for.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Seconds since the epoch.
    pub seconds: f64,
    /// `6m` is six minutes, and people who write it may mean months.
    pub minutes: Option<f64>,
}

/// Why a text is no point in time.
#[derive(Debug, thiserror::Error)]
pub enum TimeError {
    /// It has none of the forms.
    #[error(
        "`{0}` is neither a duration such as 5h, 30m, 2d, 1w, 6mo, 1y or a number of days, nor a time such as 2026-07-05 or \"2026-07-05 14:30\""
    )]
    Unknown(String),
    /// It has one of the forms but lies beyond the calendar.
    #[error("`{0}` lies beyond the calendar")]
    OutOfRange(String),
}

/// Reads a point in time.
pub fn parse(text: &str, clock: &Clock) -> Result<Point, TimeError> {
    let text = text.trim();
    let out_of_range = || TimeError::OutOfRange(text.to_owned());
    if let Some(date) = compact_date(text) {
        return local(date, clock).map(at).ok_or_else(out_of_range);
    }
    if let Some((number, unit)) = split_duration(text) {
        let seconds = ago(number, unit, clock).ok_or_else(out_of_range)?;
        let minutes = (unit == "m").then_some(number);
        return Ok(Point { seconds, minutes });
    }
    absolute(text, clock).map(at)
}

fn at(time: Timestamp) -> Point {
    Point { seconds: seconds(time), minutes: None }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "microseconds of the calendar fit a double to 0.1 ms"
)]
fn seconds(time: Timestamp) -> f64 {
    time.as_microsecond() as f64 / 1e6
}

/// `20260705`: eight digits that are a date are one; as days they would lie beyond the calendar.
fn compact_date(text: &str) -> Option<DateTime> {
    if text.len() != 8 || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |range: std::ops::Range<usize>| text[range].parse::<i16>().ok();
    let (month, day) = (part(4..6)?.try_into().ok()?, part(6..8)?.try_into().ok()?);
    Some(Date::new(part(0..4)?, month, day).ok()?.to_datetime(jiff::civil::Time::midnight()))
}

/// `2.5h` as its number and unit; a bare number is days.
fn split_duration(text: &str) -> Option<(f64, &'static str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: f64 = number.parse().ok()?;
    let unit = match unit.trim_start().to_ascii_lowercase().as_str() {
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" => "m",
        "min" | "mins" | "minute" | "minutes" => "min",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        "" | "d" | "day" | "days" => "d",
        "w" | "wk" | "wks" | "week" | "weeks" => "w",
        "mo" | "mon" | "month" | "months" => "mo",
        "y" | "yr" | "yrs" | "year" | "years" => "y",
        _ => return None,
    };
    Some((number, unit))
}

/// The instant that lies so long before now. Months and years go by the calendar.
fn ago(number: f64, unit: &str, clock: &Clock) -> Option<f64> {
    let fixed = match unit {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        "w" => 604_800.0,
        calendar => return calendar_ago(number, calendar, clock),
    };
    let then = seconds(clock.now) - number * fixed;
    // The calendar of the dates we print: years 1 to 9999.
    (then >= -62_135_596_800.0).then_some(then)
}

fn calendar_ago(number: f64, unit: &str, clock: &Clock) -> Option<f64> {
    let months = number * if unit == "y" { 12.0 } else { 1.0 };
    if months.fract() != 0.0 || months > 120_000.0 {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "whole and small, as just seen")]
    let span = Span::new().try_months(months as i64).ok()?;
    let then = clock.now.to_zoned_datetime(clock.zone.clone()).checked_sub(span).ok()?;
    Some(seconds(then.timestamp()))
}

fn absolute(text: &str, clock: &Clock) -> Result<Timestamp, TimeError> {
    static PARSER: DateTimeParser = DateTimeParser::new();
    let unknown = || TimeError::Unknown(text.to_owned());
    if text.contains('[') {
        return text.parse().map(|zoned: ZonedDateTime| zoned.timestamp()).map_err(|_| unknown());
    }
    if let Ok(instant) = PARSER.parse_timestamp(text) {
        return Ok(instant);
    }
    let naive = PARSER.parse_datetime(text).ok().or_else(|| {
        // `2026-07-05T14` is ISO 8601 too.
        PARSER.parse_datetime(format!("{text}:00")).ok().filter(|_| text.contains(['T', ' ']))
    });
    local(naive.ok_or_else(unknown)?, clock).ok_or_else(|| TimeError::OutOfRange(text.to_owned()))
}

fn local(naive: DateTime, clock: &Clock) -> Option<Timestamp> {
    clock.zone.to_ambiguous_timestamp(naive).compatible().ok()
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::{Clock, parse};

    fn clock(zone: &str) -> Clock {
        Clock { now: "2026-07-31T12:00:00Z".parse().unwrap(), zone: TimeZone::get(zone).unwrap() }
    }

    fn utc(text: &str, zone: &str) -> String {
        let seconds = parse(text, &clock(zone)).unwrap().seconds;
        let since = jiff::SignedDuration::try_from_secs_f64(seconds).unwrap();
        Timestamp::from_duration(since).unwrap().to_string()
    }

    #[test]
    fn durations_are_that_long_ago() {
        for (text, wanted) in [
            ("5h", "2026-07-31T07:00:00Z"),
            ("30m", "2026-07-31T11:30:00Z"),
            ("90 min", "2026-07-31T10:30:00Z"),
            ("2d", "2026-07-29T12:00:00Z"),
            ("1w", "2026-07-24T12:00:00Z"),
            ("1.5", "2026-07-30T00:00:00Z"),
            ("1mo", "2026-06-30T12:00:00Z"),
            ("1y", "2025-07-31T12:00:00Z"),
        ] {
            assert_eq!(utc(text, "UTC"), wanted, "{text}");
        }
        assert_eq!(parse("6m", &clock("UTC")).unwrap().minutes, Some(6.0));
    }

    #[test]
    fn times_without_a_zone_are_local() {
        for text in ["2026-07-05 14:30", "2026-07-05T14:30:00", "2026-07-05 14:30:00.000"] {
            assert_eq!(utc(text, "Asia/Kolkata"), "2026-07-05T09:00:00Z", "{text}");
        }
        assert_eq!(utc("2026-07-05T14", "Asia/Kolkata"), "2026-07-05T08:30:00Z");
        assert_eq!(utc("2026-07-05", "America/New_York"), "2026-07-05T04:00:00Z");
        assert_eq!(utc("20260705", "America/New_York"), "2026-07-05T04:00:00Z");
    }

    #[test]
    fn a_zone_in_the_text_wins() {
        for text in [
            "2026-07-05T14:30:00+02:00",
            "2026-07-05T12:30:00Z",
            "2026-07-05 12:30Z",
            "2026-07-05T14:30+02:00[Europe/Berlin]",
        ] {
            assert_eq!(utc(text, "Asia/Kolkata"), "2026-07-05T12:30:00Z", "{text}");
        }
    }

    #[test]
    fn repeated_and_skipped_hours_are_read_as_python_reads_them() {
        // Lord Howe Island changes by half an hour.
        assert_eq!(utc("2026-04-05 01:45", "Australia/Lord_Howe"), "2026-04-04T14:45:00Z");
        assert_eq!(utc("2026-10-04 02:15", "Australia/Lord_Howe"), "2026-10-03T15:45:00Z");
        assert_eq!(utc("2026-03-08 02:30", "America/New_York"), "2026-03-08T07:30:00Z");
        assert_eq!(utc("2026-11-01 01:30", "America/New_York"), "2026-11-01T05:30:00Z");
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "abc",
            "5x",
            "-5h",
            "2026-13-01",
            "2026-02-30",
            "1e5",
            "nan",
            "99999999",
            "5000000d",
            "9999-12-31",
            "0.5mo",
            "5h3m",
            "2026-07-05T25:00",
        ] {
            assert!(parse(text, &clock("UTC")).is_err(), "{text}");
        }
    }
}
