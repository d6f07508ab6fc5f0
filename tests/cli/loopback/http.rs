//! Just enough HTTP/1.1: a request is read whole, an answer is written whole, unless a fault says
//! otherwise.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::{Value as Json, json};

pub(crate) struct Request {
    pub(crate) method: String,
    /// Decoded, without the query.
    pub(crate) path: String,
    /// As it was sent.
    #[cfg(feature = "object-store")]
    pub(crate) query: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Request {
    /// The next request without its body; `None` where the client has closed the connection.
    pub(crate) fn head(from: &mut BufReader<TcpStream>) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (method, target) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let mut parts = target.splitn(2, '?');
        let path = decoded(parts.next().unwrap_or(""));
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Ok(Some(Self {
            method: method.to_owned(),
            path,
            #[cfg(feature = "object-store")]
            query: parts.next().unwrap_or("").to_owned(),
            headers,
            body: Vec::new(),
        }))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn length(&self) -> usize {
        self.header("content-length").and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    pub(crate) fn read_body(&mut self, from: &mut BufReader<TcpStream>) -> io::Result<()> {
        if self.header("transfer-encoding").is_some_and(|value| value.contains("chunked")) {
            return self.read_chunks(from);
        }
        let length = self.length() as u64;
        from.take(length).read_to_end(&mut self.body)?;
        Ok(())
    }

    fn read_chunks(&mut self, from: &mut BufReader<TcpStream>) -> io::Result<()> {
        loop {
            let mut line = String::new();
            from.read_line(&mut line)?;
            let size = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
            from.take(size as u64).read_to_end(&mut self.body)?;
            from.read_line(&mut String::new())?;
            if size == 0 {
                return Ok(());
            }
        }
    }

    #[cfg(feature = "hub")]
    pub(crate) fn token(&self) -> Option<&str> {
        self.header("authorization")?.strip_prefix("Bearer ")
    }

    #[cfg(feature = "hub")]
    pub(crate) fn json(&self) -> Json {
        serde_json::from_slice(&self.body).unwrap_or(Json::Null)
    }

    /// The values of a field in a form or a query.
    pub(crate) fn fields(text: &str, name: &str) -> Vec<String> {
        let fields = text.split('&').filter_map(|field| field.split_once('='));
        let named = fields.filter(|(key, _)| decoded(key) == name);
        named.map(|(_, value)| decoded(&value.replace('+', " "))).collect()
    }
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        let escaped = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        if let Some(escaped) = escaped.filter(|_| byte == b'%') {
            bytes.push(escaped);
            rest = &after[2..];
        } else {
            bytes.push(byte);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(body: &Json) -> Self {
        let headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        Self { status: 200, headers, body: body.to_string().into_bytes() }
    }

    pub(crate) fn bytes(body: Vec<u8>) -> Self {
        Self { status: 200, headers: Vec::new(), body }
    }

    pub(crate) fn error(status: u16, message: &str) -> Self {
        let answer = Self::json(&json!({ "error": message }));
        Self { status, ..answer }.with("X-Error-Message", message)
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_string()));
        self
    }

    /// Writes it; of the body only so many bytes, though all are announced.
    pub(crate) fn write(&self, to: &mut TcpStream, has_body: bool, most: usize) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {} Fake\r\n", self.status);
        for (name, value) in &self.headers {
            head.extend([name, ": ", value, "\r\n"]);
        }
        let length = self.body.len();
        write!(to, "{head}Content-Length: {length}\r\n\r\n")?;
        if has_body {
            to.write_all(&self.body[..self.body.len().min(most)])?;
        }
        to.flush()
    }
}
