use super::Limit;

/// Rows and columns: large enough for the best rate, small enough for a short sample.
const N: usize = 1536;

/// The best matrix product in f32 at hand: what a kernel made of products can hope for.
pub(crate) struct Sgemm {
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
    threads: usize,
}

impl Sgemm {
    pub(crate) fn new() -> Self {
        let square = |x| vec![x; N * N];
        Self { a: square(0.5), b: square(0.25), c: square(0.0), threads: rayon::current_num_threads() }
    }
}

impl Limit for Sgemm {
    fn work(&self) -> f64 {
        2.0 * (N as f64).powi(3)
    }

    fn once(&mut self) {
        let (column, row) = (N as isize, 1);
        let threads = match self.threads {
            1 => gemm::Parallelism::None,
            threads => gemm::Parallelism::Rayon(threads),
        };
        // SAFETY: each of the three holds N x N numbers, columns N apart and rows 1 apart; only `c` is written, and it
        // is borrowed alone.
        unsafe {
            let (a, b, c) = (self.a.as_ptr(), self.b.as_ptr(), self.c.as_mut_ptr());
            #[rustfmt::skip]
            gemm::gemm(
                N, N, N, c, column, row, false, a, column, row, b, column, row, 0.0, 1.0, false, false, false, threads,
            );
        }
    }
}
