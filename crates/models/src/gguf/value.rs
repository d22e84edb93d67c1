//! What the entries of a header hold. Texts and lists stay where they are in the file.

use std::borrow::Cow;

use super::bytes::Bytes;

/// No list holds lists deeper than this.
const DEEPEST: usize = 16;

/// One value.
#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Unsigned(u64),
    Signed(i64),
    Number(f64),
    Flag(bool),
    Text(&'a [u8]),
    List(List<'a>),
}

/// Values of one kind, one after another.
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    kind: u32,
    len: usize,
    bytes: Bytes<'a>,
}

const FLAG: u32 = 7;
const TEXT: u32 = 8;
const LIST: u32 = 9;

impl<'a> Value<'a> {
    /// A kind, and a value of it.
    pub(super) fn read(bytes: &mut Bytes<'a>) -> Result<Self, String> {
        let kind = bytes.u32()?;
        Self::of(kind, bytes, 0)
    }

    fn of(kind: u32, bytes: &mut Bytes<'a>, depth: usize) -> Result<Self, String> {
        Ok(match kind {
            0 => Self::Unsigned(u8::from_le_bytes(bytes.some()?).into()),
            1 => Self::Signed(i8::from_le_bytes(bytes.some()?).into()),
            2 => Self::Unsigned(u16::from_le_bytes(bytes.some()?).into()),
            3 => Self::Signed(i16::from_le_bytes(bytes.some()?).into()),
            4 => Self::Unsigned(bytes.u32()?.into()),
            5 => Self::Signed(i32::from_le_bytes(bytes.some()?).into()),
            6 => Self::Number(f32::from_le_bytes(bytes.some()?).into()),
            FLAG => match bytes.some()? {
                [flag @ 0..=1] => Self::Flag(flag == 1),
                [other] => return Err(format!("a flag is {other}, which is neither 0 nor 1")),
            },
            TEXT => Self::Text(bytes.text()?),
            LIST if depth == DEEPEST => return Err(format!("an array with a nesting of more than {DEEPEST}")),
            LIST => Self::List(List::read(bytes, depth)?),
            10 => Self::Unsigned(bytes.u64()?),
            11 => Self::Signed(i64::from_le_bytes(bytes.some()?)),
            12 => Self::Number(f64::from_le_bytes(bytes.some()?)),
            other => return Err(format!("a value of type {other}, which there is not")),
        })
    }

    /// What kind of value it is, for a message.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Unsigned(_) | Self::Signed(_) => "a whole number",
            Self::Number(_) => "a number",
            Self::Flag(_) => "true or false",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
        }
    }

    pub(super) fn whole(self) -> Option<u64> {
        match self {
            Self::Unsigned(n) => Some(n),
            Self::Signed(n) => u64::try_from(n).ok(),
            _ => None,
        }
    }

    pub(super) fn text(self) -> Option<Cow<'a, str>> {
        match self {
            Self::Text(bytes) => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        }
    }
}

impl<'a> List<'a> {
    fn read(bytes: &mut Bytes<'a>, depth: usize) -> Result<Self, String> {
        let kind = bytes.u32()?;
        let least = match kind {
            0 | 1 | FLAG => 1,
            2 | 3 => 2,
            4..=6 => 4,
            LIST => 12,
            _ => 8,
        };
        let len = bytes.count("an array", least)?;
        let list = Self { kind, len, bytes: *bytes };
        if matches!(kind, TEXT | LIST | FLAG) || kind > 12 {
            for _ in 0..len {
                Value::of(kind, bytes, depth + 1)?;
            }
        } else {
            bytes.take(len * least)?;
        }
        Ok(list)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn values(self) -> impl Iterator<Item = Value<'a>> {
        let mut bytes = self.bytes;
        // It was read to its end before.
        (0..self.len).map_while(move |_| Value::of(self.kind, &mut bytes, 0).ok())
    }
}
