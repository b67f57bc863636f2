//! QEMU's plugin interface, version 1, as far as it is used, declared from its documentation
//! (docs/devel/tcg-plugins). QEMU itself has these functions.

use std::ffi::{c_char, c_int, c_uint, c_void};

/// The version of the interface that is meant here.
pub const VERSION: c_int = 1;

/// A number by which QEMU knows this plugin.
pub type PluginId = u64;
/// What an access was; only QEMU can read it.
pub type MemInfo = u32;

/// A block of translated instructions, valid during its callback.
#[repr(C)]
pub struct Block {
    _opaque: [u8; 0],
}

/// One of its instructions, likewise.
#[repr(C)]
pub struct Instruction {
    _opaque: [u8; 0],
}

/// What QEMU says about itself when it loads the plugin.
#[repr(C)]
pub struct Info {
    /// The guest's architecture, as `x86_64`.
    pub target_name: *const c_char,
    /// The oldest version of the interface that this QEMU has, and the present one.
    pub version: [c_int; 2],
    /// Whether a machine is emulated, and not a process. The two fields below are set then.
    pub system_emulation: bool,
    /// Virtual CPUs at the start.
    pub smp_vcpus: c_int,
    /// The most virtual CPUs that there can be.
    pub max_vcpus: c_int,
}

/// Which accesses a callback wants.
pub const READS_AND_WRITES: c_int = 3;
/// The callback reads no registers.
pub const NO_REGISTERS: c_int = 0;

/// Called for every block when it is translated.
pub type OnBlock = unsafe extern "C" fn(PluginId, *mut Block);
/// Called before an instruction is executed.
pub type OnInstruction = unsafe extern "C" fn(c_uint, *mut c_void);
/// Called after a load or store.
pub type OnAccess = unsafe extern "C" fn(c_uint, MemInfo, u64, *mut c_void);
/// Called at the end of QEMU.
pub type OnExit = unsafe extern "C" fn(PluginId, *mut c_void);

unsafe extern "C" {
    /// Asks for a call at every translation.
    pub fn qemu_plugin_register_vcpu_tb_trans_cb(id: PluginId, call: OnBlock);
    /// Asks for a call at the end.
    pub fn qemu_plugin_register_atexit_cb(id: PluginId, call: OnExit, data: *mut c_void);
    /// How many instructions a block has.
    pub fn qemu_plugin_tb_n_insns(block: *const Block) -> usize;
    /// The instruction at a place below that number.
    pub fn qemu_plugin_tb_get_insn(block: *const Block, place: usize) -> *mut Instruction;
    /// Its bytes.
    pub fn qemu_plugin_insn_data(instruction: *const Instruction) -> *const c_void;
    /// How many they are.
    pub fn qemu_plugin_insn_size(instruction: *const Instruction) -> usize;
    /// Its virtual address.
    pub fn qemu_plugin_insn_vaddr(instruction: *const Instruction) -> u64;
    /// Asks for a call at each execution.
    pub fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut Instruction,
        call: OnInstruction,
        flags: c_int,
        data: *mut c_void,
    );
    /// Asks for a call at each access.
    pub fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut Instruction,
        call: OnAccess,
        flags: c_int,
        accesses: c_int,
        data: *mut c_void,
    );
    /// Whether an access was a store.
    pub fn qemu_plugin_mem_is_store(info: MemInfo) -> bool;
}
