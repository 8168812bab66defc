//! Results on standard output, where the reader may leave before the end (`mrnic scenarios | head -1`).
//!
//! In: lines. Out: the same on standard output. Guarantees: a reader that is gone is no error and no panic. Who has nothing to tidy up says
//! [`say!`], and the process ends as if by SIGPIPE; who has uses [`line`], which tells. SIGPIPE itself stays ignored: sockets need EPIPE.
use std::fmt::Arguments;
use std::io::{ErrorKind, Result, Write};

/// The exit status that a shell shows for a process ended by SIGPIPE.
pub const STATUS_NO_READER: i32 = 141;

fn write(to: &mut impl Write, text: Arguments) -> Result<()> {
    to.write_fmt(text)?;
    // A pipe is read as it is written.
    to.flush()
}

fn is_heard(result: Result<()>) -> bool {
    match result {
        Ok(()) => true,
        Err(error) if error.kind() == ErrorKind::BrokenPipe => false,
        Err(error) => {
            // Nobody may read this either.
            let _said = writeln!(std::io::stderr(), "mrnic: cannot write to standard output: {error}; send it elsewhere");
            std::process::exit(1)
        }
    }
}

/// Writes a line. `false`: nobody reads. Another failure (a full disk) ends the process with a message.
pub fn line(text: Arguments) -> bool {
    is_heard(write(&mut std::io::stdout().lock(), format_args!("{text}\n")))
}

/// Ends the process, quietly, because nobody reads what it says.
pub fn end() -> ! {
    std::process::exit(STATUS_NO_READER)
}

/// `println!` that ends the process quietly when nobody reads any more.
#[macro_export]
macro_rules! say {
    ($($text:tt)*) => {
        if !$crate::line(format_args!($($text)*)) {
            $crate::end()
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fails(ErrorKind);

    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_no_error() {
        assert!(!is_heard(write(&mut Fails(ErrorKind::BrokenPipe), format_args!("x"))));
        let mut text = Vec::new();
        assert!(is_heard(write(&mut text, format_args!("{}\n", 7))));
        assert_eq!(text, b"7\n");
    }
}
