//! When to try again, and when to give up.

use std::thread;
use std::time::{Duration, Instant};

use super::Error;
use crate::progress::Progress;

/// Why a request did not do what it should.
pub(super) enum Trouble {
    /// It never will.
    Lasting(Error),
    /// It may the next time, after what the server asked to wait.
    Passing(Error, Option<Duration>),
    /// The dataset is no longer what was looked at.
    Moved,
}

/// How often something failed in a row.
#[derive(Default)]
pub(super) struct Patience {
    failures: u32,
}

/// Tries, the first included.
const TRIES: u32 = 5;
/// The wait after the first failure; each further one doubles it.
const FIRST: Duration = Duration::from_millis(500);
/// The same where the server says that it was asked too often.
const FIRST_WHEN_LIMITED: Duration = Duration::from_secs(10);
/// The Hub counts requests in spans of five minutes.
const LONGEST: Duration = Duration::from_mins(5);
/// How soon Ctrl-C is heard.
const EAR: Duration = Duration::from_millis(50);

impl Patience {
    /// Waits until another try makes sense; the trouble itself is the error where none does.
    pub(super) fn wait(
        &mut self,
        trouble: Trouble,
        dataset: &str,
        progress: &dyn Progress,
    ) -> Result<(), Error> {
        let (error, asked) = match trouble {
            Trouble::Lasting(error) => return Err(error),
            Trouble::Passing(error, asked) => (error, asked),
            Trouble::Moved => (Error::Contended(dataset.to_owned()), None),
        };
        self.failures += 1;
        let tries = match error {
            // Who says nothing has been waited for long enough.
            Error::Silent { .. } => 2,
            // Another writer, or a network that is down, stays so for longer than we wait.
            Error::Unreachable { .. } | Error::Contended(_) => 3,
            _ => TRIES,
        };
        let first = if matches!(error, Error::Limited { .. }) { FIRST_WHEN_LIMITED } else { FIRST };
        let wait = asked.unwrap_or_else(|| first * 2_u32.pow(self.failures - 1));
        if self.failures >= tries || wait > LONGEST {
            return Err(error);
        }
        sleep(wait, progress)
    }
}

fn sleep(wait: Duration, progress: &dyn Progress) -> Result<(), Error> {
    let end = Instant::now() + wait;
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|d| !d.is_zero()) {
        if progress.is_cancelled() {
            return Err(Error::Cancelled);
        }
        thread::sleep(left.min(EAR));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limited(asked: u64) -> Trouble {
        let after = Some(Duration::from_secs(asked));
        Trouble::Passing(Error::Limited { host: "hub".to_owned(), after }, after)
    }

    #[test]
    fn a_wait_longer_than_the_hub_counts_is_not_waited_for() {
        assert!(matches!(
            Patience::default().wait(limited(301), "a/b", &()),
            Err(Error::Limited { .. })
        ));
        assert!(Patience::default().wait(limited(0), "a/b", &()).is_ok());
    }

    #[test]
    fn patience_ends() {
        let mut patience = Patience::default();
        for _ in 1..TRIES {
            assert!(patience.wait(limited(0), "a/b", &()).is_ok());
        }
        assert!(patience.wait(limited(0), "a/b", &()).is_err());
    }

    #[test]
    fn what_lasts_is_not_tried_again() {
        let lasting = Trouble::Lasting(Error::NoToken);
        assert!(matches!(Patience::default().wait(lasting, "a/b", &()), Err(Error::NoToken)));
    }
}
