//! Numbers that look random and are the same in every run. (SplitMix64, Steele et al. 2014)

/// A stream of numbers.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The stream of some numbers; different ones give different streams.
    pub(crate) fn of(parts: &[u64]) -> Self {
        let mut all = Self(0);
        for part in parts {
            all.0 ^= part;
            all.0 = all.next();
        }
        all
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number below `n`, which is not 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// True once in `n` times.
    pub(crate) fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of a list that is not empty.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// A number at which readers stumble: a bound of a type, one beside it, or a small one.
    pub(crate) fn edge(&mut self) -> u64 {
        const EDGES: [u64; 15] =
            [0, 1, 2, 3, 7, 1 << 7, 1 << 15, 1 << 16, 1 << 24, 1 << 31, 1 << 32, 1 << 40, 1 << 53, 1 << 62, 1 << 63];
        let edge = *self.pick(&EDGES);
        match self.below(4) {
            0 => edge.wrapping_sub(1),
            1 => edge.wrapping_neg(),
            _ => edge,
        }
    }
}
