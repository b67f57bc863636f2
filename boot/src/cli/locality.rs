//! `--locality`: a run under the locality meter.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, ValueEnum};
use serde_json::json;

use super::run::{report, show};
use crate::locality::{self, Metered, Report, names, nodes, plugin, table};
use crate::qemu::{BootRequest, Outcome};
use crate::setup::progress::{Progress, say};

#[derive(Debug, Clone, Copy, Args)]
pub(super) struct LocalityArgs {
    /// Count the memory accesses of marked work by node and kind; every-node boots once for each node
    /// that has a CPU, with the boot CPU on it
    #[arg(
        long,
        value_name = "WHERE",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "boot-cpu"
    )]
    locality: Option<Where>,
    /// With --locality: write one JSON object in place of what the kernel says and the tables
    #[arg(long, requires = "locality")]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Where {
    /// One boot, the boot CPU where the machine has it.
    BootCpu,
    /// One boot for every node.
    EveryNode,
}

impl LocalityArgs {
    pub(super) fn asked_for(self) -> bool {
        self.locality.is_some()
    }

    /// Boots under the meter. Without a plugin the machine is booted all the same.
    pub(super) fn run(self, request: &BootRequest<'_>) -> Result<ExitCode> {
        match plugin::build() {
            Err(error) => self.without_meter(request, &format!("{error:#}")),
            Ok(plugin) if self.locality == Some(Where::EveryNode) => {
                self.every_node(request, &plugin)
            }
            Ok(plugin) => self.one_boot(request, &plugin),
        }
    }

    fn one_boot(self, request: &BootRequest<'_>, plugin: &Path) -> Result<ExitCode> {
        let mut out = io::stdout().lock();
        let metered = locality::boot(request, plugin, |line| {
            if !self.json {
                // As without the meter, whoever closed our output wants to read no more.
                let _ = writeln!(out, "{line}").and_then(|()| out.flush());
            }
        })?;
        drop(out);
        match metered {
            Metered::NoPlugin(why) => self.without_meter(request, &why),
            Metered::Booted { outcome, report: counted } => {
                if let Some(counted) = counted {
                    self.write(&counted, request.elf)?;
                }
                Ok(report(&outcome))
            }
        }
    }

    fn every_node(self, request: &BootRequest<'_>, plugin: &Path) -> Result<ExitCode> {
        let mut worst = Some(0.0_f64);
        let mut all = Vec::new();
        for (node, machine) in nodes::boot_cpu_on_each(request.machine)? {
            let progress = Progress::start(&format!("boots with the boot CPU on node {node}"));
            let request = BootRequest { machine: &machine, ..request.clone() };
            let metered = locality::boot(&request, plugin, |_| {})?;
            drop(progress);
            let counted = match metered {
                Metered::NoPlugin(why) => return self.without_meter(&request, &why),
                Metered::Booted { report: Some(counted), .. } => counted,
                Metered::Booted { outcome, .. } => return Ok(report(&outcome)),
            };
            if !self.json {
                writeln!(io::stdout(), "-- The boot CPU on node {node}\n")?;
                self.write(&counted, request.elf)?;
            }
            worst = worst.zip(counted.remote_accesses_per_pair).map(|(a, b)| a.max(b));
            all.push(counted);
        }
        match (self.json, worst) {
            (true, _) => writeln!(
                io::stdout(),
                "{}",
                json!({"boots": all, "remote_accesses_per_pair": worst})
            )?,
            (false, Some(worst)) => {
                writeln!(io::stdout(), "\nThe worst of all nodes: {}.", table::number(worst))?;
            }
            (false, None) => {}
        }
        Ok(ExitCode::SUCCESS)
    }

    fn write(self, counted: &Report, elf: &Path) -> Result<()> {
        let mut out = io::stdout().lock();
        match self.json {
            true => writeln!(out, "{}", serde_json::to_string(counted)?)?,
            false => {
                writeln!(
                    out,
                    "\n-- Memory accesses by node and kind; loads and stores of one time\n"
                )?;
                write!(out, "{}", table::text(counted, &names::names(counted, elf)))?;
            }
        }
        Ok(())
    }

    /// The boot that was asked for, and a word on what is missing.
    fn without_meter(self, request: &BootRequest<'_>, why: &str) -> Result<ExitCode> {
        say(&format!("no figures of locality: the plugin cannot be loaded: {why}"));
        if !self.json {
            return show(request);
        }
        let outcome: Outcome = crate::qemu::boot(request, |_| {}, |_| {})?;
        writeln!(io::stdout(), "{}", json!({"regions": null, "remote_accesses_per_pair": null}))?;
        Ok(report(&outcome))
    }
}
