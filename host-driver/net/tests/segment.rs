//! Ports of one segment, in one process and in several.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use mrnic_host_net::{NetError, Port, Rings, Segment, SendError, Urgency, FRAME_BYTES_MAX, PLACES};

fn segment() -> (tempfile::TempDir, Segment) {
    let dir = tempfile::tempdir().unwrap();
    let segment = Segment::open(dir.path().join("session")).unwrap();
    (dir, segment)
}

fn frames(port: &mut Port) -> Vec<Vec<u8>> {
    let mut got = Vec::new();
    port.receive(usize::MAX, |frame| got.push(frame.to_vec()));
    got
}

#[test]
fn everybody_reaches_everybody() {
    let (_dir, segment) = segment();
    let mut ports: Vec<Port> = (0..8).map(|_| Port::attach(&segment).unwrap()).collect();
    assert_eq!(ports.iter().map(Port::place).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
    for (from, port) in ports.iter_mut().enumerate() {
        for to in (0..8).filter(|&to| to != from) {
            port.send(to, 2, |buf| buf.copy_from_slice(&[from as u8, to as u8])).unwrap();
        }
    }
    for (to, port) in ports.iter_mut().enumerate() {
        let mut got = frames(port);
        got.sort();
        let expected: Vec<Vec<u8>> = (0..8).filter(|&from| from != to).map(|from| vec![from as u8, to as u8]).collect();
        assert_eq!(got, expected);
    }
}

#[test]
fn a_full_ring_an_empty_place_and_a_long_frame_are_told() {
    let (_dir, segment) = segment();
    let mut a = Port::attach(&segment).unwrap();
    let b = Port::attach(&segment).unwrap();
    let full = std::iter::from_fn(|| Some(a.send(b.place(), 10, |buf| buf.fill(1)))).take(1000).find(Result::is_err);
    assert_eq!(full, Some(Err(SendError::Full { place: 1 })));
    assert!(!a.has_room(1));
    assert_eq!(a.send(7, 10, |_| {}), Err(SendError::Nobody { place: 7 }));
    assert_eq!(a.send(PLACES, 10, |_| {}), Err(SendError::Nobody { place: PLACES }));
    let len = FRAME_BYTES_MAX + 1;
    assert_eq!(a.send(1, len, |_| {}), Err(SendError::TooLong { len, max: FRAME_BYTES_MAX }));
}

#[test]
fn a_place_is_given_again_and_frames_for_its_earlier_owner_do_not_reach_the_next() {
    let (_dir, segment) = segment();
    let mut a = Port::attach(&segment).unwrap();
    for round in 0..100u8 {
        let mut b = Port::attach(&segment).unwrap();
        assert_eq!(b.place(), 1);
        assert!(frames(&mut b).is_empty(), "round {round}");
        a.send(1, 1, |buf| buf[0] = round).unwrap();
        assert_eq!(frames(&mut b), [[round]]);
        b.send(0, 1, |buf| buf[0] = round).unwrap();
        assert_eq!(frames(&mut a), [[round]]);
        a.send(1, 1, |buf| buf[0] = 0xEE).unwrap();
    }
    let rings = std::fs::read_dir(segment.dir()).unwrap().count();
    assert!(rings <= 105, "{rings} files: rings of those who left must not pile up on their side");
}

#[test]
fn a_sleeper_is_woken_by_an_urgent_frame_only() {
    let (_dir, segment) = segment();
    let mut a = Port::attach(&segment).unwrap();
    let b = Port::attach(&segment).unwrap();
    let sleeper = b.sleeper();
    let ticket = sleeper.ticket();
    a.send_with(1, 1, Urgency::Later, |buf| buf[0] = 1).unwrap();
    assert_eq!(sleeper.ticket(), ticket);
    b.attend(u64::MAX);
    a.send_with(1, 1, Urgency::Soon, |buf| buf[0] = 1).unwrap();
    assert_eq!(sleeper.ticket(), ticket, "it looks by itself");
    b.attend(0);
    b.polls(u64::MAX);
    a.send(1, 1, |buf| buf[0] = 1).unwrap();
    assert_eq!(sleeper.ticket(), ticket, "it polls");
    b.polls(0);
    a.send(1, 1, |buf| buf[0] = 2).unwrap();
    assert_ne!(sleeper.ticket(), ticket);
    // Returns at once although the frame came before the sleep.
    sleeper.wait(ticket, None);
    let ticket = sleeper.ticket();
    let thread = std::thread::spawn(move || {
        sleeper.wait(ticket, Some(Duration::from_secs(60)));
        sleeper.ticket()
    });
    a.send(1, 1, |buf| buf[0] = 3).unwrap();
    assert_ne!(thread.join().unwrap(), ticket);
}

/// Whoever sends under a lock rings once it is free; what is more than a frame does not wait for that.
#[test]
fn a_doorbell_is_due_with_the_first_frame_and_rung_with_the_next() {
    let (_dir, segment) = segment();
    let mut a = Port::attach(&segment).unwrap();
    let b = Port::attach(&segment).unwrap();
    let (ringer, sleeper) = (a.sleeper(), b.sleeper());
    let ticket = sleeper.ticket();
    a.send_with(1, 1, Urgency::Now, |buf| buf[0] = 1).unwrap();
    assert_eq!(sleeper.ticket(), ticket);
    let due = a.take_due();
    assert!(due != Rings::default() && a.take_due() == Rings::default());
    ringer.ring_all(due);
    assert_eq!(sleeper.ticket() - ticket, 1);
    let ticket = sleeper.ticket();
    for n in 0..3 {
        a.send_with(1, 1, Urgency::Now, |buf| buf[0] = n).unwrap();
        assert_eq!(sleeper.ticket() - ticket, u32::from(n));
    }
    drop(a);
    assert_eq!(sleeper.ticket() - ticket, 3, "a port that leaves rings what is due");
}

#[test]
fn a_segment_that_is_none_is_refused_with_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let made = tempfile::tempdir().unwrap();
    let _segment = Segment::open(made.path()).unwrap();
    let mut names = std::fs::read_dir(made.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let name = names.find(|name| name.to_string_lossy().starts_with("places-")).expect("its file");
    let path = dir.path().join(&name);
    for content in [vec![], vec![0; 100], vec![0; 128 * (PLACES + 1)]] {
        std::fs::write(&path, &content).unwrap();
        let error = Segment::open(dir.path()).unwrap_err();
        assert!(matches!(error, NetError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains(&format!("{} is not a segment of this version", name.to_string_lossy())), "{error}");
    }
    std::fs::write(dir.path().join("file"), "").unwrap();
    assert!(matches!(Segment::open(dir.path().join("file")), Err(NetError::File { .. })));
}

#[test]
fn places_are_bounded() {
    let (_dir, segment) = segment();
    let ports: Vec<Port> = (0..PLACES).map(|_| Port::attach(&segment).unwrap()).collect();
    assert!(matches!(Port::attach(&segment), Err(NetError::Full { places: PLACES, .. })));
    drop(ports);
    assert_eq!(segment.population(), 0);
    Port::attach(&segment).unwrap();
}

/// Not a test of its own: the other process of the tests below, which sends without end.
#[test]
fn child_process() {
    let Some(dir) = std::env::var_os("MRNIC_TEST_SEGMENT") else { return };
    let mut port = Port::attach(&Segment::open(dir).unwrap()).unwrap();
    println!("place {}", port.place());
    let mut n = 0u32;
    loop {
        // A full ring is no error here: the parent reads when it likes.
        let len = 64 + n as usize % 4000;
        if port.send(0, len, |buf| buf.fill(n as u8)).is_ok() {
            n += 1;
        }
    }
}

#[test]
fn a_sender_killed_at_any_moment_leaves_whole_frames_and_a_free_place() {
    let (_dir, segment) = segment();
    let mut port = Port::attach(&segment).unwrap();
    for round in 0..5 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_process", "--nocapture"])
            .env("MRNIC_TEST_SEGMENT", segment.dir())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let place = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok).find(|l| l.contains("place"));
        assert!(place.is_some_and(|line| line.ends_with("place 1")), "round {round}: the place of the dead is given again");
        let mut next = 0u32;
        let mut check = |port: &mut Port| {
            port.receive(64, |frame| {
                assert_eq!(frame.len(), 64 + next as usize % 4000);
                assert!(frame.iter().all(|&b| b == next as u8));
                next += 1;
            })
        };
        let mut seen = 0;
        while seen < 1000 + 100 * round {
            seen += check(&mut port);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        while check(&mut port) > 0 {}
        assert_eq!(segment.population(), 1);
    }
}
