//! How the library tells how far it is, and learns that it should stop. It never draws.

/// Somebody who watches work that takes time, from whichever thread it goes on.
pub trait Progress: Sync {
    /// So many steps follow.
    fn begin(&self, steps: u64);
    /// One of them is done.
    fn step(&self);
    /// So many steps are done in all; for work whose steps are bytes.
    fn reach(&self, _steps: u64) {}
    /// Whether the user wants the work to end; nothing half done may stay behind.
    fn is_cancelled(&self) -> bool;
}

/// Nobody watches.
impl Progress for () {
    fn begin(&self, _: u64) {}
    fn step(&self) {}
    fn is_cancelled(&self) -> bool {
        false
    }
}
