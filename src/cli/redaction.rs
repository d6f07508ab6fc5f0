//! The flags that say what is taken out, shared by every command that shows texts of the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use crate::redact::known::KnownValues;
use crate::redact::rule::{Group, Rule};
use crate::redact::{Finding, Redactor, load};

/// What is taken out, and by which rules.
#[derive(Debug, Args)]
#[command(next_help_heading = "Redaction")]
pub(super) struct RedactArgs {
    /// Take out secrets: credentials of a thousand kinds, and the values of your own in Hermes'
    /// .env and auth files. `pii` adds addresses, numbers and ids of people, `paths` home folders,
    /// user and host names [default without a value: secrets]
    #[arg(
        long,
        value_name = "GROUPS",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "secrets"
    )]
    redact: Option<String>,
    /// Take out nothing, also where secrets are taken out by default: with --share, and by formats that
    /// `formats` marks
    #[arg(long, conflicts_with = "redact")]
    no_redact: bool,
    /// More rules: a file or folder, in our form or in gitleaks'; $HERMES_HOME/redact-rules is
    /// always read
    #[arg(long, value_name = "FILE|DIR")]
    redact_rules: Vec<PathBuf>,
    /// Values to take out, one a line, with their base64 and URL-encoded forms
    #[arg(long, value_name = "FILE")]
    redact_values: Vec<PathBuf>,
}

impl RedactArgs {
    /// The redactor that the flags ask for, with the groups that are on by default.
    pub(super) fn redactor(
        &self,
        default: &[Group],
        environment: &Environment,
    ) -> anyhow::Result<Redactor> {
        let mut groups = self.redact.as_deref().map_or(Ok(Vec::new()), named_groups)?;
        groups.extend(default.iter().filter(|group| !groups.contains(group)).collect::<Vec<_>>());
        if !groups.is_empty() && !self.no_redact {
            return self.with_groups(&groups, environment);
        }
        let unused =
            [("--redact-rules", &self.redact_rules), ("--redact-values", &self.redact_values)];
        if let Some((flag, _)) = unused.into_iter().find(|(_, paths)| !paths.is_empty()) {
            return Err(UsageError::new(format!("{flag} needs --redact")).into());
        }
        Ok(Redactor::none())
    }

    /// Whether anything is to be taken out.
    pub(super) fn is_on(&self) -> bool {
        self.redact.is_some()
    }

    /// The redactor of a command that always redacts: by the groups given, else by all secrets.
    pub(super) fn always(&self, environment: &Environment) -> anyhow::Result<Redactor> {
        if self.no_redact {
            return Err(UsageError::new("--no-redact does not apply here").into());
        }
        let groups = self.redact.as_deref().map_or(Ok(vec![Group::Secrets]), named_groups)?;
        self.with_groups(&groups, environment)
    }

    fn with_groups(&self, groups: &[Group], environment: &Environment) -> anyhow::Result<Redactor> {
        let mut known = KnownValues::load(&environment.hermes_home);
        for file in &self.redact_values {
            let values = KnownValues::from_file(&environment.expand(file));
            known = known.and(values.with_context(|| format!("cannot read {}", file.display()))?);
        }
        Ok(Redactor::new(self.rules(environment)?, groups, known)?)
    }

    fn rules(&self, environment: &Environment) -> anyhow::Result<Vec<Rule>> {
        let own = environment.hermes_home.join("redact-rules");
        let given = self.redact_rules.iter().map(|path| environment.expand(path));
        let mut rules = Vec::new();
        for path in own.is_dir().then_some(own).into_iter().chain(given) {
            let loaded = load::load(&path);
            rules.extend(
                loaded.with_context(|| format!("cannot use the rules in {}", path.display()))?,
            );
        }
        Ok(rules)
    }
}

fn named_groups(text: &str) -> Result<Vec<Group>, UsageError> {
    let group = |name: &str| {
        Group::named(name.trim()).ok_or_else(|| {
            let names = Group::ALL.map(Group::name).join(", ");
            UsageError::new(format!("--redact: there is no group `{name}`; there are {names}"))
        })
    };
    text.split(',').map(group).collect()
}

/// Writes where what was taken out; never what. One line for each rule in each field.
pub(super) fn write_report(file: &Path, findings: &[Finding]) -> anyhow::Result<()> {
    let mut counts = BTreeMap::<_, u64>::new();
    for Finding { rule, session, message, field, count, fingerprint: _ } in findings {
        *counts.entry((session, message, field, rule)).or_default() += count;
    }
    let line = |((session, message, field, rule), count): (_, _)| json!({ "rule": rule, "session": session, "message": message, "field": field, "count": count });
    let lines: Vec<_> = counts.into_iter().map(line).collect();
    let failed = || format!("cannot write {}", file.display());
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut out =
        tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new("."))).with_context(failed)?;
    serde_json::to_writer(&mut out, &json!({ "findings": lines })).with_context(failed)?;
    out.as_file().sync_all().with_context(failed)?;
    out.persist(file).with_context(failed)?;
    Ok(())
}
