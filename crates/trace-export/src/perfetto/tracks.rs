//! The tracks of a run, and which of them are free when.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// Tracks of threads or of locks. Most have one. What comes later than what it was followed by is
/// on another one of the same name: readers put the ends and begins of one track in order by
/// their times, and where those are equal by their order in the file.
#[derive(Debug)]
pub(super) struct Tracks<T>(HashMap<T, Vec<Track>, RandomState>);

#[derive(Debug)]
struct Track {
    uuid: u64,
    free_from: u64,
}

impl<T> Default for Tracks<T> {
    fn default() -> Self {
        Self(HashMap::default())
    }
}

impl<T: Hash + Eq> Tracks<T> {
    /// Finds a track of `owner` for what lasts from `start` to `end`, or makes one of the number
    /// that `new` returns.
    pub(super) fn reserve(
        &mut self,
        owner: T,
        start: u64,
        end: u64,
        new: impl FnOnce() -> u64,
    ) -> u64 {
        let tracks = self.0.entry(owner).or_default();
        let mut free = tracks.iter_mut().filter(|track| track.free_from <= start);
        if let Some(track) = free.next() {
            track.free_from = end;
            return track.uuid;
        }
        let uuid = new();
        tracks.push(Track {
            uuid,
            free_from: end,
        });
        uuid
    }

    /// The first track of `owner`, for what does not last.
    pub(super) fn first(&mut self, owner: T, new: impl FnOnce() -> u64) -> u64 {
        let tracks = self.0.entry(owner).or_default();
        if let Some(track) = tracks.first() {
            return track.uuid;
        }
        let uuid = new();
        tracks.push(Track { uuid, free_from: 0 });
        uuid
    }
}
