//! One array in numpy's own format, version 1.0: a magic, a header that is a Python literal, the numbers.

use bytemuck::NoUninit;

/// What an array holds.
pub(super) trait Element: NoUninit {
    /// As numpy names it.
    const DESCR: &'static str;
}

impl Element for f32 {
    const DESCR: &'static str = "<f4";
}
impl Element for f64 {
    const DESCR: &'static str = "<f8";
}
impl Element for u8 {
    const DESCR: &'static str = "|u1";
}
impl Element for i64 {
    const DESCR: &'static str = "<i8";
}

/// An array of numbers, the last dimension fastest.
pub(super) fn array<T: Element>(shape: &[usize], data: &[T]) -> Vec<u8> {
    debug_assert_eq!(shape.iter().product::<usize>(), data.len());
    let mut file = header(T::DESCR, shape);
    if cfg!(target_endian = "little") {
        file.extend_from_slice(bytemuck::cast_slice(data));
    } else {
        let bytes: &[u8] = bytemuck::cast_slice(data);
        bytes.chunks(size_of::<T>()).for_each(|number| file.extend(number.iter().rev()));
    }
    file
}

/// A single text: an array without dimensions.
pub(super) fn text(text: &str) -> Vec<u8> {
    let mut file = header(&format!("<U{}", text.chars().count().max(1)), &[]);
    text.chars().for_each(|c| file.extend(u32::from(c).to_le_bytes()));
    if text.is_empty() {
        file.extend([0; 4]);
    }
    file
}

fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: String = shape.iter().map(|size| format!("{size},")).collect();
    let mut dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // Padded so that the numbers start at a multiple of 64 bytes.
    const BEFORE: usize = 10;
    let padding = 63 - (BEFORE + dict.len()) % 64;
    dict.extend(std::iter::repeat_n(' ', padding));
    dict.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((dict.len() as u16).to_le_bytes());
    file.extend(dict.as_bytes());
    file
}

#[cfg(test)]
mod tests {
    use super::{array, text};

    #[test]
    fn an_array_is_as_numpy_writes_it() {
        let file = array(&[1, 2], &[1.0_f32, -2.0]);
        assert_eq!(&file[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert!(file[10..128].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,2,), }  "));
        assert_eq!(file[127], b'\n');
        assert_eq!(file[128..], [0, 0, 128, 63, 0, 0, 0, 192]);
    }

    #[test]
    fn a_text_is_one_array_of_characters() {
        let file = text("é");
        assert!(file[10..].starts_with(b"{'descr': '<U1', 'fortran_order': False, 'shape': (), }"));
        assert_eq!(file[128..], [0xe9, 0, 0, 0]);
    }
}
