//! A soak of the C ABI between two processes: every byte of every opcode is checked, which perftest does not do.
//!
//! In: a seed, a port, and at the client the server's address. Out: how much was checked, or the first difference. Both ends are requester and
//! responder at once. They derive the same plan from the seed, so each knows what both memories hold before and after a round.
mod end;
mod plan;

use anyhow::{bail, ensure, Context, Result};
use end::End;
use plan::Plan;
use std::fmt::{self, Display};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// How long the other end may take for a round.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which requests: what a device can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kinds {
    #[default]
    All,
    /// All opcodes; SEND and RDMA WRITE out of several pieces, the rest, and receives, into one.
    SendLists,
    /// All opcodes, out of one piece and into one.
    OnePiece,
    /// SEND and RDMA WRITE, with and without immediate; out of one piece and into one.
    SendsAndWrites,
    /// RDMA WRITE without immediate, out of one piece.
    Writes,
}

impl Kinds {
    /// READ and atomics too.
    fn asks(self) -> bool {
        matches!(self, Kinds::All | Kinds::SendLists | Kinds::OnePiece)
    }

    /// SEND and RDMA WRITE out of several pieces.
    fn send_lists(self) -> bool {
        matches!(self, Kinds::All | Kinds::SendLists)
    }
}

/// What to do.
#[derive(Clone, Debug)]
pub struct Options {
    pub port: u16,
    pub seed: u64,
    pub rounds: u32,
    pub kinds: Kinds,
    /// At the client.
    pub server: Option<String>,
}

/// What was checked.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked {
    pub requests: u64,
    pub payload_bytes: u64,
}

impl Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "checked {} requests, {} KiB of payload", self.requests, self.payload_bytes / 1024)
    }
}

/// The line over which the ends meet.
struct Meeting {
    lines: BufReader<TcpStream>,
}

impl Meeting {
    fn new(options: &Options) -> Result<Self> {
        let stream = match &options.server {
            Some(host) => TcpStream::connect((host.as_str(), options.port)).with_context(|| format!("connect to {host}"))?,
            None => {
                let listener = TcpListener::bind(("127.0.0.1", options.port)).context("listen: take another port with -p")?;
                listener.accept().context("wait for the client")?.0
            }
        };
        stream.set_read_timeout(Some(PATIENCE)).context("set a time limit")?;
        stream.set_nodelay(true).context("set TCP_NODELAY")?;
        Ok(Meeting { lines: BufReader::new(stream) })
    }

    /// Says something and hears what the other end says.
    fn exchange(&mut self, what: &str) -> Result<String> {
        self.lines.get_mut().write_all(format!("{what}\n").as_bytes()).context("the other end has gone")?;
        let mut line = String::new();
        let bytes = self.lines.read_line(&mut line).context("the other end says nothing")?;
        ensure!(bytes > 0, "the other end has gone: see its output");
        Ok(line.trim_end().to_owned())
    }

    /// Both ends have come this far.
    fn meet(&mut self, place: &str) -> Result<()> {
        let other = self.exchange(place)?;
        if other != place {
            bail!("this end is at '{place}', the other at '{other}': start both with the same options");
        }
        Ok(())
    }
}

/// Runs one end.
pub fn run(options: &Options) -> Result<Checked> {
    let client = options.server.is_some();
    let mut meeting = Meeting::new(options)?;
    let mut end = End::open(options.kinds)?;
    let peer = meeting.exchange(&end.address()?.to_string())?.parse()?;
    end.connect(&peer)?;
    let mut checked = Checked::default();
    for round in 0..options.rounds {
        let own = Plan::new(options.seed, round, client, &peer, options.kinds);
        let theirs = Plan::new(options.seed, round, !client, &end.address()?, options.kinds);
        end.prepare(&own, &theirs)?;
        meeting.meet(&format!("round {round} of seed {}", options.seed))?;
        end.carry_out(&own, &theirs, PATIENCE).with_context(|| format!("round {round}"))?;
        // The other end's requests without completions here are placed once it has all of its own.
        meeting.meet(&format!("round {round} is complete"))?;
        end.compare(&own, &theirs).with_context(|| format!("round {round}"))?;
        checked.requests += own.requests.len() as u64;
        checked.payload_bytes += own.requests.iter().map(|r| r.bytes as u64).sum::<u64>();
    }
    meeting.meet("the end")?;
    Ok(checked)
}
