//! Times as a page shows them: to the second, in the zone asked for, with the full instant for programs.

use jiff::tz::TimeZone;
use maud::{Markup, PreEscaped, html};

use super::text::shown;
use crate::model::Value;
use crate::time::{instant, iso_seconds};

/// How much of an instant is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Precision {
    /// `2026-07-05 14:30:00 UTC`, or another zone's offset in the place of `UTC`.
    Zoned,
    /// `2026-07-05 14:30:00`.
    Full,
    /// `14:30:00`, bare, where the day is known from what stands before.
    Clock,
}

/// The zone that times are shown in.
#[derive(Debug, Clone)]
pub(super) struct Zone(pub(super) TimeZone);

impl Zone {
    /// What the zone is called.
    pub(super) fn name(&self) -> &str {
        self.0.iana_name().unwrap_or("local time")
    }

    /// A cell that holds an instant; one beyond the calendar, or no number, as it is.
    pub(super) fn instant(&self, value: &Value<'_>, precision: Precision) -> Option<Markup> {
        let Some(seconds) = value.as_f64() else {
            return value.as_str().map(shown);
        };
        let Some((iso, said)) = iso_seconds(seconds).zip(self.said(seconds, precision)) else {
            return Some(html! { (seconds) });
        };
        Some(PreEscaped(match precision {
            Precision::Clock => said,
            Precision::Zoned | Precision::Full => format!("<time datetime={iso}>{said}</time>"),
        }))
    }

    /// The day of an instant, `2026-07-05`.
    pub(super) fn day(&self, seconds: f64) -> Option<String> {
        let mut said = self.said(seconds, Precision::Full)?;
        said.truncate(10);
        Some(said)
    }

    fn said(&self, seconds: f64, precision: Precision) -> Option<String> {
        let format = match precision {
            Precision::Zoned if self.0 == TimeZone::UTC => "%Y-%m-%d %H:%M:%S UTC",
            Precision::Zoned => "%Y-%m-%d %H:%M:%S %:z",
            Precision::Full => "%Y-%m-%d %H:%M:%S",
            Precision::Clock => "%H:%M:%S",
        };
        Some(instant(seconds)?.to_zoned_datetime(self.0.clone()).strftime(format).to_string())
    }
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
    use jiff::tz::{TimeZone, offset};

    use super::{Precision, Zone, taken};
    use crate::model::Value;

    #[test]
    fn instants_are_shown_in_their_zone_and_odd_ones_as_they_are() {
        let shown = |value: Value<'_>, precision| {
            Zone(TimeZone::UTC).instant(&value, precision).map(|markup| markup.0)
        };
        let time = Value::Real(1_783_261_800.0);
        assert_eq!(
            shown(time.clone(), Precision::Full).as_deref(),
            Some("<time datetime=2026-07-05T14:30:00Z>2026-07-05 14:30:00</time>")
        );
        assert!(shown(time.clone(), Precision::Zoned).unwrap().ends_with("14:30:00 UTC</time>"));
        assert_eq!(shown(time.clone(), Precision::Clock).as_deref(), Some("14:30:00"));
        assert_eq!(
            shown(Value::Real(1e30), Precision::Full).as_deref(),
            Some("1000000000000000000000000000000")
        );
        assert_eq!(shown(Value::Text("<b>".into()), Precision::Full).as_deref(), Some("&lt;b&gt;"));
        assert_eq!(shown(Value::Null, Precision::Full), None);
        let east = Zone(TimeZone::fixed(offset(10)));
        assert_eq!(east.day(1_783_261_800.0).as_deref(), Some("2026-07-06"));
        assert_eq!(
            east.instant(&time, Precision::Zoned).unwrap().0,
            "<time datetime=2026-07-05T14:30:00Z>2026-07-06 00:30:00 +10:00</time>"
        );
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
