//! Ways through a page: links into it, back and forward, one click after another, the search and the
//! list over what is packed and what is not.

use serde_json::json;

use crate::browser::{Browser, Look, Page, is_there};
use crate::env::Env;
use crate::samples::{PACKED, exported_packed, filler, unindexed};
use crate::store::session;

const SHOWN: &str = "document.querySelector('.session.on')?.id";

/// Waits until a message is in sight, and has stayed there for two frames.
#[track_caller]
fn in_sight(page: &Page<'_>, id: &str) {
    page.until(&format!("document.getElementById('{id}')?.checkVisibility()"));
    page.eval("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let top = page
        .eval(&format!("Math.round(document.getElementById('{id}').getBoundingClientRect().top)"));
    assert!((0..900).contains(&top.as_i64().unwrap()), "{id} is at {top}");
}

#[test]
fn a_link_leads_to_its_message_in_every_kind_of_page() {
    if !is_there() {
        return;
    }
    let talk = |name: &'static str, ids: std::ops::Range<i64>| {
        ids.fold(session(name).with("title", format!("Talk {name}")), |talk, id| {
            talk.user(format!("question {id}\n\n- and\n- more\n")).and("id", id)
        })
    };
    let talks = || [talk("a", -30..-1), talk("b", 100..180), talk("c", 200..210)];
    let env = unindexed(talks());
    env.run("export one.html --session-id b --no-manifest").ok();
    env.run("export many.html --no-manifest").ok();
    env.run("export site/ --format html").ok();
    let packed = unindexed([filler()].into_iter().chain(talks()).chain([
        talk("d", 501..502),
        talk("e", 502..503),
        talk("f", 503..504),
    ]));
    packed.run("export packed.html --no-manifest").ok();
    let browser = Browser::start();
    for (env, file, ids) in [
        (&env, "one.html", &["m179", "m100", "m140"][..]),
        (&env, "site/b-talk-b.html", &["m140"]),
        (&env, "site/a-talk-a.html", &["m-5"]),
        (&env, "many.html", &["m170", "m-5", "m205"]),
        (&packed, "packed.html", &["m170", "m-5", "m205", "m503"]),
    ] {
        for id in ids {
            let url = format!("file://{}#{id}", env.work(file).display());
            let page = browser.open_url(&url, Look::default());
            in_sight(&page, id);
            assert_eq!(page.complaints(), [""; 0], "{file} {id}");
        }
    }
    // The same within a page that is open.
    let page = browser.open(&packed.work("packed.html"), Look::default());
    for id in ["m-30", "m179", "m502"] {
        page.eval(&format!("location.hash = '{id}'"));
        in_sight(&page, id);
    }
}

#[test]
fn back_and_forward_show_what_was_shown() {
    if !is_there() {
        return;
    }
    let env = exported_packed();
    let browser = Browser::start();
    let page = browser.open(&env.work(PACKED), Look::default());
    let shows = |id: &str| page.until(&format!("{SHOWN} === '{id}'"));
    shows("s-s4");
    for id in ["s-s0", "s-s3", "s-s1"] {
        page.eval(&format!("document.querySelector('#side a[href=\"#{id}\"]').click()"));
        shows(id);
    }
    for id in ["s-s3", "s-s0", "s-s4"] {
        page.eval("history.back()");
        shows(id);
    }
    page.eval("history.forward()");
    shows("s-s0");
    // Leading past the controls does not lead away.
    page.eval("document.querySelector('.skip').click()");
    assert_eq!(page.eval("document.activeElement.id"), "start");
    assert_eq!(page.eval(SHOWN), "s-s0");
    assert_eq!(page.complaints(), [""; 0]);
}

#[test]
fn of_clicks_in_a_row_the_last_one_counts() {
    if !is_there() {
        return;
    }
    let env = exported_packed();
    let browser = Browser::start();
    let page = browser.open(&env.work(PACKED), Look::default());
    page.until(&format!("{SHOWN} === 's-s4'"));
    page.eval(
        "(() => { for (const id of ['s0', 's1', 's3', 's0', 's1']) document.querySelector(`#side a[href=\"#s-${id}\"]`).click(); })()",
    );
    page.until("document.querySelector('#s-s1 > .opened article') !== null");
    assert_eq!(
        page.eval("[...document.querySelectorAll('.session.on')].map((one) => one.id)"),
        json!(["s-s1"])
    );
    assert_eq!(page.eval("document.querySelectorAll('.opened').length"), 1);
    assert_eq!(page.eval("document.querySelectorAll('#side [aria-current]').length"), 1);
}

/// Sessions of the same words, in their title, their prompt, what is said and what is about them.
fn wordy() -> Vec<crate::store::Session> {
    ["a", "b", "c", "d", "e"]
        .map(|id| {
            session(id)
                .with("title", format!("Quokka {id}"))
                .with("cwd", "/quokka")
                .with("system_prompt", "You are a quokka.")
                .user("A quokka asks.")
                .assistant("`quokka`\n\n```\nQuo\nquokka\n```\n\nquo**kka** <quokka>")
                .and("finish_reason", "length")
        })
        .into()
}

#[test]
fn what_is_packed_is_counted_as_what_is_not() {
    if !is_there() {
        return;
    }
    let plain = unindexed(wordy());
    plain.run("export many.html --no-manifest").ok();
    let packed = unindexed([filler()].into_iter().chain(wordy()));
    packed.run("export many.html --no-manifest").ok();
    let browser = Browser::start();
    let hits = "document.querySelector('#hits').textContent";
    for env in [&plain, &packed] {
        let page = browser.open(&env.work("many.html"), Look::default());
        page.until(&format!("{SHOWN} === 's-e'"));
        page.press("/");
        page.type_in("quokka");
        page.until(&format!("{hits} === '1 of 6, 30 in 5 sessions'"));
        // Neither the names of buttons nor what a page says about a session.
        for word in ["copy", "SHA-256"] {
            page.eval(&format!("document.querySelector('#q').value = '{word}'; document.querySelector('#q').dispatchEvent(new Event('input'))"));
            page.until(&format!("{hits} === '0'"));
        }
        page.eval("document.querySelector('#q').value = 'quokka asks'; document.querySelector('#q').dispatchEvent(new Event('input'))");
        page.until(&format!("{hits} === '1 of 1, 5 in 5 sessions'"));
        // All there are, one after another, and round.
        for n in [2, 3, 4, 5, 1] {
            page.press("Enter");
            page.until(&format!(
                "{hits} === '1 of 1, 5 in 5 sessions' && {SHOWN} === 's-{}'",
                ["e", "d", "c", "b", "a"][n - 1]
            ));
        }
        // The prompts of the session in hand stay in sight.
        assert_eq!(page.eval("document.querySelector('.prompts a').checkVisibility()"), true);
    }
}

#[test]
fn anything_can_be_searched_for() {
    if !is_there() {
        return;
    }
    let env = Env::with([session("s0")
        .user("regex (a+)+$ [x] \\d* ^.$| ?+{} and <b>&amp;</b> \"'")
        .user("emoji 🙂🙂 👩‍💻 here, İstanbul, straße, ΟΔΟΣ ΟΔΟΣΑ")
        .user("combining e\u{301} \u{a0}x \u{202e}abc")
        .assistant("sp**li**t over `elements` and\nlines")]);
    env.run("export one.html --no-manifest").ok();
    env.run("export site/ --format html").ok();
    let browser = Browser::start();
    let words = [
        ("(a+)+$", 1),
        ("[x]", 1),
        ("\\d*", 1),
        ("^.$|", 1),
        ("?+{}", 1),
        ("<b>&</b>", 1),
        ("\"'", 1),
        ("🙂", 2),
        ("👩‍💻", 1),
        ("İSTANBUL", 1),
        ("STRASSE", 0),
        ("straße", 1),
        ("οδος", 2),
        ("e\u{301}", 1),
        ("⟨U+202E⟩abc", 1),
        ("split over elements", 1),
        ("<script>", 0),
        ("</mark>", 0),
        ("__proto__", 0),
    ];
    // One page at a time: those behind another are slow to wake.
    for (name, is_one) in [("one.html", true), ("site/search.html", false)] {
        let page = browser.open(&env.work(name), Look::default());
        let hits = "document.querySelector('#hits').textContent";
        for (word, count) in words {
            page.eval(&format!("document.querySelector('#hits').textContent = 'asked', document.querySelector('#q').value = {}, document.querySelector('#q').dispatchEvent(new Event('input'))", json!(word)));
            page.until(&format!("{hits} !== 'asked' && {hits} !== ''"));
            let said = match (is_one, count) {
                (true, 0) => "0".to_owned(),
                (true, _) => format!("1 of {count}"),
                (false, 0) => "Nothing found".to_owned(),
                (false, _) => format!("{count} in 1 page"),
            };
            assert_eq!(page.eval(hits), said, "{word}");
        }
        assert_eq!(page.complaints(), [""; 0]);
        page.eval("document.activeElement.blur()");
        page.press("/");
        assert_eq!(page.eval("document.activeElement.id"), "q");
    }
    // What stands behind the hash may be anything.
    for hash in ["q=%E0%A4%A", "q=%22%3E%3Cscript%3Ehit()%3C/script%3E", "q=", "%E0%A4%A", "q=q=q"]
    {
        let url =
            format!("file://{}?{}#{hash}", env.work("site/search.html").display(), hash.len());
        let page = browser.open_url(&url, Look::default());
        assert_eq!(page.complaints(), [""; 0], "{hash}");
        assert_eq!(
            page.eval("document.scripts[document.scripts.length - 1].parentElement.localName"),
            "body"
        );
    }
}

#[test]
fn the_list_is_filtered_by_what_it_shows() {
    if !is_there() {
        return;
    }
    let env = Env::with([
        session("a").with("title", "Alpha").with("source", "two  blanks ").user("gamma"),
        session("b").with("title", "Beta").with("source", "\u{1}\n").user("delta"),
        session("c").with("title", "Old").with("started_at", 1.0).user("epsilon"),
    ]);
    env.run("export many.html --no-manifest").ok();
    env.run("export site/ --format html").ok();
    let browser = Browser::start();
    for name in ["many.html", "site/index.html"] {
        let page = browser.open(&env.work(name), Look::default());
        let listed = || {
            page.eval("[...document.querySelectorAll('.sessions > li > a')].filter((e) => e.checkVisibility()).map((e) => e.textContent)")
        };
        let set = |by: &str, value: &str| {
            page.eval(&format!("(() => {{ const by = document.querySelector('[data-by={by}]'); by.value = {value}; by.dispatchEvent(new Event('input', {{bubbles: true}})); return by.value; }})()"))
        };
        assert_eq!(listed(), json!(["Beta", "Alpha", "Old"]));
        for (n, title) in [(1, "Old"), (2, "Alpha"), (3, "Beta")] {
            set("source", &format!("by.options[{n}].value"));
            assert_eq!(listed(), json!([title]), "{name}");
        }
        set("source", "''");
        // Prompts in the list are no titles, and a day of which nothing is left has no heading.
        set("title", "'delta'");
        assert_eq!(listed(), json!([]));
        set("title", "'ALPHA'");
        assert_eq!(listed(), json!(["Alpha"]), "{name}");
        let headings = "[...document.querySelectorAll('.sessions')].filter((list) => list.previousElementSibling.checkVisibility()).length";
        assert_eq!(page.eval(headings), 1, "{name}");
    }
}
