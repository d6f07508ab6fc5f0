//! The README that a new dataset gets.

use super::Visibility;

/// What a dataset's card says of its sessions.
#[derive(Debug, Clone)]
pub struct Card {
    /// What was taken out, as the manifest names it; `None` where nothing was.
    pub redacted: Option<String>,
    /// What wrote the files.
    pub tool: String,
}

/// Where the card is in the dataset.
pub(super) const NAME: &str = "README.md";

impl Card {
    /// The text. Its head says which files are sessions: without it the Hub would take a file whose
    /// name has a word like `test` for a part of its own, and stumble over any other JSON file.
    pub(super) fn text(&self, visibility: Visibility) -> String {
        let redaction = match &self.redacted {
            Some(groups) => format!(
                "Before they were sent, `{groups}` were taken out by rules: what stands in \
                 `[REDACTED:…]`\nwas there. Rules find what looks like a secret, not every secret."
            ),
            None => "Nothing was taken out of them.".to_owned(),
        };
        let warning = match visibility {
            Visibility::Private => {
                "Read them before you make this dataset public: they hold what was typed and what\n\
                 tools returned, which can be personal, confidential or somebody else's."
            }
            Visibility::Public => {
                "They hold what was typed and what tools returned, unreviewed: expect errors, and\n\
                 text that belongs to others."
            }
        };
        let tool = &self.tool;
        format!(
            "---\n\
             pretty_name: Hermes Agent sessions\n\
             tags:\n- agent-traces\n- hermes-agent\n\
             configs:\n- config_name: default\n  data_files: \"sessions/**/*.jsonl\"\n\
             ---\n\n\
             # Hermes Agent sessions\n\n\
             Conversations with [Hermes Agent](https://github.com/NousResearch/hermes-agent), one file\n\
             each in `sessions/`, written by {tool}.\n\n{redaction}\n\n{warning}\n"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_says_which_files_are_sessions_and_what_was_taken_out() {
        let tool = "hermes-sessions 0".to_owned();
        let card = Card { redacted: Some("secrets".to_owned()), tool: tool.clone() };
        let text = card.text(Visibility::Private);
        assert!(text.starts_with("---\npretty_name: "), "{text}");
        assert!(text.contains("\n  data_files: \"sessions/**/*.jsonl\"\n---\n"), "{text}");
        assert!(text.contains("`secrets` were taken out"), "{text}");
        let text = Card { redacted: None, tool }.text(Visibility::Public);
        assert!(text.contains("Nothing was taken out"), "{text}");
    }
}
