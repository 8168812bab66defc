//! Wire format of the transport: codec, header tables and ICRC, generated from one layout file.
