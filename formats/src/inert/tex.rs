//! TeX in a text: pandoc hands commands on to LaTeX as they are, and takes what belongs to one out
//! of the document, be it the next message.

/// TeX commands that read or write files, run something or redefine what follows.
const TEX: [&str; 23] = [
    "input",
    "include",
    "write",
    "read",
    "openin",
    "openout",
    "newread",
    "newwrite",
    "immediate",
    "def",
    "edef",
    "gdef",
    "xdef",
    "let",
    "catcode",
    "csname",
    "special",
    "directlua",
    "luaexec",
    "lstinputlisting",
    "verbatiminput",
    "includegraphics",
    "usepackage",
];

/// The letters behind the backslash that the text begins with, and what follows them.
fn command_and_rest(text: &str) -> (&str, &str) {
    let rest = &text[1..];
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    rest.split_at(end)
}

/// Whether a text that begins with a backslash begins one of [`TEX`]. A folder of that name in a
/// Windows path, followed by another backslash, is no command that could do anything.
pub(crate) fn runs(text: &str) -> bool {
    let (command, rest) = command_and_rest(text);
    TEX.contains(&command) && !rest.is_empty() && !rest.starts_with('\\')
}

/// Whether a text that begins with a backslash begins a command with an argument.
pub(crate) fn takes_argument(text: &str) -> bool {
    let (command, rest) = command_and_rest(text);
    !command.is_empty() && rest.starts_with(['{', '['])
}

/// How far the end of an argument or an environment is looked for, so that no text takes long.
const ARGUMENT: usize = 512;
const ENVIRONMENT: usize = 4096;

/// Mathematics, which readers set apart by dollar signs.
const MATH: [&str; 10] = [
    "align", "aligned", "array", "bmatrix", "cases", "equation", "gather", "matrix", "pmatrix",
    "split",
];

/// Whether a TeX environment begins here, other than one of mathematics that ends in the text: to
/// pandoc it reaches to its end, wherever that is.
pub(crate) fn begins_environment(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\\begin{") else {
        return false;
    };
    let rest = near(rest, ENVIRONMENT);
    let name = rest.split_once('}').map_or(rest, |(name, _)| name);
    let is_math = MATH.contains(&name.trim_end_matches('*'));
    !is_math || !rest.contains(&format!("\\end{{{name}}}"))
}

/// Whether a TeX command begins here whose argument its paragraph leaves open: to pandoc that,
/// too, reaches beyond the message.
pub(crate) fn leaves_argument_open(text: &str) -> bool {
    if !takes_argument(text) {
        return false;
    }
    let mut open = Vec::new();
    let mut line_is_blank = false;
    let mut chars = near(text, ARGUMENT).chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '{' => open.push('}'),
            '[' => open.push(']'),
            '\n' if line_is_blank => return true,
            _ if open.last() == Some(&c) => {
                open.pop();
                if open.is_empty() && !matches!(chars.peek(), Some('{' | '[')) {
                    return false;
                }
            }
            _ => {}
        }
        line_is_blank = c == '\n' || line_is_blank && c.is_whitespace();
    }
    true
}

/// The first bytes of a text, up to a limit or little more.
fn near(text: &str, limit: usize) -> &str {
    let end = (limit..text.len()).find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::{begins_environment, leaves_argument_open, runs};

    #[test]
    fn commands_that_do_something_are_known() {
        assert!(runs("\\input /x") && runs("\\write18{x}"));
        assert!(!runs("\\input\\x") && !runs("\\frac{1}{2}") && !runs("\\read"));
    }

    #[test]
    fn what_reaches_beyond_its_paragraph_is_open() {
        assert!(leaves_argument_open("\\a{b\n\nc}") && leaves_argument_open("\\a[b]{c"));
        assert!(!leaves_argument_open("\\frac{1}{x_{2}} {") && !leaves_argument_open("\\d+ {"));
        assert!(begins_environment("\\begin{comment}\\end{comment}"));
        assert!(begins_environment("\\begin{align} x") && begins_environment("\\begin{"));
        assert!(!begins_environment("\\begin{align*}\nx\n\\end{align*}"));
    }
}
