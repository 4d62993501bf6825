//! The rules of the registry.
