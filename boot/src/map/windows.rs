//! A CEDT -> CXL windows, each with its node.

use nearmem::NodeId;
use nearmem::finding::{Finding, Kind};
use nearmem::firmware::cedt::{self, Body, Cedt, HostBridge};

/// What a CEDT says.
#[derive(Debug, Default)]
pub struct Cxl {
    /// Its windows in table order.
    pub windows: Vec<Window>,
    /// Its host bridges in table order.
    pub bridges: Vec<HostBridge>,
}

/// A fixed memory window.
#[derive(Debug)]
pub struct Window {
    /// First byte.
    pub base: u64,
    /// How many bytes.
    pub length: u64,
    /// Over how many host bridges it is interleaved.
    pub ways: Option<u8>,
    /// Bytes in a row of one host bridge.
    pub granularity: Option<u32>,
    /// What may be there, as [`cedt::Window::restrictions`].
    pub restrictions: u16,
    /// Class of quality of service.
    pub qos_class: u16,
    /// The host bridges behind it.
    pub bridges: Vec<u32>,
    /// The node that is kept for it, or that the SRAT gives it; none without an SRAT that stands.
    pub node: Option<NodeId>,
}

impl Cxl {
    /// Reads a CEDT; the nodes are those of the findings that the map's making led to.
    pub fn read(bytes: &[u8], findings: &[Finding]) -> Option<Cxl> {
        let mut cxl = Cxl::default();
        for entry in Cedt::parse(bytes, &mut |_| ())?.entries() {
            match entry.body {
                Body::Window(window) => {
                    let node = findings.iter().find_map(|finding| match finding.kind {
                        _ if finding.place != entry.place() => None,
                        Kind::CedtWindow { node, .. } | Kind::CedtWindowInSrat { node, .. } => {
                            Some(node)
                        }
                        _ => None,
                    });
                    cxl.windows.push(Window::new(&window, node));
                }
                Body::HostBridge(bridge) => cxl.bridges.push(bridge),
                _ => {}
            }
        }
        Some(cxl)
    }
}

impl Window {
    fn new(window: &cedt::Window<'_>, node: Option<NodeId>) -> Window {
        let &cedt::Window { base, length, ways, granularity, restrictions, qos_class, .. } = window;
        let bridges = window.targets().collect();
        Window { base, length, ways, granularity, restrictions, qos_class, bridges, node }
    }

    /// What may be there, in words.
    pub fn allows(&self) -> Vec<&'static str> {
        let words = [
            (cedt::Window::TYPE_2, "type 2"),
            (cedt::Window::TYPE_3, "type 3"),
            (cedt::Window::VOLATILE, "volatile"),
            (cedt::Window::PERSISTENT, "persistent"),
            (cedt::Window::FIXED, "fixed"),
        ];
        let set = words.into_iter().filter(|(bit, _)| self.restrictions & bit != 0);
        set.map(|(_, word)| word).collect()
    }
}
