//! Links the kernel with the linker script of its architecture.

fn main() {
    let script = "../arch/x86_64/kernel.ld";
    println!("cargo:rerun-if-changed={script}");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("none") {
        let here = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
        println!("cargo:rustc-link-arg=-T{here}/{script}");
    }
}
