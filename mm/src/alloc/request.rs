//! What a caller asks for.
#![forbid(unsafe_code)]

use crate::units::Order;
use crate::zone::ZoneKind;

use super::Policy;

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
/// assert_eq!(page.zone_limit, ZoneKind::Normal);
/// assert!(table.zero && isa.zone_limit == ZoneKind::Dma);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// How many frames, as an order.
    pub order: Order,
    /// The highest zone that may serve.
    pub zone_limit: ZoneKind,
    /// On which nodes to look.
    pub policy: Policy<'a>,
    /// Fill the block with zeros.
    pub zero: bool,
}

impl<'a> Request<'a> {
    /// A block of this order from any zone, near the running CPU, contents undefined.
    pub const fn new(order: Order) -> Request<'a> {
        Request { order, zone_limit: ZoneKind::Normal, policy: Policy::Local, zero: false }
    }

    /// The same on other nodes.
    pub const fn on(self, policy: Policy<'a>) -> Request<'a> {
        Request { policy, ..self }
    }

    /// The same from `zone` or a lower one only.
    pub const fn limit(self, zone: ZoneKind) -> Request<'a> {
        Request { zone_limit: zone, ..self }
    }

    /// The same, filled with zeros.
    pub const fn zeroed(self) -> Request<'a> {
        Request { zero: true, ..self }
    }
}
