//! Where other machines reach this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// The address to give to others, where a server listens on `at`. One that listens on every address of the machine has
/// none of its own: then it is the one from which this machine would speak to others, if it has such.
pub(crate) fn address(at: SocketAddr) -> SocketAddr {
    if !at.ip().is_unspecified() {
        return at;
    }
    SocketAddr::new(outward(at.ip()).unwrap_or(at.ip()), at.port())
}

/// From where a packet to a far address would leave. Connecting a UDP socket only chooses a way; nothing is sent.
fn outward(any: IpAddr) -> Option<IpAddr> {
    // Addresses that are kept for documentation. (RFC 5737, RFC 3849)
    let v4 = || from(Ipv4Addr::UNSPECIFIED.into(), Ipv4Addr::new(192, 0, 2, 1).into());
    let v6 = || from(Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1).into());
    // A socket on every IPv6 address usually takes IPv4 as well, which is easier to read out.
    if any.is_ipv4() { v4() } else { v6().or_else(v4) }
}

fn from(here: IpAddr, there: IpAddr) -> Option<IpAddr> {
    let socket = UdpSocket::bind((here, 0)).ok()?;
    // Any port: nobody will be asked.
    socket.connect((there, 9)).ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_unspecified() && !ip.is_loopback()).then_some(ip)
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn an_address_of_its_own_stays() {
        for at in ["127.0.0.1:80", "[::1]:80", "192.168.1.2:7280"] {
            assert_eq!(address(at.parse().unwrap()), at.parse().unwrap());
        }
    }

    #[test]
    fn every_address_becomes_one_that_others_can_use() {
        let found = address("0.0.0.0:7280".parse().unwrap());
        assert_eq!(found.port(), 7280);
        // A machine without any network has none.
        assert!(!found.ip().is_loopback());
    }
}
