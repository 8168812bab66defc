//! Programs in processes of their own, one of which is killed in mid-transfer.
use crate::Server;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// One end of a soak of all opcodes that checks every byte.
fn soak(session: &Path, port: u16, rounds: u32, client: bool) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mrnic"));
    command.args(["soak", "--rounds", &rounds.to_string(), "--port", &port.to_string()]);
    if client {
        command.arg("127.0.0.1");
    }
    command.env("MRNIC_VERBS", "rtl").env("MRNIC_SESSION", session);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts")
}

/// Both ends; the client starts when the server listens.
fn pair(session: &Path, rounds: u32) -> [Child; 2] {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a free port").port();
    let server = soak(session, port, rounds, false);
    while !mrnic_host_driver::launch::listens(server.id()) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    [server, soak(session, port, rounds, true)]
}

fn ended(child: Child) -> Output {
    child.wait_with_output().expect("it ends")
}

fn succeed(children: [Child; 2]) {
    for output in children.map(ended) {
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("checked"), "{said}");
    }
}

#[test]
fn a_killed_process_leaves_the_others_running_and_the_device_usable() {
    let mut server = Server::start("loss-1", |_| ());
    let session = server.session().to_owned();
    let other = pair(&session, 10);
    // More rounds than it lives for.
    let [stays, mut killed] = pair(&session, 1_000_000);
    succeed(other);
    killed.kill().unwrap();
    ended(killed);
    let left = ended(stays);
    assert!(!left.status.success(), "its peer is gone: {}", String::from_utf8_lossy(&left.stdout));
    succeed(pair(&session, 5));
    let figures = server.finish();
    assert_eq!((&figures["programs"], &figures["failure"]), (&6.into(), &serde_json::Value::Null), "{figures}");
}
