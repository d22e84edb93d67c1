/// Bytes of a file, read from the front. Nothing is believed that does not fit into what is left of them.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    all: &'a [u8],
    at: usize,
}

impl<'a> Bytes<'a> {
    pub(super) fn new(all: &'a [u8]) -> Self {
        Self { all, at: 0 }
    }

    /// How many have been read.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// How many are left.
    pub(super) fn left(&self) -> usize {
        self.all.len() - self.at
    }

    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8], String> {
        if len > self.left() {
            return Err(format!("it ends {} bytes before it should", len - self.left()));
        }
        let taken = &self.all[self.at..self.at + len];
        self.at += len;
        Ok(taken)
    }

    /// So many bytes as an array.
    pub(super) fn some<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut some = [0; N];
        some.copy_from_slice(self.take(N)?);
        Ok(some)
    }

    pub(super) fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.some()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.some()?))
    }

    /// A count of things that take at least `least` bytes each.
    pub(super) fn count(&mut self, what: &str, least: usize) -> Result<usize, String> {
        let count = self.u64()?;
        let fits = usize::try_from(count).ok().filter(|count| *count <= self.left() / least);
        fits.ok_or_else(|| format!("{what} of {count}, but only {} bytes follow", self.left()))
    }

    /// A length and as many bytes; some writers end them with zeros, which are not part of the text.
    pub(super) fn text(&mut self) -> Result<&'a [u8], String> {
        let len = self.count("a string length", 1)?;
        let text = self.take(len)?;
        let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        Ok(&text[..end])
    }
}
