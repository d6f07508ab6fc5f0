//! What the client's errors come down to: one of ours, in few words.

use object_store::Error as Cause;

use super::Error;

/// Longer texts of a server say no more.
const LONGEST: usize = 300;

/// Why something about `place` failed; a whole bucket that is not there is told from an object.
pub(super) fn error(place: String, cause: &Cause) -> Error {
    let said = said(cause);
    match cause {
        _ if lacks_credentials(cause) => Error::NoCredentials(place),
        Cause::Generic { .. } if matches!(status(cause), Some(401 | 403)) => {
            Error::Refused { place, said }
        }
        Cause::Generic { .. } if status(cause) == Some(404) => Error::NoBucket { place, said },
        Cause::NotFound { .. } if is_of_bucket(cause) => Error::NoBucket { place, said },
        Cause::NotFound { .. } => Error::Gone(place),
        Cause::PermissionDenied { .. } | Cause::Unauthenticated { .. } => {
            Error::Refused { place, said }
        }
        Cause::AlreadyExists { .. } | Cause::Precondition { .. } => Error::Overtaken(place),
        _ => Error::Failed { place, said },
    }
}

/// Whether a server does not know how to write under a condition.
pub(super) fn is_unconditional(cause: &Cause) -> bool {
    match cause {
        Cause::NotImplemented { .. } | Cause::NotSupported { .. } => true,
        Cause::Generic { .. } => status(cause) == Some(501),
        _ => false,
    }
}

/// What a server answered to a list, which the client does not look into.
fn status(cause: &Cause) -> Option<u16> {
    let text = root(cause);
    let (_, rest) = text.split_once("status code: ")?;
    rest.get(..3)?.parse().ok()
}

fn is_of_bucket(cause: &Cause) -> bool {
    let text = root(cause);
    ["NoSuchBucket", "ContainerNotFound", "specified bucket does not exist"]
        .iter()
        .any(|sign| text.contains(sign))
}

/// Without credentials the client asks the machine's own service for some, which most machines lack.
fn lacks_credentials(cause: &Cause) -> bool {
    const SERVICES: [&str; 5] = [
        "/latest/api/token",
        "/latest/meta-data/",
        "169.254.170.2/",
        "/computeMetadata/",
        "/metadata/identity/",
    ];
    let mut error: Option<&(dyn std::error::Error + 'static)> = Some(cause);
    while let Some(this) = error {
        let text = this.to_string();
        if SERVICES.iter().any(|address| text.contains(address)) {
            return true;
        }
        error = this.source();
    }
    false
}

/// The cause that has no other.
fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// What a server said in its XML or JSON, or what the system says. Never an address that was asked for.
fn said(cause: &Cause) -> String {
    let text = root(cause);
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once(&format!("</{name}>")).map(|(inner, _)| inner.trim())
    };
    let told = match (element("Code"), element("Message")) {
        (Some(code), Some(message)) if !message.is_empty() => format!("{code}: {message}"),
        (Some(code), _) => code.to_owned(),
        _ => text.replace("Server returned non-2xx status code:", "it answered"),
    };
    let one_line = told.split_whitespace().collect::<Vec<_>>().join(" ");
    one_line.trim_end_matches(':').chars().take(LONGEST).collect()
}
