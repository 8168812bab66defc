//! Programs that misbehave or die, and a server that dies: the others go on, and nobody hangs.
use crate::end::{fill, End};
use crate::Server;
use mrnic_host_bus::{place::PLACES, socket_of, Message, HEADER_BYTES};
use mrnic_host_driver::device::*;
use mrnic_host_driver::rtl::RtlProvider;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A program without a driver.
fn connect(session: &Path) -> UnixStream {
    UnixStream::connect(socket_of(session)).expect("the server listens")
}

fn send(stream: &mut UnixStream, message: &Message<'_>) {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    stream.write_all(&bytes).expect("the server takes it");
}

/// All that comes until the server closes.
fn last_words(mut stream: UnixStream) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// One that has a NIC.
pub fn attach(session: &Path) -> UnixStream {
    let mut stream = connect(session);
    send(&mut stream, &Message::Attach { probe_addr: 0, probe: 1 });
    let mut header = [0; HEADER_BYTES];
    stream.read_exact(&mut header).expect("an answer");
    let mut body = vec![0; u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize];
    stream.read_exact(&mut body).expect("an answer");
    stream
}

/// A socket that leads to a server's, and can be cut: then either end looks dead to the other.
struct Wire {
    folder: tempfile::TempDir,
    ends: Arc<Mutex<Vec<UnixStream>>>,
}

impl Wire {
    fn new(session: &Path) -> Wire {
        let wire = Wire { folder: tempfile::tempdir().unwrap(), ends: Arc::default() };
        let listener = UnixListener::bind(socket_of(wire.folder.path())).unwrap();
        let (server, ends) = (connect(session), wire.ends.clone());
        std::thread::spawn(move || {
            let program = listener.accept().unwrap().0;
            ends.lock().unwrap().extend([program.try_clone().unwrap(), server.try_clone().unwrap()]);
            let (mut from, mut to) = (program.try_clone().unwrap(), server.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::io::copy(&mut &server, &mut &program).ok();
        });
        wire
    }

    fn cut(&self) {
        for end in self.ends.lock().unwrap().iter() {
            end.shutdown(Shutdown::Both).ok();
        }
    }
}

#[test]
fn what_is_no_message_is_cut_off_with_the_reason_and_others_go_on() {
    let mut server = Server::start("clean", |_| ());
    let [mut a, b] = End::pair(server.session(), 200_000);
    fill(&mut a, 5);
    let mut good = Vec::new();
    Message::RegisterWrite { offset: 0x44, value: 0xffff_ffff }.encode(&mut good);
    let changed = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        bytes
    };
    let cases = [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "another protocol"),
        (changed(2, 7), "same release"),
        (changed(4, 200), "unknown"),
        (changed(11, 200), "at most"),
        (changed(8, 1), "do not fit"),
        (good.clone(), "ATTACH"),
    ];
    for (round, (bytes, words)) in cases.into_iter().enumerate() {
        a.write(&b, 30_000 * round, 30_000, true).unwrap();
        let mut stream = connect(server.session());
        stream.write_all(&bytes).unwrap();
        let said = last_words(stream);
        assert!(said.contains(words), "{words}: {said}");
        assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    }
    assert!(a.buffer[..180_000] == b.buffer[..180_000]);
    // The same of programs that have a NIC; and what only they can do wrong.
    let mut messages: Vec<(Vec<u8>, &str)> = vec![(changed(0, 0), "another protocol")];
    for (message, words) in [
        (Message::RegisterRead { offset: 3 }, "multiple of 4"),
        (Message::Unmap { addr: 1, bytes: 1 }, "not mapped"),
        (Message::Map { addr: u64::MAX, bytes: 2 }, "cannot be mapped"),
        (Message::Interrupt, "only the NIC"),
        (Message::Attach { probe_addr: 0, probe: 0 }, "only the NIC"),
    ] {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        messages.push((bytes, words));
    }
    for (bytes, words) in messages {
        let mut stream = attach(server.session());
        stream.write_all(&bytes).unwrap();
        let said = last_words(stream);
        assert!(said.contains(words), "{words}: {said}");
    }
    a.close();
    b.close();
    server.finish();
}

/// Nonsense in registers, tables and doorbells is the affair of the program that writes it.
#[test]
fn a_program_that_writes_nonsense_into_its_nic_disturbs_nobody() {
    let mut server = Server::start("clean", |options| options.lockstep = false);
    let [mut a, b] = End::pair(server.session(), 200_000);
    fill(&mut a, 5);
    let mut stream = attach(server.session());
    for i in 0..600u32 {
        let value = i.wrapping_mul(0x9e37_79b9) >> (i % 9);
        send(&mut stream, &Message::RegisterWrite { offset: (i * 4 % 0x200) as u16, value });
        send(&mut stream, &Message::Frame(&value.to_le_bytes()));
    }
    a.write(&b, 0, 200_000, true).unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    assert!(a.buffer == b.buffer);
    drop(stream);
    a.close();
    b.close();
    server.finish();
}

#[test]
fn a_program_that_dies_in_mid_transfer_leaves_the_others_running_and_the_device_usable() {
    let mut server = Server::start("clean", |_| ());
    let [mut a, b] = End::pair(server.session(), 400_000);
    fill(&mut a, 8);
    // Cut off in the middle of a message, as by a signal.
    let mut cut = attach(server.session());
    cut.write_all(&[0x4d]).unwrap();
    drop(cut);
    let wire = Wire::new(server.session());
    let [c, d] = End::pair_of([server.session(), wire.folder.path()], 400_000);
    a.write(&b, 0, 400_000, true).unwrap();
    c.write(&d, 0, 400_000, true).unwrap();
    wire.cut();
    d.events.wait_for(AsyncEvent::DeviceFatal);
    let failed = c.completions(1)[0];
    assert!(matches!(failed.status, WcStatus::RetryExceeded | WcStatus::Success), "{failed:?}");
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    assert!(a.buffer == b.buffer);
    c.close();
    let [mut e, f] = End::pair(server.session(), 10_000);
    fill(&mut e, 4);
    e.write(&f, 0, 10_000, true).unwrap();
    assert_eq!(e.completions(1)[0].status, WcStatus::Success);
    assert!(e.buffer == f.buffer);
    for end in [a, b, e, f] {
        end.close();
    }
    server.finish();
}

#[test]
fn the_ninth_program_is_told_that_no_nic_is_free() {
    let mut server = Server::start("clean", |options| options.lockstep = false);
    let streams: Vec<_> = (0..PLACES).map(|_| attach(server.session())).collect();
    let open = || RtlProvider::new(server.session().to_owned()).open("mrnic0", Arc::new(crate::end::Events::default()));
    let error = open().err().expect("no NIC is free").to_string();
    assert!(error.contains("all 8 NICs are taken"), "{error}");
    drop(streams);
    // They were noticed to be gone before the next one is heard.
    let device = (0..100).find_map(|_| open().ok()).expect("a NIC is free again");
    device.close();
    server.finish();
}

#[test]
fn without_a_server_the_error_names_the_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let open = RtlProvider::new(folder.path().to_owned()).open("mrnic0", Arc::new(crate::end::Events::default()));
    let error = open.err().expect("nobody is there").to_string();
    assert!(error.contains("mrnic serve") && error.contains("rtl.sock"), "{error}");
}

#[test]
fn a_server_that_dies_ends_every_request_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = std::process::Command::new(env!("CARGO_BIN_EXE_mrnic"))
        .args(["serve", "--session"])
        .arg(folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    while UnixStream::connect(socket_of(folder.path())).is_err() {
        assert!(server.try_wait().unwrap().is_none(), "the server has ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let [a, b] = End::pair(folder.path(), 4 << 20);
    for i in 0..4 {
        a.write(&b, i << 20, 1 << 20, true).unwrap();
    }
    server.kill().unwrap();
    server.wait().unwrap();
    for end in [&a, &b] {
        end.events.wait_for(AsyncEvent::DeviceFatal);
    }
    let ended = a.completions(4);
    assert!(ended.iter().all(|c| matches!(c.status, WcStatus::Success | WcStatus::Flushed)), "{ended:?}");
    assert_eq!(a.write(&b, 0, 8, true), Err(PostError::Gone));
    assert_eq!(a.device.query_port(1).unwrap().state, LinkState::Down);
    a.close();
    b.close();
}
