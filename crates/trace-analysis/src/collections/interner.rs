//! An interner whose members can be forgotten.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;

use crate::collections::hash::Seed;

/// Numbers values in the order of their insertion. A number is never used again, even after its
/// value was forgotten: a stale reference finds nothing, never another value.
#[derive(Clone, Debug)]
pub(crate) struct Interner<T> {
    /// Members by number. They are forgotten by the block, which is empty then.
    blocks: Vec<Vec<T>>,
    /// The numbers of the members, by their hash.
    numbers: HashTable<u32>,
    seed: Seed,
    /// How many were ever inserted.
    inserted: usize,
}

/// Members that are forgotten together. An empty block takes as much memory as a member or two.
const BLOCK: usize = 64;

impl<T> Default for Interner<T> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            numbers: HashTable::new(),
            seed: Seed::default(),
            inserted: 0,
        }
    }
}

impl<T> Interner<T> {
    /// How many were ever inserted: greater than the number of each of them.
    pub(crate) fn inserted(&self) -> usize {
        self.inserted
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The member of this number, unless it was forgotten.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&T> {
        let number = number as usize;
        self.blocks.get(number / BLOCK)?.get(number % BLOCK)
    }
}

impl<T: Eq + Hash> Interner<T> {
    /// The number of an equal member.
    pub(crate) fn find(&self, wanted: &T) -> Option<u32> {
        let hash = self.seed.hash_one(wanted);
        let is_wanted = |&number: &u32| self.get(number) == Some(wanted);
        self.numbers.find(hash, is_wanted).copied()
    }

    /// The number of the member, which is inserted if there is no equal one.
    pub(crate) fn insert(&mut self, member: T) -> u32 {
        if let Some(known) = self.find(&member) {
            return known;
        }
        // More would not fit into memory.
        let number = self.inserted as u32;
        self.inserted += 1;
        let hash = self.seed.hash_one(&member);
        match self.blocks.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(member),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(member);
                self.blocks.push(block);
            }
        }
        self.add_number(hash, number);
        number
    }

    /// Puts a member in the place of the one of this number.
    ///
    /// # Errors
    ///
    /// There is an equal one, of the number returned, and nothing changes.
    pub(crate) fn replace(&mut self, number: u32, member: T) -> Result<(), u32> {
        match self.find(&member) {
            Some(same) if same != number => return Err(same),
            _ => self.remove_number(number),
        }
        let hash = self.seed.hash_one(&member);
        let place = number as usize;
        let block = self.blocks.get_mut(place / BLOCK);
        if let Some(replaced) = block.and_then(|block| block.get_mut(place % BLOCK)) {
            *replaced = member;
            self.add_number(hash, number);
        }
        Ok(())
    }

    /// Forgets members, those inserted first before others, until no more than `max` are kept.
    /// Leaves blocks in which `is_used` is true of a member, and the last one.
    pub(crate) fn forget(&mut self, max: usize, is_used: impl Fn(u32, &T) -> bool) {
        for block in 0..self.blocks.len().saturating_sub(1) {
            if self.len() <= max {
                break;
            }
            let numbers = (block * BLOCK) as u32..;
            let members = self.blocks[block].iter();
            if members
                .zip(numbers.clone())
                .any(|(it, number)| is_used(number, it))
            {
                continue;
            }
            for number in numbers.take(self.blocks[block].len()) {
                self.remove_number(number);
            }
            self.blocks[block] = Vec::new();
        }
        let Self {
            blocks,
            numbers,
            seed,
            ..
        } = self;
        numbers.shrink_to(0, hasher(blocks, seed));
    }

    fn add_number(&mut self, hash: u64, number: u32) {
        let Self {
            blocks,
            numbers,
            seed,
            ..
        } = self;
        numbers.insert_unique(hash, number, hasher(blocks, seed));
    }

    fn remove_number(&mut self, number: u32) {
        let Some(member) = self.get(number) else {
            return;
        };
        let hash = self.seed.hash_one(member);
        if let Ok(found) = self.numbers.find_entry(hash, |&it| it == number) {
            found.remove();
        }
    }
}

/// The hash of the member of a number, which is in its block.
fn hasher<T: Hash>(blocks: &[Vec<T>], seed: &Seed) -> impl Fn(&u32) -> u64 {
    |&number| {
        let number = number as usize;
        seed.hash_one(&blocks[number / BLOCK][number % BLOCK])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_set_with_numbers(
            operations in prop::collection::vec((0..40_u8, 0..400_u32, 0..400_u32), 0..1500),
        ) {
            let mut set = Interner::default();
            let mut model = BTreeMap::<u32, u32>::new();
            let mut inserted = 0;
            for (operation, member, other) in operations {
                let find = |model: &BTreeMap<u32, u32>, member| {
                    model.iter().find(|&(_, &it)| it == member).map(|(&number, _)| number)
                };
                let known = find(&model, member);
                prop_assert_eq!(set.find(&member), known);
                match (operation, known) {
                    (0, _) => {
                        let max = other as usize;
                        let is_used = |number: u32, member: &u32| number % 90 == 7 || *member == 3;
                        set.forget(max, is_used);
                        for block in 0..(inserted as usize).div_ceil(BLOCK).saturating_sub(1) {
                            let numbers = (block * BLOCK) as u32..((block + 1) * BLOCK) as u32;
                            let members: Vec<_> =
                                model.range(numbers).map(|(&number, &it)| (number, it)).collect();
                            if model.len() > max
                                && !members.iter().any(|(number, it)| is_used(*number, it))
                            {
                                model.retain(|&number, _| members.iter().all(|it| it.0 != number));
                            }
                        }
                    }
                    (1, Some(number)) => {
                        let same = find(&model, other).filter(|&same| same != number);
                        let expected = same.map_or(Ok(()), Err);
                        prop_assert_eq!(set.replace(number, other), expected);
                        if same.is_none() {
                            model.insert(number, other);
                        }
                    }
                    (_, known) => {
                        let number = set.insert(member);
                        prop_assert_eq!(number, known.unwrap_or(inserted));
                        inserted = inserted.max(number + 1);
                        model.insert(number, member);
                    }
                }
                prop_assert_eq!(set.len(), model.len());
                prop_assert_eq!(set.inserted(), inserted as usize);
                let kept = |number| set.get(number).copied();
                prop_assert!((0..inserted).all(|number| kept(number) == model.get(&number).copied()));
            }
        }
    }
}
