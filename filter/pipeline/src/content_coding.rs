//! Compressed request bodies: which codings are read, and how far a body is decoded. The request itself goes on as it came unless
//! it is edited. Brotli is not read: its dictionary alone would make the module larger than it may be.

use std::io::Read;

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::FrameDecoder;

use crate::bypass::Bypass;

/// A decoded body may be at most this many times as long as the compressed one. Histories in which an agent repeats itself
/// compress well and must be read. A body that grows even more was made to cost time.
const MOST_FOR_EACH: usize = 200;
/// A decoded body may always be this long, whatever its ratio (bytes).
const ALWAYS: usize = 65_536;
/// The window that a zstd frame may ask for (bytes): RFC 9659 allows no more in HTTP.
const ZSTD_WINDOW: u64 = 8 << 20;

/// How a body is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    Zstd,
}

impl Coding {
    /// What all values of the header `content-encoding` say. `None`: the body is not compressed. An error for a coding that is
    /// not read, and for several.
    pub fn of(values: &[Vec<u8>]) -> Result<Option<Self>, Bypass> {
        let names = values.iter().flat_map(|value| value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
        let mut coding = None;
        for name in names.filter(|name| !name.is_empty()) {
            let named = match name.to_ascii_lowercase().as_slice() {
                // Some clients put a charset in this header, and servers ignore it.
                b"identity" | b"utf-8" | b"utf8" => continue,
                b"gzip" | b"x-gzip" => Self::Gzip,
                b"zstd" => Self::Zstd,
                _ => return Err(Bypass::Encoded),
            };
            if coding.replace(named).is_some() {
                return Err(Bypass::Encoded);
            }
        }
        Ok(coding)
    }

    /// The whole of `body`. An error where it is not in this coding, or becomes longer than `most` or than its ratio allows.
    pub fn decode(self, body: &[u8], most: usize) -> Result<Vec<u8>, Bypass> {
        let by_ratio = body.len().saturating_mul(MOST_FOR_EACH).max(ALWAYS);
        let limit = most.min(by_ratio);
        let decoded = match self {
            Self::Gzip => gzip(body, limit)?,
            Self::Zstd => zstd(body, limit)?,
        };
        match decoded.len() {
            length if length <= limit => Ok(decoded),
            _ if most <= by_ratio => Err(Bypass::TooLarge),
            _ => Err(Bypass::Encoded),
        }
    }
}

/// At most one byte more than `limit`.
fn gzip(body: &[u8], limit: usize) -> Result<Vec<u8>, Bypass> {
    let mut decoded = Vec::new();
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    MultiGzDecoder::new(body).take(most).read_to_end(&mut decoded).map_err(|_| Bypass::Encoded)?;
    Ok(decoded)
}

/// At most one byte more than `limit`.
fn zstd(body: &[u8], limit: usize) -> Result<Vec<u8>, Bypass> {
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_WINDOW);
    let mut decoded = vec![0; limit.saturating_add(1)];
    let length = decoder.decode_all(body, &mut decoded);
    match length {
        Ok(length) => {
            decoded.truncate(length);
            Ok(decoded)
        }
        Err(ruzstd::decoding::errors::FrameDecoderError::TargetTooSmall) => Ok(decoded),
        Err(_) => Err(Bypass::Encoded),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    const MOST: usize = 1 << 20;

    fn gzipped(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn both(text: &[u8]) -> [(Coding, Vec<u8>); 2] {
        [(Coding::Gzip, gzipped(text)), (Coding::Zstd, compress_to_vec(text, CompressionLevel::Fastest))]
    }

    /// A text that compresses about four times.
    fn plain(length: usize) -> Vec<u8> {
        let words =
            (0_usize..).flat_map(|n| format!("word {} of {n}; ", n.wrapping_mul(2_654_435_761)).into_bytes());
        words.take(length).collect()
    }

    #[test]
    fn one_known_coding_is_read_and_no_other() {
        let of = |values: &[&str]| {
            Coding::of(&values.iter().map(|value| value.as_bytes().to_vec()).collect::<Vec<_>>())
        };
        for (values, coding) in [
            (&[][..], None),
            (&["identity"], None),
            (&[""], None),
            (&["gzip"], Some(Coding::Gzip)),
            (&["X-GZIP "], Some(Coding::Gzip)),
            (&["identity, zstd"], Some(Coding::Zstd)),
            (&["identity", "zstd"], Some(Coding::Zstd)),
        ] {
            assert_eq!(of(values), Ok(coding), "{values:?}");
        }
        for values in [
            &["br"][..],
            &["deflate"],
            &["gzip, gzip"],
            &["gzip", "zstd"],
            &["identity", "br"],
            &["gzip;q=1"],
        ] {
            assert_eq!(of(values), Err(Bypass::Encoded), "{values:?}");
        }
    }

    #[test]
    fn what_was_compressed_comes_back_whole_or_not_at_all() {
        for length in [0, 1, 1_000, 200_000, MOST] {
            let text = plain(length);
            for (coding, body) in both(&text) {
                assert_eq!(coding.decode(&body, MOST).as_ref(), Ok(&text), "{coding:?} {length}");
                let twice = coding.decode(&[body.as_slice(), &body].concat(), 2 * MOST);
                assert_eq!(
                    twice,
                    Ok([text.as_slice(), &text].concat()),
                    "{coding:?}: a second member belongs to it"
                );
                for broken in [&body[..body.len() - 1], &body[1..], &[body.as_slice(), b"{}"].concat()] {
                    assert_eq!(coding.decode(broken, MOST), Err(Bypass::Encoded), "{coding:?} {length}");
                }
                if length > ALWAYS {
                    assert_eq!(
                        coding.decode(&body, length - 1),
                        Err(Bypass::TooLarge),
                        "{coding:?} {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_was_made_to_grow_is_not_read() {
        for (coding, body) in both(&vec![b'x'; MOST]) {
            assert!(body.len().saturating_mul(MOST_FOR_EACH) < MOST, "{coding:?}: {}", body.len());
            assert_eq!(coding.decode(&body, MOST), Err(Bypass::Encoded), "{coding:?}");
            assert!(
                coding
                    .decode(&both(&vec![b'x'; ALWAYS])[usize::from(coding == Coding::Zstd)].1, MOST)
                    .is_ok()
            );
        }
        // A frame that asks for a window of 64 MB.
        let window = [0x28, 0xB5, 0x2F, 0xFD, 0x00, 0x80, 0x01, 0x00, 0x00];
        assert_eq!(Coding::Zstd.decode(&window, MOST), Err(Bypass::Encoded));
    }

    #[test]
    fn changed_bytes_are_an_error_or_a_text_and_never_a_panic() {
        let mut seed = 7_u64;
        let mut next = |most: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % most
        };
        for (coding, body) in both(&plain(20_000)) {
            for _ in 0..3_000 {
                let mut changed = body.clone();
                for _ in 0..=next(4) {
                    let at = if next(2) == 0 { next(64) } else { next(changed.len()) };
                    changed[at] = u8::try_from(next(256)).unwrap();
                }
                changed.truncate(changed.len() - next(3));
                let _ = coding.decode(&changed, MOST);
            }
        }
    }
}
