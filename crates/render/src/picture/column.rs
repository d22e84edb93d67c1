use attnscope_inspect::{Column, Trace};

use super::bars::Bars;
use super::label::Label;
use super::page::{MARGIN, Page, title};
use super::{Place, Style};
use crate::Error;
use crate::paint::Scene;

/// A column: who listens to one key. Gives the scene and, where not every query has a bar, a sentence that says so.
pub(crate) fn column(trace: &Trace, place: Place, key: usize, style: &Style) -> Result<(Scene, Option<String>), Error> {
    let Column { weights, mask, received, visible, .. } = trace.column(place.site, place.layer, place.head, key)?;
    let bars = Bars::new(&weights, &mask, |query| Label::new(trace.query_tokens(place.site), query), "queries");
    let mut page = Page::new(style.theme, bars.width());
    let inks = page.inks;
    let asked = Label::new(trace.key_tokens(place.site), key);
    let who = format!("What each query gives to key {} “{}”.", asked.index, asked.token);
    let shown = bars.left_out.as_ref().map(|left_out| format!(" {left_out}")).unwrap_or_default();
    page.head(trace, &format!("{}. {who}{shown}", place.words()));
    page.y += 16.0;
    bars.draw(&mut page, "queries ↓", inks.q);
    let hidden = weights.len() - visible;
    let mut sum = format!("It receives {received:.6} in all. {visible} queries see it");
    sum += &if hidden > 0 { format!(", from {hidden} it is hidden.") } else { ".".to_owned() };
    page.words(MARGIN, &sum, inks.ink);
    let budget = "A column is no budget: its weights come from different rows and need not sum to anything. Bars are on \
                  a linear scale.";
    page.words(MARGIN, budget, inks.ink);
    Ok((page.end(format!("{}, key {key}", title(trace, place)), format!("{who} {sum}")), bars.left_out))
}
