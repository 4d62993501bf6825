//! Walks over the links between planes.
//!
//! A document can contain a chain of tens of thousands of planes, so each walk has a stack of its
//! own and does not recurse.

use std::collections::HashSet;

use crate::rows::Rows;

/// The targets of each plane's links, by plane number.
pub(crate) type Targets = Rows<u32>;

/// `start` and every plane reachable from it: depth first, in link order, each once.
pub(crate) fn preorder(targets: &Targets, start: u32) -> Vec<u32> {
    let mut order = vec![start];
    let mut seen = HashSet::from([start]);
    let mut path = vec![targets.row(start).iter()];
    while let Some(rest) = path.last_mut() {
        match rest.next() {
            None => {
                path.pop();
            }
            Some(&next) if seen.insert(next) => {
                order.push(next);
                path.push(targets.row(next).iter());
            }
            Some(_) => {}
        }
    }
    order
}

/// The planes of the first cycle found when all planes are visited in order.
pub(crate) fn first_cycle(targets: &Targets) -> Option<Vec<u32>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        OnPath,
        Done,
    }
    let mut marks = vec![Mark::New; targets.len()];
    for start in 0..u32::try_from(targets.len()).ok()? {
        if marks[start as usize] != Mark::New {
            continue;
        }
        marks[start as usize] = Mark::OnPath;
        let mut path = vec![(start, targets.row(start).iter())];
        while let Some((plane, rest)) = path.last_mut() {
            let Some(&next) = rest.next() else {
                marks[*plane as usize] = Mark::Done;
                path.pop();
                continue;
            };
            match marks[next as usize] {
                Mark::Done => {}
                Mark::New => {
                    marks[next as usize] = Mark::OnPath;
                    path.push((next, targets.row(next).iter()));
                }
                Mark::OnPath => {
                    let path = path.iter().map(|(plane, _)| *plane);
                    return Some(path.skip_while(|&plane| plane != next).collect());
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Targets, first_cycle, preorder};

    fn targets(rows: impl IntoIterator<Item = Vec<u32>>) -> Targets {
        let mut targets = Targets::default();
        rows.into_iter().for_each(|row| targets.push(row));
        targets
    }

    #[track_caller]
    fn check(targets: &[&[u32]], order: &[u32], cycle: Option<&[u32]>) {
        let targets = self::targets(targets.iter().map(|to| to.to_vec()));
        assert_eq!(preorder(&targets, 0), order, "order of {targets:?}");
        assert_eq!(
            first_cycle(&targets).as_deref(),
            cycle,
            "cycle of {targets:?}"
        );
    }

    #[test]
    fn walks_are_depth_first_and_visit_each_plane_once() {
        check(&[&[]], &[0], None);
        check(&[&[1, 2], &[3], &[3], &[]], &[0, 1, 3, 2], None);
        check(&[&[2, 1, 2], &[], &[]], &[0, 2, 1], None);
        check(&[&[1], &[2], &[0]], &[0, 1, 2], Some(&[0, 1, 2]));
        check(&[&[0]], &[0], Some(&[0]));
        check(&[&[1], &[2], &[3], &[2]], &[0, 1, 2, 3], Some(&[2, 3]));
        check(&[&[], &[2], &[1]], &[0], Some(&[1, 2]));
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_planes_does_not_overflow_the_stack() {
        let targets = targets((1..=100_000).map(|next| vec![next % 100_000]));
        assert_eq!(preorder(&targets, 0).len(), 100_000);
        assert_eq!(
            first_cycle(&targets).map(|cycle| cycle.len()),
            Some(100_000)
        );
    }
}
