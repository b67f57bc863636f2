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
    /// Follows from the rest.
    way: u32,
    order: Order,
    zone_limit: ZoneKind,
    zero: bool,
}

impl<'a> Request<'a> {
    /// A block of this order from any zone, near the running CPU, contents undefined.
    pub const fn new(order: Order) -> Request<'a> {
        Request { policy: Policy::Local, way: 0, order, zone_limit: ZoneKind::Normal, zero: false }
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

    /// Where in a CPU's table of ways its pageset is.
    #[inline]
    pub(super) const fn way(&self) -> u32 {
        self.way
    }

    const fn with_way(self) -> Request<'a> {
        let way = match self.order.get() == 0 && !self.zero {
            true => ways::way(&self.policy, self.zone_limit, false),
            false => ways::SEARCH,
        };
        Request { way, ..self }
    }
}
