//! Times as a page shows them: UTC, to the second, with the full instant for programs.

use maud::{Markup, html};

use super::text::visible;
use crate::model::Value;
use crate::time::iso_seconds;

/// How much of an instant is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// `2026-07-05 14:30:00`.
    Full,
    /// `14:30:00`, where the day is known from what stands before.
    Clock,
}

/// A cell that holds an instant; one beyond the calendar, or no number, as it is.
pub(super) fn instant(value: &Value<'_>, precision: Precision) -> Option<Markup> {
    let Some(seconds) = value.as_f64() else {
        return value.as_str().map(|text| html! { (visible(text)) });
    };
    let Some(iso) = iso_seconds(seconds) else {
        return Some(html! { (seconds) });
    };
    let said = match precision {
        Precision::Full => iso.replace('T', " ").replace('Z', ""),
        Precision::Clock => iso[11..19].to_owned(),
    };
    Some(html! { time datetime=(iso) { (said) } })
}

/// The day of an instant, `2026-07-05`.
pub(super) fn day(seconds: f64) -> Option<String> {
    iso_seconds(seconds).map(|iso| iso[..10].to_owned())
}

/// How long something took, from a tenth of a second on.
pub(super) fn taken(seconds: f64) -> Option<String> {
    if !(0.05..1e8).contains(&seconds) {
        return None;
    }
    Some(if seconds < 10.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else if seconds < 7200.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.0} h", seconds / 3600.0)
    })
}

#[cfg(test)]
mod tests {
    use super::{Precision, instant, taken};
    use crate::model::Value;

    #[test]
    fn instants_are_shown_in_utc_and_odd_ones_as_they_are() {
        let shown = |value: Value<'_>, precision| instant(&value, precision).map(|m| m.0);
        let time = Value::Real(1_783_261_800.0);
        assert_eq!(
            shown(time.clone(), Precision::Full).as_deref(),
            Some("<time datetime=\"2026-07-05T14:30:00Z\">2026-07-05 14:30:00</time>")
        );
        assert!(shown(time, Precision::Clock).unwrap().ends_with(">14:30:00</time>"));
        assert_eq!(
            shown(Value::Real(1e30), Precision::Full).as_deref(),
            Some("1000000000000000000000000000000")
        );
        assert_eq!(shown(Value::Text("<b>".into()), Precision::Full).as_deref(), Some("&lt;b&gt;"));
        assert_eq!(shown(Value::Null, Precision::Full), None);
    }

    #[test]
    fn durations_are_rounded_to_what_matters() {
        for (seconds, said) in [
            (0.0, None),
            (-1.0, None),
            (2.34, Some("2.3 s")),
            (61.2, Some("61 s")),
            (600.0, Some("10 min")),
            (9000.0, Some("2 h")),
        ] {
            assert_eq!(taken(seconds).as_deref(), said);
        }
    }
}
