//! Threads and long-term memory for [`langgraph`] in PostgreSQL.
