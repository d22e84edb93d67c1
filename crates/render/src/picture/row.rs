use attnscope_inspect::{Pick, Row, Trace};

use super::bars::Bars;
use super::label::Label;
use super::page::{MARGIN, Page, title};
use super::{Place, Style};
use crate::Error;
use crate::paint::Scene;

/// A row as a budget: how one query spends its unit of attention. Gives the scene and, where not every key has a bar,
/// a sentence that says so.
pub(crate) fn row(trace: &Trace, place: Place, query: usize, style: &Style) -> Result<(Scene, Option<String>), Error> {
    let row = trace.picked_row(place.site, place.layer, place.head, query)?;
    let Row { weights, mask, row_sum, visible, .. } = &row;
    let bars = Bars::new(weights, mask, |key| Label::new(trace.key_tokens(place.site), key), "keys");
    let mut page = Page::new(style.theme, bars.width());
    let inks = page.inks;
    let asks = Label::new(trace.query_tokens(place.site), query);
    let spends = if row.due > 0.0 { "spends one unit of attention" } else { "sees no key and attends to nothing" };
    let who = format!("Query {} “{}” {spends}.", asks.index, asks.token);
    let shown = bars.left_out.as_ref().map(|left_out| format!(" {left_out}")).unwrap_or_default();
    page.head(trace, &format!("{}. {who}{shown}", place.words()));
    page.y += 16.0;
    bars.draw(&mut page, "keys ↓", inks.k);
    let hidden = weights.len() - visible;
    let takes = if place.head == Pick::Mean { "the heads' sinks take" } else { "the head's sink takes" };
    let sink = match row.sink {
        Some(_) if *visible == 0 => format!("; {takes} it all"),
        Some(sink) => format!("; {takes} {sink:.6}"),
        None => String::new(),
    };
    let mut sum = format!("The weights sum to {row_sum:.6}{sink}. {visible} keys are seen");
    sum += &if hidden > 0 { format!(", {hidden} are hidden.") } else { ".".to_owned() };
    page.words(MARGIN, &sum, inks.ink);
    // Of what the keys have, whatever a sink takes.
    let spread = row.effective().map(|as_many| {
        let entropy = as_many.ln() + 0.0;
        format!("Entropy {entropy:.3} nats: as spread out as {as_many:.1} keys with equal weights. ")
    });
    let spread = spread.unwrap_or_default() + "Bars are on a linear scale.";
    page.words(MARGIN, &spread, inks.ink);
    if let Some(doubt) = row.doubt() {
        sum += &format!(" But {doubt}.");
        page.words(MARGIN, &format!("But {doubt}."), inks.ink);
    }
    Ok((page.end(format!("{}, query {query}", title(trace, place)), format!("{who} {sum}")), bars.left_out))
}
