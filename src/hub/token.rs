//! Where the token is, and which of several counts.

use std::fs;
use std::path::{Path, PathBuf};

use super::Error;

/// What says to the Hub who we are. Nothing here shows it.
pub struct Token {
    pub(super) value: String,
    /// Where it was found, for messages.
    pub source: String,
}

/// Where to look for a token.
pub struct Places<'a> {
    /// A file that the user named; nothing else counts then.
    pub file: Option<&'a Path>,
    /// The environment.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Hermes' home, which may have a `.env`.
    pub hermes_home: &'a Path,
    /// The user's home.
    pub home: Option<&'a Path>,
}

/// The names under which tools look for a token, the official one first.
const VARIABLES: [&str; 4] =
    ["HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HUGGINGFACE_TOKEN"];

impl Token {
    /// The first token that there is: of the file named, of the environment, of Hermes' `.env`, and
    /// the one that `hf auth login` keeps.
    pub fn find(places: &Places<'_>) -> Result<Self, Error> {
        if let Some(path) = places.file {
            let text = fs::read_to_string(path)
                .map_err(|source| Error::Read { path: path.to_owned(), source })?;
            return Self::new(&text, path.display().to_string());
        }
        let found = VARIABLES
            .iter()
            .find_map(|name| Some(((places.variable)(name)?, (*name).to_owned())))
            .or_else(|| in_file(&variable(places, "HF_TOKEN_PATH")?))
            .or_else(|| in_dotenv(&places.hermes_home.join(".env")))
            .or_else(|| in_file(&hf_home(places)?.join("token")));
        let (text, source) = found.ok_or(Error::NoToken)?;
        Self::new(&text, source)
    }

    /// A copied token often brings a line's end along; a header does not take it.
    fn new(text: &str, source: String) -> Result<Self, Error> {
        let value = text.trim();
        if value.is_empty() || !value.chars().all(|c| c.is_ascii_graphic()) {
            return Err(Error::BadToken(source));
        }
        Ok(Self { value: value.to_owned(), source })
    }
}

fn variable(places: &Places<'_>, name: &str) -> Option<PathBuf> {
    (places.variable)(name).map(PathBuf::from)
}

fn hf_home(places: &Places<'_>) -> Option<PathBuf> {
    let cache = || {
        let cache = variable(places, "XDG_CACHE_HOME");
        Some(cache.or_else(|| Some(places.home?.join(".cache")))?.join("huggingface"))
    };
    variable(places, "HF_HOME").or_else(cache)
}

fn in_file(path: &Path) -> Option<(String, String)> {
    let text = fs::read_to_string(path).ok().filter(|text| !text.trim().is_empty())?;
    Some((text, path.display().to_string()))
}

fn in_dotenv(path: &Path) -> Option<(String, String)> {
    let lines: Vec<_> = dotenvy::from_path_iter(path).ok()?.flatten().collect();
    VARIABLES.iter().find_map(|name| {
        let (_, value) = lines.iter().rev().find(|(key, _)| key == name)?;
        let source = format!("{name} in {}", path.display());
        (!value.trim().is_empty()).then(|| (value.clone(), source))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(home: &Path, file: Option<&Path>, set: &[(&str, &str)]) -> Result<Token, Error> {
        let variable = |name: &str| {
            let (_, value) = set.iter().find(|(key, _)| *key == name)?;
            Some((*value).to_owned())
        };
        let hermes = home.join(".hermes");
        let places = Places { file, variable: &variable, hermes_home: &hermes, home: Some(home) };
        Token::find(&places)
    }

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn the_nearest_token_counts_and_is_trimmed() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert!(matches!(found(home, None, &[]), Err(Error::NoToken)));

        write(&home.join(".cache/huggingface/token"), "of-login\n");
        let token = found(home, None, &[]).ok().unwrap();
        assert_eq!(token.value, "of-login");
        assert!(token.source.ends_with("huggingface/token"), "{}", token.source);

        write(&home.join(".hermes/.env"), "# keys\nexport HF_TOKEN='of-hermes' # mine\n");
        assert_eq!(found(home, None, &[]).ok().unwrap().value, "of-hermes");

        write(&home.join("path"), " of-path ");
        let path = home.join("path").display().to_string();
        let set = [("HF_TOKEN_PATH", path.as_str())];
        assert_eq!(found(home, None, &set).ok().unwrap().value, "of-path");

        let set = [("HUGGINGFACE_TOKEN", "old"), ("HF_TOKEN_PATH", path.as_str())];
        assert_eq!(found(home, None, &set).ok().unwrap().value, "old");
        let set = [("HUGGINGFACE_TOKEN", "old"), ("HF_TOKEN", "new\n")];
        assert_eq!(found(home, None, &set).ok().unwrap().value, "new");

        write(&home.join("named"), "named\r\n");
        let token = found(home, Some(&home.join("named")), &set).ok().unwrap();
        assert_eq!(token.value, "named");
    }

    #[test]
    fn what_no_header_can_hold_is_no_token() {
        let home = tempfile::tempdir().unwrap();
        for value in ["two words", "line\nbreak", "ümlaut"] {
            let error = found(home.path(), None, &[("HF_TOKEN", value)]).err().unwrap();
            assert!(matches!(&error, Error::BadToken(source) if source == "HF_TOKEN"));
            assert!(!error.to_string().contains(value));
        }
        write(&home.path().join("empty"), "\n");
        let error = found(home.path(), Some(&home.path().join("empty")), &[]).err().unwrap();
        assert!(matches!(error, Error::BadToken(_)));
    }
}
