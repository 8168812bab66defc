//! Verilated NICs served to programs (`mrnic serve`), and the driver that uses them (crate mrnic-host-driver, device `rtl`).
//!
//! In: servers in a thread, programs as opens of the device, and programs that misbehave as sockets. Out: every byte compared with what was
//! written; every step of the NICs compared with the golden model. Nothing depends on how fast the machine is.
mod bad_programs;
mod c_api;
mod end;
mod processes;
mod reads;
mod sends;
mod shared;
mod transfers;

use mrnic_sim::serve::{self, Options};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Duration;

/// A server in a thread, in a folder of its own.
struct Server {
    session: tempfile::TempDir,
    /// Somebody who has connected and says nothing: until `finish` the server waits for further programs, however long they take to start.
    waits: Option<UnixStream>,
    thread: Option<JoinHandle<anyhow::Result<()>>>,
}

impl Server {
    fn start(scenario: &str, change: impl FnOnce(&mut Options)) -> Server {
        let session = tempfile::tempdir().expect("a temporary folder");
        let (fabric, host) = serve::network(scenario).expect("a good scenario");
        let mut options = Options {
            session: session.path().to_owned(),
            build: mrnic_nic::config::build(mrnic_host_driver::rtl::serve::BUILD).expect("the build of programs"),
            scenario: scenario.to_owned(),
            fabric,
            host,
            seed: 1,
            lockstep: true,
            dma_by_messages: false,
            log: None,
            json: session.path().join("figures.json"),
            linger: Duration::from_millis(100),
        };
        change(&mut options);
        let socket = mrnic_host_bus::socket_of(session.path());
        let thread =
            std::thread::spawn(move || serve::run(&options).inspect_err(|error| println!("the server fails: {error:#}")));
        // The model may have to be built first.
        let waits = loop {
            if let Ok(stream) = UnixStream::connect(&socket) {
                break stream;
            }
            if thread.is_finished() {
                panic!("the server has ended: {:?}", thread.join());
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        Server { session, waits: Some(waits), thread: Some(thread) }
    }

    fn session(&self) -> &Path {
        self.session.path()
    }

    /// The server ends by itself after its last program; what it has written is returned.
    fn finish(&mut self) -> serde_json::Value {
        self.waits = None;
        let thread = self.thread.take().expect("it was started");
        thread.join().expect("no panic").expect("no failure");
        let text = std::fs::read_to_string(self.session().join("figures.json")).expect("the figures");
        serde_json::from_str(&text).expect("JSON")
    }
}
