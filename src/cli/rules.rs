//! `rules`: what redaction goes by.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;

use super::environment::Environment;
use super::exit::UsageError;
use super::terminal::{self, Terminal};
use super::{ExitStatus, Global};
use crate::redact::check::{Fault, check, untried};
use crate::redact::rule::Rule;
use crate::redact::{Context, builtin, contexts, load};

/// List, check and explain the rules that redaction goes by
#[derive(Debug, Args)]
pub(super) struct RulesArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all rules, the built-in ones and those in $HERMES_HOME/redact-rules
    List,
    /// Try rules on their own examples, and name what is wrong
    Check {
        /// Files or folders; the built-in rules where none is named
        #[arg(value_name = "FILE|DIR")]
        files: Vec<PathBuf>,
    },
    /// Show one rule
    Explain {
        /// The rule's id, as it stands in a marker
        id: String,
    },
}

pub(super) fn run(
    args: &RulesArgs,
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    match &args.action {
        Action::List => list(&all(environment)?, global),
        Action::Check { files } => run_check(files, global, environment, terminal),
        Action::Explain { id } => explain(&all(environment)?, id, global),
    }
}

fn all(environment: &Environment) -> anyhow::Result<Vec<Rule>> {
    let mut rules = builtin::rules();
    let own = environment.hermes_home.join("redact-rules");
    if own.is_dir() {
        for rule in loaded(&own)? {
            rules.retain(|known| known.id != rule.id);
            rules.push(rule);
        }
    }
    Ok(rules)
}

fn loaded(path: &std::path::Path) -> anyhow::Result<Vec<Rule>> {
    load::load(path).with_context(|| format!("cannot use the rules in {}", path.display()))
}

fn list(rules: &[Rule], global: &Global) -> anyhow::Result<ExitStatus> {
    if global.json {
        let rules: Vec<_> = rules.iter().map(as_json).chain(contexts().map(context_json)).collect();
        terminal::print(&format!("{}\n", json!({ "rules": rules })))?;
        return Ok(ExitStatus::Done);
    }
    let mut text = String::new();
    let patterns =
        rules.iter().map(|rule| (rule.id.as_str(), rule.group, rule.description.as_str()));
    let contexts = contexts().map(|context| (context.id, context.group, context.description));
    for (id, group, description) in patterns.chain(contexts) {
        let _ = writeln!(text, "{id:<36} {:<8} {description}", group.name());
    }
    terminal::list(&text)?;
    Ok(ExitStatus::Done)
}

fn run_check(
    files: &[PathBuf],
    global: &Global,
    environment: &Environment,
    terminal: &Terminal,
) -> anyhow::Result<ExitStatus> {
    let mut rules = Vec::new();
    for file in files {
        rules.extend(loaded(&environment.expand(file))?);
    }
    if files.is_empty() {
        rules = builtin::rules();
    }
    let (faults, untried) = (check(&rules), untried(&rules));
    if global.json {
        let told = |faults: &[Fault]| -> Vec<_> {
            faults.iter().map(|f| json!({ "rule": f.rule, "what": f.what })).collect()
        };
        let report = json!({
            "command": "rules check", "rules": rules.len(), "faults": told(&faults), "notes": told(&untried),
        });
        terminal::print(&format!("{report}\n"))?;
    } else {
        for Fault { rule, what } in &faults {
            terminal.error(&format!("rule {rule}: {what}"), &[], None);
        }
        if !untried.is_empty() {
            let which = match untried.as_slice() {
                [one] => format!("rule {} has no example", one.rule),
                many => format!("{} rules have no example", many.len()),
            };
            terminal.note(&format!("{which}, so nothing was tried on them"));
        }
        terminal.done(&format!("{} rules, {} faults", rules.len(), faults.len()));
    }
    Ok(if faults.is_empty() { ExitStatus::Done } else { ExitStatus::Failed })
}

fn explain(rules: &[Rule], id: &str, global: &Global) -> anyhow::Result<ExitStatus> {
    if let Some(context) = contexts().find(|context| context.id == id) {
        return explain_context(context, global);
    }
    let rule = rules.iter().find(|rule| rule.id == id).ok_or_else(|| {
        UsageError::new(format!("there is no rule `{id}`")).hint("`rules list` lists all")
    })?;
    if global.json {
        terminal::print(&format!("{}\n", as_json(rule)))?;
        return Ok(ExitStatus::Done);
    }
    let mut text = format!("{}: {}\n", rule.id, rule.description);
    let _ = writeln!(text, "group:    {}", rule.group.name());
    let _ = writeln!(text, "keywords: {}", rule.keywords.join(", "));
    let _ = writeln!(text, "pattern:  {}", rule.pattern);
    for example in &rule.examples {
        let _ = writeln!(text, "finds:    {example}");
    }
    for example in &rule.negative_examples {
        let _ = writeln!(text, "leaves:   {example}");
    }
    terminal::list(&text)?;
    Ok(ExitStatus::Done)
}

fn explain_context(context: Context, global: &Global) -> anyhow::Result<ExitStatus> {
    if global.json {
        terminal::print(&format!("{}\n", context_json(context)))?;
    } else {
        let Context { id, group, description } = context;
        let found = "by what stands beside the value, in any notation, and not by a pattern";
        terminal::list(&format!(
            "{id}: {description}\ngroup:    {}\nfound:    {found}\n",
            group.name()
        ))?;
    }
    Ok(ExitStatus::Done)
}

fn context_json(context: Context) -> serde_json::Value {
    let Context { id, group, description } = context;
    json!({ "id": id, "group": group.name(), "description": description })
}

fn as_json(rule: &Rule) -> serde_json::Value {
    json!({
        "id": rule.id,
        "group": rule.group.name(),
        "description": rule.description,
        "keywords": rule.keywords,
        "pattern": rule.pattern,
        "examples": rule.examples,
        "negative_examples": rule.negative_examples,
    })
}
