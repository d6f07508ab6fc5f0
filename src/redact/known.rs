//! The values that really are this user's secrets, whatever they look like.

/// Texts that must not leave, each in every form it may have been written down in.
#[derive(Default)]
pub struct KnownValues(Vec<String>);

impl KnownValues {
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Whether a text that has the letters of the value in any case is the value itself.
    pub(super) fn is(&self, value: usize, text: &str) -> bool {
        self.0[value] == text
    }
}
