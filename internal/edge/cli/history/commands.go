// Package history holds the commands about measurements: executions, fits, calibrations and observations.
package history
