//! A program's part of a log, instead of the program.
//!
//! In: what its NIC says. Out: what the program said, at the same moments, and the first thing that its NIC says otherwise than it did.
use super::log::{Direction, Entry, Now};
use mrnic_host_bus::Message;
use std::collections::VecDeque;

/// Everything between one program and its NIC.
pub struct Script {
    pub place: u16,
    /// When it got the NIC.
    pub phase: u64,
    pub direct: bool,
    now: Now,
    /// What it said, apart from answers, with the phase.
    inputs: VecDeque<(u64, Vec<u8>)>,
    answers: VecDeque<Vec<u8>>,
    /// What it was told, with the cycle.
    outputs: VecDeque<(u64, Vec<u8>)>,
    cut_off: Option<(u64, String)>,
    difference: Option<String>,
    /// Messages that were the same.
    pub same: u64,
}

fn encoded(message: &Message<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    bytes
}

/// For people: without the whole of long data.
fn shown(bytes: &[u8]) -> String {
    let text = match Message::decode(bytes) {
        Ok(Some((message, _))) => format!("{message:?}"),
        _ => format!("{bytes:?}"),
    };
    text.chars().take(200).collect()
}

/// The programs of a log, in the order in which they got their NICs.
pub fn scripts(entries: &[Entry<'_>], now: &Now) -> Vec<Script> {
    let mut all: Vec<Script> = Vec::new();
    for entry in entries {
        if let (Direction::ToProgram, Message::Attached { place, direct, .. }) = (entry.direction, &entry.message) {
            all.push(Script {
                place: *place,
                phase: entry.phase,
                direct: *direct,
                now: now.clone(),
                inputs: VecDeque::new(),
                answers: VecDeque::new(),
                outputs: VecDeque::new(),
                cut_off: None,
                difference: None,
                same: 0,
            });
        }
        // The last one that has had the place; nobody's are those of programs that never got a NIC.
        let Some(script) = all.iter_mut().rfind(|script| script.place == entry.place) else { continue };
        match (entry.direction, &entry.message) {
            (Direction::ToProgram, message) => script.outputs.push_back((entry.cycle, encoded(message))),
            (Direction::FromProgram, message @ (Message::DmaData { .. } | Message::DmaDone { .. })) => {
                script.answers.push_back(encoded(message));
            }
            (Direction::FromProgram, message) => script.inputs.push_back((entry.phase, encoded(message))),
            (Direction::CutOff, Message::Refused(why)) => script.cut_off = Some((entry.phase, (*why).to_owned())),
            (Direction::CutOff, _) => {}
        }
    }
    all
}

impl Script {
    /// What the program says next, if it has said it by now.
    pub fn input(&mut self) -> Option<Vec<u8>> {
        let phase = self.now.get().0;
        self.inputs.pop_front_if(|(at, _)| *at <= phase).map(|(_, bytes)| bytes)
    }

    /// Its answer to a DMA message.
    pub fn answer(&mut self) -> Option<Vec<u8>> {
        self.answers.pop_front()
    }

    /// Why it is cut off now, if it is.
    pub fn cut_off(&mut self) -> Option<String> {
        let phase = self.now.get().0;
        let (_, why) = self.cut_off.take_if(|(at, _)| *at <= phase)?;
        // What was no message is not in the log; what was said about it is.
        self.outputs.pop_front_if(|(_, bytes)| matches!(Message::decode(bytes), Ok(Some((Message::Refused(_), _)))));
        Some(why)
    }

    /// The NIC says something.
    pub fn output(&mut self, message: &Message<'_>) {
        let ((_, cycle), said) = (self.now.get(), encoded(message));
        if self.difference.is_some() {
            return;
        }
        self.difference = match self.outputs.pop_front() {
            Some((at, bytes)) if (at, &bytes) == (cycle, &said) => {
                self.same += 1;
                None
            }
            Some((at, bytes)) => Some(format!("cycle {at}: {}\nnow, cycle {cycle}: {}", shown(&bytes), shown(&said))),
            None => Some(format!("the log has no more\nnow, cycle {cycle}: {}", shown(&said))),
        };
    }

    /// The first thing that is not as it was.
    pub fn difference(&self) -> Option<&str> {
        self.difference.as_deref()
    }

    /// At the end of the program: what is missing.
    pub fn finish(&mut self) {
        if let (None, Some((at, bytes))) = (&self.difference, self.outputs.front()) {
            self.difference = Some(format!("cycle {at}: {}\nnow: nothing", shown(bytes)));
        }
    }
}
