//! Tests of the golden model, in virtual time, for both wire profiles. Seeds are printed; MRNIC_SEED repeats one.
mod coverage;
mod duo;
mod fabric;
mod goodput;
mod messages;
mod pair;
mod pair_machine;
mod profiles;
mod properties;
mod receiver_machine;
mod rules_rx;
mod rules_tx;
mod sender_machine;
mod sender_reference;
mod sends;
mod slots;
mod transfer;
