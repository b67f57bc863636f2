//! What one CPU can send another, as the interrupt command register has it (Intel SDM volume 3,
//! 11.6.1): physical destination, edge triggered.

use nearmem::ApicId;

use crate::interrupts::Vector;

/// A message to another CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// An interrupt.
    Interrupt(Vector),
    /// One that cannot be switched off.
    Nmi,
    /// Go back to the state before the first instruction.
    Init,
    /// Begin in real mode at the first byte of this page, 0 to 255.
    Start {
        /// The page: address / 4096.
        page: u8,
    },
}

/// A message and whose it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub to: ApicId,
    pub message: Message,
}

/// The message counts when it is sent, not when it ends.
const ASSERT: u32 = 1 << 14;

impl Command {
    /// The lower half of the register.
    pub const fn low(self) -> u32 {
        let (mode, vector) = match self.message {
            Message::Interrupt(vector) => (0, vector as u32),
            Message::Nmi => (4, 0),
            Message::Init => (5, 0),
            Message::Start { page } => (6, page as u32),
        };
        ASSERT | mode << 8 | vector
    }
}
