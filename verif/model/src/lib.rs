//! Golden model of the transport: a sans-IO state machine.
