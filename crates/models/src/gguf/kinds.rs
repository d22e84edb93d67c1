//! The ways in which ggml stores numbers.

use candle_core::quantized::GgmlDType;

/// Those that are read.
const READ: [(u32, GgmlDType); 13] = [
    (0, GgmlDType::F32),
    (1, GgmlDType::F16),
    (2, GgmlDType::Q4_0),
    (3, GgmlDType::Q4_1),
    (6, GgmlDType::Q5_0),
    (7, GgmlDType::Q5_1),
    (8, GgmlDType::Q8_0),
    (10, GgmlDType::Q2K),
    (11, GgmlDType::Q3K),
    (12, GgmlDType::Q4K),
    (13, GgmlDType::Q5K),
    (14, GgmlDType::Q6K),
    (30, GgmlDType::BF16),
];

/// Names of all there are or were. (ggml.h, `enum ggml_type`)
const NAMES: [(u32, &str); 41] = [
    (0, "F32"),
    (1, "F16"),
    (2, "Q4_0"),
    (3, "Q4_1"),
    (4, "Q4_2"),
    (5, "Q4_3"),
    (6, "Q5_0"),
    (7, "Q5_1"),
    (8, "Q8_0"),
    (9, "Q8_1"),
    (10, "Q2_K"),
    (11, "Q3_K"),
    (12, "Q4_K"),
    (13, "Q5_K"),
    (14, "Q6_K"),
    (15, "Q8_K"),
    (16, "IQ2_XXS"),
    (17, "IQ2_XS"),
    (18, "IQ3_XXS"),
    (19, "IQ1_S"),
    (20, "IQ4_NL"),
    (21, "IQ3_S"),
    (22, "IQ2_S"),
    (23, "IQ4_XS"),
    (24, "I8"),
    (25, "I16"),
    (26, "I32"),
    (27, "I64"),
    (28, "F64"),
    (29, "IQ1_M"),
    (30, "BF16"),
    (31, "Q4_0_4_4"),
    (32, "Q4_0_4_8"),
    (33, "Q4_0_8_8"),
    (34, "TQ1_0"),
    (35, "TQ2_0"),
    (36, "IQ4_NL_4_4"),
    (37, "IQ4_NL_4_8"),
    (38, "IQ4_NL_8_8"),
    (39, "MXFP4"),
    (40, "NVFP4"),
];

/// How a tensor of this type is read.
///
/// # Errors
/// What type it is, and what to take instead.
pub(super) fn read(code: u32) -> Result<GgmlDType, String> {
    let known = READ.iter().find(|(known, _)| *known == code);
    known.map(|(_, kind)| *kind).ok_or_else(|| {
        let others = "take another quantisation of this model: F16, Q8_0, Q6_K, Q5_K, Q4_K and older ones are read";
        match NAMES.iter().find(|(known, _)| *known == code) {
            Some((_, name)) => format!("is stored as {name}, which is not read; {others}"),
            None => format!("is stored as ggml type {code}, which is not known; {others}"),
        }
    })
}

/// What ggml calls it.
pub(crate) fn name(kind: GgmlDType) -> &'static str {
    let code = READ.iter().find(|(_, known)| *known == kind).map(|(code, _)| *code);
    NAMES.iter().find(|(known, _)| Some(*known) == code).map_or("?", |(_, name)| *name)
}

/// Whether a few numbers share what each is a multiple of, so that products can be computed as they are.
pub(crate) fn quantised(kind: GgmlDType) -> bool {
    !matches!(kind, GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16)
}
