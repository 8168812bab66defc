//! Zeroed memory of pages of its own, for rings: the NIC's host maps memory by pages.
//!
//! In: a number of bytes. Out: memory that stays where it is until this is dropped.
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};

const ALIGN: usize = 4096;

pub struct Pages {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: plain memory, with one owner.
unsafe impl Send for Pages {}
unsafe impl Sync for Pages {}

impl Pages {
    pub fn new(bytes: usize) -> Self {
        let bytes = bytes.max(1).next_multiple_of(ALIGN);
        // SAFETY: the alignment is a power of two, the size a multiple of it, and not 0.
        let layout = unsafe { Layout::from_size_align_unchecked(bytes, ALIGN) };
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Pages { start, layout }
    }

    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn bytes(&self) -> usize {
        self.layout.size()
    }

    /// All zero again; nobody else may access it now.
    pub fn clear(&mut self) {
        // SAFETY: the whole allocation, with one owner.
        unsafe { self.start.write_bytes(0, self.layout.size()) };
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}
