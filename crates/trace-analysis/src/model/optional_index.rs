//! Optional numbers of entities in no more memory than the numbers take: many events wait for a
//! description.

use std::marker::PhantomData;

use crate::model::entity::{LockIndex, ThreadIndex};

/// A number of an entity.
pub(crate) trait Index: Copy {
    fn number(self) -> u32;
    fn from_number(number: u32) -> Self;
}

impl Index for ThreadIndex {
    #[inline]
    fn number(self) -> u32 {
        self.0
    }

    #[inline]
    fn from_number(number: u32) -> Self {
        Self(number)
    }
}

impl Index for LockIndex {
    #[inline]
    fn number(self) -> u32 {
        self.0
    }

    #[inline]
    fn from_number(number: u32) -> Self {
        Self(number)
    }
}

/// An entity or none, in four bytes. The greatest number stands for none: memory cannot hold as many
/// entities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionalIndex<I> {
    number: u32,
    of: PhantomData<I>,
}

impl<I: Index> OptionalIndex<I> {
    const NONE: u32 = u32::MAX;

    #[inline]
    pub(crate) fn get(self) -> Option<I> {
        (self.number != Self::NONE).then(|| I::from_number(self.number))
    }
}

impl<I: Index> From<Option<I>> for OptionalIndex<I> {
    #[inline]
    fn from(index: Option<I>) -> Self {
        Self {
            number: index.map_or(Self::NONE, I::number),
            of: PhantomData,
        }
    }
}
