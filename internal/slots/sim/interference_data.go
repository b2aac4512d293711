package sim

import (
	"fmt"
	"math"

	"example.org/headroom/internal/core/capacity"
)

// DataNodesAnswer reports the number of tasks that data nodes serve.
type DataNodesAnswer struct {
	Count          int64              `json:"count"`
	CapMBPerSecond float64            `json:"cap_mb_s"`
	Readers        []Reading          `json:"readers"`
	Warnings       []capacity.Warning `json:"warnings"`
}

// Reading reports the reads of a kind of task, and the number of them that saturates the data nodes.
type Reading struct {
	DataReader
	MBPerSecond float64 `json:"mb_s"` // of one task, from each data node
	// SaturatedAt is the number of tasks that can read at once within the cap of each data node; null if any number
	// can.
	SaturatedAt *int64 `json:"saturated_at"`
}

// serve computes the answer in closed form (MIMP paper, eq. 5 and figure 10). A task that takes normed times as long
// reads that much more slowly, from each data node alike: n* = floor(cap / (read / count / normed)).
func serve(d *DataNodeLoad) *DataNodesAnswer {
	a := &DataNodesAnswer{Count: d.Count, CapMBPerSecond: d.CapMBPerSecond, Readers: []Reading{}, Warnings: []capacity.Warning{}}
	for _, reader := range d.Readers {
		one := Reading{DataReader: reader, MBPerSecond: reader.ReadMBPerSecond / float64(d.Count) / reader.Normed}
		if one.MBPerSecond > 0 {
			// Divisions with a whole result may miss it by a rounding error.
			n := int64(math.Floor(min(d.CapMBPerSecond/one.MBPerSecond*(1+1e-12), 1<<53)))
			if one.SaturatedAt = &n; n == 0 {
				a.Warnings = append(a.Warnings, capacity.Warning{Code: "above_cap", Detail: fmt.Sprintf(
					"One task of %q takes %.4g MB/s from each data node, more than the cap of %.4g: with that cap a policy starts it only where a deadline is at stake. Raise the cap, or spread the data over more nodes.", reader.Name, one.MBPerSecond, d.CapMBPerSecond)})
			}
		}
		a.Readers = append(a.Readers, one)
	}
	return a
}
