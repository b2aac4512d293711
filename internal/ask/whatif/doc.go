// Package whatif says what changes of a problem come to: scenarios beside their base, sweeps of one or two
// parameters, and the difference between two plans. It plans with whatever planner its caller gives it.
package whatif
