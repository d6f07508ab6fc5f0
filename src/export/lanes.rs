//! Documents worked on side by side: dealt to lanes, each a thread with a feed of its own.
//!
//! What comes of them is taken in their order, so that nothing depends on how many lanes there are, or on
//! which is quicker.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::document::Document;
use super::feed::Feed;
use crate::store;

/// So many may be done before one that is in hand.
const WAITING: usize = 64;

/// Something that a reader which ended early may be the cause of.
pub(crate) trait Cut: From<store::Error> + Send {
    fn is_cut_off(&self) -> bool;
}

/// What came of the document of this number.
type Done<T, E> = (usize, Result<T, E>);

/// Has the documents worked on, each by the lane that its feed belongs to, and takes what comes of
/// them in their order. The first error of either ends it.
pub(crate) fn in_lanes<T: Send, E: Cut>(
    feeds: Vec<Feed<'_>>,
    documents: &[Document],
    work: impl Fn(&Document, &mut Feed<'_>) -> Result<T, E> + Sync,
    take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let lanes = feeds.len();
    let (done, coming) = sync_channel(WAITING);
    thread::scope(|scope| {
        for (lane, mut feed) in feeds.into_iter().enumerate() {
            let (done, work) = (done.clone(), &work);
            let documents = documents.iter().enumerate().skip(lane).step_by(lanes);
            let outcomes = documents.map(move |(n, document)| (n, work(document, &mut feed)));
            scope.spawn(move || send(outcomes, &done));
        }
        drop(done);
        in_order(coming, documents.len(), take)
    })
}

/// Sends what is done up to the first error, or until nobody wants it.
fn send<T, E>(outcomes: impl Iterator<Item = Done<T, E>>, done: &SyncSender<Done<T, E>>) {
    for outcome in outcomes {
        let failed = outcome.1.is_err();
        if done.send(outcome).is_err() || failed {
            return;
        }
    }
}

/// A lane that fails makes the reader end, so that others are cut off, perhaps at an earlier document: its
/// error is the one to tell.
fn in_order<T, E: Cut>(
    coming: Receiver<Done<T, E>>,
    documents: usize,
    mut take: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let (mut early, mut next, mut cut_off) = (BTreeMap::new(), 0, None);
    for (number, outcome) in coming {
        early.insert(number, outcome);
        while cut_off.is_none()
            && let Some(outcome) = early.remove(&next)
        {
            match outcome {
                Err(error) if error.is_cut_off() => cut_off = Some(error),
                outcome => take(outcome?)?,
            }
            next += 1;
        }
    }
    let mut failed = early.into_values().filter_map(Result::err);
    match (failed.find(|error| !error.is_cut_off()), cut_off) {
        (Some(error), _) | (None, Some(error)) => Err(error),
        // What is missing must not pass for the whole.
        (None, None) if next < documents => Err(store::Error::CutOff.into()),
        (None, None) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::super::Error;
    use super::{Done, in_order};
    use crate::store;

    fn taken(
        outcomes: Vec<Done<usize, Error>>,
        documents: usize,
    ) -> (Vec<usize>, Result<(), Error>) {
        let (send, coming) = channel();
        for outcome in outcomes {
            send.send(outcome).unwrap();
        }
        drop(send);
        let mut taken = Vec::new();
        let result = in_order(coming, documents, |document| {
            taken.push(document);
            Ok(())
        });
        (taken, result)
    }

    fn cut_off(number: usize) -> Done<usize, Error> {
        (number, Err(Error::Store(store::Error::CutOff)))
    }

    fn failed(number: usize, session: &str) -> Done<usize, Error> {
        (number, Err(Error::SameId { session: session.to_owned() }))
    }

    #[test]
    fn documents_are_taken_in_their_order() {
        let (numbers, result) = taken([2, 0, 3, 1].map(|n| (n, Ok(n))).into(), 4);
        assert_eq!(numbers, [0, 1, 2, 3]);
        assert!(result.is_ok());
    }

    #[test]
    fn the_error_is_the_first_one_and_not_that_of_a_lane_that_it_cut_off() {
        let (numbers, result) = taken(vec![(0, Ok(0)), cut_off(1), failed(2, "a")], 4);
        assert_eq!(numbers, [0]);
        assert!(matches!(result, Err(Error::SameId { .. })));
        let (_, result) = taken(vec![failed(1, "b"), failed(0, "a")], 2);
        assert!(matches!(result, Err(Error::SameId { session }) if session == "a"));
        let (_, result) = taken(vec![(0, Ok(0)), cut_off(1)], 2);
        assert!(matches!(result, Err(Error::Store(store::Error::CutOff))));
    }

    #[test]
    fn what_is_missing_is_an_error() {
        for outcomes in [vec![(0, Ok(0))], vec![(0, Ok(0)), (2, Ok(2))]] {
            let (_, result) = taken(outcomes, 3);
            assert!(matches!(result, Err(Error::Store(store::Error::CutOff))));
        }
    }
}
