//! The Hub's routes, as its clients use them.

use serde_json::{Value as Json, json};

use super::store::{Commit, Content, State, Storage, sha256};
use super::{READ, WRITE};
use crate::loopback::http::{Answer, Request};

type Answered = Result<Answer, Answer>;

/// Who has a token: the owner, in both cases, with different rights.
const OWNER: &str = "alice";
/// The Hub refuses larger files where they should be large ones.
const MOST_INLINE: usize = 10 << 20;

pub(super) fn answer(state: &mut State, request: &Request, url: &str) -> Answer {
    route(state, request, url).unwrap_or_else(|error| error)
}

fn route(state: &mut State, request: &Request, url: &str) -> Answered {
    let path: Vec<&str> = request.path.trim_start_matches('/').split('/').collect();
    match (request.method.as_str(), path.as_slice()) {
        ("GET", ["api", "whoami-v2"]) => whoami(request),
        ("POST", ["api", "validate-yaml"]) => {
            Ok(Answer::json(&json!({ "errors": [], "warnings": [] })))
        }
        ("POST", ["api", "repos", "create"]) => create(state, request, url),
        (method, ["api", "datasets", owner, name, rest @ ..]) => {
            let id = format!("{owner}/{name}");
            dataset(state, request, &id, (method, rest), url)
        }
        ("POST", ["datasets", owner, name, "info", "lfs", "objects", "batch"]) => {
            let id = format!("{owner}/{}", name.trim_end_matches(".git"));
            may_write(state, request, &id)?;
            Ok(negotiate(state, request, url))
        }
        ("GET" | "HEAD", ["datasets", owner, name, "resolve", revision, file @ ..]) => {
            resolve(state, request, &format!("{owner}/{name}"), revision, &file.join("/"))
        }
        ("PUT", ["lfs", "put", oid]) => {
            if sha256(&request.body) != *oid {
                return Err(Answer::error(400, "not what its name says"));
            }
            state.large.insert((*oid).to_owned(), request.body.clone());
            Ok(Answer::bytes(Vec::new()))
        }
        ("POST", ["lfs", "verify"]) => Ok(Answer::json(&json!({}))),
        ("POST", ["v1", "telemetry"]) => {
            state.telemetry += 1;
            Ok(Answer::json(&json!({})))
        }
        (method, ["cas", rest @ ..]) => cas(state, request, (method, rest)),
        _ => Err(Answer::error(404, "no such route")),
    }
}

fn whoami(request: &Request) -> Answered {
    known(request)?;
    Ok(Answer::json(&json!({
        "type": "user", "id": "1", "name": OWNER, "fullname": "Alice", "orgs": [],
        "auth": { "type": "access_token", "accessToken": { "displayName": "t", "role": "write" } },
    })))
}

fn known(request: &Request) -> Result<&str, Answer> {
    match request.token() {
        Some(token @ (WRITE | READ)) => Ok(token),
        _ => Err(Answer::error(401, "Invalid username or password.")),
    }
}

fn may_write(state: &State, request: &Request, id: &str) -> Result<(), Answer> {
    let token = known(request)?;
    if !state.datasets.contains_key(id) {
        return Err(missing());
    }
    if token == READ || !id.starts_with("alice/") {
        return Err(Answer::error(403, "you must use a write token"));
    }
    Ok(())
}

fn missing() -> Answer {
    Answer::error(404, "Repository not found").with("X-Error-Code", "RepoNotFound")
}

fn create(state: &mut State, request: &Request, url: &str) -> Answered {
    let token = known(request)?;
    let wanted = request.json();
    let owner = wanted["organization"].as_str().unwrap_or(OWNER);
    let id = format!("{owner}/{}", wanted["name"].as_str().unwrap_or_default());
    if token == READ || owner != OWNER {
        return Err(Answer::error(403, "You don't have the rights to create a dataset"));
    }
    let answer = Answer::json(&json!({ "url": format!("{url}/datasets/{id}"), "name": id }));
    if state.datasets.contains_key(&id) {
        return Err(Answer { status: 409, ..answer });
    }
    let is_private = match wanted["visibility"].as_str() {
        Some(visibility) => visibility == "private",
        None => wanted["private"] == json!(true),
    };
    state.create(&id, is_private);
    Ok(answer)
}

fn dataset(
    state: &mut State,
    request: &Request,
    id: &str,
    route: (&str, &[&str]),
    url: &str,
) -> Answered {
    let is_seen = |state: &State| state.datasets.get(id).is_some_and(|dataset| !dataset.is_private);
    if request.token().is_none() && !is_seen(state) {
        return Err(Answer::error(401, "Invalid username or password."));
    }
    if !state.datasets.contains_key(id) {
        return Err(missing());
    }
    match route {
        ("GET", [] | ["revision", _]) => Ok(info(state, id)),
        ("POST", ["paths-info", revision]) => paths(state, request, id, revision),
        ("POST", ["preupload", _]) => {
            may_write(state, request, id)?;
            Ok(classify(state, request, id))
        }
        ("POST", ["commit", "main"]) => {
            may_write(state, request, id)?;
            commit(state, request, id, url)
        }
        ("GET", ["xet-write-token" | "xet-read-token", _]) if state.storage == Storage::Xet => {
            known(request)?;
            let (cas, exp) = (format!("{url}/cas"), 4_000_000_000_u64);
            let body = json!({ "accessToken": "xet", "exp": exp, "casUrl": cas });
            Ok(Answer::json(&body)
                .with("X-Xet-Cas-Url", &cas)
                .with("X-Xet-Access-Token", "xet")
                .with("X-Xet-Token-Expiration", &exp.to_string()))
        }
        _ => Err(Answer::error(404, "no such route")),
    }
}

fn info(state: &mut State, id: &str) -> Answer {
    let dataset = state.dataset(id);
    Answer::json(&json!({
        "_id": "1", "id": id, "private": dataset.is_private, "sha": dataset.head().oid,
        "siblings": dataset.head().tree.keys().map(|path| json!({ "rfilename": path }))
            .collect::<Vec<_>>(),
        "tags": [], "downloads": 0, "likes": 0, "author": OWNER, "gated": false, "disabled": false,
        "createdAt": "2026-01-01T00:00:00.000Z", "lastModified": "2026-01-01T00:00:00.000Z",
    }))
}

fn at<'s>(state: &'s mut State, id: &str, revision: &str) -> Result<&'s Commit, Answer> {
    let commit = state.dataset(id).at(revision);
    commit.ok_or_else(|| {
        Answer::error(404, "Invalid rev id").with("X-Error-Code", "RevisionNotFound")
    })
}

fn paths(state: &mut State, request: &Request, id: &str, revision: &str) -> Answered {
    let tree = &at(state, id, revision)?.tree;
    let wanted: Vec<String> = match request.json()["paths"].as_array() {
        Some(paths) => paths.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
        None => Request::fields(&String::from_utf8_lossy(&request.body), "paths"),
    };
    let entry = |path: &String| {
        let content = tree.get(path)?;
        let mut entry = json!({
            "type": "file", "oid": content.oid(), "size": content.bytes(), "path": path,
        });
        if let Content::Large { sha256, bytes } = content {
            let pointer = content.pointer_bytes();
            entry["lfs"] = json!({ "oid": sha256, "size": bytes, "pointerSize": pointer });
        }
        Some(entry)
    };
    Ok(Answer::json(&wanted.iter().filter_map(entry).collect()))
}

fn classify(state: &mut State, request: &Request, id: &str) -> Answer {
    let threshold = state.threshold;
    let tree = &state.dataset(id).head().tree;
    let files = request.json()["files"].as_array().cloned().unwrap_or_default();
    let classified = files.iter().map(|file| {
        let large = file["size"].as_u64().unwrap_or(0) > threshold as u64;
        let mode = if large { "lfs" } else { "regular" };
        let mut row = json!({ "path": file["path"], "uploadMode": mode, "shouldIgnore": false });
        if let Some(content) = tree.get(file["path"].as_str().unwrap_or_default()) {
            row["oid"] = match content {
                Content::Regular(_) => json!(content.oid()),
                Content::Large { sha256, .. } => json!(sha256),
            };
        }
        row
    });
    Answer::json(&json!({ "files": classified.collect::<Vec<_>>() }))
}

fn commit(state: &mut State, request: &Request, id: &str, url: &str) -> Answered {
    let lines = request.body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let mut lines = lines.map(|line| serde_json::from_slice::<Json>(line).unwrap_or(Json::Null));
    let header = lines.next().filter(|line| line["key"] == "header");
    let header = header.ok_or_else(|| Answer::error(400, "no header"))?["value"].take();
    if let Some(parent) = header["parentCommit"].as_str()
        && state.dataset(id).head().oid != parent
    {
        return Err(Answer::error(
            412,
            "A commit has happened since. Please refresh and try again.",
        ));
    }
    let mut tree = state.dataset(id).head().tree.clone();
    for line in lines {
        let value = &line["value"];
        let path = value["path"].as_str().unwrap_or_default().to_owned();
        let content = match line["key"].as_str() {
            Some("file") => inline(value, state.threshold)?,
            Some("lfsFile") => large(state, value)?,
            _ => return Err(Answer::error(400, "an unknown operation")),
        };
        tree.insert(path, content);
    }
    let title = header["summary"].as_str().unwrap_or_default();
    let oid = state.dataset(id).commit(title, tree).oid.clone();
    let address = format!("{url}/datasets/{id}/commit/{oid}");
    Ok(Answer::json(
        &json!({ "success": true, "commitOid": oid, "commitUrl": address, "hookOutput": "" }),
    ))
}

fn inline(value: &Json, threshold: usize) -> Result<Content, Answer> {
    let bytes = unbase64(value["content"].as_str().unwrap_or_default());
    if bytes.len() > MOST_INLINE.min(threshold) {
        let message = "Your push was rejected because it contains files larger than 10 MiB.";
        return Err(Answer::error(400, message));
    }
    Ok(Content::Regular(bytes))
}

fn large(state: &State, value: &Json) -> Result<Content, Answer> {
    let sha256 = value["oid"].as_str().unwrap_or_default().to_owned();
    let bytes = state.large_bytes(&sha256);
    let bytes = bytes.ok_or_else(|| Answer::error(400, "a pointer to nothing"))?;
    if value["size"].as_u64() != Some(bytes as u64) {
        return Err(Answer::error(400, "a pointer with another size"));
    }
    Ok(Content::Large { sha256, bytes })
}

fn unbase64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut bytes = Vec::new();
    for group in text.trim_end_matches('=').as_bytes().chunks(4) {
        let bits = group.iter().fold(0, |bits, byte| bits << 6 | u32::from(value(*byte)));
        let bits = bits << (6 * (4 - group.len()));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

fn negotiate(state: &State, request: &Request, url: &str) -> Answer {
    let wanted = request.json();
    let offers = wanted["transfers"].as_array().is_some_and(|all| all.contains(&json!("xet")));
    let transfer = if offers && state.storage == Storage::Xet { "xet" } else { "basic" };
    let objects = wanted["objects"].as_array().cloned().unwrap_or_default();
    let object = |object: &Json| {
        let oid = object["oid"].as_str().unwrap_or_default();
        let mut row = json!({ "oid": oid, "size": object["size"], "authenticated": true });
        if transfer == "basic" && state.large_bytes(oid).is_none() {
            row["actions"] = json!({
                "upload": { "href": format!("{url}/lfs/put/{oid}"), "header": {} },
                "verify": { "href": format!("{url}/lfs/verify"), "header": {} },
            });
        }
        row
    };
    let objects: Vec<Json> = objects.iter().map(object).collect();
    Answer::json(&json!({ "transfer": transfer, "objects": objects }))
}

fn resolve(state: &mut State, request: &Request, id: &str, revision: &str, path: &str) -> Answered {
    known(request)?;
    if !state.datasets.contains_key(id) {
        return Err(missing());
    }
    let commit = at(state, id, revision)?;
    let none = || Answer::error(404, "Entry not found").with("X-Error-Code", "EntryNotFound");
    let content = commit.tree.get(path).ok_or_else(none)?.clone();
    let oid = commit.oid.clone();
    let etag = match &content {
        Content::Regular(_) => content.oid(),
        Content::Large { sha256, .. } => sha256.clone(),
    };
    let bytes = state.read(&content);
    Ok(Answer::bytes(bytes).with("X-Repo-Commit", &oid).with("ETag", &format!("\"{etag}\"")))
}

fn cas(state: &mut State, request: &Request, route: (&str, &[&str])) -> Answered {
    if request.token() != Some("xet") {
        return Err(Answer::error(401, "no token of the storage"));
    }
    let refused = |what: &str| Answer::error(400, what);
    match route {
        ("POST", ["v1", "xorbs", _, hash]) => {
            let is_new = state.xet.take_xorb(hash, &request.body).map_err(refused)?;
            Ok(Answer::json(&json!({ "was_inserted": is_new })))
        }
        ("POST", ["v1", "shards"]) => {
            state.xet.take_shard(&request.body).map_err(refused)?;
            Ok(Answer::json(&json!({ "result": 1 })))
        }
        // Chunks are not deduplicated here, and newer routes are not there: clients take the older.
        _ => Err(Answer::error(404, "no such route")),
    }
}
