//! Reads users' rule files: a file or a folder of them, in this program's form or gitleaks'.

use std::fs;
use std::path::Path;

use serde::Deserialize;

use super::go::translated;
use super::rule::{Rule, RuleError, SecretGroup, parse};

/// The rules of a file, or of all `*.toml` files of a folder in the order of their names.
pub fn load(path: &Path) -> Result<Vec<Rule>, RuleError> {
    if !path.is_dir() {
        return one(path);
    }
    let unreadable = |source| RuleError::Read { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(unreadable)? {
        let file = entry.map_err(unreadable)?.path();
        if file.extension().is_some_and(|e| e == "toml") {
            files.push(file);
        }
    }
    files.sort();
    let rules: Result<Vec<_>, _> = files.iter().map(|file| one(file)).collect();
    Ok(rules?.into_iter().flatten().collect())
}

fn one(path: &Path) -> Result<Vec<Rule>, RuleError> {
    let text = fs::read_to_string(path)
        .map_err(|source| RuleError::Read { path: path.to_owned(), source })?;
    read(&text).map_err(|cause| RuleError::In { path: path.to_owned(), cause: Box::new(cause) })
}

/// The rules of a text in either form.
pub fn read(text: &str) -> Result<Vec<Rule>, RuleError> {
    let table: toml::Table = toml::from_str(text).map_err(Box::new)?;
    let is_gitleaks =
        ["rules", "allowlist", "allowlists", "extend"].iter().any(|key| table.contains_key(*key));
    if !is_gitleaks {
        return parse(text);
    }
    let config: Config = toml::from_str(text).map_err(Box::new)?;
    Ok(config.into_rules())
}

/// What this program uses of gitleaks' configuration; the rest says where in a repository to
/// look.
#[derive(Deserialize)]
struct Config {
    #[serde(default)]
    rules: Vec<LeakRule>,
    #[serde(default)]
    allowlist: Allowlist,
    #[serde(default)]
    allowlists: Vec<Allowlist>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LeakRule {
    id: String,
    #[serde(default)]
    description: String,
    /// Missing where only a path is asked for.
    regex: Option<String>,
    secret_group: Option<usize>,
    #[serde(default)]
    keywords: Vec<String>,
    entropy: Option<f64>,
    #[serde(default)]
    allowlist: Allowlist,
    #[serde(default)]
    allowlists: Vec<Allowlist>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Allowlist {
    /// `AND` where everything that is listed must hold.
    condition: Option<String>,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    commits: Vec<String>,
    #[serde(default)]
    regexes: Vec<String>,
    /// What the expressions look at: the secret when left out, `match` or `line`.
    regex_target: Option<String>,
    #[serde(default)]
    stopwords: Vec<String>,
}

impl Allowlist {
    /// The expressions that can be asked of a secret. One that wants the whole line would let
    /// too much pass, and so would one that counts only together with something else.
    fn expressions(&self) -> impl Iterator<Item = String> {
        let of_line = self.regex_target.as_deref() == Some("line");
        let regexes = self.regexes.iter().filter(move |_| !of_line).map(|regex| translated(regex));
        let words = self.stopwords.iter().map(|word| format!("(?i){}", regex::escape(word)));
        let is_part = self.is_of_several();
        regexes.chain(words).filter(move |_| !is_part)
    }

    /// Whether one of its lists alone lets nothing pass.
    fn is_of_several(&self) -> bool {
        let lists = [&self.paths, &self.commits, &self.regexes, &self.stopwords];
        let is_and = self.condition.as_deref().is_some_and(|c| matches!(c, "AND" | "and" | "&&"));
        is_and && lists.into_iter().filter(|list| !list.is_empty()).count() > 1
    }
}

impl Config {
    fn into_rules(self) -> Vec<Rule> {
        let everywhere = std::iter::once(&self.allowlist).chain(&self.allowlists);
        let global: Vec<String> = everywhere.flat_map(Allowlist::expressions).collect();
        self.rules.into_iter().filter_map(|rule| rule.into_rule(&global)).collect()
    }
}

impl LeakRule {
    fn into_rule(self, global: &[String]) -> Option<Rule> {
        let own = std::iter::once(&self.allowlist).chain(&self.allowlists);
        let allow = own.flat_map(Allowlist::expressions).chain(global.iter().cloned());
        Some(Rule {
            id: kebab(&self.id),
            pattern: translated(&self.regex?),
            secret: self.secret_group.filter(|group| *group > 0).map(SecretGroup::Number),
            entropy: self.entropy,
            allow: allow.collect(),
            keywords: self.keywords,
            description: self.description,
            ..Rule::default()
        })
    }
}

/// The id as it may stand in a marker.
fn kebab(id: &str) -> String {
    let words = id.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::redact::rule::Matcher;

    const CONFIG: &str = r#"
        title = "x"
        [allowlist]
        paths = ["vendor/"]
        regexes = ["^fake"]
        [[rules]]
        id = "Acme_Key"
        description = "Acme"
        regex = '''(?i)acme_key\s*=\s*([a-z0-9]{8})'''
        secretGroup = 1
        keywords = ["acme_key"]
        entropy = 1.0
        path = "\\.env$"
        [[rules.allowlists]]
        condition = "OR"
        stopwords = ["sample"]
        [[rules.allowlists]]
        condition = "AND"
        paths = ["docs/"]
        regexes = ["^real"]
        [[rules.allowlists]]
        regexes = ['^\$(?:[0-9]+|{[0-9]+})$']
        [[rules]]
        id = "path-only"
        path = "id_rsa"
    "#;

    #[test]
    fn a_configuration_of_gitleaks_is_taken_as_it_is() {
        let rules = read(CONFIG).unwrap();
        assert_eq!(rules.len(), 1);
        assert_eq!(rules[0].id, "acme-key");
        let matcher = Matcher::new(&rules[0]).unwrap();
        assert_eq!(matcher.all_in("ACME_KEY = abcd1234").first(), Some(&(11..19)));
        assert!(matcher.all_in("ACME_KEY = sample12").is_empty());
        assert!(matcher.all_in("ACME_KEY = fake1234").is_empty());
        assert!(!matcher.all_in("ACME_KEY = real1234").is_empty(), "true only of a folder");
    }

    #[test]
    fn a_folder_is_read_in_the_order_of_names() {
        let folder = tempfile::tempdir().unwrap();
        let rule = |id| format!("[[rule]]\nid = \"{id}\"\ndescription = \"d\"\npattern = \"x\"\n");
        std::fs::write(folder.path().join("b.toml"), rule("second")).unwrap();
        std::fs::write(folder.path().join("a.toml"), rule("first")).unwrap();
        std::fs::write(folder.path().join("c.txt"), "not a rule file").unwrap();
        let ids: Vec<_> = load(folder.path()).unwrap().into_iter().map(|r| r.id).collect();
        assert_eq!(ids, ["first", "second"]);
    }

    #[test]
    fn a_misspelled_field_is_an_error() {
        assert!(
            read("[[rule]]\nid = \"a\"\ndescription = \"d\"\npattern = \"x\"\nkeyword = [\"y\"]")
                .is_err()
        );
        assert!(load(Path::new("/does/not/exist.toml")).is_err());
    }
}
