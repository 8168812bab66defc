//! Transmit side: from messages and acknowledgments to packet descriptors.
