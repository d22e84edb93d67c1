use std::str::FromStr;

use clap::{ArgGroup, Args, ValueEnum};

use super::{Reading, Site};

/// Cut edges, keys, queries, heads or layers out of a run, and see what that changes.
///
/// The model reads the text twice, as it is and with everything that is named cut at once, and the prediction at one position is
/// compared: of the next token; in a model that names masked words, of the mask; in an encoder-decoder, of the decoder's next
/// token. `kl` is KL(before || after) over the whole vocabulary, in nats: the sum of p_before ln(p_before / p_after).
/// `logit_diff` is the logit of one token after, minus the same before: of the token that was likeliest before, or of
/// --token. A model without a head that names words has neither; `vectors` then says how far the last vector of each
/// position moved, by its cosine and by |after - before| / |before|.
///
/// L is a layer and H a query head, from 0, or `*` for every one. Q and K are a query and a key: a position, or the text of a token
/// that occurs once.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").multiple(true).required(true))]
pub(crate) struct KnockoutArgs {
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// Single cells: this query of this head does not see this key
    #[arg(long, value_name = "L.H.Q.K,...", value_delimiter = ',', group = "what", allow_hyphen_values = true)]
    pub(crate) edges: Vec<Edge>,
    /// Keys that no query of the head sees
    #[arg(long, value_name = "L.H.K,...", value_delimiter = ',', group = "what", allow_hyphen_values = true)]
    pub(crate) keys: Vec<Line>,
    /// Queries of the head that see nothing
    #[arg(long, value_name = "L.H.Q,...", value_delimiter = ',', group = "what", allow_hyphen_values = true)]
    pub(crate) queries: Vec<Line>,
    /// Heads whose output is 0 at every position
    #[arg(long, value_name = "L.H,...", value_delimiter = ',', group = "what")]
    pub(crate) heads: Vec<Head>,
    /// Layers whose heads' output is 0, all of them
    #[arg(long, value_name = "L,...", value_delimiter = ',', group = "what")]
    pub(crate) layers: Vec<Any>,
    /// Heads whose output at every position is its mean over the positions of this run (padding aside), as the run is when it
    /// comes to them
    #[arg(long, value_name = "L.H,...", value_delimiter = ',', group = "what")]
    pub(crate) mean_heads: Vec<Head>,
    /// Cut all of them, one at a time, and rank them by how far each moves the log probability of the token (a logit may move
    /// only because all of them do): every head of the site, or every key, out of all layers at once. Ctrl-C ends it early and keeps what was ranked
    #[arg(long, value_enum, group = "what", conflicts_with_all = ["edges", "keys", "queries", "heads", "layers", "mean_heads"])]
    pub(crate) scan: Option<Scanned>,
    /// Which attention of the layers
    #[arg(long, value_enum, default_value = "self")]
    pub(crate) site: Site,
    /// Where the prediction is compared: a position, or the text of a token that occurs once [default: the last; of a text with
    /// one mask, the mask]
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    pub(crate) at: Option<String>,
    /// The token that is followed: its id, or its text exactly, with the blank that may belong to it (" Paris") [default: the
    /// likeliest before]
    #[arg(long, allow_hyphen_values = true)]
    pub(crate) token: Option<String>,
    /// How many of the likeliest tokens to show, or of what was ranked
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub(crate) top: usize,
    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// What is cut, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Scanned {
    Heads,
    Keys,
}

/// An index, or every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Any(pub(crate) Option<usize>);

/// LAYER.HEAD
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) layer: Any,
    pub(crate) head: Any,
}

/// LAYER.HEAD.TOKEN
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) head: Head,
    pub(crate) token: String,
}

/// LAYER.HEAD.QUERY.KEY
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) head: Head,
    pub(crate) query: String,
    pub(crate) key: String,
}

impl FromStr for Any {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "*" => Ok(Self(None)),
            digits if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
                .parse()
                .map(|index| Self(Some(index)))
                .map_err(|_| format!("no layer or head is as high as {digits}")),
            text => Err(format!("{text:?} is neither a number nor *")),
        }
    }
}

impl FromStr for Head {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (layer, head) = text.split_once('.').ok_or("must be LAYER.HEAD, such as 3.0 or 3.*")?;
        Ok(Self { layer: layer.parse()?, head: head.parse()? })
    }
}

impl FromStr for Line {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (head, token) = after_head(text).ok_or("must be LAYER.HEAD.TOKEN, such as 3.0.5 or 3.*.robot")?;
        Ok(Self { head: head.parse()?, token: token.to_owned() })
    }
}

impl FromStr for Edge {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "must be LAYER.HEAD.QUERY.KEY, such as 3.0.5.1 or 3.*.it.robot";
        let (head, tokens) = after_head(text).ok_or(form)?;
        // A token may itself be a full stop.
        let dots = tokens.match_indices('.').map(|(dot, _)| (&tokens[..dot], &tokens[dot + 1..]));
        let ways: Vec<(&str, &str)> = dots.filter(|(query, key)| !query.is_empty() && !key.is_empty()).collect();
        match ways[..] {
            [(query, key)] => Ok(Self { head: head.parse()?, query: query.to_owned(), key: key.to_owned() }),
            [] => Err(form.to_owned()),
            _ => Err("its tokens have full stops in them; give their positions".to_owned()),
        }
    }
}

/// Takes LAYER.HEAD apart from what follows, which must be something.
fn after_head(text: &str) -> Option<(&str, &str)> {
    let (dot, _) = text.match_indices('.').nth(1)?;
    Some((&text[..dot], &text[dot + 1..])).filter(|(_, rest)| !rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Edge, Head, Line};

    fn edge(text: &str) -> Result<(Head, String, String), String> {
        text.parse().map(|Edge { head, query, key }| (head, query, key))
    }

    #[test]
    fn tokens_may_be_full_stops() {
        let head: Head = "1.*".parse().unwrap();
        for (text, query, key) in
            [("1.*.5.2", "5", "2"), ("1.*.it.robot", "it", "robot"), ("1.*...it", ".", "it"), ("1.*.it..", "it", ".")]
        {
            assert_eq!(edge(text).unwrap(), (head, query.to_owned(), key.to_owned()), "{text}");
        }
        assert!(edge("1.*.a.b.c").unwrap_err().contains("full stops"));
        let line: Line = "1.*..".parse().unwrap();
        assert_eq!((line.head, &*line.token), (head, "."));
    }

    #[test]
    fn what_is_no_place_is_refused() {
        for text in ["", "1", "1.2", "1.2.", "1.2.3", "1.2.3.", "1.2..3", "x.2.3.4", "1.-2.3.4"] {
            assert!(edge(text).is_err(), "{text}");
        }
        for text in ["", "1", "1.", "x.1", "1.2.3", "1.2 "] {
            assert_eq!(text.parse::<Head>().is_ok(), text == "1.2 ", "{text}");
        }
        assert!("1.2.".parse::<Line>().is_err());
    }
}
