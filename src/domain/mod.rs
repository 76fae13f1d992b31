//! The domain: who owns which keys, particle exchange, halos, the locally essential tree.
