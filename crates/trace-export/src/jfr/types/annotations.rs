//! Annotations of types and fields.

use super::description::*;
use super::numbers::*;

pub(super) const TYPES: &[Type] = &[
    Type::annotation(LABEL, "jdk.jfr.Label", &[field("value", STRING, &[])]),
    Type::annotation(
        DESCRIPTION,
        "jdk.jfr.Description",
        &[field("value", STRING, &[])],
    ),
    Type::annotation(CATEGORY, "jdk.jfr.Category", &[array("value", STRING, &[])]),
    Type::annotation(CONTENT_TYPE, "jdk.jfr.ContentType", &[]),
    Type::content_type(
        TIMESTAMP,
        "jdk.jfr.Timestamp",
        &[field("value", STRING, &[])],
    ),
    Type::content_type(TIMESPAN, "jdk.jfr.Timespan", &[field("value", STRING, &[])]),
    Type::content_type(MEMORY_ADDRESS, "jdk.jfr.MemoryAddress", &[]),
    Type::annotation(UNSIGNED, "jdk.jfr.Unsigned", &[]),
    Type::annotation(MONITOR_ADDRESS, "jdk.types.JavaMonitorAddress", &[]),
    Type::content_type(
        DATA_AMOUNT,
        "jdk.jfr.DataAmount",
        &[field("value", STRING, &[])],
    ),
];
