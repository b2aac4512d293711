// Package timetable plans when executions that may wait are to start, hour by hour, and what the plans of a cluster's hours follow.
package timetable
