//! `difftest!`: a `Difftest` from a list of field paths.
//! Comes in: the block, its clock, its inputs. Goes out: the builder with an accessor for each.
//! Guarantees that names are formed as the emitter forms them.

/// `difftest!(BLOCK, clock: PATH or none, inputs: { PATH, ... })`; see the crate documentation.
#[macro_export]
macro_rules! difftest {
    ($block:expr, clock: none, inputs: { $($inputs:tt)* }) => {
        $crate::difftest!(@input [$crate::Difftest::new(move || $block)] [] $($inputs)*)
    };
    ($block:expr, clock: $clock:ident $(. $rest:ident)*, inputs: { $($inputs:tt)* }) => {
        $crate::difftest!(@input
            [$crate::Difftest::new(move || $block).clock(|b| &mut b.$clock $(. $rest)*)] [] $($inputs)*)
    };
    (@input [$($test:tt)*] []) => { $($test)* };
    (@input [$($test:tt)*] [$($path:tt)+]) => {
        $($test)*.input(&$crate::port_name(stringify!($($path)+)), |b| &mut b.$($path)+)
    };
    (@input [$($test:tt)*] [$($path:tt)+] , $($rest:tt)*) => {
        $crate::difftest!(@input
            [$($test)*.input(&$crate::port_name(stringify!($($path)+)), |b| &mut b.$($path)+)] [] $($rest)*)
    };
    (@input [$($test:tt)*] [$($path:tt)*] $next:tt $($rest:tt)*) => {
        $crate::difftest!(@input [$($test)*] [$($path)* $next] $($rest)*)
    };
}

/// The Verilog name of a field path: `port[0].valid` is `port_0_valid`.
pub fn port_name(path: &str) -> String {
    let mut name = String::new();
    for c in path.chars().filter(|c| !c.is_whitespace() && *c != ']') {
        name.push(if c == '.' || c == '[' { '_' } else { c });
    }
    name
}

#[cfg(test)]
mod tests {
    #[test]
    fn paths_become_port_names() {
        assert_eq!(super::port_name("a"), "a");
        assert_eq!(super::port_name("i.data"), "i_data");
        assert_eq!(super::port_name("port [0] . valid"), "port_0_valid");
    }
}
