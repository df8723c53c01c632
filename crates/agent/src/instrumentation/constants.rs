//! Finds classes whose constants forbid redefinition.
//!
//! At a redefinition HotSpot merges the constants of the old and the new class, and keeps equal ones
//! once. NaN equals nothing, not even itself, so its constants double with each redefinition
//! (`ConstantPool::compare_entry_to`). After sixteen redefinitions `java.lang.Math` has more than the
//! 65,535 constants that a class file can have, and JDK 21 searches them forever.

/// A class with more constants that are NaN was redefined often enough.
const MAX_NANS: usize = 64;

/// Returns whether a class with these constants, as in a class file, can be redefined safely.
pub(crate) fn may_be_merged(constants: &[u8]) -> bool {
    nans(constants) <= MAX_NANS
}

/// Counts the constants that are NaN (JVMS 4.4).
fn nans(mut constants: &[u8]) -> usize {
    let mut nans = 0;
    while let Some((&tag, rest)) = constants.split_first() {
        let len = match tag {
            // Text, with its length.
            1 => match *rest {
                [high, low, ..] => 2 + usize::from(u16::from_be_bytes([high, low])),
                _ => break,
            },
            7 | 8 | 16 | 19 | 20 => 2,
            15 => 3,
            3 | 4 | 9..=12 | 17 | 18 => 4,
            5 | 6 => 8,
            _ => break,
        };
        let Some((value, next)) = rest.split_at_checked(len) else {
            break;
        };
        nans += usize::from(match (tag, value) {
            (4, &[a, b, c, d]) => f32::from_be_bytes([a, b, c, d]).is_nan(),
            (6, &[a, b, c, d, e, f, g, h]) => f64::from_be_bytes([a, b, c, d, e, f, g, h]).is_nan(),
            _ => false,
        });
        constants = next;
    }
    nans
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(value: f64) -> Vec<u8> {
        let mut constant = vec![6];
        constant.extend(value.to_be_bytes());
        constant
    }

    #[test]
    fn only_what_is_no_number_counts() {
        let mut constants = vec![1, 0, 3, 6, 6, 6];
        constants.extend([7, 0, 1, 12, 0, 1, 0, 1, 15, 6, 0, 2]);
        constants.extend([5, 0, 0, 0, 0, 0, 0, 0, 6]);
        constants.extend(double(1.0));
        constants.extend(double(f64::NAN));
        constants.push(4);
        constants.extend(f32::NAN.to_be_bytes());
        constants.push(4);
        constants.extend(f32::INFINITY.to_be_bytes());
        assert_eq!(nans(&constants), 2);
    }

    #[test]
    fn a_class_that_was_changed_often_stays() {
        let nans = |count| double(f64::NAN).repeat(count);
        assert!(may_be_merged(&nans(MAX_NANS)));
        assert!(!may_be_merged(&nans(MAX_NANS + 1)));
    }

    #[test]
    fn damage_ends_the_search() {
        let whole = double(f64::NAN);
        for len in 0..whole.len() {
            assert_eq!(nans(&whole[..len]), 0);
        }
        assert_eq!(nans(&[[2, 0].as_slice(), &whole].concat()), 0);
    }
}
