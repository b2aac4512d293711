// Package horizon plans many hours whose demand, prices and contracts change, adds them up to days and months, and
// finds how many VMs of which offers are worth buying for them.
package horizon
