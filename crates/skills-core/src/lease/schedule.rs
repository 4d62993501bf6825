//! When entries past their leases are removed.
//!
//! The end of a lease is a time of the wall clock, so that it survives a restart. The grace
//! period is measured by a clock that only goes forward, from the moment at which this process
//! found the lease ended. So a wall clock that is set forward, a restart and an outage of the
//! engine each leave the owner the whole grace period to renew; a wall clock that is set back
//! extends the lease.

use std::collections::HashMap;
use std::time::Duration;

use super::EntryName;

/// Which leases this process found ended, and since when.
#[derive(Debug)]
pub struct ExpirySchedule {
    grace: Duration,
    ended: HashMap<EntryName, Duration>,
}

/// What to do next.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ExpiryPlan {
    /// The entries to remove now.
    pub due: Vec<EntryName>,
    /// When to look again, unless a lease changes before; never, without a lease that ends.
    pub next: Option<Duration>,
}

impl ExpirySchedule {
    /// A schedule that removes entries this long after it found their leases ended.
    pub fn new(grace: Duration) -> Self {
        Self {
            grace,
            ended: HashMap::new(),
        }
    }

    /// Plans the removal of entries whose leases end at these times. `now_ms` is the wall clock;
    /// `elapsed` is the time since the process began, which only grows.
    pub fn plan(
        &mut self,
        deadlines: impl IntoIterator<Item = (EntryName, u64)>,
        now_ms: u64,
        elapsed: Duration,
    ) -> ExpiryPlan {
        let mut plan = ExpiryPlan::default();
        let mut ended = HashMap::new();
        for (entry, deadline_ms) in deadlines {
            let wait = if let Some(valid) = deadline_ms.checked_sub(now_ms).filter(|ms| *ms > 0) {
                Duration::from_millis(valid)
            } else {
                let since = self.ended.get(&entry).copied().unwrap_or(elapsed);
                let left = (since + self.grace).saturating_sub(elapsed);
                ended.insert(entry.clone(), since);
                left
            };
            if wait.is_zero() {
                plan.due.push(entry);
            } else {
                plan.next = Some(plan.next.unwrap_or(wait).min(wait));
            }
        }
        self.ended = ended;
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE_PERIOD: Duration = Duration::from_millis(60);

    fn skill(id: &str) -> EntryName {
        EntryName::Skill(id.parse().unwrap())
    }

    /// Plans for one lease that ends at `deadline`; returns whether it is due, and the wait.
    fn plan(
        schedule: &mut ExpirySchedule,
        deadline: u64,
        (now, elapsed): (u64, u64),
    ) -> (bool, Option<u64>) {
        let elapsed = Duration::from_millis(elapsed);
        let plan = schedule.plan([(skill("a"), deadline)], now, elapsed);
        let next = plan.next.map(|next| u64::try_from(next.as_millis()));
        (!plan.due.is_empty(), next.map(Result::unwrap))
    }

    #[test]
    fn an_entry_is_due_when_the_grace_period_after_its_lease_has_passed() {
        let mut schedule = ExpirySchedule::new(GRACE_PERIOD);
        assert_eq!(plan(&mut schedule, 1_000, (900, 0)), (false, Some(100)));
        assert_eq!(plan(&mut schedule, 1_000, (1_000, 100)), (false, Some(60)));
        assert_eq!(plan(&mut schedule, 1_000, (1_059, 159)), (false, Some(1)));
        assert_eq!(plan(&mut schedule, 1_000, (1_060, 160)), (true, None));
    }

    #[test]
    fn a_renewal_in_the_grace_period_begins_a_new_one_later() {
        let mut schedule = ExpirySchedule::new(GRACE_PERIOD);
        assert_eq!(plan(&mut schedule, 1_000, (1_000, 0)), (false, Some(60)));
        assert_eq!(plan(&mut schedule, 1_500, (1_050, 50)), (false, Some(450)));
        assert_eq!(plan(&mut schedule, 1_500, (1_500, 500)), (false, Some(60)));
        assert_eq!(plan(&mut schedule, 1_500, (1_560, 560)), (true, None));
    }

    #[test]
    fn a_restart_leaves_the_whole_grace_period() {
        let mut schedule = ExpirySchedule::new(GRACE_PERIOD);
        // The lease ended long before the process began.
        assert_eq!(plan(&mut schedule, 1_000, (99_000, 0)), (false, Some(60)));
        assert_eq!(plan(&mut schedule, 1_000, (99_060, 60)), (true, None));
    }

    #[test]
    fn a_clock_that_is_set_forward_leaves_the_whole_grace_period() {
        let mut schedule = ExpirySchedule::new(GRACE_PERIOD);
        assert_eq!(plan(&mut schedule, 1_000, (500, 0)), (false, Some(500)));
        assert_eq!(plan(&mut schedule, 1_000, (500_000, 10)), (false, Some(60)));
        // Set back again: the lease is valid, and the grace period begins anew after it.
        assert_eq!(plan(&mut schedule, 1_000, (520, 20)), (false, Some(480)));
        assert_eq!(plan(&mut schedule, 1_000, (1_000, 500)), (false, Some(60)));
    }

    #[test]
    fn a_clock_that_is_set_back_extends_the_lease() {
        let mut schedule = ExpirySchedule::new(GRACE_PERIOD);
        assert_eq!(plan(&mut schedule, 1_000, (990, 0)), (false, Some(10)));
        assert_eq!(plan(&mut schedule, 1_000, (400, 10)), (false, Some(600)));
    }

    #[test]
    fn the_next_look_is_at_the_earliest_end_and_without_leases_there_is_none() {
        let mut schedule = ExpirySchedule::new(GRACE_PERIOD);
        let ends = [(skill("a"), 300), (skill("b"), 200), (skill("c"), 400)];
        let planned = schedule.plan(ends, 100, Duration::ZERO);
        assert_eq!(planned.next, Some(Duration::from_millis(100)));
        let nothing = schedule.plan([], 100, Duration::ZERO);
        assert_eq!(nothing, ExpiryPlan::default());
    }

    #[test]
    fn without_a_grace_period_an_entry_is_due_at_the_end_of_its_lease() {
        let mut schedule = ExpirySchedule::new(Duration::ZERO);
        assert_eq!(plan(&mut schedule, 1_000, (1_000, 0)), (true, None));
    }
}
