use fearless_simd::Level;

/// The instruction set that a computation runs on, found at run time.
///
/// One generic body serves them all. Scores agree to the last bit between computations on the same set.
#[derive(Clone, Copy, Debug)]
pub struct Isa(pub(crate) Level);

impl Isa {
    /// The best instruction set of this machine.
    pub fn detect() -> Self {
        Self(Level::new())
    }

    /// The one that every machine of this architecture has.
    pub fn portable() -> Self {
        Self(Level::baseline())
    }

    /// Every instruction set that this machine has, the portable one first.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::portable()];
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        {
            let best = Level::new();
            all.extend(best.as_sse4_2().map(Level::Sse4_2).map(Self));
            all.extend(best.as_avx2().map(Level::Avx2).map(Self));
            all.extend(best.as_avx512().map(Level::Avx512).map(Self));
        }
        all
    }

    /// What vectors are made for, for whoever computes beside the kernel.
    pub fn level(self) -> Level {
        self.0
    }

    /// Its name: `avx512`, `avx2`, `sse4.2`, `sse2`, `neon` or `portable`.
    pub fn name(self) -> &'static str {
        match self.0 {
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Avx512(_) => "avx512",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Avx2(_) => "avx2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Sse4_2(_) => "sse4.2",
            #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
            Level::Sse2(_) => "sse2",
            #[cfg(target_arch = "aarch64")]
            Level::Neon(_) => "neon",
            #[allow(unreachable_patterns)]
            _ => "portable",
        }
    }
}

impl Default for Isa {
    fn default() -> Self {
        Self::detect()
    }
}
