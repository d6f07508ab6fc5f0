//! Everybody can use the pages: axe finds nothing, everything is reached and works by keyboard, and
//! nothing is wider than the screen.

use std::path::PathBuf;

use serde_json::json;

use crate::browser::{Browser, Look, Page, is_there};
use crate::env::Env;
use crate::samples::{PACKED, PAGES, exported, exported_packed, open_packed};

/// axe-core's script: `$AXE`, or where `.ci/run` puts it.
fn axe() -> Option<String> {
    let place = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/axe/package/axe.min.js");
    let place = std::env::var_os("AXE").map_or(place, PathBuf::from);
    let script = std::fs::read_to_string(&place).ok();
    assert!(script.is_some() || std::env::var_os("CI").is_none(), "CI has no axe-core");
    if script.is_none() {
        eprintln!("SKIPPED: axe-core is not in {} (npm pack axe-core)", place.display());
    }
    script
}

/// What axe finds by all of its rules, those that are off by default, too; but for the one that
/// asks for a contrast of 7 : 1, where the others ask for 4.5 : 1.
#[track_caller]
fn finds_nothing(page: &Page<'_>, what: &str) {
    let found = page.eval(
        "axe.run(document, {resultTypes: ['violations'], \
            rules: Object.fromEntries(axe.getRules().map(({ruleId}) => [ruleId, {enabled: ruleId !== 'color-contrast-enhanced'}]))})\
         .then((found) => found.passes.length < 20 ? 'axe saw nothing' : found.violations.map((v) => \
            [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), (v.nodes[0].any[0] ?? v.nodes[0].all[0] ?? v.nodes[0].none[0])?.message]))",
    );
    assert_eq!(found, json!([]), "{what}");
}

/// Looks at a page in both colours and at both widths, with its folds shut and open, with the drawer
/// and with the keys.
fn finds_nothing_anywhere(page: &Page<'_>, axe: &str, name: &str) {
    page.eval(axe);
    for (width, colours) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
        let what = |state: &str| format!("{name}, {width}, {colours}, {state}");
        page.dress(Look { width, colours, ..Look::default() });
        for open in [false, true] {
            page.fold(open);
            finds_nothing(page, &what(if open { "open" } else { "shut" }));
        }
        if width == 390 {
            page.eval("document.querySelector('#side').showPopover()");
            finds_nothing(page, &what("drawer"));
            page.eval("document.querySelector('#side').hidePopover()");
        } else if page.eval("document.querySelector('dialog') !== null") == true {
            page.eval("document.querySelector('dialog').showModal()");
            finds_nothing(page, &what("keys"));
            page.eval("document.querySelector('dialog').close()");
        }
    }
}

#[test]
fn axe_finds_nothing_in_a_page_that_is_one_file() {
    if !is_there() {
        return;
    }
    let Some(axe) = axe() else { return };
    let env = exported();
    let browser = Browser::start();
    for name in &PAGES[..2] {
        let page = browser.open(&env.work(name), Look::default());
        finds_nothing_anywhere(&page, &axe, name);
    }
}

#[test]
fn axe_finds_nothing_in_the_pages_of_a_folder() {
    if !is_there() {
        return;
    }
    let Some(axe) = axe() else { return };
    let env = exported();
    let browser = Browser::start();
    for name in &PAGES[2..] {
        let page = browser.open(&env.work(name), Look::default());
        finds_nothing_anywhere(&page, &axe, name);
    }
}

#[test]
fn axe_finds_nothing_in_a_packed_page() {
    if !is_there() {
        return;
    }
    let Some(axe) = axe() else { return };
    let env = exported_packed();
    let browser = Browser::start();
    let page = browser.open(&env.work(PACKED), Look::default());
    open_packed(&page);
    finds_nothing_anywhere(&page, &axe, PACKED);
}

/// Goes through a page by the Tab key, opens what is shut on the way, and tells what of all that can
/// be used, when all is open, was never come to.
fn walked_past(page: &Page<'_>) -> serde_json::Value {
    page.eval(
        "window.usable = () => [...document.querySelectorAll('a[href], button, summary, input, select, [tabindex=\"0\"]')]\
         .filter((e) => e.checkVisibility({visibilityProperty: true}) && !(e.type === 'radio' && !e.checked)); \
         window.met = new Set(); document.activeElement.blur()",
    );
    for n in 0.. {
        page.press("Tab");
        let state = page.eval(
            "(() => { const e = document.activeElement; if (met.has(e)) return 'again'; met.add(e); \
             return e === document.body ? 'out' : e.localName === 'summary' && !e.parentElement.open ? 'shut' : 'on'; })()",
        );
        assert!(n < 2000, "the way has no end");
        match state.as_str().unwrap() {
            "shut" => {
                page.press("Enter");
                assert_eq!(page.eval("document.activeElement.parentElement.open"), true);
            }
            "again" => break,
            _ => {}
        }
    }
    let shut = "[...document.querySelectorAll('main details:not([open]) > summary')].filter((e) => e.checkVisibility()).length";
    assert_eq!(page.eval(shut), 0);
    page.eval("usable().filter((e) => !met.has(e)).map((e) => e.outerHTML.slice(0, 120))")
}

#[test]
fn everything_is_reached_and_every_fold_is_opened_by_keyboard() {
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
        page.fold(false);
        assert_eq!(walked_past(&page), json!([]), "{name}");
    }
}

/// What the links of a list lead to, each followed by the Enter key.
fn led_to(browser: &Browser, env: &Env, name: &str, look: Look) -> Vec<String> {
    let page = browser.open(&env.work(name), look);
    let list = ".sessions > li > a";
    let count = page.eval(&format!("document.querySelectorAll('{list}').length")).as_u64().unwrap();
    let follow = |n: u64| {
        if name.ends_with("index.html") && n > 0 {
            page.go(&format!("file://{}", env.work(name).display()));
        }
        if look.width < 1000 && !name.ends_with("index.html") {
            page.eval("document.querySelector('button.side').focus()");
            page.press("Enter");
            page.until("document.querySelector('#side').matches(':popover-open')");
        }
        let href = page.eval(&format!(
            "(() => {{ const link = document.querySelectorAll('{list}')[{n}]; link.focus(); return link.href; }})()"
        ));
        page.press("Enter");
        page.until(&format!("location.href === {href}"));
        page.until("document.querySelector('html.one h1, .session.on h2') !== null && (document.querySelector('.session.on')?.id ?? '') === location.hash.slice(1)");
        let shown = page.eval("(document.querySelector('.session.on h2') ?? document.querySelector('h1')).textContent");
        shown.as_str().unwrap().to_owned()
    };
    (0..count).map(follow).collect()
}

#[test]
fn every_session_of_a_list_is_opened_by_keyboard() {
    if !is_there() {
        return;
    }
    let (env, packed) = (exported(), exported_packed());
    let browser = Browser::start();
    let of = |n: usize| (0..n).rev().map(|n| format!("Title of s{n} #tag"));
    for width in [1280, 390] {
        let look = Look { width, ..Look::default() };
        for name in ["many.html", "site/index.html"] {
            let titles: Vec<String> = of(3).collect();
            assert_eq!(led_to(&browser, &env, name, look), titles, "{name}, {width}");
        }
        let titles: Vec<String> = of(5).chain(["filler".to_owned()]).collect();
        assert_eq!(led_to(&browser, &packed, PACKED, look), titles, "{width}");
    }
}

#[test]
fn folds_open_by_keyboard_and_without_a_script() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    for name in ["one.html", PAGES[4]] {
        let page = browser.open(&env.work(name), Look { script: false, ..Look::default() });
        let folds =
            page.eval("document.querySelectorAll('details:not(#extra)').length").as_u64().unwrap();
        assert!(folds >= 7, "{folds}");
        page.eval("document.querySelectorAll('details').forEach((fold) => (fold.open = false))");
        for n in 0..folds {
            page.eval(&format!(
            "(() => {{ const fold = document.querySelectorAll('details:not(#extra)')[{n}]; \
             for (let up = fold.parentElement; up; up = up.parentElement) if (up.localName === 'details') up.open = true; \
             fold.open = false; fold.querySelector('summary').focus(); }})()"
        ));
            page.press("Enter");
            assert_eq!(
                page.eval(&format!("document.querySelectorAll('details:not(#extra)')[{n}].open")),
                true,
                "{n}"
            );
        }
    }
}

#[test]
fn nothing_is_wider_than_a_narrow_screen() {
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
        // 640 is what 200 % leaves of 1280.
        for width in [320, 390, 640] {
            page.dress(Look { width, ..Look::default() });
            let wide = page.eval("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{name} is {wide} wide at {width}");
            // Nor is anything cut off, but what scrolls by itself.
            let cut = page.eval(&format!(
                "[...document.querySelectorAll('body *')].filter((e) => e.checkVisibility() && !e.closest('pre, .tb, .skip, legend') && e.getBoundingClientRect().right > {width} + 1).map((e) => e.outerHTML.slice(0, 100))"
            ));
            assert_eq!(cut, json!([]), "{name} at {width}");
        }
    }
}

#[test]
fn the_drawer_of_a_phone_opens_and_closes_without_a_script() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    for script in [true, false] {
        let look = Look { width: 390, script, ..Look::default() };
        let page = browser.open(&env.work("many.html"), look);
        let is_open = "document.querySelector('#side').matches(':popover-open')";
        assert_eq!(page.eval(is_open), false);
        page.eval("document.querySelector('button.side').focus()");
        page.press("Enter");
        assert_eq!(page.eval(is_open), true);
        assert_eq!(page.eval("document.querySelector('#side a').checkVisibility()"), true);
        page.press("Escape");
        assert_eq!(page.eval(is_open), false);
    }
}
