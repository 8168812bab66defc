//! Small hardware building blocks: FIFOs, RAMs, arbiters, CRC matrices.
