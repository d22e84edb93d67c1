//! A picture from its head down: each part is put below the last.

use attnscope_inspect::Trace;

use super::{CAVEAT, Place};
use crate::escape::one_line;
use crate::paint::{Anchor, Area, Inks, Item, Rgb, Scene, Text, Theme, cut, width, wrap};

/// Around everything.
pub(super) const MARGIN: f32 = 24.0;
const TITLE: f32 = 19.0;
/// Of running words.
pub(super) const WORDS: f32 = 12.0;
/// From one line of words to the next.
const LEADING: f32 = 17.0;

/// A picture in the making: what there is, and how far down it reaches.
pub(super) struct Page {
    pub(super) theme: Theme,
    pub(super) inks: Inks,
    pub(super) width: f32,
    pub(super) y: f32,
    pub(super) items: Vec<Item>,
}

impl Page {
    /// An empty page at least `width` wide.
    pub(super) fn new(theme: Theme, width: f32) -> Self {
        Self { theme, inks: theme.inks(), width: width.max(480.0).ceil(), y: MARGIN, items: Vec::new() }
    }

    pub(super) fn text(&mut self, (x, y): (f32, f32), size: f32, anchor: Anchor, ink: Rgb, text: impl Into<String>) {
        self.items.push(Item::Text(Text { x, y, size, anchor, turned: false, ink, text: text.into() }));
    }

    /// A rectangle at (x, y).
    pub(super) fn rect(&mut self, (x, y): (f32, f32), width: f32, height: f32, ink: Rgb) {
        self.items.push(Item::Rect(Area { x, y, width, height }, ink));
    }

    /// Words from `x` to the right margin, in as many lines as they need.
    pub(super) fn words(&mut self, x: f32, text: &str, ink: Rgb) {
        for line in wrap(text, WORDS, self.width - MARGIN - x) {
            self.y += LEADING;
            self.text((x, self.y - 4.5), WORDS, Anchor::Start, ink, line);
        }
    }

    /// The model, what of it is shown, the text that was read, and what a reader must know of the model.
    pub(super) fn head(&mut self, trace: &Trace, shown: &str) {
        let room = self.width - 2.0 * MARGIN;
        self.y += TITLE;
        let title = cut(&one_line(&trace.model.name), TITLE, room);
        self.text((MARGIN, self.y - 3.0), TITLE, Anchor::Start, self.inks.ink, title);
        self.y += 5.0;
        self.words(MARGIN, &sentence(shown), self.inks.ink);
        let read = match &trace.encoder {
            Some(read) => format!("{} → {}", read.text.trim(), trace.text.trim()),
            None => trace.text.trim().to_owned(),
        };
        if !read.is_empty() {
            let text = cut(&one_line(&read), WORDS, room - width("“”", WORDS));
            self.y += LEADING;
            self.text((MARGIN, self.y - 4.5), WORDS, Anchor::Start, self.inks.soft, format!("“{text}”"));
        }
        self.words(MARGIN, &one_line(&trace.model.note), self.inks.soft);
    }

    /// Ends the page with what a map is not.
    pub(super) fn end(mut self, title: String, description: String) -> Scene {
        self.y += 10.0;
        self.words(MARGIN, CAVEAT, self.inks.soft);
        Scene {
            width: self.width,
            height: (self.y + MARGIN - 4.0).ceil(),
            theme: self.theme,
            title,
            description: format!("{description} {CAVEAT}"),
            items: self.items,
        }
    }
}

/// Words with a capital first.
pub(super) fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// A title in one line, for what lists pictures.
pub(super) fn title(trace: &Trace, place: Place) -> String {
    format!("{}: {}", one_line(&trace.model.name), place.words())
}
