//! The protobuf form of a Chakra execution trace: length-delimited messages, the metadata first and then nodes.
//!
//! In: the bytes of a file. Out: its nodes. Only the fields that are used are declared; others are skipped.
use super::TraceError;
use prost::Message;
use std::path::Path;

/// Types of nodes, by their numbers.
pub const COMP: i32 = 4;
pub const COMM_SEND: i32 = 5;
pub const COMM_RECV: i32 = 6;
pub const COMM_COLL: i32 = 7;
/// Carries no work.
pub const METADATA: i32 = 1;

/// Names of all types.
pub const TYPES: [&str; 11] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
    "STORAGE_NODE",
    "BATCH_NODE",
    "CHECKPOINT_NODE",
];

/// First message of a file.
#[derive(Clone, PartialEq, Message)]
pub struct Metadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

/// A node.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<Attribute>,
}

/// A named value of a node.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "5, 7, 9, 11, 13, 15, 17, 27, 29")]
    pub value: Option<Value>,
}

/// Kinds of values that are understood.
#[derive(Clone, PartialEq, prost::Oneof)]
pub enum Value {
    #[prost(float, tag = "5")]
    Float(f32),
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Value {
    /// As a number that is not negative.
    pub fn number(&self) -> Option<u64> {
        match *self {
            Value::Int32(v) | Value::Sint32(v) => v.try_into().ok(),
            Value::Int64(v) | Value::Sint64(v) => v.try_into().ok(),
            Value::Uint32(v) => Some(v.into()),
            Value::Uint64(v) => Some(v),
            _ => None,
        }
    }
}

impl Node {
    /// The value of this name.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.attr.iter().find(|a| a.name == name)?.value.as_ref()
    }

    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        usize::try_from(self.kind).ok().and_then(|kind| TYPES.get(kind)).copied().unwrap_or("unknown type")
    }
}

/// All nodes of a file.
pub fn decode(file: &Path, bytes: &[u8]) -> Result<Vec<Node>, TraceError> {
    let mut rest = bytes;
    let mut nodes = Vec::new();
    let mut message = 0;
    while !rest.is_empty() || message == 0 {
        let byte = bytes.len() - rest.len();
        let cut = || TraceError::Truncated { file: file.into(), message, byte };
        let syntax = |cause: String| TraceError::Syntax { file: file.into(), message, byte, cause };
        // A length has at most 5 bytes here.
        let length = match prost::decode_length_delimiter(&mut rest) {
            Ok(length) => length,
            Err(_) if bytes.len() - byte < 5 => return Err(cut()),
            Err(e) => return Err(syntax(e.to_string())),
        };
        if length > 1 << 30 {
            return Err(syntax(format!("it would be {length} bytes long")));
        }
        if rest.len() < length {
            return Err(cut());
        }
        let (body, after) = rest.split_at(length);
        rest = after;
        if message == 0 {
            Metadata::decode(body).map_err(|e| syntax(e.to_string()))?;
        } else {
            nodes.push(Node::decode(body).map_err(|e| syntax(e.to_string()))?);
        }
        message += 1;
    }
    Ok(nodes)
}

/// The bytes of a file: for traces made by programs, and tests.
pub fn encode(nodes: &[Node]) -> Vec<u8> {
    let mut bytes = Metadata { version: "0.0.4".into() }.encode_length_delimited_to_vec();
    for node in nodes {
        bytes.extend(node.encode_length_delimited_to_vec());
    }
    bytes
}
