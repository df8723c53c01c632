//! Lengths of buffers, in bytes.

use trace_format::buffer_file::SLOT_HEADER_LEN;

/// The length that a buffer maps, unless one event alone needs more.
pub(crate) const USUAL_LEN: usize = 24 << 10;
/// The length that a buffer of small capacity maps.
pub(crate) const SMALL_LEN: usize = 8 << 10;
/// The capacity for events of a buffer of the usual length.
pub(crate) const USUAL_CAPACITY: usize = USUAL_LEN - SLOT_HEADER_LEN;
/// The capacity for events of a small buffer.
pub(crate) const SMALL_CAPACITY: usize = SMALL_LEN - SLOT_HEADER_LEN;
