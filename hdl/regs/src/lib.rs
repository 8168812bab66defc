//! Registers, rings, WQEs and CQEs, generated from one register-map file.
