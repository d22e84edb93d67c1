//! SentencePiece's BPE, as a GGUF file holds it: pieces with scores, blanks written as U+2581, and a token for each byte
//! that no piece can write. (Kudo and Richardson 2018)

use ahash::AHashMap;
use tokenizers::models::bpe::{BPE, Merges};
use tokenizers::normalizers::{NormalizerWrapper, Prepend, Replace, Sequence};
use tokenizers::{DecoderWrapper, decoders};

use super::vocabulary::{Kind, Vocabulary};
use super::{Pieces, Tokenizer};

/// Such a tokenizer before it is put together.
pub(crate) struct SentencePiece {
    pub(crate) vocabulary: Vocabulary,
    /// One for each token: of two merges that are possible, the one to the piece with the higher score is made.
    pub(crate) scores: Vec<f64>,
    /// Whether a blank is put before every text, and after every mark.
    pub(crate) blank_first: bool,
    /// Whether marks take the blanks that follow them.
    pub(crate) swallowing: bool,
}

const BLANK: &str = "\u{2581}";

impl SentencePiece {
    /// Puts it together.
    ///
    /// # Errors
    /// Words on what does not fit.
    pub(crate) fn build(self) -> Result<Tokenizer, String> {
        let Self { vocabulary, scores, blank_first, swallowing } = self;
        vocabulary.check()?;
        let (tokens, scored) = (vocabulary.tokens.len(), scores.len());
        if tokens != scored {
            return Err(format!("its tokenizer has {tokens} tokens, but {scored} scores"));
        }
        if let Some(wrong) = scores.iter().find(|score| !score.is_finite()) {
            return Err(format!("its tokenizer has a score of {wrong}"));
        }
        let ids = vocabulary.ids()?;
        let merges = merges(&vocabulary, &scores, &ids);
        let bytes = (0..tokens).any(|id| vocabulary.kind(id) == Kind::Byte);
        let mut bpe = BPE::builder().vocab_and_merges(ids, merges).byte_fallback(bytes).fuse_unk(true);
        if let Some(unknown) = vocabulary.unknown {
            bpe = bpe.unk_token(vocabulary.tokens[unknown].clone());
        }
        let broken = |error: tokenizers::Error| format!("its tokenizer: {error}");
        let mut tokenizer = vocabulary.tokenizer(bpe, Pieces::Fallback, swallowing)?;

        let blanks: NormalizerWrapper = Replace::new(" ", BLANK).map_err(broken)?.into();
        let before: NormalizerWrapper = match blank_first {
            true => Sequence::new(vec![Prepend::new(BLANK.to_owned()).into(), blanks]).into(),
            false => blanks,
        };
        tokenizer.inner.with_normalizer(Some(before)).map_err(broken)?;
        let mut after: Vec<DecoderWrapper> = vec![
            Replace::new(BLANK, " ").map_err(broken)?.into(),
            decoders::byte_fallback::ByteFallback::new().into(),
            decoders::fuse::Fuse::new().into(),
        ];
        if blank_first {
            after.push(decoders::strip::Strip::new(' ', 1, 0).into());
        }
        tokenizer.inner.with_decoder(Some(decoders::sequence::Sequence::new(after)));
        Ok(tokenizer)
    }
}

/// Every way to make a piece of two others, the best first.
fn merges(vocabulary: &Vocabulary, scores: &[f64], ids: &AHashMap<String, u32>) -> Merges {
    let mut found: Vec<(f64, u32, u32)> = Vec::new();
    for (id, piece) in vocabulary.tokens.iter().enumerate() {
        if !matches!(vocabulary.kind(id), Kind::Piece | Kind::Whole) {
            continue;
        }
        for (at, _) in piece.char_indices().skip(1) {
            let (left, right) = piece.split_at(at);
            if let (Some(left), Some(right)) = (ids.get(left), ids.get(right)) {
                found.push((scores[id], *left, *right));
            }
        }
    }
    // Ways to the same piece keep one order, whatever that is: SentencePiece knows pieces only, not ways.
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let text = |id: u32| vocabulary.tokens[id as usize].clone();
    found.into_iter().map(|(_, left, right)| (text(left), text(right))).collect()
}
