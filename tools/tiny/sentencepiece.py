#!/usr/bin/env python3
r"""Make small SentencePiece vocabularies, and what SentencePiece itself makes of texts that tokenizers get wrong.

Run once by hand; the result is committed and small. It takes the texts from
crates/models/tests/expected/smollm2-tokens.json and writes sentencepiece.json beside it: for each vocabulary its pieces, each with its
score and its type as GGUF files number them, the two ways in which its kind of model differs from others, and the ids of
each text.

    python3 -m venv VENV && VENV/bin/pip install sentencepiece==0.2.1
    VENV/bin/python tools/tiny/sentencepiece.py

`llama` is like Llama 2's: a blank before every text. `gemma` is like Gemma's: none, and a few texts that are never cut,
among them two blanks and two newlines. Both split digits and write what they do not know as bytes. Texts with the marks
`<s>` and `</s>` are left out: SentencePiece reads them as letters, models as marks.
"""

import io
import json
import sys
from pathlib import Path

# This file has the name of the package.
sys.path = [path for path in sys.path if Path(path or ".").resolve() != Path(__file__).resolve().parent]
import sentencepiece

EXPECTED = Path(__file__).resolve().parent.parent.parent / "crates" / "models" / "tests" / "expected"
LEARNED = (
    "The robot carried the patient because it was tired, and the keys to the cabinet were here; it was not in the room. "
    "They say that what we have is all there was when the men went on with their work, and they'll be here soon. "
    "fn main() { let x = 1; println!(\"{x:?}\"); } Straße café naïve привет мир ሰላም ለዓለም 你好 世界 مرحبا "
)
KINDS = {"llama": dict(add_dummy_prefix=True), "gemma": dict(add_dummy_prefix=False, user_defined_symbols=["▁▁", "\n\n", "<b>"])}


def made(name, texts):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([LEARNED] * 4 + LEARNED.split(". ") * 4), model_writer=model, model_type="bpe",
        vocab_size=460, byte_fallback=True, split_digits=True, remove_extra_whitespaces=False,
        normalization_rule_name="identity", allow_whitespace_only_pieces=True, character_coverage=0.98,
        minloglevel=2, **KINDS[name],
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    pieces = []
    for id in range(processor.get_piece_size()):
        kind = 2 if processor.is_unknown(id) else 3 if processor.is_control(id) else 6 if processor.is_byte(id) else 1
        text = processor.id_to_piece(id)
        if text in KINDS[name].get("user_defined_symbols", []):
            # As converters write them.
            kind, text = 4, text.replace("▁", " ")
        pieces.append([text, processor.get_score(id), kind])
    encoded = [{"name": text["name"], "text": text["text"], "ids": processor.encode(text["text"])} for text in texts]
    return {"blank_first": KINDS[name]["add_dummy_prefix"], "pieces": pieces, "texts": encoded}


def main():
    texts = json.loads((EXPECTED / "smollm2-tokens.json").read_text())["texts"]
    texts = [text for text in texts if "<s>" not in text["text"]]
    texts += [{"name": "never cut", "text": "a<b>c\n\n\nd  e   f    g\n\n"}]
    values = {name: made(name, texts) for name in KINDS}
    parts = []
    for name, value in values.items():
        inner = ",\n".join(f'  {json.dumps(key)}: {json.dumps(item)}' for key, item in value.items())
        parts.append(f" {json.dumps(name)}: {{\n{inner}\n }}")
    path = EXPECTED / "sentencepiece.json"
    path.write_text("{\n" + ",\n".join(parts) + "\n}\n")
    print(f"{path.name}: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
