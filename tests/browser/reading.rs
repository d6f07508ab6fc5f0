//! Reading: what is shown, found, filtered, opened and printed.

use serde_json::json;

use crate::browser::{Browser, Look, is_there};
use crate::env::Env;
use crate::samples::{PACKED, PAGES, exported, exported_packed, open_packed, unindexed};
use crate::store::{Session, session};

#[test]
fn without_a_script_all_text_is_there() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    for name in ["one.html", "many.html", "site/s1-title-of-s1-tag.html"] {
        let page = browser.open(&env.work(name), Look { script: false, ..Look::default() });
        let shown = page.eval(
            "[...document.querySelectorAll('article')].every((turn) => turn.checkVisibility())",
        );
        assert_eq!(shown, true, "{name}");
        let text = page.eval("document.querySelector('main').textContent");
        for part in
            ["Please test it", "I should run the tests.", "ok 39", "数据库迁移方案", "let a = 2;"]
        {
            assert!(text.as_str().unwrap().contains(part), "{name} lacks {part}");
        }
        assert_eq!(page.eval("document.querySelector('#tools').checkVisibility()"), false);
    }
}

#[test]
fn a_page_asks_for_nothing_whatever_is_done_in_it() {
    if !is_there() {
        return;
    }
    let (env, packed) = (exported(), exported_packed());
    let browser = Browser::start();
    let all = PAGES.iter().map(|name| (&env, *name)).chain([(&packed, PACKED)]);
    for (env, name) in all {
        let page = browser.open(&env.work(name), Look::default());
        if name == PACKED {
            open_packed(&page);
        }
        page.fold(true);
        // Every control, once a session is shown: buttons, choices, ways within the page, what is typed.
        page.eval("document.querySelectorAll('button, input[type=radio], summary').forEach((control) => control.click())");
        page.eval("document.querySelectorAll('a[href^=\"#\"]').forEach((link) => link.click())");
        page.eval("document.querySelectorAll('select').forEach((s) => { for (const o of s.options) { s.value = o.value; s.dispatchEvent(new Event('change', {bubbles: true})); s.dispatchEvent(new Event('input', {bubbles: true})); } })");
        page.eval("document.querySelectorAll('dialog').forEach((dialog) => dialog.close())");
        page.eval("document.querySelectorAll('[type=search]').forEach((field) => { field.value = 'zebra'; field.dispatchEvent(new Event('input', {bubbles: true})); })");
        page.eval("document.activeElement.blur()");
        for key in ["j", "k", "]", "[", "o", "e", "?", "Escape"] {
            page.press(key);
        }
        let is_list = name.ends_with("index.html");
        page.until(&format!("{is_list} || document.querySelector('#hits').textContent !== ''"));
        let asked = page.requests();
        assert_eq!(asked.len(), 1, "{name}: {asked:?}");
        assert_eq!(page.complaints(), [""; 0], "{name}");
        let are_shown =
            "[...document.images].every((image) => image.complete && image.naturalWidth > 0)";
        page.until(are_shown);
    }
}

#[test]
fn search_counts_marks_and_moves() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    let page = browser.open(&env.work("one.html"), Look::default());
    let hits = "document.querySelector('#hits').textContent";
    page.press("/");
    page.type_in("ZEBRA");
    page.until(&format!("{hits} === '1 of 3'"));
    page.press("Enter");
    assert_eq!(page.eval(hits), "2 of 3");
    page.eval("document.querySelector('[data-do=found-back]').click()");
    assert_eq!(page.eval(hits), "1 of 3");
    assert_eq!(page.eval("CSS.highlights.get('found').size"), 3);
    // The last one is in a fold, which opens.
    page.eval("document.querySelector('[data-do=found-back]').click()");
    page.until("document.querySelector('.sum').open");
    // A match may begin in one element and end in another.
    page.eval("document.querySelector('#q').value = 'fn main()'; document.querySelector('#q').dispatchEvent(new Event('input'))");
    page.until(&format!("{hits} === '1 of 1'"));

    let page = browser.open(&env.work("many.html"), Look::default());
    page.press("/");
    page.type_in("zebra");
    page.until(&format!("{hits} === '1 of 3, 9 in 3 sessions'"));
    for _ in 0..3 {
        page.press("Enter");
        page.until("true");
    }
    page.until(&format!("{hits} === '1 of 3, 9 in 3 sessions'"));
    assert_eq!(page.eval("document.querySelector('.session.on').id"), "s-s1");
}

#[test]
fn search_of_a_folder_leads_to_the_message() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    let page = browser.open(&env.work("site/index.html"), Look::default());
    page.press("/");
    page.type_in("zebra");
    page.press("Enter");
    page.until("location.pathname.endsWith('search.html')");
    page.until("document.querySelector('#hits')?.textContent === '9 in 3 pages'");
    assert_eq!(page.eval("document.querySelectorAll('#results mark').length"), 9);
    let link = page.eval("document.querySelector('#results li a').getAttribute('href')");
    let (file, message) = link.as_str().unwrap().split_once('#').unwrap();
    let url = format!("file://{}#{message}", env.work("site").join(file).display());
    let page = browser.open_url(&url, Look::default());
    assert_eq!(page.eval("document.querySelector(':target').id"), message);
}

#[test]
fn turns_are_filtered_and_walked_through() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    let page = browser.open(&env.work("one.html"), Look::default());
    let count = |selector: &str| {
        page.eval(&format!(
            "[...document.querySelectorAll('{selector}')].filter((e) => e.checkVisibility()).length"
        ))
    };
    let choose = |value: &str| {
        page.eval(&format!("(() => {{ const who = document.querySelector('#who'); who.value = '{value}'; who.dispatchEvent(new Event('change')); }})()"))
    };
    let (turns, cards) = (count("article"), count(".tool"));
    choose("u");
    assert_eq!((count("article"), count("article.u")), (json!(3), json!(3)));
    choose("bad");
    assert_eq!((count("article"), count(".tool")), (json!(1), json!(1)));
    choose("tool web_search");
    assert_eq!(count(".tool"), 1);
    choose("");
    assert_eq!((count("article"), count(".tool")), (turns, cards));
    page.press("]");
    assert_eq!(page.eval("document.activeElement.className"), "u");
    let first = page.eval("document.activeElement.id");
    page.press("j");
    assert_ne!(page.eval("document.activeElement.id"), first);
    page.press("e");
    assert_eq!(page.eval("document.querySelectorAll('main details[open]').length"), 0);
    page.press("o");
    assert_eq!(page.eval("document.querySelectorAll('main details:not([open])').length"), 0);
}

#[test]
fn the_outline_names_prompts_and_nothing_else() {
    if !is_there() {
        return;
    }
    let summary = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier we spoke of zebras.";
    let talk =
        |id: &'static str| session(id).user("A **bold** `question`").user(summary).user("مرحبا");
    let env = Env::with([talk("s0"), talk("s1")]);
    env.run("export one.html --session-id s0 --no-manifest").ok();
    env.run("export many.html --no-manifest").ok();
    let browser = Browser::start();
    for name in ["one.html", "many.html"] {
        let page = browser.open(&env.work(name), Look::default());
        let prompts = page
            .eval("[...document.querySelectorAll('#side ol a')].map((link) => link.textContent)");
        assert_eq!(prompts, json!(["A bold question", "مرحبا"]), "{name}");
    }
    // Neither what a tool gave back meanwhile nor a button belongs to a prompt.
    let code = session("s0").user("Why?\n\n```\nlet a = 1;\n```");
    let env = Env::with([code.message("tool").and("content", "1 passed"), talk("s1")]);
    env.run("export many.html --no-manifest").ok();
    let page = browser
        .open_url(&format!("file://{}#s-s0", env.work("many.html").display()), Look::default());
    page.until("document.querySelector('.prompts')?.textContent === 'Why? let a = 1;'");
}

#[test]
fn the_list_is_filtered_by_title_source_and_tag() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    for name in ["many.html", "site/index.html"] {
        let page = browser.open(&env.work(name), Look::default());
        let items = "[...document.querySelectorAll('.sessions > li')].filter((item) => !item.hidden).length";
        page.eval("(() => { const by = document.querySelector('[data-by=source]'); by.value = 'telegram'; by.dispatchEvent(new Event('input', {bubbles: true})); })()");
        assert_eq!(page.eval(items), 1, "{name}");
        page.eval("document.querySelector('[data-tag]').click()");
        assert_eq!(page.eval(items), 1, "{name}");
        page.eval("(() => { const by = document.querySelector('[data-by=title]'); by.value = 'of s0'; by.dispatchEvent(new Event('input', {bubbles: true})); })()");
        assert_eq!(page.eval(items), 0, "{name}");
    }
}

#[test]
fn colours_follow_the_switch_and_are_remembered() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    let background = "getComputedStyle(document.body).backgroundColor";
    let page = browser.open(&env.work("one.html"), Look::default());
    assert_eq!(page.eval(background), "rgb(255, 255, 255)");
    page.eval("document.querySelector('#dark').click()");
    let dark = page.eval(background);
    assert_ne!(dark, "rgb(255, 255, 255)");
    page.go(&format!("file://{}?again", env.work("one.html").display()));
    assert_eq!(page.eval(background), dark);
}

#[test]
fn print_opens_what_is_folded_and_leaves_the_controls_out() {
    if !is_there() {
        return;
    }
    let (env, packed) = (exported(), exported_packed());
    let browser = Browser::start();
    let pages = [(&env, "one.html"), (&env, "many.html"), (&env, PAGES[4]), (&packed, PACKED)];
    for ((env, name), script) in pages.iter().flat_map(|page| [(page, true), (page, false)]) {
        let page = browser.open(&env.work(name), Look { script, ..Look::default() });
        let what = format!("{name}, script {script}");
        page.fold(false);
        let is_open = "document.querySelectorAll('main details[open]').length";
        // Printing opens folds by the script, where there is one, and shuts them afterwards.
        page.call("Page.printToPDF", &json!({}));
        assert_eq!(page.eval(is_open), 0, "{what}");
        page.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
        let left = page.eval(
            "[...document.querySelectorAll('#bar, #side, .skip, .cp, .more, button, input, select')].filter((e) => e.checkVisibility()).length",
        );
        assert_eq!(left, 0, "{what}");
        let folded = page.eval(
            "[...document.querySelectorAll('details > :not(summary, .cp, .more)')].filter((e) => \
                e.closest('main') && e.closest('.session')?.checkVisibility() !== false && !e.checkVisibility({contentVisibilityAuto: true})).length",
        );
        assert_eq!(folded, 0, "{what}");
        // All lines of all code, and none cut off.
        let cut = page.eval(
            "[...document.querySelectorAll('pre')].filter((pre) => pre.checkVisibility()).filter((pre) => \
                { const style = getComputedStyle(pre); return style.whiteSpace !== 'pre-wrap' || style.maxHeight !== 'none' || pre.scrollWidth > pre.clientWidth; }).length",
        );
        assert_eq!(cut, 0, "{what}");
        page.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": 640, "height": 900, "deviceScaleFactor": 1, "mobile": false}),
        );
        let wide = page.eval("document.documentElement.scrollWidth").as_u64();
        assert!(wide.unwrap() <= 640, "{what}");
    }
}

/// Sessions with more text than a plain page of many takes.
fn much() -> Vec<Session> {
    const IDS: [&str; 8] = ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"];
    let noise =
        |n: usize| (0..30_000).map(move |word| format!("w{} ", (word * 7919 + n * 31) % 10_007));
    let long = |(n, id): (usize, &'static str)| {
        let session = session(id).with("title", format!("Much {id}"));
        let session = (0..5).fold(session, |session, turn| {
            let text = noise(n * 10 + turn).collect::<String>();
            session.user(format!("needle{n}x{turn}")).message("system").and("content", text)
        });
        session.assistant("The end.")
    };
    IDS.into_iter().enumerate().map(long).collect()
}

#[test]
fn a_large_file_opens_its_sessions_on_demand_and_searches_all() {
    if !is_there() {
        return;
    }
    let env = unindexed(much());
    env.run("export large.html --no-manifest").ok();
    let browser = Browser::start();
    let page = browser.open(&env.work("large.html"), Look::default());
    assert_eq!(page.eval("document.querySelectorAll('.session').length"), 8);
    assert_eq!(page.eval("document.querySelectorAll('.isle').length"), 5, "the newest are plain");
    page.until("document.querySelector('.session.on')?.id === 's-m7'");
    page.press("/");
    let hits = |text: &str| format!("document.querySelector('#hits').textContent === '{text}'");
    page.type_in("needle2");
    page.until(&hits("1 of 5, 5 in 1 session"));
    page.type_in("x3");
    page.until(&hits("1 of 1, 1 in 1 session"));
    assert_eq!(page.eval("document.querySelector('.session.on').id"), "s-m2");
    assert_eq!(
        page.eval("document.querySelector('.session.on').textContent.includes('needle2x4')"),
        true
    );
    page.eval("document.querySelector('#q').value = ''");
    page.type_in("needle");
    page.until(&hits("1 of 5, 40 in 8 sessions"));
    // Older browsers have no such function.
    page.eval("delete Uint8Array.fromBase64");
    page.eval("document.querySelector('#side a[href=\"#s-m1\"]').click()");
    page.until("document.querySelector('.session.on')?.textContent.includes('needle1x4')");
    let url = format!("file://{}#m1", env.work("large.html").display());
    let page = browser.open_url(&url, Look::default());
    page.until("document.querySelector('.session.on')?.id === 's-m0'");
    assert_eq!(page.requests().len(), 1);
    assert_eq!(page.complaints(), [""; 0]);
    let page = browser.open(&env.work("large.html"), Look { script: false, ..Look::default() });
    let newest = page.eval("document.querySelector('#s-m7').textContent");
    assert!(newest.as_str().unwrap().contains("needle7x0"), "the newest can be read");
    let oldest = page.eval("document.querySelector('#s-m0').innerText");
    assert!(oldest.as_str().unwrap().contains("Much m0"), "what there is, is told: {oldest}");
    assert!(oldest.as_str().unwrap().contains("Messages 11"), "{oldest}");
    let note = page.eval("document.querySelector('#start > noscript').innerText");
    assert!(note.as_str().unwrap().contains("JavaScript"), "and how to get the rest: {note}");
}

#[test]
fn a_very_long_session_of_a_folder_has_several_pages() {
    if !is_there() {
        return;
    }
    let long = (0..2100).fold(session("long"), |session, n| session.user(format!("question {n}")));
    let env = Env::with([long]);
    env.run("export site --format html").ok().says("Exported 1 session");
    let browser = Browser::start();
    let page = browser.open(&env.work("site/long~.html"), Look::default());
    assert_eq!(page.eval("document.querySelectorAll('article').length"), 2000);
    let next = page.eval("[...document.querySelectorAll('main a')].at(-1).getAttribute('href')");
    assert_eq!(next, "long~.2.html");
    let page = browser.open(&env.work("site/long~.2.html"), Look::default());
    assert_eq!(page.eval("document.querySelectorAll('article').length"), 100);
    assert_eq!(page.eval("document.querySelector('main a').getAttribute('href')"), "long~.html");
}
