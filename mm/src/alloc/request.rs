//! What a caller asks for.
#![forbid(unsafe_code)]

use crate::units::Order;
use crate::zone::ZoneKind;

use super::Policy;
use super::ways;

/// A request for a block of frames.
///
/// ```
/// use nearmem::alloc::{Policy, Request};
/// use nearmem::zone::ZoneKind;
/// use nearmem::{NodeId, Order};
///
/// let page = Request::new(Order::ZERO);
/// let table = Request::new(Order::HUGE).on(Policy::Preferred(NodeId(2))).zeroed();
/// let isa = Request::new(Order::ZERO).limit(ZoneKind::Dma);
/// assert_eq!(page.zone_limit(), ZoneKind::Normal);
/// assert!(table.zero() && isa.zone_limit() == ZoneKind::Dma);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    policy: Policy<'a>,
    /// Follows from the rest, as the next.
    way: u16,
    parked: u16,
    order: Order,
    zone_limit: ZoneKind,
    zero: bool,
    this_node: bool,
    no_retry: bool,
    reserve: bool,
}

impl<'a> Request<'a> {
    /// A block of this order from any zone, near the running CPU, contents undefined.
    pub const fn new(order: Order) -> Request<'a> {
        Request {
            policy: Policy::Local,
            way: 0,
            parked: 0,
            order,
            zone_limit: ZoneKind::Normal,
            zero: false,
            this_node: false,
            no_retry: false,
            reserve: false,
        }
        .with_way()
    }

    /// The same on other nodes.
    pub const fn on(self, policy: Policy<'a>) -> Request<'a> {
        Request { policy, ..self }.with_way()
    }

    /// The same from `zone` or a lower one only.
    pub const fn limit(self, zone: ZoneKind) -> Request<'a> {
        Request { zone_limit: zone, ..self }.with_way()
    }

    /// The same, filled with zeros.
    pub const fn zeroed(self) -> Request<'a> {
        Request { zero: true, ..self }.with_way()
    }

    /// The same, filled with zeros if `zero` says so.
    pub const fn zeroed_if(self, zero: bool) -> Request<'a> {
        Request { zero, ..self }.with_way()
    }

    /// The same from the node where the policy begins, and no other. (Linux: `__GFP_THISNODE`.)
    pub const fn this_node(self) -> Request<'a> {
        Request { this_node: true, ..self }.with_way()
    }

    /// The same, failing at once: [`alloc`](super::MemorySubsystem::alloc) does not collect what
    /// CPUs have parked. (Linux: `__GFP_NORETRY`.)
    pub const fn no_retry(self) -> Request<'a> {
        Request { no_retry: true, ..self }
    }

    /// The same for who cannot wait and must not fail: it may take from the reserve, down to 3/8 of
    /// the min mark, and is not retried. (Linux: `GFP_ATOMIC`.)
    pub const fn atomic(self) -> Request<'a> {
        Request { reserve: true, no_retry: true, ..self }
    }

    /// On which nodes to look.
    pub const fn policy(&self) -> Policy<'a> {
        self.policy
    }

    /// How many frames, as an order.
    pub const fn order(&self) -> Order {
        self.order
    }

    /// The highest zone that may serve.
    pub const fn zone_limit(&self) -> ZoneKind {
        self.zone_limit
    }

    /// Whether the block is filled with zeros.
    pub const fn zero(&self) -> bool {
        self.zero
    }

    /// Whether no other node may serve than the one where the policy begins.
    pub const fn only_this_node(&self) -> bool {
        self.this_node
    }

    /// Whether it fails without collecting parked frames.
    pub const fn fails_at_once(&self) -> bool {
        self.no_retry
    }

    /// Whether it may take from the reserve below the min mark.
    pub const fn may_use_reserve(&self) -> bool {
        self.reserve
    }

    /// Where in a CPU's table of ways the zone is where it begins, if it is there.
    #[inline]
    pub(super) const fn way(&self) -> usize {
        self.way as usize
    }

    /// The same for a single frame, which the zone's pageset may serve.
    #[inline]
    pub(super) const fn parked_way(&self) -> usize {
        self.parked as usize
    }

    const fn with_way(self) -> Request<'a> {
        let way = match self.zero {
            true => ways::SEARCH,
            false => ways::way(&self.policy, self.zone_limit, self.this_node),
        };
        let parked = if self.order.get() == 0 { way } else { ways::SEARCH };
        Request { way, parked, ..self }
    }
}
