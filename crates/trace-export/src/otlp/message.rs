//! The messages of profiles, with the fields used here: OpenTelemetry's
//! `opentelemetry/proto/profiles/v1development/profiles.proto`, and the parts of `common` and
//! `resource` that it refers to. A field whose name ends in `strindex` is a text of the dictionary.

/// Profiles of several resources. A request of a collector has the same fields.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ProfilesData {
    #[prost(message, repeated, tag = "1")]
    pub(super) resource_profiles: Vec<ResourceProfiles>,
    #[prost(message, optional, tag = "2")]
    pub(super) dictionary: Option<ProfilesDictionary>,
}

/// The tables that samples refer to by position. The first entry of each is the default, and stands
/// for nothing.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ProfilesDictionary {
    #[prost(message, repeated, tag = "1")]
    pub(super) mapping_table: Vec<Mapping>,
    #[prost(message, repeated, tag = "2")]
    pub(super) location_table: Vec<Location>,
    #[prost(message, repeated, tag = "3")]
    pub(super) function_table: Vec<Function>,
    #[prost(message, repeated, tag = "4")]
    pub(super) link_table: Vec<Link>,
    #[prost(string, repeated, tag = "5")]
    pub(super) string_table: Vec<String>,
    #[prost(message, repeated, tag = "6")]
    pub(super) attribute_table: Vec<KeyValueAndUnit>,
    #[prost(message, repeated, tag = "7")]
    pub(super) stack_table: Vec<Stack>,
}

/// Profiles of one process.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ResourceProfiles {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(super) scope_profiles: Vec<ScopeProfiles>,
}

/// A process.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(super) attributes: Vec<KeyValue>,
}

/// Profiles of one producer.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ScopeProfiles {
    #[prost(message, optional, tag = "1")]
    pub(super) scope: Option<InstrumentationScope>,
    #[prost(message, repeated, tag = "2")]
    pub(super) profiles: Vec<Profile>,
}

/// A producer.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct InstrumentationScope {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) version: String,
}

/// A profile of values of one type.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Profile {
    #[prost(message, optional, tag = "1")]
    pub(super) sample_type: Option<ValueType>,
    #[prost(message, repeated, tag = "2")]
    pub(super) samples: Vec<Sample>,
    /// Nanoseconds since 1970.
    #[prost(fixed64, tag = "3")]
    pub(super) time_unix_nano: u64,
    #[prost(uint64, tag = "4")]
    pub(super) duration_nano: u64,
    #[prost(message, optional, tag = "5")]
    pub(super) period_type: Option<ValueType>,
    #[prost(int64, tag = "6")]
    pub(super) period: i64,
}

/// The meaning of a value.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct ValueType {
    #[prost(int32, tag = "1")]
    pub(super) type_strindex: i32,
    #[prost(int32, tag = "2")]
    pub(super) unit_strindex: i32,
}

/// A call chain with its values.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Sample {
    #[prost(int32, tag = "1")]
    pub(super) stack_index: i32,
    #[prost(int32, repeated, tag = "2")]
    pub(super) attribute_indices: Vec<i32>,
    #[prost(int64, repeated, tag = "4")]
    pub(super) values: Vec<i64>,
}

/// A call chain.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Stack {
    /// Innermost first.
    #[prost(int32, repeated, tag = "1")]
    pub(super) location_indices: Vec<i32>,
}

/// A place in the program.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Location {
    #[prost(message, repeated, tag = "3")]
    pub(super) lines: Vec<Line>,
    #[prost(int32, repeated, tag = "4")]
    pub(super) attribute_indices: Vec<i32>,
}

/// A line of a function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Line {
    #[prost(int32, tag = "1")]
    pub(super) function_index: i32,
    /// 0 where unknown.
    #[prost(int64, tag = "2")]
    pub(super) line: i64,
}

/// A function.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Function {
    #[prost(int32, tag = "1")]
    pub(super) name_strindex: i32,
    #[prost(int32, tag = "3")]
    pub(super) filename_strindex: i32,
}

/// A property of a sample or a location.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct KeyValueAndUnit {
    #[prost(int32, tag = "1")]
    pub(super) key_strindex: i32,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
}

/// A property of a resource.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct KeyValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(message, optional, tag = "2")]
    pub(super) value: Option<AnyValue>,
}

/// The value of a property.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AnyValue {
    #[prost(oneof = "OneValue", tags = "1, 3")]
    pub(super) value: Option<OneValue>,
}

/// The kinds of a property's value.
#[derive(Clone, PartialEq, Eq, Hash, prost::Oneof)]
pub(super) enum OneValue {
    #[prost(string, tag = "1")]
    StringValue(String),
    #[prost(int64, tag = "3")]
    IntValue(i64),
}

/// A binary, which Java does not have.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Mapping {}

/// A span, which a sum does not have.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Link {}
