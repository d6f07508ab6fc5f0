//! Every built-in rule's secrets, in every notation in which transcripts hold them.

use hermes_sessions::redact::builtin::rules;
use hermes_sessions::redact::example::Example;
use hermes_sessions::redact::known::KnownValues;
use hermes_sessions::redact::rule::{Group, Rule};
use hermes_sessions::redact::{Redactor, Scope};
use serde_json::json;

/// A secret, and how it is written down.
struct Sample {
    rule: String,
    /// What stands before it where a name is wanted.
    name: String,
    /// The secret itself.
    secret: String,
    /// What is written as the value: the secret, or the text in which only a part is secret.
    value: String,
}

/// A name that says nothing about its value.
const NEUTRAL: &str = "ITEM";

impl Sample {
    fn all(rule: &Rule) -> Vec<Self> {
        let examples = rule.examples.iter().enumerate();
        examples.filter_map(|(i, written)| Self::new(rule, i, written)).collect()
    }

    fn new(rule: &Rule, index: usize, written: &str) -> Option<Self> {
        let example = Example::expand(written, &format!("{}{index}", rule.id));
        let [range] = &example.secrets[..] else {
            return None;
        };
        let secret = example.text[range.clone()].to_owned();
        let before = &example.text[..range.start];
        let has_keyword = |text: &str| {
            let text = text.to_ascii_lowercase();
            let keywords = rule.keywords.iter();
            keywords.map(|k| k.to_ascii_lowercase()).any(|k| text.contains(&k))
        };
        // A shape of its own, or a name before it, or a text of which it is a part.
        let (name, value) = if is_whole_match(rule) && has_keyword(&secret) {
            (NEUTRAL, secret.clone())
        } else if let Some(name) = before.strip_suffix('=').filter(|n| is_name(n)) {
            (name, secret.clone())
        } else {
            (NEUTRAL, example.text.clone())
        };
        Some(Self { rule: rule.id.clone(), name: name.to_owned(), secret, value })
    }
}

/// Whether the secret is all that the rule's pattern takes.
fn is_whole_match(rule: &Rule) -> bool {
    let groups = regex::Regex::new(&rule.pattern).map_or(2, |p| p.captures_len());
    rule.secret.is_none() && groups == 1
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// What a notation cannot hold as it stands.
#[derive(Clone, Copy)]
enum Needs {
    Nothing,
    /// No space, quote, bracket or backslash.
    Word,
    /// What a URL leaves as it is.
    Url,
    /// One field of a line.
    Field,
}

impl Needs {
    fn accepts(self, value: &str) -> bool {
        let refused = match self {
            Self::Nothing => "",
            Self::Word => " \t\n\"'`<>\\$;(){}[]|*&#!",
            Self::Url => " \t\n\"'`<>\\$;(){}[]|*&#!/+=:@%?^,",
            Self::Field => " \t\n\"'`<>\\$;(){}[]|*&#!,",
        };
        !value.contains(|c| refused.contains(c))
    }
}

type Template = (&'static str, Needs, fn(&str, &str) -> String);

/// How a named value is written down.
const TEMPLATES: &[Template] = &[
    ("assignment", Needs::Word, |n, v| format!("{n}={v}")),
    ("export", Needs::Word, |n, v| format!("export {n}={v}")),
    ("quoted export", Needs::Word, |n, v| format!("export {n}=\"{v}\"")),
    ("spaced", Needs::Word, |n, v| format!("{n} = {v}")),
    ("ini", Needs::Word, |n, v| format!("[main]\n{n}={v}\nuser=ana\n")),
    ("toml", Needs::Word, |n, v| format!("[main]\n{} = \"{v}\"\n", low(n))),
    ("yaml", Needs::Word, |n, v| format!("env:\n  {}: {v}\n  other: 1\n", low(n))),
    ("quoted yaml", Needs::Word, |n, v| format!("- {}: '{v}'\n", low(n))),
    ("json", Needs::Nothing, |n, v| json!({ low(n): v, "a": 1 }).to_string()),
    ("json in text", Needs::Word, |n, v| format!("got {} back", json!({ low(n): v }))),
    ("escaped once", Needs::Nothing, |n, v| {
        json!({ "out": json!({ low(n): v }).to_string() }).to_string()
    }),
    ("escaped twice", Needs::Nothing, |n, v| {
        let inner = json!({ "out": json!({ low(n): v }).to_string() });
        json!({ "content": inner.to_string() }).to_string()
    }),
    ("header", Needs::Word, |n, v| format!("X-{}: {v}", n.replace('_', "-"))),
    ("bearer", Needs::Word, |n, v| format!("curl -H \"{n}: Bearer {v}\" https://example.com")),
    ("query", Needs::Url, |n, v| format!("https://example.com/x?a=1&{}={v}&b=2", low(n))),
    ("percent", Needs::Url, |n, v| format!("next=%2Fx%3F{}%3D{v}%26a%3D1", low(n))),
    ("userinfo", Needs::Url, |n, v| format!("https://{n}:{v}@example.com/x.git")),
    ("flag", Needs::Word, |n, v| format!("tool --{} {v} --verbose", low(n).replace('_', "-"))),
    ("flag with =", Needs::Word, |n, v| format!("tool --{}={v}", low(n).replace('_', "-"))),
    ("rust", Needs::Word, |n, v| format!("const {n}: &str = \"{v}\";")),
    ("js", Needs::Word, |n, v| format!("const {} = '{v}';", low(n))),
    ("typescript", Needs::Word, |n, v| format!("let {}: string = `{v}`;", low(n))),
    ("keyword argument", Needs::Word, |n, v| format!("connect(user=\"ana\", {}=\"{v}\")", low(n))),
    ("python dict", Needs::Word, |n, v| format!("{{'{}': '{v}', 'n': 1}}", low(n))),
    ("environ", Needs::Word, |n, v| format!("os.environ[\"{n}\"] = \"{v}\"")),
    ("powershell", Needs::Word, |n, v| format!("$env:{n} = \"{v}\"")),
    ("hash rocket", Needs::Word, |n, v| format!("'{}' => '{v}',", low(n))),
    ("xml", Needs::Word, |n, v| format!("<config><{n}>{v}</{n}></config>")),
    ("html", Needs::Word, |n, v| format!("<td>{n}=&quot;{v}&quot;</td>")),
    ("log", Needs::Word, |n, v| format!("2026-01-02T03:04:05Z INFO loaded {n}={v} in 3 ms")),
    ("inline code", Needs::Word, |n, v| format!("Set {n} to `{v}` first.")),
    ("fence", Needs::Word, |n, v| format!("```sh\n{n}={v}\n```\n")),
    ("csv", Needs::Field, |n, v| format!("1,{n},{v},yes")),
    ("diff", Needs::Word, |n, v| format!("@@ -1 +1 @@\n-{n}=\n+{n}={v}\n")),
    ("line number", Needs::Word, |n, v| format!("    12|{n}={v}")),
    ("glued to \\n", Needs::Word, |n, v| format!("first\\n{n}={v}\\nlast")),
    ("glued to \\t", Needs::Word, |n, v| format!("a\\t{n}={v}\\tb")),
    ("ansi", Needs::Word, |n, v| format!("\u{1b}[32m{n}\u{1b}[0m={v}\u{1b}[0m")),
    ("escaped ansi", Needs::Word, |n, v| format!("\\u001b[1m{n}={v}\\u001b[0m")),
];

/// How a value that its shape tells stands without a name.
const BARE: &[Template] = &[
    ("prose", Needs::Word, |_, v| format!("I found {v} in it.")),
    ("end of sentence", Needs::Word, |_, v| format!("It is {v}, he said")),
    ("parentheses", Needs::Word, |_, v| format!("call({v})")),
    ("after \\n", Needs::Word, |_, v| format!("first\\n{v}\\nlast")),
    ("after \\t", Needs::Word, |_, v| format!("a\\t{v}\\tb")),
    ("after ansi", Needs::Word, |_, v| format!("\u{1b}[32m{v}\u{1b}[0m")),
    ("after escaped ansi", Needs::Word, |_, v| format!("\\u001b[0m{v}\\u001b[0m")),
    ("after %3D", Needs::Url, |_, v| format!("x%3D{v}%26y")),
    ("after =", Needs::Word, |_, v| format!("x={v}")),
    ("after _", Needs::Word, |_, v| format!("x_{v}")),
];

fn low(name: &str) -> String {
    name.to_ascii_lowercase()
}

fn redactor() -> Redactor {
    Redactor::new(Vec::new(), &[Group::Secrets], KnownValues::default())
        .expect("the built-in rules compile")
}

fn secret_rules() -> Vec<Rule> {
    rules().into_iter().filter(|rule| rule.group == Group::Secrets).collect()
}

/// A stretch of the secret that can still be read.
fn survivor<'a>(secret: &'a str, shown: &str) -> Option<&'a str> {
    const LEGIBLE: usize = 12;
    let chars: Vec<usize> = secret.char_indices().map(|(i, _)| i).chain([secret.len()]).collect();
    let width = LEGIBLE.min(chars.len() - 1);
    let mut windows = chars.windows(width + 1).map(|w| &secret[w[0]..w[width]]);
    windows.find(|window| shown.contains(window))
}

#[test]
fn there_are_rules_for_hundreds_of_kinds() {
    assert!(secret_rules().len() >= 300);
}

#[test]
fn no_notation_keeps_a_secret() {
    let redactor = redactor();
    let mut faults = Vec::new();
    let mut tried = 0;
    for sample in secret_rules().iter().flat_map(Sample::all) {
        let is_bare = sample.name == NEUTRAL && sample.value == sample.secret;
        let bare = if is_bare { BARE } else { &[] };
        for (title, needs, write) in TEMPLATES.iter().chain(bare) {
            let is_document = sample.value.starts_with(['{', '[']);
            if is_document || !needs.accepts(&sample.value) {
                continue;
            }
            tried += 1;
            let text = write(&sample.name, &sample.value);
            let shown = redactor.redact_text(&text, &mut Scope::new());
            if survivor(&sample.secret, &shown).is_some() {
                faults.push(format!("{} ({title}): {text} -> {shown}", sample.rule));
            }
        }
    }
    assert!(tried > 10_000, "only {tried} texts");
    assert!(faults.is_empty(), "{} of {tried}:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn what_stands_for_a_value_is_left_alone() {
    const STAND_INS: &[&str] = &[
        "string",
        "None",
        "null",
        "true",
        "<your-key>",
        "your-api-key-here",
        "xxxxxxxxxxxxxxxx",
        "[REDACTED]",
        "${VALUE}",
        "$VALUE",
        "{{ value }}",
        "settings.VALUE",
        "os.getenv(\"VALUE\")",
        "changeme",
        "...",
    ];
    let redactor = redactor();
    let mut faults = Vec::new();
    for sample in secret_rules().iter().flat_map(Sample::all) {
        for value in STAND_INS {
            let text = format!("{}={value}", sample.name);
            let shown = redactor.redact_text(&text, &mut Scope::new());
            if shown != text {
                faults.push(format!("{}: {text} -> {shown}", sample.rule));
            }
        }
    }
    assert!(faults.is_empty(), "{} texts:\n{}", faults.len(), faults.join("\n"));
}
