//! Programs that behave: every size, both kinds of DMA, faults of the network, events, errors.
use crate::end::{fill, End};
use crate::Server;
use mrnic_host_bus::Message;
use mrnic_host_driver::device::*;
use mrnic_host_driver::rules::Access;
use mrnic_sim::serve::log::{self, Direction};
use mrnic_sim::serve::replay;

/// A size of each class: nothing, below and around a beat, a cache line, packets of an MTU, and several.
const SIZES: [usize; 18] = [0, 1, 2, 7, 8, 15, 16, 17, 63, 64, 65, 255, 1024, 4095, 4096, 4097, 12_288, 65_539];

fn room() -> usize {
    SIZES.iter().map(|s| s + 3).sum()
}

/// WRITEs of all sizes, both ways at once, each beside the other.
fn every_size(server: &Server) {
    let [mut a, mut b] = End::pair(server.session(), 2 * room());
    fill(&mut a, 1);
    fill(&mut b, 77);
    let (sent_a, sent_b) = (a.buffer.clone(), b.buffer.clone());
    let (mut at, mut far) = (0, room());
    for size in SIZES {
        a.write(&b, at, size, true).unwrap();
        b.write(&a, far, size, true).unwrap();
        (at, far) = (at + size + 3, far + size + 3);
    }
    for end in [&a, &b] {
        for completion in end.completions(SIZES.len()) {
            assert_eq!((completion.status, completion.kind), (WcStatus::Success, CompletionKind::Write));
        }
    }
    let (mut at, mut far) = (0, room());
    let (mut of_a, mut of_b) = (sent_a.clone(), sent_b.clone());
    for size in SIZES {
        of_b[at..at + size].copy_from_slice(&sent_a[at..at + size]);
        of_a[far..far + size].copy_from_slice(&sent_b[far..far + size]);
        (at, far) = (at + size + 3, far + size + 3);
    }
    // What lies between the pieces is untouched.
    assert!(a.buffer == of_a && b.buffer == of_b);
    a.close();
    b.close();
}

#[test]
fn every_size_arrives_on_a_clean_network() {
    let mut server = Server::start("clean", |_| ());
    every_size(&server);
    let figures = server.finish();
    assert_eq!((&figures["programs"], &figures["failure"]), (&2.into(), &serde_json::Value::Null));
    assert!(figures["lockstep_commits"].as_u64() > Some(500), "{figures}");
}

#[test]
fn every_size_arrives_with_loss() {
    let mut server = Server::start("loss-10", |_| ());
    every_size(&server);
    assert!(lost(&server.finish(), "lost_random") > 0);
}

/// One plane is dead from the beginning and comes back, another one dies; all lose packets.
#[test]
fn every_size_arrives_though_planes_are_dead() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let events = [(0, 1, "kill"), (300_000, 1, "revive"), (300_001, 2, "kill")];
    let events = events.map(|(at, plane, action)| format!("{{ at_ns = {at}, plane = {plane}, action = \"{action}\" }}"));
    let text = format!("[fabric]\nloss_data = 0.01\nevents = [{}]\n", events.join(", "));
    std::fs::write(file.path(), text).unwrap();
    let mut server = Server::start(file.path().to_str().unwrap(), |_| ());
    every_size(&server);
    every_size(&server);
    assert!(lost(&server.finish(), "lost_down") > 0);
}

fn lost(figures: &serde_json::Value, how: &str) -> u64 {
    figures["planes"].as_array().unwrap().iter().map(|plane| plane[how].as_u64().unwrap()).sum()
}

#[test]
fn dma_by_messages_does_the_same_and_the_log_holds_every_message() {
    let mut file = None;
    let mut server = Server::start("loss-1", |options| {
        options.dma_by_messages = true;
        options.log = Some(options.session.join("log"));
        file.clone_from(&options.log);
    });
    let path = file.expect("it was set");
    every_size(&server);
    server.finish();
    let bytes = std::fs::read(path).unwrap();
    let (_, entries) = log::read(&bytes).unwrap();
    let count = |wanted: fn(&Message<'_>) -> bool| entries.iter().filter(|e| wanted(&e.message)).count();
    assert!(entries.is_sorted_by_key(|e| e.cycle));
    // Each WRITE has a WQE read, and a CQE written in two pieces.
    let asked = count(|m| matches!(m, Message::DmaRead { bytes: 64, .. }));
    assert!(asked >= 2 * SIZES.len(), "{asked} WQE reads");
    assert_eq!(count(|m| matches!(m, Message::DmaRead { .. })), count(|m| matches!(m, Message::DmaData { ok: true, .. })));
    assert_eq!(count(|m| matches!(m, Message::DmaWrite { .. })), count(|m| matches!(m, Message::DmaDone { ok: true })));
    assert_eq!(count(|m| matches!(m, Message::Attach { .. })), count(|m| matches!(m, Message::Attached { .. })));
    assert!(entries
        .iter()
        .any(|e| e.direction == Direction::FromProgram && matches!(e.message, Message::RegisterWrite { .. })));
}

#[test]
fn a_sleeping_program_is_woken_and_unsignalled_requests_free_their_slots() {
    let mut server = Server::start("clean", |_| ());
    let [mut a, b] = End::pair(server.session(), 4096);
    fill(&mut a, 9);
    for round in 0..3 {
        a.cq.arm(false).unwrap();
        a.write(&b, 100 * round, 80, true).unwrap();
        a.events.wait_for_completion();
        assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    }
    // Three times as many as there are slots; only the last is seen.
    for i in 0..96 {
        while a.write(&b, 1000 + i, 1, i == 95) == Err(PostError::Full) {
            assert_eq!(a.cq.poll(&mut [Completion::default()]).unwrap(), 0, "nothing was to be seen yet");
        }
    }
    assert_eq!(a.completions(1)[0].wr_id, 1095);
    assert!(b.buffer[1000..1096] == a.buffer[1000..1096] && b.buffer[200..280] == a.buffer[200..280]);
    a.close();
    b.close();
    server.finish();
}

#[test]
fn a_refused_write_fails_and_the_rest_is_flushed() {
    let mut server = Server::start("clean", |_| ());
    let [a, b] = End::pair(server.session(), 4096);
    a.write(&b, 0, 100, true).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    let remote = Remote { addr: b.buffer.as_ptr() as u64, rkey: b.keys.rkey ^ 1 };
    a.post(remote, 0, 100, false).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::RemoteAccess, "an error is seen though it was not to be signalled");
    assert_eq!(a.qp.status().state, QpState::Error);
    a.write(&b, 0, 100, true).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Flushed);
    a.close();
    b.close();
    server.finish();
}

/// D2: a WRITE needs the leave of the queue pair beside that of the region. It is given in INIT, and given and taken while the queue pair is open.
#[test]
fn a_queue_pair_allows_writes_or_refuses_them() {
    let mut server = Server::start("clean", |_| ());
    let (nothing, writes) = (Access::default(), Access { local_write: true, remote_write: true, ..Access::default() });
    for given_late in [false, true] {
        let ends = [End::open(server.session(), 4096), End::open(server.session(), 4096)];
        let [a, b] = &ends;
        a.init();
        b.allow(Some(QpState::Init), if given_late { nothing } else { writes });
        b.post_recv(1, 2000, 8).unwrap();
        End::connect_both(&ends);
        if given_late {
            a.message(SendOp::Send { imm: None }, 1, 0, 8, false).unwrap();
            assert_eq!(a.completions(1)[0].status, WcStatus::Success, "a SEND needs no leave");
            b.allow(None, writes);
        }
        a.write(b, 0, 100, true).unwrap();
        assert_eq!(a.completions(1)[0].status, WcStatus::Success);
        b.allow(None, nothing);
        a.write(b, 0, 100, true).unwrap();
        a.write(b, 0, 100, true).unwrap();
        let refused = a.completions(2);
        assert_eq!([refused[0].status, refused[1].status], [WcStatus::RemoteAccess, WcStatus::Flushed]);
        ends.into_iter().for_each(End::close);
    }
    server.finish();
}

/// SQ_DRAINED tells of what was under way; what is posted meanwhile waits for RTS.
#[test]
fn a_queue_pair_drains_though_more_is_posted() {
    let mut server = Server::start("clean", |_| ());
    let [a, b] = End::pair(server.session(), 100_000);
    let to = |state| QpChange { state: Some(state), notify_drained: Some(true), ..QpChange::default() };
    a.write(&b, 0, 100_000, true).unwrap();
    a.qp.modify(&to(QpState::Sqd)).unwrap();
    assert!(a.qp.status().draining, "100 kB take a while");
    a.write(&b, 500, 500, true).unwrap();
    assert_eq!(a.completions(1)[0].wr_id, 0);
    a.events.wait_for(AsyncEvent::SendQueueDrained(Token(2)));
    assert_eq!(a.cq.poll(&mut [Completion::default()]).unwrap(), 0);
    a.qp.modify(&to(QpState::Rts)).unwrap();
    assert_eq!(a.completions(1)[0].wr_id, 500);
    a.close();
    b.close();
    server.finish();
}

#[test]
fn drained_queue_pairs_hold_requests_back_and_reset_ones_begin_anew() {
    let mut server = Server::start("clean", |_| ());
    let [mut a, b] = End::pair(server.session(), 4096);
    fill(&mut a, 3);
    let to = |state| QpChange { state: Some(state), notify_drained: Some(true), ..QpChange::default() };
    a.write(&b, 0, 500, true).unwrap();
    a.qp.modify(&to(QpState::Sqd)).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    a.events.wait_for(AsyncEvent::SendQueueDrained(Token(2)));
    a.write(&b, 500, 500, true).unwrap();
    assert_eq!(a.cq.poll(&mut [Completion::default()]).unwrap(), 0);
    a.qp.modify(&to(QpState::Rts)).unwrap();
    assert_eq!(a.completions(1)[0].wr_id, 500);
    assert!(b.buffer[..1000] == a.buffer[..1000]);
    for end in [&a, &b] {
        end.qp.modify(&to(QpState::Reset)).unwrap();
    }
    std::thread::scope(|scope| {
        scope.spawn(|| a.ready(b.address()));
        b.ready(a.address());
    });
    a.write(&b, 2000, 64, true).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    assert!(b.buffer[2000..2064] == a.buffer[2000..2064]);
    a.close();
    b.close();
    server.finish();
}

/// Of programs that come and go, one of them cut off; with both kinds of DMA. What is changed in a log is found.
#[test]
fn a_log_can_be_replayed_without_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    for dma_by_messages in [false, true] {
        let path = folder.path().join("log");
        let mut server = Server::start("loss-1", |options| {
            (options.dma_by_messages, options.lockstep) = (dma_by_messages, false);
            options.log = Some(path.clone());
        });
        let [mut a, b] = End::pair(server.session(), 100_000);
        fill(&mut a, 3);
        b.post_recv(1, 50_000, 20_000).unwrap();
        a.write(&b, 0, 20_000, true).unwrap();
        a.message(SendOp::Send { imm: None }, 2, 0, 20_000, false).unwrap();
        assert!(a.completions(2).iter().chain(&b.completions(1)).all(|c| c.status == WcStatus::Success));
        drop(crate::bad_programs::attach(server.session()));
        a.close();
        b.close();
        every_size(&server);
        server.finish();
        let said = replay(&path).unwrap();
        assert!(said.contains("5 programs"), "{said}");
        // A byte that a NIC has written last.
        let mut bytes = std::fs::read(&path).unwrap();
        let (_, entries) = log::read(&bytes).unwrap();
        let written = entries.iter().rev().find_map(|entry| match entry.message {
            Message::DmaWrite { data, .. } => Some(data.as_ptr() as usize - bytes.as_ptr() as usize),
            _ => None,
        });
        bytes[written.unwrap()] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let why = replay(&path).unwrap_err().to_string();
        assert!(why.contains("not as in the log") && why.contains("DmaWrite"), "{why}");
    }
}
