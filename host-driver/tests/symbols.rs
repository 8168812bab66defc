//! The built library: symbols, versions, and that programs which look them up by version find them.
//!
//! In: `libibverbs.so.1` as `mrnic library` makes it. Out: a failure that names the symbol.
use mrnic_host_driver::link::{build, exports, find, Made, NODES, SONAME};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

fn made() -> &'static (tempfile::TempDir, Made) {
    static MADE: OnceLock<(tempfile::TempDir, Made)> = OnceLock::new();
    MADE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let made = build(dir.path()).expect("the library is built");
        (dir, made)
    })
}

fn library() -> &'static Path {
    &made().1.library
}

#[test]
fn every_symbol_has_a_version_and_nothing_else_is_visible() {
    let exported = exports(library()).expect("readable");
    for symbol in &exported {
        assert!(symbol.version.starts_with("IBVERBS_"), "{} has no version", symbol.name);
    }
    for (version, names) in NODES {
        for name in *names {
            // The private node has the number of the installed release.
            let fits = |v: &str| v == *version || (v.contains("PRIVATE") && version.contains("PRIVATE"));
            assert!(exported.iter().any(|e| e.name == *name && fits(&e.version)), "{name}@{version}");
        }
    }
}

#[test]
fn readelf_agrees_about_the_name() {
    let output = Command::new("readelf").arg("-d").arg(library()).output().expect("binutils are installed with gcc");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(&format!("Library soname: [{SONAME}]")), "{text}");
}

/// Whatever was linked with the installed library finds all it needs in ours, in the same version.
#[test]
fn all_that_the_installed_library_exports_is_there() {
    let Some(installed) = find() else {
        eprintln!("not compared: no libibverbs is installed (apt-get install libibverbs1)");
        return;
    };
    let of = |path: &Path| -> BTreeSet<(String, String)> {
        let all = exports(path).expect("readable").into_iter();
        all.filter(|e| !e.hidden).map(|e| (e.version, e.name)).collect()
    };
    let (theirs, ours) = (of(&installed), of(library()));
    let missing: Vec<_> = theirs.difference(&ours).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// The look-ups that NCCL does at run time: it never links the library.
#[test]
fn dlvsym_finds_what_nccl_asks_for() {
    const BY_VERSION: [(&str, &[&str]); 4] = [
        (
            "IBVERBS_1.1",
            &[
                "ibv_get_device_list",
                "ibv_free_device_list",
                "ibv_get_device_name",
                "ibv_open_device",
                "ibv_close_device",
                "ibv_get_async_event",
                "ibv_ack_async_event",
                "ibv_query_device",
                "ibv_query_port",
                "ibv_query_gid",
                "ibv_query_qp",
                "ibv_alloc_pd",
                "ibv_dealloc_pd",
                "ibv_reg_mr",
                "ibv_dereg_mr",
                "ibv_create_cq",
                "ibv_destroy_cq",
                "ibv_create_qp",
                "ibv_modify_qp",
                "ibv_destroy_qp",
                "ibv_fork_init",
                "ibv_event_type_str",
            ],
        ),
        ("IBVERBS_1.8", &["ibv_reg_mr_iova2"]),
        ("IBVERBS_1.10", &["ibv_query_ece", "ibv_set_ece"]),
        ("IBVERBS_1.12", &["ibv_reg_dmabuf_mr"]),
    ];
    let path = CString::new(library().as_os_str().as_encoded_bytes()).expect("a path");
    // SAFETY: terminated texts; the library has no constructors of ours.
    unsafe {
        let handle = libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
        assert!(!handle.is_null(), "dlopen fails");
        for (version, names) in BY_VERSION {
            let version = CString::new(version).expect("a text");
            for name in names {
                let name = CString::new(*name).expect("a text");
                assert!(!libc::dlvsym(handle, name.as_ptr(), version.as_ptr()).is_null(), "{name:?}@{version:?}");
            }
            let wrong = c"ibv_no_such_function";
            assert!(libc::dlvsym(handle, wrong.as_ptr(), version.as_ptr()).is_null());
        }
    }
}
