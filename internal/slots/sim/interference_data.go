package sim

import (
	"fmt"
	"math"

	"headroom/internal/core/capacity"
)

// DataNodesAnswer is how many tasks data nodes serve.
type DataNodesAnswer struct {
	Count          int64              `json:"count"`
	CapMBPerSecond float64            `json:"cap_mb_s"`
	Readers        []Reading          `json:"readers"`
	Warnings       []capacity.Warning `json:"warnings"`
}

// Reading is what tasks of a kind read, and how many of them saturate the data nodes.
type Reading struct {
	DataReader
	MBPerSecond float64 `json:"mb_s"` // one task takes from each data node
	// SaturatedAt is how many read at once without any data node serving more than its cap; null where any number do.
	SaturatedAt *int64 `json:"saturated_at"`
}

// serve is closed form (MIMP paper, eq. 5 and figure 10): a task that takes normed times as long reads as much more
// slowly, and from each data node alike, so that n* = floor(cap / (read / count / normed)).
func serve(d *DataNodeLoad) *DataNodesAnswer {
	a := &DataNodesAnswer{Count: d.Count, CapMBPerSecond: d.CapMBPerSecond, Readers: []Reading{}, Warnings: []capacity.Warning{}}
	for _, reader := range d.Readers {
		one := Reading{DataReader: reader, MBPerSecond: reader.ReadMBPerSecond / float64(d.Count) / reader.Normed}
		if one.MBPerSecond > 0 {
			// Divisions that come out even in the mind miss by a rounding in the processor.
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
