package sim

import (
	"example.org/headroom/internal/core/fault"
	"example.org/headroom/internal/core/strict"
	"example.org/headroom/internal/slots/live"
)

// DataNodeLoad describes the data nodes that batch work reads from. How many tasks of a kind can read at once before
// a data node reaches its limit?
type DataNodeLoad struct {
	Count          int64        `json:"count"` // nodes that share a task's reads; default 1
	CapMBPerSecond float64      `json:"cap_mb_s"`
	Readers        []DataReader `json:"readers"`
}

// DataReader describes tasks of a kind on nodes with about the same residual.
type DataReader struct {
	Name            string  `json:"name"`
	ReadMBPerSecond float64 `json:"read_mb_s"` // one task on a dedicated node at its busiest, from all data nodes together
	Normed          float64 `json:"normed"`    // as on a dedicated node; default 1
}

// Limits of a question about data nodes.
const (
	maxDataReaders = 100
	maxDataNodes   = 1_000_000
	// minReadMBPerSecond is the smallest rate of tasks that read anything.
	minReadMBPerSecond = 1e-6
	maxNormed          = 1e6
)

var (
	dataNodesShape  = strict.NewShape("the data nodes", []string{"cap_mb_s", "readers"}, "count")
	dataReaderShape = strict.NewShape("a reader", []string{"name", "read_mb_s"}, "normed")
)

func readDataNodes(r *strict.Reader, d *DataNodeLoad) {
	d.Count = 1
	r.Object(dataNodesShape, func(name string) {
		if name == "readers" {
			d.Readers = strict.List(r, "of readers", maxDataReaders, readDataReader)
		} else {
			r.Field(d, name)
		}
	})
}

func readDataReader(r *strict.Reader, d *DataReader) {
	d.Normed = 1
	r.Object(dataReaderShape, func(name string) {
		if r.Field(d, name); name == "name" {
			r.CheckText([]byte(d.Name))
		}
	})
}

func (d *DataNodeLoad) check(c *strict.Checker) {
	c.Whole("count", "The number of data nodes", "", d.Count, 1, maxDataNodes)
	if c.Number("cap_mb_s", "What a data node may serve", "MB/s", d.CapMBPerSecond, live.MaxMBPerS) && d.CapMBPerSecond < minReadMBPerSecond {
		c.Refuse("cap_mb_s", "range", "A data node that serves %s MB/s serves nothing; give %s at least.", fault.Plain(d.CapMBPerSecond), fault.Plain(minReadMBPerSecond))
	}
	c.Enter("readers")
	defer c.Leave()
	if n := len(d.Readers); n == 0 || n > maxDataReaders {
		c.Refuse("", "range", "Here are %d kinds of tasks that read; give from 1 to %d.", n, maxDataReaders)
	}
	for i, reader := range d.Readers {
		c.Element(i)
		c.Label("name", reader.Name)
		if c.Number("read_mb_s", "What a task reads", "MB/s", reader.ReadMBPerSecond, live.MaxMBPerS) && reader.ReadMBPerSecond != 0 && reader.ReadMBPerSecond < minReadMBPerSecond {
			c.Refuse("read_mb_s", "range", "A task is said to read %s MB/s; give %s at least, or 0 where it reads nothing.", fault.Plain(reader.ReadMBPerSecond), fault.Plain(minReadMBPerSecond))
		}
		if x := reader.Normed; !(x >= 1 && x <= maxNormed) {
			c.Refuse("normed", "range", "Tasks take %s times as long as on a dedicated node; that is 1 or more, and at most %s.", fault.Plain(x), fault.Plain(maxNormed))
		}
		c.Leave()
	}
}
