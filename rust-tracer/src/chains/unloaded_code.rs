//! Recognizes frames of code that is gone.

use std::collections::TryReserveError;
use std::iter;

use trace_format::MethodId;

use crate::chains::key::CodeUnit;
use crate::fallible::try_collect;

/// Unloaded units, to look up millions of frames in. Most frames are of living
/// code, which nearly always shows in a few bits.
#[derive(Debug, Default)]
pub(crate) struct UnloadedCode {
    units: Vec<CodeUnit>,
    /// A set of bits; 1 for an unloaded unit. The number of words is a power of two.
    filter: Vec<u64>,
}

impl UnloadedCode {
    /// # Errors
    ///
    /// Memory is short.
    pub(crate) fn new(mut units: Vec<CodeUnit>) -> Result<Self, TryReserveError> {
        /// At most one frame of living code in sixteen passes the filter then.
        const UNITS_PER_WORD: usize = 4;
        units.sort_unstable();
        let words = units.len() / UNITS_PER_WORD;
        let mut filter = try_collect(iter::repeat_n(0, words.next_power_of_two()))?;
        for unit in &units {
            let (word, bit) = Self::place(&filter, unit.number());
            if let Some(word) = filter.get_mut(word) {
                *word |= bit;
            }
        }
        Ok(Self { units, filter })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The code that a frame of a chain's key executes is unloaded.
    pub(crate) fn contains(&self, frame: u64) -> bool {
        let number = CodeUnit::number_of_frame(frame);
        let (word, bit) = Self::place(&self.filter, number);
        self.filter.get(word).is_some_and(|word| word & bit != 0)
            && self
                .units
                .binary_search_by_key(&number, |unit| unit.number())
                .is_ok()
    }

    /// The methods among the unloaded, of those that the interpreter ran.
    pub(crate) fn methods(&self) -> impl Iterator<Item = MethodId> {
        self.units.iter().filter_map(|unit| unit.method())
    }

    /// Where the bit of a unit stands: the word's index, and the bit in it.
    fn place(filter: &[u64], number: u64) -> (usize, u64) {
        // A product's upper bits depend on all bits of its factors.
        let hash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let word = (hash >> 44) as usize & filter.len().wrapping_sub(1);
        (word, 1 << (hash >> 58))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn frames_of_dead_code_are_known() {
        for unloaded in [0, 1, 5, 1000, 70_000] {
            let compiled = (0..unloaded).filter_map(|number| CodeUnit::compiled(number * 3));
            let methods =
                (1..=unloaded).filter_map(|number| CodeUnit::interpreted(MethodId(number * 3)));
            let code = UnloadedCode::new(compiled.chain(methods).collect()).unwrap();
            assert_eq!(code.methods().count(), unloaded as usize);
            for number in 1..=3 * unloaded + 5 {
                let compiled = 1 << 63 | u64::from(number) << 32 | 0xabc;
                let interpreted = u64::from(number) << 16 | 99;
                let expected = [
                    number % 3 == 0 && number / 3 < unloaded,
                    number % 3 == 0 && number / 3 <= unloaded,
                ];
                assert_eq!(
                    [compiled, interpreted].map(|frame| code.contains(frame)),
                    expected
                );
            }
        }
    }

    /// The filter lets few frames of living code pass.
    #[test]
    fn the_filter_is_selective() {
        let code = UnloadedCode::new((0..1000).filter_map(CodeUnit::compiled).collect()).unwrap();
        let passes = |number: &u32| {
            let unit = CodeUnit::compiled(*number).unwrap();
            let (word, bit) = UnloadedCode::place(&code.filter, unit.number());
            code.filter[word] & bit != 0
        };
        let passed = (1000..101_000).filter(passes).count();
        assert!(passed < 10_000, "{passed}");
    }
}
