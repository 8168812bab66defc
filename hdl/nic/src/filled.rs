//! `filled!`: builds a block from the fields that need a value and the names of those that start at their default.
//! In: `Self { memory: Ram::new(8); clock, reset }`. Out: the struct. Guarantees nothing beyond what the compiler checks.

/// See the module documentation.
macro_rules! filled {
    ($name:ident { $($set:ident : $value:expr),* $(,)? ; $($field:ident),* $(,)? }) => {
        $name { $($set: $value,)* $($field: Default::default(),)* }
    };
}
pub(crate) use filled;
