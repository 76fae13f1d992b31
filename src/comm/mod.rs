//! Ranks. One rank is a communicator of size one, never a second code path.
