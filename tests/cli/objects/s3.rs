//! As much of S3 as backups use: objects of one bucket, lists in pages, parts, conditions, and one key.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::loopback::http::{Answer, Request};

pub(crate) const BUCKET: &str = "bucket";
pub(crate) const KEY: &str = "AKIDLOOPBACK";
/// Objects on a page of a list.
const PAGE: usize = 7;

/// A bucket.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) objects: BTreeMap<String, Vec<u8>>,
    parts: BTreeMap<(String, usize), Vec<u8>>,
    pub(crate) is_gone: bool,
    /// It has no idea of `If-Match`.
    pub(crate) is_simple: bool,
    /// Nothing may be removed.
    pub(crate) keeps_all: bool,
}

pub(crate) fn answer(state: &mut State, request: &Request, _: &str) -> Answer {
    let key_of = |text: &str| text.split_once("Credential=").map(|(_, rest)| rest.to_owned());
    let key = request.header("authorization").and_then(key_of).unwrap_or_default();
    if !key.starts_with(&format!("{KEY}/")) {
        return error(403, "InvalidAccessKeyId", "The key you provided does not exist.");
    }
    let path = request.path.strip_prefix('/').unwrap_or_default();
    let (bucket, name) = path.split_once('/').unwrap_or((path, ""));
    if bucket != BUCKET || state.is_gone {
        return error(404, "NoSuchBucket", "The specified bucket does not exist");
    }
    let field = |name: &str| Request::fields(&request.query, name).into_iter().next();
    match (request.method.as_str(), name) {
        ("GET", "") => {
            list(state, &field("prefix").unwrap_or_default(), field("continuation-token"))
        }
        ("POST", "") => remove(state, &String::from_utf8_lossy(&request.body)),
        ("POST", name) if request.query.starts_with("uploads") => xml(&format!(
            "<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
        )),
        ("POST", name) => join(state, name),
        ("PUT", name) => match field("partNumber").and_then(|number| number.parse().ok()) {
            Some(number) => {
                state.parts.insert((name.to_owned(), number), request.body.clone());
                Answer::bytes(Vec::new()).with("ETag", &tag(&request.body))
            }
            None => put(state, name, request),
        },
        ("GET" | "HEAD", name) => match state.objects.get(name) {
            Some(body) => Answer::bytes(body.clone())
                .with("ETag", &tag(body))
                .with("Last-Modified", "Fri, 31 Jul 2026 12:00:00 GMT"),
            None => error(404, "NoSuchKey", "The specified key does not exist."),
        },
        ("DELETE", name) => {
            state.parts.retain(|(of, _), _| of != name);
            Answer { status: 204, headers: Vec::new(), body: Vec::new() }
        }
        _ => error(405, "MethodNotAllowed", "no"),
    }
}

fn put(state: &mut State, name: &str, request: &Request) -> Answer {
    let there = state.objects.get(name).map(|body| tag(body));
    let wanted = request.header("if-match");
    let is_new = request.header("if-none-match").is_some();
    if state.is_simple && (is_new || wanted.is_some()) {
        return error(
            501,
            "NotImplemented",
            "A header you provided implies functionality that is not implemented",
        );
    }
    if is_new && there.is_some() || wanted.is_some_and(|tag| there.as_deref() != Some(tag)) {
        return error(412, "PreconditionFailed", "At least one of the preconditions did not hold");
    }
    let tag = tag(&request.body);
    state.objects.insert(name.to_owned(), request.body.clone());
    Answer::bytes(Vec::new()).with("ETag", &tag)
}

fn join(state: &mut State, name: &str) -> Answer {
    let parts = state.parts.extract_if(.., |(of, _), _| of == name);
    let body: Vec<u8> = parts.flat_map(|(_, part)| part).collect();
    let tag = tag(&body);
    state.objects.insert(name.to_owned(), body);
    xml(&format!(
        "<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
    ))
}

fn list(state: &State, prefix: &str, from: Option<String>) -> Answer {
    let from = from.unwrap_or_default();
    let found = state.objects.iter().filter(|(name, _)| name.starts_with(prefix) && **name > from);
    let page: Vec<_> = found.take(PAGE + 1).collect();
    let mut text = String::new();
    for (name, body) in page.iter().take(PAGE) {
        let (tag, size) = (tag(body), body.len());
        write!(
            text,
            "<Contents><Key>{name}</Key><LastModified>2026-07-31T12:00:00.000Z</LastModified>\
             <ETag>{tag}</ETag><Size>{size}</Size></Contents>"
        )
        .unwrap();
    }
    if page.len() > PAGE {
        let last = page[PAGE - 1].0;
        write!(text, "<NextContinuationToken>{last}</NextContinuationToken>").unwrap();
    }
    xml(&format!("<ListBucketResult>{text}</ListBucketResult>"))
}

fn remove(state: &mut State, body: &str) -> Answer {
    let mut text = String::new();
    for name in body.split("<Key>").skip(1).filter_map(|rest| Some(rest.split_once("</Key>")?.0)) {
        let _ = if state.keeps_all {
            write!(
                text,
                "<Error><Key>{name}</Key><Code>AccessDenied</Code><Message>no</Message></Error>"
            )
        } else {
            state.objects.remove(name);
            write!(text, "<Deleted><Key>{name}</Key></Deleted>")
        };
    }
    xml(&format!("<DeleteResult>{text}</DeleteResult>"))
}

/// As real ones are: the same bytes have the same.
fn tag(body: &[u8]) -> String {
    format!("\"{}\"", &sha256(body)[..32])
}

pub(crate) fn sha256(body: &[u8]) -> String {
    Sha256::digest(body).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

fn xml(text: &str) -> Answer {
    Answer::bytes(format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>{text}").into_bytes())
}

fn error(status: u16, code: &str, message: &str) -> Answer {
    let body = format!("<Error><Code>{code}</Code><Message>{message}</Message></Error>");
    Answer { status, ..xml(&body) }
}
