//! A NIC's attachment to the segment: its place, a ring to each peer it has sent to, and one from each that has sent to it.
//! In: frames for a place. Out: frames that arrived, round robin over their senders.

use std::fs::File;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::error::{NetError, SendError};
use crate::futex;
use crate::places::Place;
use crate::ring::{Reader, Writer};
use crate::segment::Segment;
use crate::{FRAME_BYTES_MAX, PLACES};

/// Whether the receiver is woken for a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// It is woken if it sleeps, unless it polls.
    Now,
    /// It is woken if it sleeps, unless it has promised to look soon.
    Soon,
    /// It finds the frame when it next looks.
    Later,
}

/// An attached NIC. The place is given back when it is dropped.
#[derive(Debug)]
pub struct Port {
    segment: Segment,
    place: usize,
    generation: u32,
    /// Held as long as the place is ours.
    lock: File,
    to: [Option<(u32, Writer)>; PLACES],
    from: [Option<Reader>; PLACES],
    /// Places that have a ring to us, as bits.
    known: u64,
    turn: usize,
    /// Whose doorbells are due.
    due: Rings,
}

/// Doorbells to be rung, by place.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rings(u64);

impl Rings {
    fn has(self, place: usize) -> bool {
        self.0 >> place & 1 != 0
    }

    pub(crate) fn places(self) -> impl Iterator<Item = usize> {
        places_of(self.0)
    }
}

/// The places whose bits are set, from the lowest.
fn places_of(mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = bits.trailing_zeros() as usize;
        bits &= bits.wrapping_sub(1);
        (place < PLACES).then_some(place)
    })
}

impl Port {
    /// Takes the first free place.
    pub fn attach(segment: &Segment) -> Result<Self, NetError> {
        let free = (0..PLACES).find_map(|place| segment.lock(place).map(|lock| (place, lock)));
        let Some((place, lock)) = free else {
            return Err(NetError::Full { path: segment.dir().to_path_buf(), places: PLACES });
        };
        let port = Port {
            generation: segment.places().place[place].move_in(),
            segment: segment.clone(),
            place,
            lock,
            to: [const { None }; PLACES],
            from: [const { None }; PLACES],
            known: 0,
            turn: 0,
            due: Rings::default(),
        };
        port.remove_rings_of_the_dead();
        Ok(port)
    }

    /// Rings that an earlier owner of the place left behind when it was killed.
    fn remove_rings_of_the_dead(&self) {
        let Ok(entries) = std::fs::read_dir(self.segment.dir()) else { return };
        let mine = format!("ring-{}.", self.place);
        for entry in entries.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&mine) {
                // Somebody else may have been faster, which is as good.
                let _gone = std::fs::remove_file(entry.path());
            }
        }
    }

    /// Its number in the segment, from 0.
    pub fn place(&self) -> usize {
        self.place
    }

    /// Counts the owners of this place, so that two of them can be told apart.
    pub fn generation(&self) -> u32 {
        self.generation
    }

    pub fn segment(&self) -> &Segment {
        &self.segment
    }

    fn own(&self) -> &Place {
        &self.segment.places().place[self.place]
    }

    /// Sends a frame of `len` bytes that `fill` writes, waking the receiver.
    pub fn send(&mut self, to: usize, len: usize, fill: impl FnOnce(&mut [u8])) -> Result<(), SendError> {
        self.send_with(to, len, Urgency::Now, fill)?;
        let due = self.take_due();
        self.segment.ring(due);
        Ok(())
    }

    /// Doorbells that are due. The caller rings them ([`Sleeper::ring_all`]) once it holds no lock: who is woken may take its processor.
    pub fn take_due(&mut self) -> Rings {
        std::mem::take(&mut self.due)
    }

    /// Sends a frame of `len` bytes that `fill` writes. The doorbell of its receiver is due with the first frame, and rung with the next: what
    /// is more than a frame keeps both busy.
    pub fn send_with(
        &mut self,
        to: usize,
        len: usize,
        urgency: Urgency,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), SendError> {
        if len > FRAME_BYTES_MAX {
            return Err(SendError::TooLong { len, max: FRAME_BYTES_MAX });
        }
        let writer = self.writer(to)?;
        if !writer.has_room() {
            self.segment.wake(to);
            return Err(SendError::Full { place: to });
        }
        writer.push(len, fill);
        let place = &self.segment.places().place[to];
        let looks_until = match urgency {
            Urgency::Now => &place.polled_until_ns,
            Urgency::Soon => &place.attended_until_ns,
            Urgency::Later => return Ok(()),
        };
        if looks_until.load(Ordering::Relaxed) <= self.segment.now_ns() {
            if self.due.has(to) {
                self.segment.wake(to);
            }
            self.due.0 |= 1 << to;
        }
        Ok(())
    }

    /// Frames to `to` that wait in the ring.
    pub fn queued(&self, to: usize) -> u32 {
        self.to.get(to).and_then(Option::as_ref).map_or(0, |(_, writer)| writer.waiting())
    }

    /// The owner will look by itself until then (time of the segment): it is not woken for frames that can wait.
    pub fn attend(&self, until_ns: u64) {
        self.own().attended_until_ns.store(until_ns, Ordering::Relaxed);
    }

    /// The owner polls until then: it is not woken at all.
    pub fn polls(&self, until_ns: u64) {
        self.own().polled_until_ns.store(until_ns, Ordering::Relaxed);
    }

    /// Whether a frame to `to` would find room. A ring that is not there yet has room.
    pub fn has_room(&self, to: usize) -> bool {
        self.to.get(to).and_then(Option::as_ref).is_none_or(|(_, writer)| writer.has_room())
    }

    /// The ring to `to`, made anew if somebody else is there now.
    fn writer(&mut self, to: usize) -> Result<&mut Writer, SendError> {
        let nobody = SendError::Nobody { place: to };
        let place = self.segment.places().place.get(to).ok_or(nobody)?;
        let Some(generation) = place.generation() else {
            self.to[to] = None;
            return Err(nobody);
        };
        if self.to[to].as_ref().is_none_or(|(known, _)| *known != generation) {
            let path = self.segment.ring_path((self.place, self.generation), (to, generation));
            let writer = Writer::create(&path).map_err(|_| SendError::NoRing { place: to })?;
            self.to[to] = Some((generation, writer));
            place.incoming.fetch_or(1 << self.place, Ordering::AcqRel);
        }
        match &mut self.to[to] {
            Some((_, writer)) => Ok(writer),
            None => Err(nobody),
        }
    }

    /// Takes up to `limit` frames of each sender. Returns how many there were.
    pub fn receive(&mut self, limit: usize, mut take: impl FnMut(&mut [u8])) -> usize {
        if self.own().incoming.load(Ordering::Relaxed) != 0 {
            self.meet();
        }
        let mut count = 0;
        let turn = self.turn;
        for from_turn in places_of(self.known.rotate_right(turn as u32)) {
            if let Some(reader) = &mut self.from[(from_turn + turn) % PLACES] {
                count += reader.drain(limit, &mut take);
            }
        }
        self.turn = (self.turn + 1) % PLACES;
        count
    }

    /// Opens the rings of those who have begun to send to us.
    fn meet(&mut self) {
        let new = self.own().incoming.swap(0, Ordering::AcqRel);
        for i in places_of(new) {
            let Some(generation) = self.segment.places().place[i].generation() else { continue };
            let path = self.segment.ring_path((i, generation), (self.place, self.generation));
            // A ring that cannot be opened belongs to somebody who has gone: its frames are lost.
            self.from[i] = Reader::open(&path).ok();
            self.known |= 1 << i;
        }
    }

    /// What [`Sleeper::wait`] needs, for a thread that does not hold the port.
    pub fn sleeper(&self) -> Sleeper {
        Sleeper { segment: self.segment.clone(), place: self.place }
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        for (to, ring) in self.to.iter().enumerate() {
            if let Some((generation, _)) = ring {
                let path = self.segment.ring_path((self.place, self.generation), (to, *generation));
                // The reader keeps its map; what is in the ring still arrives.
                let _gone = std::fs::remove_file(path);
            }
        }
        self.segment.ring(self.due);
        self.own().move_out();
        // Not left to the closing of the file: a child that was just forked may hold it for a moment longer.
        Segment::unlock(&self.lock);
    }
}

/// Sleeps until a frame arrives, without holding the port.
#[derive(Debug)]
pub struct Sleeper {
    segment: Segment,
    place: usize,
}

impl Sleeper {
    fn own(&self) -> &Place {
        &self.segment.places().place[self.place]
    }

    /// The state of the doorbell: read it before looking for work.
    pub fn ticket(&self) -> u32 {
        self.own().doorbell.load(Ordering::SeqCst)
    }

    /// Sleeps unless the doorbell has rung since `ticket`, at most `timeout`.
    pub fn wait(&self, ticket: u32, timeout: Option<Duration>) {
        let place = self.own();
        place.asleep.store(1, Ordering::SeqCst);
        futex::wait(&place.doorbell, ticket, timeout);
        place.asleep.store(0, Ordering::SeqCst);
    }

    /// On which processor another process last rang, if one has since this was asked before.
    pub fn rung_on(&self) -> Option<usize> {
        self.own().rung_on.swap(0, Ordering::Relaxed).checked_sub(1).map(|number| number as usize)
    }

    /// Rings what [`Port::take_due`] gave.
    pub fn ring_all(&self, due: Rings) {
        self.segment.ring(due);
    }

    /// Rings the doorbell from within the process.
    pub fn ring(&self) {
        let place = self.own();
        place.doorbell.fetch_add(1, Ordering::SeqCst);
        futex::wake(&place.doorbell);
    }
}
