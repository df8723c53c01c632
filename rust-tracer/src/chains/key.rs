//! The key of a call chain.
//!
//! A physical frame is packed into 64 bits that never stand for another frame:
//!
//! | frame | bit 63 | then |
//! |---|---|---|
//! | compiled | 1 | bits 32 to 62: compile id; bits 0 to 31: offset of the pc |
//! | interpreted | 0 | bits 16 to 47: method id; bits 0 to 15: byte code index |
//!
//! The innermost frame of a thread that was stopped at a safepoint has bit 31, or bit 62 if it is
//! interpreted, besides. Outside of the frames of a chain that allocated an object stands
//! [`SITE`].

use std::num::NonZeroU64;

use trace_format::MethodId;

/// The physical frames of a call chain, outermost first, and their hash.
#[derive(Clone, Copy, Debug)]
pub struct ChainKey<'a> {
    pub(crate) frames: &'a [u64],
    /// [`hash`] of all frames.
    pub(crate) hash: u64,
}

impl<'a> ChainKey<'a> {
    /// The key of these frames, outermost first.
    pub fn new(frames: &'a [u64]) -> Self {
        let hash = hash(0, frames);
        Self { frames, hash }
    }
}

/// No frame: in the place of the outermost one it makes the chain one that allocated an object.
/// That may be named when the code of its frames is long gone, so the chain stays.
pub(crate) const SITE: u64 = 0x2000_0000_0000_0000;

/// The frame of a key for a method at a byte code index, as if the interpreter ran it.
pub fn interpreted_frame(method: MethodId, bci: u16) -> u64 {
    u64::from(method) << 16 | u64::from(bci)
}

/// Code that dies as a whole, with all chains that have a frame of it: a compiled
/// method (an `nmethod` of HotSpot), or a method that the interpreter runs.
///
/// Its number is a frame's without the position in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CodeUnit(NonZeroU64);

impl CodeUnit {
    const COMPILED: u64 = 1 << 63;

    /// `None` if no frame of a key can be of it.
    pub(crate) fn compiled(compile_id: u32) -> Option<Self> {
        let number = Self::COMPILED | u64::from(compile_id) << 32;
        Self::from_number(number).filter(|_| compile_id >> 31 == 0)
    }

    /// `None` if there is no method.
    pub(crate) fn interpreted(method: MethodId) -> Option<Self> {
        Self::from_number(u64::from(method) << 16)
    }

    /// The number of the unit that a frame executes.
    pub(crate) fn number_of_frame(frame: u64) -> u64 {
        if frame & Self::COMPILED == 0 {
            frame & 0xffff_ffff_0000
        } else {
            frame & !0xffff_ffff
        }
    }

    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    pub(crate) fn number(self) -> u64 {
        self.0.get()
    }

    /// The method, if the interpreter runs it.
    pub(crate) fn method(self) -> Option<MethodId> {
        let is_interpreted = self.number() & Self::COMPILED == 0;
        is_interpreted.then(|| MethodId::try_from(self.number() >> 16).unwrap_or_default())
    }
}

/// The hash of a part of a chain: of `frames`, outermost first, inside of
/// `outer_len` others. The hash of the chain is the sum of the hashes of its parts.
///
/// It is itself a sum with one term for each frame and place, so that the
/// processor works on several frames at once, and the hash of the frames that
/// stay is not computed again.
pub(crate) fn hash(outer_len: usize, frames: &[u64]) -> u64 {
    let places = (outer_len as u64)..;
    let terms = frames.iter().zip(places).map(|(&frame, place)| {
        let place = place.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        folded_multiply(frame.wrapping_add(place))
    });
    terms.fold(0, u64::wrapping_add)
}

/// Both halves of a product with a constant, which mixes all bits.
fn folded_multiply(value: u64) -> u64 {
    const SEED: u64 = 0xa076_1d64_78bd_642f;
    const FACTOR: u64 = 0xd6e8_feb8_6659_fd93;
    let product = u128::from(value ^ SEED).wrapping_mul(FACTOR.into());
    (product as u64) ^ (product >> 64) as u64
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn frames_belong_to_units() {
        let last_compiled = CodeUnit::compiled(0x7fff_ffff).unwrap();
        let last_method = CodeUnit::interpreted(MethodId(u32::MAX)).unwrap();
        for (unit, frame) in [
            (CodeUnit::compiled(0).unwrap(), 1 << 63 | 0xffff_ffff),
            (CodeUnit::compiled(7).unwrap(), 1 << 63 | 7 << 32),
            (last_compiled, u64::MAX),
            (
                CodeUnit::interpreted(MethodId(7)).unwrap(),
                7 << 16 | 0xffff,
            ),
            (last_method, 0xffff_ffff << 16),
        ] {
            assert_eq!(CodeUnit::number_of_frame(frame), unit.number());
        }
        assert_eq!(last_compiled.method(), None);
        assert_eq!(last_method.method(), Some(MethodId(u32::MAX)));
        assert_eq!(CodeUnit::compiled(1 << 31), None);
        assert_eq!(CodeUnit::interpreted(MethodId::NONE), None);
    }

    #[test]
    fn the_hash_is_the_sum_of_those_of_the_parts() {
        let frames: Vec<u64> = (0..50).map(|frame| frame << 32 | 7).collect();
        for outer_len in 0..=frames.len() {
            let (outer, inner) = frames.split_at(outer_len);
            let outer_hash = hash(0, outer);
            let inner_hash = hash(outer_len, inner);
            assert_eq!(outer_hash.wrapping_add(inner_hash), hash(0, &frames));
        }
    }

    /// Chains that differ in one position of the code or in the order of frames
    /// rarely share a bucket of 64 Ki.
    #[test]
    fn similar_chains_spread() {
        let chains = (0..20_000_u64).map(|number| {
            let mut frames: Vec<u64> = (0..12).map(|frame| (frame + 1) << 32 | 40).collect();
            frames[(number % 11) as usize] ^= number / 11;
            frames
        });
        let buckets: HashSet<u64> = chains.map(|frames| hash(0, &frames) & 0xffff).collect();
        // Of 20,000 balls in 65,536 bins, 17,200 are alone or first.
        assert!(buckets.len() > 16_500, "{}", buckets.len());
        assert_ne!(hash(0, &[1 << 32, 2 << 32]), hash(0, &[2 << 32, 1 << 32]));
    }
}
