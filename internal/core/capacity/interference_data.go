package capacity

// DataNodes serve what batch work reads: how many tasks of a kind can read at once before a data node serves as much
// as it may?
type DataNodes struct {
	Count          int64        `json:"count"` // share what a task reads; default 1
	CapMBPerSecond float64      `json:"cap_mb_s"`
	Readers        []DataReader `json:"readers"`
}

// DataReader is tasks of a kind on nodes that leave them about the same.
type DataReader struct {
	Name            string  `json:"name"`
	ReadMBPerSecond float64 `json:"read_mb_s"` // one task on a dedicated node at its busiest, from all data nodes together
	Normed          float64 `json:"normed"`    // as on a dedicated node; default 1
}

// Limits of a question about data nodes.
const (
	MaxDataReaders = 100
	MaxDataNodes   = 1_000_000
	// MinReadMBPerSecond is what tasks read that read anything.
	MinReadMBPerSecond = 1e-6
	MaxNormed          = 1e6
)

var (
	dataNodesShape  = newShape("the data nodes", []string{"cap_mb_s", "readers"}, "count")
	dataReaderShape = newShape("a reader", []string{"name", "read_mb_s"}, "normed")
)

func (r *reader) dataNodes(d *DataNodes) {
	d.Count = 1
	r.object(dataNodesShape, func(name string) {
		switch name {
		case "count":
			r.whole(&d.Count)
		case "cap_mb_s":
			r.float(&d.CapMBPerSecond)
		case "readers":
			d.Readers = list(r, "of readers", MaxDataReaders, r.dataReader)
		}
	})
}

func (r *reader) dataReader(d *DataReader) {
	d.Normed = 1
	r.object(dataReaderShape, func(name string) {
		switch name {
		case "name":
			d.Name, _ = r.text()
			r.checkText([]byte(d.Name))
		case "read_mb_s":
			r.float(&d.ReadMBPerSecond)
		case "normed":
			r.float(&d.Normed)
		}
	})
}

func (d *DataNodes) check(c *checker) {
	c.whole("count", "The number of data nodes", "", d.Count, 1, MaxDataNodes)
	if c.number("cap_mb_s", "What a data node may serve", "MB/s", d.CapMBPerSecond, mostMBPerS) && d.CapMBPerSecond < MinReadMBPerSecond {
		c.refuse("cap_mb_s", "range", "A data node that serves %s MB/s serves nothing; give %s at least.", plain(d.CapMBPerSecond), plain(MinReadMBPerSecond))
	}
	c.enter("readers")
	defer c.leave()
	if n := len(d.Readers); n == 0 || n > MaxDataReaders {
		c.refuse("", "range", "Here are %d kinds of tasks that read; give from 1 to %d.", n, MaxDataReaders)
	}
	for i, reader := range d.Readers {
		c.element(i)
		c.label("name", reader.Name)
		if c.number("read_mb_s", "What a task reads", "MB/s", reader.ReadMBPerSecond, mostMBPerS) && reader.ReadMBPerSecond != 0 && reader.ReadMBPerSecond < MinReadMBPerSecond {
			c.refuse("read_mb_s", "range", "A task is said to read %s MB/s; give %s at least, or 0 where it reads nothing.", plain(reader.ReadMBPerSecond), plain(MinReadMBPerSecond))
		}
		if x := reader.Normed; !(x >= 1 && x <= MaxNormed) {
			c.refuse("normed", "range", "Tasks take %s times as long as on a dedicated node; that is 1 or more, and at most %s.", plain(x), plain(MaxNormed))
		}
		c.leave()
	}
}
