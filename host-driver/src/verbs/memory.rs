//! Protection domains and memory regions.
//!
//! In: addresses of the program. Out: registered regions with keys; a region is registered only when all its pages
//! can be used as its rights say.
use super::context::Context;
use super::convert::access_of;
use super::result::{code, pointer, set_errno};
use crate::abi::*;
use crate::device::{DeviceError, MemoryRegion, MrKeys, PdId};
use crate::rules::{Access, Usage};
use std::ffi::{c_int, c_void};

#[repr(C)]
pub struct Pd {
    public: ibv_pd,
    own: PdOwn,
}

pub struct PdOwn {
    pub id: PdId,
    pub usage: Usage,
}

/// Our part of a protection domain.
pub unsafe fn pd_own<'a>(pd: *mut ibv_pd) -> &'a PdOwn {
    &(*pd.cast::<Pd>()).own
}

#[repr(C)]
struct Mr {
    public: ibv_mr,
    region: MemoryRegion,
}

#[no_mangle]
pub unsafe extern "C" fn ibv_alloc_pd(context: *mut ibv_context) -> *mut ibv_pd {
    let own = Context::of(context);
    let make = || {
        own.usage.acquire("context")?;
        let id = own.device.alloc_pd().inspect_err(|_| own.usage.release())?;
        let public = ibv_pd { context, handle: id.0 };
        Ok(Box::into_raw(Box::new(Pd { public, own: PdOwn { id, usage: Usage::default() } })).cast())
    };
    pointer(make())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_dealloc_pd(pd: *mut ibv_pd) -> c_int {
    let context = Context::of((*pd).context);
    let own = pd_own(pd);
    let end = || {
        own.usage.close("PD")?;
        context.device.dealloc_pd(own.id).inspect_err(|_| own.usage.reopen())
    };
    if let Err(error) = end() {
        return code(Err(error));
    }
    drop(Box::from_raw(pd.cast::<Pd>()));
    context.usage.release();
    0
}

/// Brings in all pages of a region, as pinning would: a device that found a page missing or read-only while a message arrives could only
/// kill the process.
fn check_mapped(addr: u64, length_bytes: u64, write: bool) -> Result<(), DeviceError> {
    // SAFETY: sysconf takes no pointers.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    let end = addr
        .checked_add(length_bytes)
        .and_then(|end| end.checked_add(page - 1))
        .ok_or_else(|| DeviceError::invalid("memory region", "address and length pass the end of the address space"))?;
    let (start, end) = (addr / page * page, end / page * page);
    let populate = |advice| {
        // SAFETY: populating changes no contents, at any address.
        let failed = unsafe { libc::madvise(start as *mut c_void, (end - start) as usize, advice) } != 0;
        failed.then(|| std::io::Error::last_os_error().raw_os_error().unwrap_or(0))
    };
    let readable = populate(libc::MADV_POPULATE_READ);
    let usable = match readable {
        None => !write || populate(libc::MADV_POPULATE_WRITE).is_none(),
        // A kernel before 5.14, or memory of a device: then it must at least be mapped.
        Some(libc::EINVAL) => is_mapped(start, end, page),
        Some(_) => false,
    };
    if usable {
        return Ok(());
    }
    Err(DeviceError::Unmapped { addr, length_bytes })
}

/// Is every page of a range mapped, with whatever rights?
fn is_mapped(start: u64, end: u64, page: u64) -> bool {
    const PAGES_A_CALL: usize = 4096;
    let mut resident = [0u8; PAGES_A_CALL];
    let mut at = start;
    while at < end {
        let bytes = (end - at).min(page * PAGES_A_CALL as u64);
        // SAFETY: mincore only looks, at any address; the vector has a byte for each page asked for.
        if unsafe { libc::mincore(at as *mut c_void, bytes as usize, resident.as_mut_ptr()) } != 0 {
            return false;
        }
        at += bytes;
    }
    true
}

fn region_of(pd: PdId, addr: u64, length_bytes: u64, iova: u64, access: Access) -> Result<MemoryRegion, DeviceError> {
    let access = access.check_region()?;
    if length_bytes == 0 {
        return Err(DeviceError::invalid("memory region", "a region has at least one byte"));
    }
    if iova.checked_add(length_bytes).is_none() {
        return Err(DeviceError::invalid("memory region", "iova and length pass the end of the address space"));
    }
    check_mapped(addr, length_bytes, access.local_write)?;
    Ok(MemoryRegion { pd, addr, length_bytes, iova, access })
}

unsafe fn register(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    flags: u32,
) -> Result<*mut ibv_mr, DeviceError> {
    let context = Context::of((*pd).context);
    let own = pd_own(pd);
    let region = region_of(own.id, addr as u64, length as u64, iova, access_of(flags)?)?;
    own.usage.acquire("PD")?;
    let MrKeys { lkey, rkey } = context.device.reg_mr(&region).inspect_err(|_| own.usage.release())?;
    let public = ibv_mr { context: (*pd).context, pd, addr, length, handle: lkey, lkey, rkey };
    Ok(Box::into_raw(Box::new(Mr { public, region })).cast())
}

#[no_mangle]
pub unsafe extern "C" fn ibv_reg_mr(pd: *mut ibv_pd, addr: *mut c_void, length: usize, access: c_int) -> *mut ibv_mr {
    ibv_reg_mr_iova2(pd, addr, length, addr as u64, access as u32)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_reg_mr_iova(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: c_int,
) -> *mut ibv_mr {
    ibv_reg_mr_iova2(pd, addr, length, iova, access as u32)
}

#[no_mangle]
pub unsafe extern "C" fn ibv_reg_mr_iova2(
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    iova: u64,
    access: u32,
) -> *mut ibv_mr {
    let iova = if access & IBV_ACCESS_ZERO_BASED != 0 { 0 } else { iova };
    pointer(register(pd, addr, length, iova, access))
}

#[no_mangle]
pub unsafe extern "C" fn ibv_dereg_mr(mr: *mut ibv_mr) -> c_int {
    let context = Context::of((*mr).context);
    if let Err(error) = context.device.dereg_mr(MrKeys { lkey: (*mr).lkey, rkey: (*mr).rkey }) {
        return code(Err(error));
    }
    pd_own((*mr).pd).usage.release();
    drop(Box::from_raw(mr.cast::<Mr>()));
    0
}

/// The keys stay; what fails leaves the old registration as it was.
#[no_mangle]
pub unsafe extern "C" fn ibv_rereg_mr(
    mr: *mut ibv_mr,
    flags: c_int,
    pd: *mut ibv_pd,
    addr: *mut c_void,
    length: usize,
    access: c_int,
) -> c_int {
    let all = IBV_REREG_MR_CHANGE_TRANSLATION | IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS;
    let has = |flag| flags & flag != 0;
    if flags == 0 || flags & !all != 0 || (has(IBV_REREG_MR_CHANGE_PD) && pd.is_null()) {
        set_errno(libc::EINVAL);
        return IBV_REREG_MR_ERR_INPUT;
    }
    let own = &mut *mr.cast::<Mr>();
    let wanted = || {
        let old = own.region;
        let new_pd = if has(IBV_REREG_MR_CHANGE_PD) { pd } else { own.public.pd };
        let id = pd_own(new_pd).id;
        let access = if has(IBV_REREG_MR_CHANGE_ACCESS) { access_of(access as u32)? } else { old.access };
        let (addr, length, iova) = if has(IBV_REREG_MR_CHANGE_TRANSLATION) {
            (addr as u64, length as u64, addr as u64)
        } else {
            (old.addr, old.length_bytes, old.iova)
        };
        Ok((new_pd, region_of(id, addr, length, iova, access)?))
    };
    let (new_pd, region) = match wanted() {
        Ok(new) => new,
        Err(error) => {
            code(Err(error));
            return IBV_REREG_MR_ERR_INPUT;
        }
    };
    let keys = MrKeys { lkey: own.public.lkey, rkey: own.public.rkey };
    let change = || {
        pd_own(new_pd).usage.acquire("PD")?;
        let device = &Context::of(own.public.context).device;
        device.rereg_mr(keys, &region).inspect_err(|_| pd_own(new_pd).usage.release())
    };
    if let Err(error) = change() {
        code(Err(error));
        return IBV_REREG_MR_ERR_INPUT;
    }
    pd_own(own.public.pd).usage.release();
    own.region = region;
    own.public.pd = new_pd;
    own.public.addr = region.addr as *mut c_void;
    own.public.length = region.length_bytes as usize;
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unmapped_pages_and_wrapping_lengths_are_refused() {
        let page = 4096;
        // SAFETY: an anonymous mapping of our own, unmapped again in its middle.
        let base = unsafe {
            let base = libc::mmap(
                std::ptr::null_mut(),
                3 * page,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            libc::munmap(base.add(page), page);
            base as u64
        };
        let page = page as u64;
        let errno = |addr, length| check_mapped(addr, length, true).map_err(|e| e.errno());
        assert_eq!(errno(base, page), Ok(()));
        assert_eq!(errno(base + page - 1, 1), Ok(()));
        assert_eq!(errno(base + page - 1, 2), Err(libc::EFAULT));
        assert_eq!(errno(base, 3 * page), Err(libc::EFAULT));
        assert_eq!(errno(base + 2 * page, page), Ok(()));
        assert_eq!(errno(u64::MAX - 10, 11), Err(libc::EINVAL));
        assert_eq!(errno(base, u64::MAX), Err(libc::EINVAL));
    }

    #[test]
    fn regions_that_cannot_be_are_refused_before_the_device_hears_of_them() {
        let byte = 0u8;
        let addr = std::ptr::from_ref(&byte) as u64;
        let errno = |length, iova, access| region_of(PdId(1), addr, length, iova, access).map_err(|e| e.errno()).err();
        assert_eq!(errno(1, 0, Access::ALL), None);
        assert_eq!(errno(0, 0, Access::ALL), Some(libc::EINVAL));
        assert_eq!(errno(1, u64::MAX, Access::ALL), Some(libc::EINVAL));
        assert_eq!(errno(1, 0, Access { remote_write: true, ..Access::default() }), Some(libc::EINVAL));
    }

    #[test]
    fn read_only_memory_cannot_be_registered_for_writing() {
        // SAFETY: an anonymous mapping of our own, which the test leaves behind.
        let base = unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, flags, -1, 0) as u64
        };
        let errno = |access| region_of(PdId(1), base, 4096, base, access).map_err(|e| e.errno()).err();
        assert_eq!(errno(Access { remote_read: true, ..Access::default() }), None);
        assert_eq!(errno(Access { local_write: true, ..Access::default() }), Some(libc::EFAULT));
    }
}
