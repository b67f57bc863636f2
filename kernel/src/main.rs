//! The kernel: brings the machine up, shows what came of it, and powers off.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod bare_metal {
    use core::panic::PanicInfo;

    use nearmem_kernel::{
        Kernel, bench, facts, facts_port, locality, panic, placement, show, start,
    };
    use nearmem_x86_64::{Boot, exit};
    use serde_json::json;

    nearmem_x86_64::entry_point!(main);

    fn main(boot: Boot) -> ! {
        start(boot, run)
    }

    fn run(kernel: &'static Kernel) -> ! {
        if let Some(wanted) = kernel.options.bench {
            bench::run(kernel, wanted);
        }
        locality::run(kernel);
        if kernel.options.bench.is_some() {
            end();
        }
        // What is parked in pagesets counts as free in the reports.
        kernel.memory.drain_all();
        facts_port::send(&placement::placement(kernel));
        facts_port::send(&facts::facts(kernel));
        show::machine(kernel);
        end()
    }

    fn end() -> ! {
        facts_port::send(&json!({"type": "end", "code": 0}));
        exit::success()
    }

    #[panic_handler]
    fn panicked(info: &PanicInfo<'_>) -> ! {
        panic::end(info)
    }
}

/// On a host there is nothing to boot: the launcher boots the kernel.
#[cfg(not(target_os = "none"))]
fn main() {
    println!("this is a kernel: `cargo run` in the workspace boots it");
}
