//! Everything can be seen: text stands out from what is behind it by 4.5 : 1, the edges of controls
//! and the mark of the focus by 3 : 1, in both colours.

use serde_json::json;

use crate::browser::{Browser, Look, is_there};
use crate::env::Env;
use crate::samples::{PAGES, exported};
use crate::store::session;

/// What there is of colours: `behind(element)` is the colour behind its text, `apart(a, b)` the contrast.
const COLOURS: &str = r#"
    window.parsed = (text) => {
        const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
        if (!/^rgba?\(/.test(text) || a !== 0 && a !== 1) throw new Error(text);
        return a ? [r, g, b] : null;
    };
    window.behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = parsed(getComputedStyle(at).backgroundColor);
            if (colour) return colour;
        }
        throw new Error("nothing is behind " + element.outerHTML);
    };
    window.light = (colour) => {
        const [r, g, b] = colour.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    window.apart = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
    window.named = (element) => `${element.localName}.${element.className} in ${element.parentElement?.localName}.${element.parentElement?.className}`;
"#;

/// Text, before and after elements, too, that stands out by less than 4.5; and how much was looked at.
const FAINT: &str = r#"(() => {
    const faint = [];
    let seen = 0;
    const look = (element, style, what) => {
        seen++;
        const backdrop = parsed(style.backgroundColor) ?? behind(element);
        const contrast = apart(parsed(style.color), backdrop);
        if (contrast < 4.5) faint.push(`${what} ${named(element)}: ${contrast.toFixed(2)}`);
    };
    for (const element of document.body.querySelectorAll("*")) {
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        const has = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
        if (has || element.matches("input, select")) look(element, getComputedStyle(element), "text");
        for (const pseudo of ["::before", "::after", "::placeholder"]) {
            const style = getComputedStyle(element, pseudo);
            if (pseudo === "::placeholder" ? element.placeholder : !/^(none|normal|"")$/.test(style.content)) look(element, style, pseudo);
        }
    }
    for (const name of ["found", "now"]) {
        const style = getComputedStyle(document.body, `::highlight(${name})`);
        look(document.body, style, name);
    }
    return [[...new Set(faint)], seen];
})()"#;

/// Controls of which the edge stands out by less than 3, and that have one.
const EDGELESS: &str = r#"[...document.body.querySelectorAll("button, input, select, [id=extra] > summary")].filter((control) => {
    const style = getComputedStyle(control);
    const edge = parsed(control.type === "radio" ? style.accentColor : style.borderTopColor);
    return control.checkVisibility() && edge && apart(edge, behind(control.parentElement)) < 3;
}).map(named)"#;

/// Whether the mark of the focus stands out around the element that has it.
const FOCUS: &str = r#"(() => {
    const element = document.activeElement;
    const style = getComputedStyle(element);
    const isMarked = style.outlineStyle === "solid" && parseFloat(style.outlineWidth) >= 2
        && apart(parsed(style.outlineColor), behind(element.parentElement)) >= 3;
    return isMarked || element === document.body ? null : named(element);
})()"#;

/// Code, changes and terminal output in all colours that they come in.
fn colourful() -> Env {
    let sgr = |codes: String| format!("\u{1b}[{codes}mx{codes}\u{1b}[0m ");
    let colours = || (30..38).chain(90..98);
    let alone: String =
        colours().chain([1, 2, 3, 4, 7, 9]).map(|code| sgr(code.to_string())).collect();
    let both: String = (40..48)
        .chain(100..108)
        .flat_map(|ground| colours().map(move |colour| sgr(format!("{colour};{ground}"))))
        .collect();
    let grounds: String = (40..48).chain(100..108).map(|ground| sgr(ground.to_string())).collect();
    let code = "```rust\n/// Doc\n#[derive(Debug)]\npub fn f<T: Copy>(x: &str) -> Option<u8> { let y = 0x1f + 2.5; /* c */ println!(\"{x}\\n\"); Some(b'a') }\n```\n\n\
        ```python\n@d\nclass A(B):\n    def f(self, x=None): return f\"{x}\" + 'a' # c\n```\n\n```html\n<!-- c --><a href=\"x\">y</a>\n```\n\n\
        ```json\n{\"a\": [1, true, null, \"b\"]}\n```\n\n```css\n.a > b { color: #fff; }\n```\n\n```bash\nfor f in $X; do echo \"$f\" | grep -v a; done # c\n```\n\n\
        ```diff\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-let a = 1;\n+let a = 2;\n c\n```\n\n> quoted [link](https://example.org) `code`\n\n~~struck~~ https://example.org/x\n\n| a |\n|---|\n| b |\n";
    let env = Env::with([session("s0")
        .with("system_prompt", "You are helpful.")
        .user(code)
        .assistant(code)
        .and("reasoning", code)
        .and("finish_reason", "length")
        .message("tool")
        .and("tool_name", "terminal")
        .and("content", alone + &grounds + &both)
        .message("tool")
        .and("tool_name", "read_file")
        .and("content", "Error: no such file")
        .message("system")
        .and("content", "See https://example.org")
        .user("taken back, see https://example.org `x`")
        .rewound()]);
    env.run("export colours.html --session-id s0 --no-manifest").ok();
    env
}

#[test]
fn text_edges_and_focus_stand_out_in_both_colours() {
    if !is_there() {
        return;
    }
    let (env, colours) = (exported(), colourful());
    let browser = Browser::start();
    let pages = PAGES.iter().map(|name| (&env, *name)).chain([(&colours, "colours.html")]);
    for (env, name) in pages {
        let page = browser.open(&env.work(name), Look::default());
        page.eval(COLOURS);
        if name.ends_with("search.html") {
            page.press("/");
            page.type_in("zebra");
            page.until("document.querySelectorAll('#results mark').length === 9");
        }
        page.fold(true);
        // The focus is marked as it is for those who use the keyboard.
        page.press("Tab");
        for (width, scheme) in [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")] {
            let what = format!("{name}, {width}, {scheme}");
            page.dress(Look { width, colours: scheme, ..Look::default() });
            for drawer in [false, width == 390] {
                page.eval(&format!("document.querySelector('#side').togglePopover({drawer})"));
                let found = page.eval(FAINT);
                assert_eq!(found[0], json!([]), "{what}");
                assert!(found[1].as_u64().unwrap() > 10, "{what}: {}", found[1]);
                assert_eq!(page.eval(EDGELESS), json!([]), "{what}");
                let unmarked = page.eval(&format!(
                    "[...document.querySelectorAll('a[href], button, summary, input, select, [tabindex]')].filter((e) => e.checkVisibility() && e.id !== 'start')\
                     .map((e) => {{ e.focus(); return {FOCUS}; }}).filter((name) => name)"
                ));
                assert_eq!(unmarked, json!([]), "{what}");
            }
            page.eval("document.querySelector('#side').togglePopover(false)");
        }
    }
}
