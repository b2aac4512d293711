// Package recheck checks the answers to questions again from their documents. It calls nothing of the work it checks, and asks
// package proof for plans.
package recheck
