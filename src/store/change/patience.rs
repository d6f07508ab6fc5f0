//! How a lock of others is waited for.
//!
//! Processes that wait in equal steps wake up together and collide again, so each waits in steps of
//! its own: they depend on the process and on the attempt, and on nothing else.

use std::thread;
use std::time::Duration;

/// Attempts before the lock counts as held for good: about five seconds.
const ATTEMPTS: i32 = 60;
/// Milliseconds between two attempts, as Hermes itself waits (`hermes_state.py`, 0.19.0).
const STEP: std::ops::Range<u64> = 20..150;

/// SQLite's busy handler: waits, or gives up.
pub(super) fn wait(attempt: i32) -> bool {
    if attempt >= ATTEMPTS {
        return false;
    }
    thread::sleep(step(std::process::id(), attempt));
    true
}

fn step(process: u32, attempt: i32) -> Duration {
    let seed = u64::from(process) << 32 | u64::from(attempt.unsigned_abs());
    Duration::from_millis(STEP.start + scattered(seed) % (STEP.end - STEP.start))
}

/// Numbers that are close come out far apart: the finalizer of `SplitMix64`,
/// <https://prng.di.unimi.it/splitmix64.c>.
fn scattered(seed: u64) -> u64 {
    let seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use super::{ATTEMPTS, step, wait};

    #[test]
    fn processes_that_collided_once_wait_for_different_times() {
        let steps: HashSet<Duration> = (1..=8).map(|process| step(process, 0)).collect();
        assert!(steps.len() >= 7, "{steps:?}");
        let steps: HashSet<Duration> = (0..8).map(|attempt| step(1, attempt)).collect();
        assert!(steps.len() >= 7, "{steps:?}");
    }

    #[test]
    fn a_lock_that_is_never_released_is_given_up_after_some_seconds() {
        for process in [1, 77, 4_194_304] {
            let whole: Duration = (0..ATTEMPTS).map(|attempt| step(process, attempt)).sum();
            assert!((3..=8).contains(&whole.as_secs()), "{whole:?}");
        }
        assert!(!wait(ATTEMPTS));
    }
}
