//! Declaration of the payloads of events.

/// Declares the payload of an event. The names of its fields are those in the code.
macro_rules! payload {
    (
        $(#[$meta:meta])*
        pub struct $name:ident $(<$life:lifetime>)? {
            $($(#[$field_meta:meta])* pub $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$meta])*
        pub struct $name $(<$life>)? {
            $($(#[$field_meta])* pub $field: $type,)+
        }

        impl $(<$life>)? $name $(<$life>)? {
            /// Returns the names and values of the fields.
            pub fn fields(&self) -> Vec<(&'static str, $crate::event::field::FieldValue<'_>)> {
                vec![$((stringify!($field), (&self.$field).into())),+]
            }
        }
    };
}

pub(super) use payload;
