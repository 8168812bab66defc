//! The experiments that come with the program.
//!
//! Out: names and TOML texts, in the order in which `mrnic cluster all` runs them.

/// Names and texts of those that take long: by their names, or with `mrnic cluster all --long`.
pub const LONG: &[(&str, &str)] = &[("large", include_str!("../../experiments/large.toml"))];

/// Every one of them.
pub fn all() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    SHIPPED.iter().chain(LONG)
}

/// Name and text of each.
pub const SHIPPED: &[(&str, &str)] = &[
    ("loss-pair", include_str!("../../experiments/loss-pair.toml")),
    ("loss-all-reduce", include_str!("../../experiments/loss-all-reduce.toml")),
    ("go-back-n", include_str!("../../experiments/go-back-n.toml")),
    ("planes", include_str!("../../experiments/planes.toml")),
    ("failure", include_str!("../../experiments/failure.toml")),
    ("all-reduce", include_str!("../../experiments/all-reduce.toml")),
    ("all-to-all", include_str!("../../experiments/all-to-all.toml")),
    ("incast", include_str!("../../experiments/incast.toml")),
    ("ablation", include_str!("../../experiments/ablation.toml")),
    ("pfc", include_str!("../../experiments/pfc.toml")),
    ("mixed", include_str!("../../experiments/mixed.toml")),
];

/// All names.
pub fn names() -> String {
    all().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
