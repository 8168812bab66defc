//! Tests of the golden model, in virtual time. Seeds are printed; MRNIC_SEED repeats one.
mod fabric;
mod goodput;
mod pair;
