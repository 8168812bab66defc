//! Runs programs with the drop-in library: one, or a server and its client.
//!
//! In: command lines. Out: their output, line by line with the name of the side, and their exit status. The client starts when the server
//! listens, not after a guessed time; a server whose client failed is ended, and so is a program that is not done within its limit.
use crate::verbs::lock;
use anyhow::{bail, Context, Result};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a server may take to end after its client has failed.
const GRACE: Duration = Duration::from_secs(2);
/// How long a server may take until it listens, and a side that should end until it has ended.
const PATIENCE: Duration = Duration::from_secs(20);

/// A command that loads the library in `folder`.
pub fn command(folder: &Path, line: &[String]) -> Result<Command> {
    let [program, arguments @ ..] = line else { bail!("no program is named") };
    let mut path: OsString = folder.canonicalize().with_context(|| format!("find {}", folder.display()))?.into();
    if let Some(rest) = std::env::var_os("LD_LIBRARY_PATH").filter(|v| !v.is_empty()) {
        path.push(":");
        path.push(rest);
    }
    let mut command = Command::new(program);
    command.args(arguments).env("LD_LIBRARY_PATH", path);
    Ok(command)
}

/// Sockets of a process, by inode.
fn sockets(pid: u32) -> BTreeSet<String> {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let inode = |target: &str| Some(target.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned());
    open.filter_map(|fd| inode(std::fs::read_link(fd.path()).ok()?.to_str()?)).collect()
}

/// Does the process listen on a TCP port?
pub fn listens(pid: u32) -> bool {
    /// In the kernel's table.
    const LISTEN: &str = "0A";
    let own = sockets(pid);
    ["tcp", "tcp6"].iter().any(|table| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default();
        text.lines().skip(1).any(|line| {
            let columns: Vec<_> = line.split_whitespace().collect();
            columns.get(3) == Some(&LISTEN) && columns.get(9).is_some_and(|inode| own.contains(*inode))
        })
    })
}

/// A TCP port that nobody has now, and that was not given before: whoever got that one may not listen yet.
pub fn free_port() -> Result<u16> {
    static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());
    let mut given = lock(&GIVEN);
    loop {
        let listener = TcpListener::bind(("0.0.0.0", 0)).context("find a free TCP port")?;
        let port = listener.local_addr().context("find a free TCP port")?.port();
        if given.insert(port) {
            return Ok(port);
        }
    }
}

/// One running side, and its output so far.
struct Side {
    child: Child,
    output: Vec<JoinHandle<String>>,
}

impl Side {
    fn start(mut command: Command, name: &'static str, show: bool) -> Result<Side> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {program}"))?;
        let pipes: [Option<Box<dyn Read + Send>>; 2] =
            [child.stdout.take().map(|p| Box::new(p) as _), child.stderr.take().map(|p| Box::new(p) as _)];
        let collect = |pipe: Box<dyn Read + Send>| {
            std::thread::spawn(move || {
                let mut text = String::new();
                for line in BufReader::new(pipe).split(b'\n').map_while(|l| l.ok()) {
                    let line = String::from_utf8_lossy(&line).into_owned();
                    // Nobody reads: the program meets a closed pipe too.
                    if show && !mrnic_say::line(format_args!("{name}: {line}")) {
                        break;
                    }
                    text.push_str(&line);
                    text.push('\n');
                }
                text
            })
        };
        Ok(Side { child, output: pipes.into_iter().flatten().map(collect).collect() })
    }

    fn wait(mut self) -> Result<Ended> {
        let status = self.child.wait().context("wait for a program")?;
        let output = self.output.drain(..).map(|o| o.join().unwrap_or_default()).collect();
        Ok(Ended { status, output, overdue: false })
    }

    fn wait_within(self, limit: Option<Duration>) -> Result<Ended> {
        match limit {
            Some(limit) => self.wait_or_end(limit),
            None => self.wait(),
        }
    }

    /// Ends it unless it ends by itself soon.
    fn wait_or_end(mut self, patience: Duration) -> Result<Ended> {
        let end = Instant::now() + patience;
        let mut overdue = false;
        while self.child.try_wait().context("look at a program")?.is_none() {
            if Instant::now() >= end && !overdue {
                self.child.kill().context("end a program")?;
                overdue = true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(Ended { overdue, ..self.wait()? })
    }
}

/// A side that has ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// Standard output, then standard error.
    pub output: String,
    /// It did not end by itself, and was ended.
    pub overdue: bool,
}

/// Runs a program to its end, or to the limit.
pub fn single(command: Command, limit: Duration) -> Result<Ended> {
    Side::start(command, "program", false)?.wait_or_end(limit)
}

/// Runs a server and, once it listens, its client. With `show` the output appears as it comes.
pub fn pair(server: Command, client: Command, show: bool) -> Result<(Ended, Ended)> {
    pair_within(server, client, show, None)
}

/// The same with a time limit for the client.
pub fn pair_within(server: Command, client: Command, show: bool, limit: Option<Duration>) -> Result<(Ended, Ended)> {
    let mut server = Side::start(server, "server", show)?;
    let end = Instant::now() + PATIENCE;
    while !listens(server.child.id()) {
        if server.child.try_wait().context("look at the server")?.is_some() {
            let ended = server.wait()?;
            bail!("the server ended ({}) before it listened:\n{}", ended.status, ended.output);
        }
        if Instant::now() >= end {
            let ended = server.wait_or_end(Duration::ZERO)?;
            bail!("the server does not listen on a TCP port after {PATIENCE:?}:\n{}", ended.output);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let client = match Side::start(client, "client", show) {
        Ok(client) => client.wait_within(limit),
        Err(error) => Err(error),
    };
    // A server waits without end for a client that failed, unless it has failed first: then its words tell why.
    let failed = !client.as_ref().is_ok_and(|c| c.status.success());
    let server = server.wait_or_end(if failed { GRACE } else { PATIENCE });
    Ok((server?, client?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    /// The only test of this crate that listens: what is seen of this process is its socket.
    #[test]
    fn a_listening_socket_is_seen_and_a_closed_one_is_not() {
        let own = std::process::id();
        assert!(!listens(own));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        assert!(listens(own));
        drop(listener);
        assert!(!listens(own));
    }

    #[test]
    fn a_server_that_ends_early_is_reported_with_its_words() {
        let error = pair(shell("echo no device; exit 3"), shell("true"), false).unwrap_err();
        assert!(error.to_string().contains("no device"), "{error}");
    }

    #[test]
    fn a_program_that_hangs_is_ended_at_its_limit_and_its_words_are_kept() {
        let ended = single(shell("echo begins; exec sleep 60"), Duration::from_millis(100)).unwrap();
        assert!(ended.overdue && !ended.status.success());
        assert_eq!(ended.output, "begins\n");
        assert!(!single(shell("true"), Duration::from_secs(60)).unwrap().overdue);
    }

    #[test]
    fn no_program_is_an_error() {
        assert!(command(Path::new("/"), &[]).is_err());
    }
}
