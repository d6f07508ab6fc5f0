//! Text laid out for a terminal: cells of a width, relative times, and what a path is called.

use jiff::Timestamp;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::terminal::one_line;
use crate::filter::time::Clock;

/// The width where there is no terminal.
pub(super) const WIDTH: usize = 120;

/// A text as a cell of this width: control characters shown, white space single, cut with `…`,
/// filled with blanks. Wide characters count twice.
pub(super) fn cell(text: &str, width: usize) -> String {
    let text = cut(&shown(text), width);
    let fill = width.saturating_sub(text.width());
    format!("{text}{}", " ".repeat(fill))
}

/// A text of the store on one line, with nothing in it that moves the cursor.
pub(super) fn shown(text: &str) -> String {
    one_line(&text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// At most so many columns of a text.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let (mut cut, mut taken) = (String::new(), 1);
    for c in text.chars() {
        taken += c.width().unwrap_or(0);
        if taken > width {
            break;
        }
        cut.push(c);
    }
    if width > 0 {
        cut.push('…');
    }
    cut
}

/// `just now`, `5m ago`, `2h ago`, `yesterday`, `3d ago`, else the local date.
pub(super) fn ago(time: Option<f64>, clock: &Clock) -> String {
    let Some(time) = time else { return "?".to_owned() };
    let since = clock.now.as_duration().as_secs_f64() - time;
    let whole = |unit: f64| (since / unit).floor();
    match since {
        s if (-60.0..60.0).contains(&s) => "just now".to_owned(),
        s if (60.0..3600.0).contains(&s) => format!("{}m ago", whole(60.0)),
        s if (3600.0..86_400.0).contains(&s) => format!("{}h ago", whole(3600.0)),
        s if (86_400.0..172_800.0).contains(&s) => "yesterday".to_owned(),
        s if (172_800.0..604_800.0).contains(&s) => format!("{}d ago", whole(86_400.0)),
        _ => local(time, clock, "%Y-%m-%d"),
    }
}

/// A time in the user's zone; `?` beyond the calendar.
pub(super) fn local(time: f64, clock: &Clock, format: &str) -> String {
    zoned(time, clock).map_or_else(|| "?".to_owned(), |zoned| zoned.strftime(format).to_string())
}

/// A time in the user's zone.
pub(super) fn zoned(time: f64, clock: &Clock) -> Option<jiff::ZonedDateTime> {
    let time = formats::is_in_calendar(time).then_some(time)?;
    let since = jiff::SignedDuration::try_from_secs_f64(time).ok()?;
    let instant = Timestamp::from_duration(since).ok()?;
    Some(instant.to_zoned_datetime(clock.zone.clone()))
}

/// The last component of a path of either kind.
pub(super) fn base_name(path: &str) -> &str {
    let stem = path.trim_end_matches(['/', '\\']);
    stem.rsplit(['/', '\\']).next().filter(|name| !name.is_empty()).unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;

    use super::{ago, base_name, cell, cut};
    use crate::filter::time::Clock;

    #[test]
    fn cells_have_the_width_that_is_asked_for() {
        assert_eq!(cell("ab", 4), "ab  ");
        assert_eq!(cell("abcdef", 4), "abc…");
        assert_eq!(cell("数据库迁移", 6), "数据… ");
        assert_eq!(cell("a\n\u{1b}[31mb", 20), "a \\u{1b}[31mb       ");
        assert_eq!(cut("ab", 0), "");
    }

    #[test]
    fn times_are_told_as_people_tell_them() {
        let now: jiff::Timestamp = "2026-07-31T12:00:00Z".parse().unwrap();
        let clock = Clock { now, zone: TimeZone::get("America/New_York").unwrap() };
        let before = |seconds: f64| ago(Some(now.as_duration().as_secs_f64() - seconds), &clock);
        assert_eq!(before(5.0), "just now");
        assert_eq!(before(119.0), "1m ago");
        assert_eq!(before(7300.0), "2h ago");
        assert_eq!(before(90_000.0), "yesterday");
        assert_eq!(before(300_000.0), "3d ago");
        assert_eq!(before(864_000.0), "2026-07-21");
        assert_eq!(before(-864_000.0), "2026-08-10");
        assert_eq!(ago(Some(1e30), &clock), "?");
        assert_eq!(ago(None, &clock), "?");
    }

    #[test]
    fn a_path_is_called_by_its_last_component() {
        for (path, name) in [("/a/b", "b"), ("/a/b/", "b"), (r"C:\work\bot", "bot"), ("/", "/")] {
            assert_eq!(base_name(path), name);
        }
    }
}
