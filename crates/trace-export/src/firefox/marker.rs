//! A wait as a marker.

use fxprof_processed_profile::{
    CategoryHandle, MarkerFieldFlags, MarkerFieldFormat, MarkerLocations, Profile,
    StaticSchemaMarker, StaticSchemaMarkerField, StringHandle,
};

/// The fields of a marker, in addition to its time.
#[derive(Clone, Debug)]
pub(super) struct WaitMarker {
    pub(super) lock_class: StringHandle,
    pub(super) lock: StringHandle,
    pub(super) kind: StringHandle,
    pub(super) method: StringHandle,
    /// The owner for most of the wait, or the reason why it is unknown.
    pub(super) owner_thread: StringHandle,
    pub(super) owner_method: StringHandle,
}

const fn field(key: &'static str, label: &'static str) -> StaticSchemaMarkerField {
    StaticSchemaMarkerField {
        key,
        label,
        format: MarkerFieldFormat::String,
        flags: MarkerFieldFlags::SEARCHABLE,
    }
}

impl StaticSchemaMarker for WaitMarker {
    const UNIQUE_MARKER_TYPE_NAME: &'static str = "LockWait";
    const DESCRIPTION: Option<&'static str> =
        Some("A thread waited; the owner is the one that had most of the wait.");
    const LOCATIONS: MarkerLocations = MarkerLocations::MARKER_CHART
        .union(MarkerLocations::MARKER_TABLE)
        .union(MarkerLocations::TIMELINE_OVERVIEW);
    const CHART_LABEL: Option<&'static str> = Some("{marker.data.owner_method}");
    const TABLE_LABEL: Option<&'static str> =
        Some("{marker.data.method}, because of {marker.data.owner_method}");

    const FIELDS: &'static [StaticSchemaMarkerField] = &[
        field("lock", "Lock"),
        field("kind", "Kind"),
        field("method", "Method"),
        field("owner_thread", "Owner"),
        field("owner_method", "Owner's method"),
    ];

    fn name(&self, _profile: &mut Profile) -> StringHandle {
        self.lock_class
    }

    fn category(&self, _profile: &mut Profile) -> CategoryHandle {
        CategoryHandle::OTHER
    }

    fn string_field_value(&self, field_index: u32) -> StringHandle {
        match field_index {
            0 => self.lock,
            1 => self.kind,
            2 => self.method,
            3 => self.owner_thread,
            _ => self.owner_method,
        }
    }

    /// There is no such field.
    fn number_field_value(&self, _field_index: u32) -> f64 {
        0.0
    }
}
