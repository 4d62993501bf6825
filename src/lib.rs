//! A content registry for AI agents.
