//! Everybody can use the pages: axe finds nothing, every control is reached by keyboard, and nothing
//! is wider than the screen.

use std::path::PathBuf;

use serde_json::json;

use crate::browser::{Browser, Look, Page, is_there};
use crate::samples::{PAGES, exported};

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

fn violations(page: &Page<'_>) -> serde_json::Value {
    page.eval(
        "axe.run(document, {resultTypes: ['violations']}).then((found) => found.passes.length < 20 ? 'axe saw nothing' : found.violations.map((v) => \
         [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200), (v.nodes[0].any[0] ?? v.nodes[0].all[0] ?? v.nodes[0].none[0])?.message]))",
    )
}

#[test]
fn axe_finds_nothing_in_any_page_width_or_colour_open_or_shut() {
    if !is_there() {
        return;
    }
    let Some(axe) = axe() else { return };
    let env = exported();
    let browser = Browser::start();
    for name in PAGES {
        for (width, colours) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
            let page = browser.open(&env.work(name), Look { width, colours, ..Look::default() });
            page.eval(&axe);
            assert_eq!(violations(&page), json!([]), "{name}, {width}, {colours}, shut");
            page.eval("document.querySelectorAll('details').forEach((fold) => (fold.open = true))");
            assert_eq!(violations(&page), json!([]), "{name}, {width}, {colours}, open");
        }
    }
}

#[test]
fn every_control_is_reached_by_keyboard() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    for name in PAGES {
        let page = browser.open(&env.work(name), Look::default());
        page.eval(
            "window.due = new Set([...document.querySelectorAll('a[href], button, summary, input, select, [tabindex=\"0\"]')]\
             .filter((e) => e.checkVisibility({visibilityProperty: true}) && !(e.type === 'radio' && !e.checked))); window.all_due = due.size",
        );
        let count = page.eval("all_due").as_u64().unwrap();
        for _ in 0..count + 20 {
            page.press("Tab");
            page.eval("due.delete(document.activeElement)");
        }
        let missed = page.eval("[...due].map((element) => element.outerHTML.slice(0, 120))");
        assert_eq!(missed, json!([]), "{name}, of {count}");
    }
}

#[test]
fn folds_open_by_keyboard_and_without_a_script() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    let page = browser.open(&env.work("one.html"), Look { script: false, ..Look::default() });
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

#[test]
fn nothing_is_wider_than_a_narrow_screen() {
    if !is_there() {
        return;
    }
    let env = exported();
    let browser = Browser::start();
    for name in PAGES {
        for width in [320, 390, 640] {
            let page = browser.open(&env.work(name), Look { width, ..Look::default() });
            page.eval("document.querySelectorAll('details').forEach((fold) => (fold.open = true))");
            let wide = page.eval("document.documentElement.scrollWidth");
            assert!(wide.as_u64().unwrap() <= u64::from(width), "{name} is {wide} wide at {width}");
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
