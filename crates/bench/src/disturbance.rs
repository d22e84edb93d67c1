//! How much of the machine others used meanwhile. Linux tells; elsewhere every sample passes for clean.

use std::time::Instant;

/// Ticks of the kernel's accounts in a second. (USER_HZ, fixed in its interface)
const TICKS: f64 = 100.0;

/// A stretch of time under watch.
pub(crate) struct Watch {
    started: Instant,
    before: Option<Accounts>,
}

/// Seconds of processor time since the machine started.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Accounts {
    /// Of everyone, summed over the cores.
    busy: f64,
    /// Of this process.
    own: f64,
}

impl Watch {
    pub(crate) fn start() -> Self {
        Self { before: Accounts::read(), started: Instant::now() }
    }

    /// What others used since, as a share of the whole machine.
    pub(crate) fn others(&self) -> f64 {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as f64;
        let room = self.started.elapsed().as_secs_f64() * cores;
        let (Some(before), Some(now)) = (self.before, Accounts::read()) else { return 0.0 };
        (((now.busy - before.busy) - (now.own - before.own)) / room).max(0.0)
    }
}

impl Accounts {
    fn read() -> Option<Self> {
        let everyone = std::fs::read_to_string("/proc/stat").ok()?;
        let own = std::fs::read_to_string("/proc/self/stat").ok()?;
        Some(Self { busy: busy(&everyone)?, own: spent(&own)? })
    }
}

/// user, nice, system, (idle, iowait,) irq, softirq, steal of the first line.
fn busy(stat: &str) -> Option<f64> {
    let mut words = stat.lines().next()?.split_ascii_whitespace();
    if words.next() != Some("cpu") {
        return None;
    }
    let ticks: Vec<f64> = words.take(8).map_while(|word| word.parse().ok()).collect();
    (ticks.len() == 8).then(|| (ticks.iter().sum::<f64>() - ticks[3] - ticks[4]) / TICKS)
}

/// utime and stime, the 14th and 15th word. The second is the name in parentheses, which may hold anything.
fn spent(stat: &str) -> Option<f64> {
    let mut words = stat.get(stat.rfind(')')? + 1..)?.split_ascii_whitespace().skip(11);
    let [user, system]: [f64; 2] = [words.next()?.parse().ok()?, words.next()?.parse().ok()?];
    Some((user + system) / TICKS)
}

#[cfg(test)]
mod tests {
    use super::{busy, spent};

    #[test]
    fn the_kernel_s_accounts_are_read() {
        assert_eq!(busy("cpu  100 20 30 4000 500 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1"), Some(1.71));
        assert_eq!(busy("intr 1"), None);
        assert_eq!(busy("cpu  100 20"), None);
        assert_eq!(spent("42 (a) (b c) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0"), Some(3.0));
        assert_eq!(spent("nothing"), None);
    }
}
