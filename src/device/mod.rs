//! Devices: where columns live and where passes run.
