// The shapes of what the server answers. Types only; nothing here runs.
// JSON has neither infinity nor NaN: a number that is not finite comes as null. Where it may be minus infinity
// the type says so; where it can only come from a damaged trace, api.js makes it NaN, which is shown as such.

/** @typedef {'future' | 'outside_window' | 'padding' | 'other_segment' | 'knocked_out'} HiddenReason */

/**
 * @typedef {object} Source          Something that can be looked at.
 * @property {string} id
 * @property {string} label
 * @property {string} [quantisation]  How its weights are kept.
 * @property {'example' | 'model' | 'trace'} kind
 * @property {string} [family]
 * @property {string} note
 * @property {string} text           What it starts with.
 * @property {boolean} text_fixed    The text cannot be changed.
 * @property {boolean} causal
 * @property {boolean} causal_choice The mask can be switched on and off.
 * @property {number} [max_tokens]
 * @property {string} [name]         What the command line calls it.
 */

/**
 * @typedef {object} Token
 * @property {number | null} id
 * @property {string} text
 * @property {boolean} special
 * @property {[number, number]} [part]  The i-th of n tokens that share one character.
 */

/**
 * @typedef {object} Site            The attention of one layer.
 * @property {string} site
 * @property {number} layer
 * @property {number} q_heads
 * @property {number} kv_heads
 * @property {number} head_dim
 * @property {number} v_head_dim
 * @property {number} q_len
 * @property {number} kv_len
 * @property {boolean} causal
 * @property {{left: number | null, right: number | null} | null} window
 * @property {number} scale
 * @property {number | null} softcap
 */

/**
 * @typedef {object} Meta            A run, without its numbers.
 * @property {string} id
 * @property {string} source
 * @property {string} text
 * @property {'example' | 'model' | 'trace'} kind
 * @property {{name: string, family: string, sha256: string | null}} model
 * @property {string} note
 * @property {Token[]} tokens         Of an encoder-decoder: the decoder's
 * @property {{text: string, tokens: Token[]}} [encoder]  What the encoder of an encoder-decoder read; `text` is this
 * @property {Site[]} sites
 * @property {string} isa
 * @property {string} version
 * @property {number} seconds
 * @property {boolean} worked        The matrices behind q, k and v can be asked for.
 */

/** @typedef {{index: number, token: string}} Place */

/**
 * @typedef {object} Cell            One weight and everything that went into it.
 * @property {number} layer
 * @property {number} head
 * @property {number} kv_head
 * @property {string} site
 * @property {Place} query
 * @property {Place} key
 * @property {number[]} q
 * @property {number[]} k
 * @property {number[]} products
 * @property {number} dot
 * @property {number} scale
 * @property {number} scaled          scale * dot
 * @property {number | null} softcap
 * @property {number | null} alibi    What each adds to the score, where it is in use.
 * @property {number | null} relative_bias
 * @property {number | null} bias
 * @property {number | null} score   Before the mask hides it.
 * @property {HiddenReason | null} mask
 * @property {number | null} lse
 * @property {number | null} log_weight
 * @property {number} weight
 * @property {number} row_sum
 * @property {number | null} sink    The weight that the head's sink takes, where there is one.
 * @property {number[]} v
 * @property {number[]} out
 * @property {number} share
 */

/**
 * @typedef {object} Row
 * @property {number} layer
 * @property {number} head
 * @property {string} site
 * @property {Place} query
 * @property {number[]} weights
 * @property {(number | null)[]} scores
 * @property {(HiddenReason | null)[]} mask
 * @property {number | null} lse
 * @property {number} row_sum
 * @property {number | null} sink    The weight that the head's sink takes, where there is one.
 * @property {number} entropy        In nats.
 * @property {number} visible
 * @property {{index: number, token: string, weight: number}[]} strongest
 */

/**
 * @typedef {object} Column          Who listens to one key.
 * @property {number} layer
 * @property {number | 'mean'} head
 * @property {string} site
 * @property {Place} key
 * @property {number[]} weights      One for each query.
 * @property {(HiddenReason | null)[]} mask
 * @property {number} received       Their sum.
 * @property {number} visible        Queries that may see the key.
 * @property {{index: number, token: string, weight: number}[]} strongest
 */

/** @typedef {{v: number[][]}} Values */

/**
 * @typedef {object} HeadFacts       Means over the queries that see something.
 * @property {number} layer
 * @property {number} head
 * @property {number} entropy
 * @property {number} first
 * @property {number | null} self
 * @property {number | null} previous
 * @property {number | null} distance
 * @property {{row_sum_error: number | null, output_error: number | null}} proof  null: not finite, so not proven
 */

/** @typedef {{x: string[], qk: string[], v: string[]}} DimTexts */

/**
 * @typedef {object} Worked          The example's own matrices.
 * @property {DimTexts} dims
 * @property {DimTexts} dim_notes
 * @property {number[][]} x
 * @property {number[][]} w_q
 * @property {number[][]} w_k
 * @property {number[][]} w_v
 * @property {number[][]} w_o
 * @property {number[][]} q
 * @property {number[][]} k
 * @property {number[][]} v
 * @property {number[][]} z
 * @property {number[][]} zo         z W_O
 * @property {number[][]} y          x + z W_O
 * @property {number[][]} scores     Scaled, before the mask.
 * @property {(number | null)[][]} m 0 where visible, null for minus infinity.
 * @property {number[][]} weights
 * @property {number[][]} weights_unmasked
 */

/**
 * Where a run stands.
 * @typedef {object} Standing
 * @property {number} ahead  Runs before it
 * @property {number} done   Layers done
 * @property {number} all    Layers in all; 0 while the model is being opened
 */

export {};
