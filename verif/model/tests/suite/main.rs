//! Tests of the golden model, in virtual time, for both wire profiles. Seeds are printed; MRNIC_SEED repeats one.
mod coverage;
mod fabric;
mod goodput;
mod messages;
mod pair;
mod profiles;
mod properties;
mod rules_rx;
mod rules_tx;
mod slots;
mod transfer;
