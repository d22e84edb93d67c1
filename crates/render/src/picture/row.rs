use attnscope_inspect::{Row, Trace};

use super::bars::Bars;
use super::label::Label;
use super::page::{MARGIN, Page, title};
use super::{Place, Style};
use crate::Error;
use crate::paint::Scene;

/// A row as a budget: how one query spends its unit of attention. Gives the scene and, where not every key has a bar,
/// a sentence that says so.
pub(crate) fn row(trace: &Trace, place: Place, query: usize, style: &Style) -> Result<(Scene, Option<String>), Error> {
    let Row { weights, mask, row_sum, entropy, visible, .. } =
        trace.picked_row(place.site, place.layer, place.head, query)?;
    let bars = Bars::new(&weights, &mask, |key| Label::new(&trace.tokens, key), "keys");
    let mut page = Page::new(style.theme, bars.width());
    let inks = page.inks;
    let asks = Label::new(&trace.tokens, query);
    let who = format!("Query {} “{}” spends one unit of attention.", asks.index, asks.token);
    let shown = bars.left_out.as_ref().map(|left_out| format!(" {left_out}")).unwrap_or_default();
    page.head(trace, &format!("{}. {who}{shown}", place.words()));
    page.y += 16.0;
    bars.draw(&mut page, "keys ↓", inks.k);
    let hidden = weights.len() - visible;
    let mut sum = format!("The weights sum to {row_sum:.6}. {visible} keys are seen");
    sum += &if hidden > 0 { format!(", {hidden} are hidden.") } else { ".".to_owned() };
    page.words(MARGIN, &sum, inks.ink);
    let spread = format!(
        "Entropy {entropy:.3} nats: as spread out as {:.1} keys with equal weights. Bars are on a linear scale.",
        entropy.exp()
    );
    page.words(MARGIN, &spread, inks.ink);
    Ok((page.end(format!("{}, query {query}", title(trace, place)), format!("{who} {sum}")), bars.left_out))
}
