//! The ways in which ggml stores numbers.

use candle_core::quantized::GgmlDType;

/// All there are or were, by their numbers, and what those that are read are in memory. (ggml.h, `enum ggml_type`)
const KINDS: [(&str, Option<GgmlDType>); 41] = [
    ("F32", Some(GgmlDType::F32)),
    ("F16", Some(GgmlDType::F16)),
    ("Q4_0", Some(GgmlDType::Q4_0)),
    ("Q4_1", Some(GgmlDType::Q4_1)),
    ("Q4_2", None),
    ("Q4_3", None),
    ("Q5_0", Some(GgmlDType::Q5_0)),
    ("Q5_1", Some(GgmlDType::Q5_1)),
    ("Q8_0", Some(GgmlDType::Q8_0)),
    ("Q8_1", None),
    ("Q2_K", Some(GgmlDType::Q2K)),
    ("Q3_K", Some(GgmlDType::Q3K)),
    ("Q4_K", Some(GgmlDType::Q4K)),
    ("Q5_K", Some(GgmlDType::Q5K)),
    ("Q6_K", Some(GgmlDType::Q6K)),
    ("Q8_K", None),
    ("IQ2_XXS", None),
    ("IQ2_XS", None),
    ("IQ3_XXS", None),
    ("IQ1_S", None),
    ("IQ4_NL", None),
    ("IQ3_S", None),
    ("IQ2_S", None),
    ("IQ4_XS", None),
    ("I8", None),
    ("I16", None),
    ("I32", None),
    ("I64", None),
    ("F64", None),
    ("IQ1_M", None),
    ("BF16", Some(GgmlDType::BF16)),
    ("Q4_0_4_4", None),
    ("Q4_0_4_8", None),
    ("Q4_0_8_8", None),
    ("TQ1_0", None),
    ("TQ2_0", None),
    ("IQ4_NL_4_4", None),
    ("IQ4_NL_4_8", None),
    ("IQ4_NL_8_8", None),
    ("MXFP4", None),
    ("NVFP4", None),
];

/// How a tensor of this type is read.
///
/// # Errors
/// What type it is, and what to take instead.
pub(super) fn read(code: u32) -> Result<GgmlDType, String> {
    let others = "take another quantisation of this model: F16, Q8_0, Q6_K, Q5_K, Q4_K and older ones are read";
    match KINDS.get(code as usize) {
        Some((_, Some(kind))) => Ok(*kind),
        Some((name, None)) => Err(format!("is stored as {name}, which is not read; {others}")),
        None => Err(format!("is stored as ggml type {code}, which is not known; {others}")),
    }
}

/// What ggml calls it.
pub(crate) fn name(kind: GgmlDType) -> &'static str {
    KINDS.iter().find(|(_, known)| *known == Some(kind)).map_or("?", |(name, _)| name)
}

/// Whether a few numbers share what each is a multiple of, so that products can be computed as they are.
pub(crate) fn quantised(kind: GgmlDType) -> bool {
    !matches!(kind, GgmlDType::F32 | GgmlDType::F16 | GgmlDType::BF16)
}
