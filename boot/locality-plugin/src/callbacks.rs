//! What QEMU calls. A panic in here ends QEMU, so nothing panics.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::marker::Marker;
use crate::qemu::{self, Block, Info, Instruction, MemInfo, PluginId};
use crate::vcpus::Vcpus;

/// The version of the interface that QEMU checks before it installs the plugin.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)] // the name is QEMU's
pub static qemu_plugin_version: c_int = qemu::VERSION;

/// The plugin at work.
struct Meter {
    out: PathBuf,
    vcpus: Vcpus,
}

static METER: OnceLock<Meter> = OnceLock::new();

/// Starts the plugin; `out=FILE` says where the counts go. Anything but 0 makes QEMU give up.
///
/// # Safety
/// For QEMU alone: `info` and `argc` strings behind `argv` are valid during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: PluginId,
    info: *const Info,
    argc: c_int,
    argv: *const *const c_char,
) -> c_int {
    // SAFETY: QEMU's promise.
    let info = unsafe { &*info };
    let count = usize::try_from(argc).unwrap_or(0);
    let mut out = None;
    for place in 0..count {
        // SAFETY: QEMU's promise; the strings end with a zero byte.
        let word = unsafe { CStr::from_ptr(*argv.add(place)) };
        match word.to_str().ok().and_then(|word| word.strip_prefix("out=")) {
            Some(path) => out = Some(PathBuf::from(path)),
            None => return fail(&format!("expected out=FILE, got {word:?}")),
        }
    }
    let Some(out) = out else { return fail("out=FILE is missing") };
    if !info.system_emulation {
        return fail("it is for whole machines");
    }
    let vcpus = Vcpus::new(usize::try_from(info.max_vcpus).unwrap_or(0));
    if METER.set(Meter { out, vcpus }).is_err() {
        return fail("it is loaded already");
    }
    // SAFETY: the callbacks have the types that QEMU calls them with.
    unsafe {
        qemu::qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
        qemu::qemu_plugin_register_atexit_cb(id, on_exit, std::ptr::null_mut());
    }
    0
}

fn fail(why: &str) -> c_int {
    eprintln!("nearmem-locality-plugin: {why}");
    1
}

/// Asks for a call at each instruction of the block.
unsafe extern "C" fn on_block(_: PluginId, block: *mut Block) {
    // SAFETY: the block is valid during this call.
    for place in 0..unsafe { qemu::qemu_plugin_tb_n_insns(block) } {
        // SAFETY: as above, and `place` is below its number of instructions.
        unsafe { on_translation(qemu::qemu_plugin_tb_get_insn(block, place)) };
    }
}

/// # Safety
/// The instruction is of the block that is being translated.
unsafe fn on_translation(instruction: *mut Instruction) {
    // SAFETY: the caller's promise; QEMU keeps the bytes as long as the instruction.
    let bytes = unsafe {
        let data = qemu::qemu_plugin_insn_data(instruction).cast::<u8>();
        std::slice::from_raw_parts(data, qemu::qemu_plugin_insn_size(instruction))
    };
    if let Some(marker) = Marker::decode(bytes) {
        let word = std::ptr::without_provenance_mut(marker.to_word());
        // SAFETY: the caller's promise; the callback takes the pointer for a number.
        unsafe {
            qemu::qemu_plugin_register_vcpu_insn_exec_cb(
                instruction,
                on_marker,
                qemu::NO_REGISTERS,
                word,
            );
        }
        return;
    }
    // SAFETY: as above.
    unsafe {
        let pc = qemu::qemu_plugin_insn_vaddr(instruction) as usize;
        let pc = std::ptr::without_provenance_mut(pc);
        let flags = qemu::NO_REGISTERS;
        qemu::qemu_plugin_register_vcpu_insn_exec_cb(instruction, on_instruction, flags, pc);
        let both = qemu::READS_AND_WRITES;
        qemu::qemu_plugin_register_vcpu_mem_cb(instruction, on_access, flags, both, pc);
    }
}

unsafe extern "C" fn on_marker(vcpu: c_uint, word: *mut c_void) {
    if let (Some(meter), Some(marker)) = (METER.get(), Marker::from_word(word.addr())) {
        meter.vcpus.marker(vcpu as usize, marker);
    }
}

unsafe extern "C" fn on_instruction(vcpu: c_uint, _: *mut c_void) {
    if let Some(meter) = METER.get() {
        meter.vcpus.instruction(vcpu as usize);
    }
}

unsafe extern "C" fn on_access(vcpu: c_uint, info: MemInfo, address: u64, pc: *mut c_void) {
    if let Some(meter) = METER.get() {
        // SAFETY: `info` is what QEMU gave this call.
        let store = unsafe { qemu::qemu_plugin_mem_is_store(info) };
        meter.vcpus.access(vcpu as usize, pc.addr() as u64, address, store);
    }
}

/// Writes the file.
unsafe extern "C" fn on_exit(_: PluginId, _: *mut c_void) {
    let Some(meter) = METER.get() else { return };
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = meter.vcpus.write(&mut text);
    if let Err(why) = std::fs::write(&meter.out, text) {
        fail(&format!("{}: {why}", meter.out.display()));
    }
}
