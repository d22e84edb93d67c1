use anyhow::bail;
use attnscope_inspect::example::Example;
use attnscope_inspect::{SiteKind, TokenAt, Trace};
use attnscope_models::{
    Effect, Experiment, Heads, Interventions, Keep, Likely, Mean, Model, Moved, Ranked, Scan, Source,
};
use serde::Serialize;

use crate::args::{Head, KnockoutArgs, Scanned};
use crate::{interrupt, output};

mod text;

/// What a scan found.
#[derive(Serialize)]
struct Ranking {
    /// `heads` or `keys`.
    scan: &'static str,
    site: SiteKind,
    at: TokenAt,
    /// The token that is followed; none in a model without a head that names words.
    token: Option<Token>,
    /// The likeliest without any cut.
    before: Option<Vec<Likely>>,
    /// How many were cut, of how many.
    ranked: usize,
    of: usize,
    ranking: Vec<Ranked>,
}

#[derive(Serialize)]
struct Token {
    token: String,
    id: u32,
}

/// One rule, its tokens found.
struct Cut {
    heads: Heads,
    query: Option<usize>,
    key: Option<usize>,
}

pub(crate) fn run(args: KnockoutArgs) -> anyhow::Result<()> {
    let source = super::open(&args.reading.source, args.reading.weights)?;
    if !matches!(source, Source::Trace(_)) {
        source.check_site(&args.reading.source, args.site.kind(), None)?;
    }
    match source {
        Source::Example(example) => of_example(&example, &args),
        Source::Model(model) => of_model(&model, &args),
        Source::Trace(_) => bail!(
            "{}: a trace file has no weights to run again with something cut out; give the model that made it",
            args.reading.source
        ),
    }
}

fn of_model(model: &Model, args: &KnockoutArgs) -> anyhow::Result<()> {
    args.reading.check_causal(model.shape().causal)?;
    let prompt = super::asked(&args.reading, model)?;
    let token = args.token.as_deref().map(|name| model.token_id(name)).transpose()?;
    let bar = output::progress("reading");
    let reading = |done, all| {
        output::advance(&bar, done, all);
        true
    };
    let experiment = Experiment::new(model, model.texts(&prompt, &reading)?, args.at.as_deref(), token, &reading)?;
    if let Some(scan) = args.scan {
        bar.finish_and_clear();
        return ranked(&experiment, scan, args);
    }
    let cuts = cuts(args, experiment.names())?;
    let cut = |all: Interventions, cut: &Cut| all.cut(cut.heads, cut.query, cut.key);
    let means = args.mean_heads.iter().map(|head| heads(args, *head));
    let interventions = cuts.iter().fold(Interventions::default(), cut);
    let interventions = means.fold(interventions, |all, heads| all.mean(heads, Mean::OfThisRun));
    let effect = experiment.effect(&interventions, args.top, &reading)?;
    bar.finish_and_clear();
    answer(args, experiment.names(), &effect, &interventions)
}

/// The worked example has no words to predict; its tokens' vectors are compared.
fn of_example(example: &Example, args: &KnockoutArgs) -> anyhow::Result<()> {
    if args.scan.is_some() || !args.mean_heads.is_empty() || args.token.is_some() {
        bail!("the worked example has one head and predicts nothing; --scan, --mean-heads and --token are for models");
    }
    let ask = args.reading.ask(Keep::All)?;
    let causal = ask.causal.unwrap_or(false);
    let names = Source::Example(example.clone()).trace(ask)?;
    let (mut interventions, mut rules) = (Interventions::default(), Vec::new());
    for Cut { heads, query, key } in cuts(args, &names)? {
        interventions = interventions.cut(heads, query, key);
        let site = names.site(heads.site, heads.layer.unwrap_or(0))?;
        if let Some(head) = heads.head.filter(|head| *head >= site.q_heads()) {
            bail!("head {head} is out of range: the layer has {} heads, 0 to {}", site.q_heads(), site.q_heads() - 1);
        }
        rules.push((query, key));
    }
    let [before, after] = [&[], &rules[..]].map(|rules| example.outputs(causal, rules));
    let (before, after) = (before?, after?);
    let at = match &args.at {
        Some(name) => names.find_position(name)?,
        None => names.tokens.len() - 1,
    };
    let vectors = names.tokens.iter().enumerate().zip(before.iter().zip(&after));
    let effect = Effect {
        at: TokenAt { index: at, token: names.tokens[at].text.clone() },
        before: None,
        after: None,
        kl: None,
        logit_diff: None,
        token: None,
        vectors: vectors.map(|((index, token), (a, b))| Moved::new(index, token.text.clone(), a, b)).collect(),
        warnings: interventions.hidden_anyway(&names),
    };
    answer(args, &names, &effect, &interventions)
}

fn answer(args: &KnockoutArgs, names: &Trace, effect: &Effect, interventions: &Interventions) -> anyhow::Result<()> {
    if args.json {
        return output::json(effect);
    }
    output::print(&text::effect(names, effect, interventions, args.top)?)
}

/// Ranks what is scanned. An interrupt ends that early and keeps what there is; a second one ends the program.
fn ranked(experiment: &Experiment, scan: Scanned, args: &KnockoutArgs) -> anyhow::Result<()> {
    interrupt::hear();
    let bar = output::progress("cutting");
    let going = |done, all| {
        output::advance(&bar, done, all);
        !interrupt::asked()
    };
    let (name, which) = match scan {
        Scanned::Heads => ("heads", Scan::Heads),
        Scanned::Keys => ("keys", Scan::Keys),
    };
    let site = args.site.kind();
    let ranking = experiment.scan(which, site, &going)?;
    bar.finish_and_clear();
    let ranking = Ranking {
        scan: name,
        site,
        at: experiment.at(),
        token: experiment.token().map(|(id, token)| Token { token, id }),
        before: experiment.before(args.top),
        ranked: ranking.len(),
        of: experiment.to_scan(which, site)?,
        ranking,
    };
    if args.json {
        output::json(&ranking)
    } else {
        output::print(&text::ranking(experiment.names(), &ranking, args.top)?)
    }
}

fn heads(args: &KnockoutArgs, Head { layer, head }: Head) -> Heads {
    Heads { site: args.site.kind(), layer: layer.0, head: head.0 }
}

/// A token that is none: `*` may be one, but stands for no other.
fn every(token: &str) -> impl FnOnce(attnscope_inspect::Error) -> anyhow::Result<usize> {
    move |error| match token.trim() {
        "*" => bail!(
            "* stands for every layer or every head, not for every token; a query that sees no key is cut by --queries L.H.Q, a key \
             that no query sees by --keys L.H.K, and all cells of a head by --heads L.H"
        ),
        _ => Err(error.into()),
    }
}

/// Every rule that is asked for, with its tokens found among those of the text.
fn cuts(args: &KnockoutArgs, names: &Trace) -> anyhow::Result<Vec<Cut>> {
    let site = args.site.kind();
    let mut cuts = Vec::new();
    for edge in &args.edges {
        let query = Some(names.find_query(site, &edge.query).or_else(every(&edge.query))?);
        let key = Some(names.find_key(site, &edge.key).or_else(every(&edge.key))?);
        cuts.push(Cut { heads: heads(args, edge.head), query, key });
    }
    for line in &args.keys {
        let key = Some(names.find_key(site, &line.token).or_else(every(&line.token))?);
        cuts.push(Cut { heads: heads(args, line.head), query: None, key });
    }
    for line in &args.queries {
        let query = Some(names.find_query(site, &line.token).or_else(every(&line.token))?);
        cuts.push(Cut { heads: heads(args, line.head), query, key: None });
    }
    let whole = |heads| Cut { heads, query: None, key: None };
    cuts.extend(args.heads.iter().map(|head| whole(heads(args, *head))));
    cuts.extend(args.layers.iter().map(|layer| whole(Heads { site, layer: layer.0, head: None })));
    Ok(cuts)
}
