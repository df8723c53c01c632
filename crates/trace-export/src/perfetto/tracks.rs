//! The tracks of a run, and when they are free.

use std::collections::HashMap;
use std::hash::Hash;

use foldhash::fast::RandomState;

/// Tracks of threads or of locks. Most have one. A slice that begins before the end of an earlier
/// one goes to another track of the same name: readers order the ends and begins of a track by
/// time, and by their order in the file where times are equal.
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
    /// Finds a track of `owner` that is free from `start` to `end`, or creates one with the number
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

    /// Returns the first track of `owner`, for marks.
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
