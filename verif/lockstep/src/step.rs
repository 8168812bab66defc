//! The comparison of one step: the fields of a record beside what the model says.
//!
//! In: a record, values of the model. Out: the fields of a report. Guarantees: a field is compared under its own name.
use crate::divergence::Field;
use crate::record::Record;

/// The comparison of one step.
pub(crate) struct Step<'a> {
    pub record: &'a Record,
    pub fields: Vec<Field>,
}

impl<'a> Step<'a> {
    pub fn new(record: &'a Record) -> Self {
        Self { record, fields: Vec::new() }
    }

    pub fn field(&mut self, name: &str, model: impl Into<u64>) {
        let (rtl, model) = (self.record.get(name), model.into());
        self.fields.push(Field { name: name.into(), rtl: show(rtl), model: show(model) });
    }

    pub fn text(&mut self, name: &str, rtl: impl Into<String>, model: impl Into<String>) {
        self.fields.push(Field { name: name.into(), rtl: rtl.into(), model: model.into() });
    }

    pub fn agrees(&self) -> bool {
        self.fields.iter().all(Field::agrees)
    }
}

pub(crate) fn show(v: u64) -> String {
    if v > 0xFFFF {
        format!("{v:#x}")
    } else {
        v.to_string()
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
