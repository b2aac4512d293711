package agent

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Host reads the load of a machine from its /proc. Figures over time cover the time since the last reading.
type Host struct {
	proc   string // the directory
	before counters
	at     time.Time
}

// Load is the load of a machine; nil means unknown.
type Load struct {
	Load1         *float64 // average number of processes that run or wait to run
	CPUPercent    *float64 // busy, of all cores
	MemoryPercent *float64 // not available
	DiskMBPerS    *float64 // read and written
	NetMBPerS     *float64 // received and sent, without traffic inside the machine
	// BusyCores is the number of busy cores, averaged over the last Seconds.
	BusyCores float64
	Seconds   float64
}

// counters only go up.
type counters struct {
	busy, all float64 // ticks of all cores
	disk, net float64 // bytes
}

// NewHost returns the machine below a root directory, "/" for this one.
func NewHost(root string) *Host { return &Host{proc: filepath.Join(root, "proc")} }

// Units of /proc.
const (
	sectorBytes = 512 // whatever the disk's own sectors
	megabyte    = 1e6
	// Larger values are miscounts.
	maxMBPerSecond = 1e9
	maxLoad        = 1e6
)

// Cores returns the number of online cores.
func (h *Host) Cores() (int, error) {
	_, cores, err := h.cpu()
	return cores, err
}

// Read returns the load now and since the last reading. Figures that cannot be read are nil, and an error says why.
// The first reading has no figures over time, which is no error.
func (h *Host) Read(now time.Time) (Load, error) {
	var l Load
	var wrong []error
	note := func(err error) bool {
		if err != nil {
			wrong = append(wrong, err)
		}
		return err == nil
	}
	if x, err := h.load1(); note(err) {
		l.Load1 = &x
	}
	if x, err := h.memory(); note(err) {
		l.MemoryPercent = &x
	}
	c, cores, err := h.cpu()
	cpu := note(err)
	c.disk, err = h.disk()
	disk := note(err)
	c.net, err = h.net()
	net := note(err)
	if seconds := now.Sub(h.at).Seconds(); !h.at.IsZero() && seconds > 0 {
		l.Seconds = seconds
		if all := c.all - h.before.all; cpu && all > 0 {
			part := within(0, (c.busy-h.before.busy)/all, 1)
			percent := 100 * part
			l.CPUPercent, l.BusyCores = &percent, part*float64(cores)
		}
		rate := func(ok bool, from, to float64) *float64 {
			x := (to - from) / megabyte / seconds
			if !ok || x < 0 || x > maxMBPerSecond { // a device that has gone took its counter along
				return nil
			}
			return &x
		}
		l.DiskMBPerS, l.NetMBPerS = rate(disk, h.before.disk, c.disk), rate(net, h.before.net, c.net)
	}
	h.before, h.at = c, now
	return l, errors.Join(wrong...)
}

func within(low, x, high float64) float64 { return math.Min(math.Max(low, x), high) }

func (h *Host) file(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(h.proc, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there; is /proc mounted?", filepath.Join(h.proc, name))
	}
	if err != nil {
		return nil, fmt.Errorf("read how busy this machine is: %w", err)
	}
	return text, nil
}

// odd returns an error about an unexpected form of a file of /proc.
func (h *Host) odd(name string) error {
	return fmt.Errorf("%s is not as Linux writes it", filepath.Join(h.proc, name))
}

func (h *Host) load1() (float64, error) {
	text, err := h.file("loadavg")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(text), " ")
	x, err := strconv.ParseFloat(first, 64)
	if err != nil || !(x >= 0 && x <= maxLoad) {
		return 0, h.odd("loadavg")
	}
	return x, nil
}

func (h *Host) memory() (float64, error) {
	text, err := h.file("meminfo")
	if err != nil {
		return 0, err
	}
	kB := map[string]float64{}
	for _, fields := range lines(text) {
		if len(fields) >= 2 {
			if x, err := count(fields[1]); err == nil {
				kB[fields[0]] = x
			}
		}
	}
	total, available := kB["MemTotal:"], kB["MemAvailable:"]
	if _, known := kB["MemAvailable:"]; !known || !(total > 0) {
		return 0, h.odd("meminfo")
	}
	return 100 * within(0, 1-available/total, 1), nil
}

// cpu adds up the time of all cores. Waiting for disks is not busy. Time stolen by the hypervisor is busy, because
// others use it.
func (h *Host) cpu() (c counters, cores int, err error) {
	text, err := h.file("stat")
	if err != nil {
		return c, 0, err
	}
	for _, fields := range lines(text) {
		name, is := strings.CutPrefix(fields[0], "cpu")
		if !is {
			continue
		}
		if name != "" {
			cores++
			continue
		}
		// user nice system idle iowait irq softirq steal; guests are in user and nice.
		for i, field := range fields[1:min(len(fields), 9)] {
			x, err := count(field)
			if err != nil {
				return c, 0, h.odd("stat")
			}
			c.all += x
			if i != 3 && i != 4 {
				c.busy += x
			}
		}
	}
	if cores == 0 || c.all == 0 {
		return c, 0, h.odd("stat")
	}
	return c, cores, nil
}

// notDisks lists devices whose bytes another device counts too, or none has.
var notDisks = []string{"loop", "ram", "zram", "dm-", "md", "sr", "fd"}

func (h *Host) disk() (float64, error) {
	text, err := h.file("diskstats")
	if err != nil {
		return 0, err
	}
	bytes, last := 0.0, ""
	for _, fields := range lines(text) {
		if len(fields) < 10 || begins(fields[2], notDisks) {
			continue
		}
		if last != "" && partition(fields[2], last) { // partitions follow their disk
			continue
		}
		last = fields[2]
		for _, field := range []string{fields[5], fields[9]} {
			x, err := count(field)
			if err != nil {
				return 0, h.odd("diskstats")
			}
			bytes += x * sectorBytes
		}
	}
	return bytes, nil
}

// partition reports whether a device is a part of a disk: sda1 of sda, nvme0n1p2 of nvme0n1.
func partition(name, disk string) bool {
	rest, is := strings.CutPrefix(name, disk)
	if !is || rest == "" {
		return false
	}
	if last := disk[len(disk)-1]; last >= '0' && last <= '9' {
		if rest, is = strings.CutPrefix(rest, "p"); !is {
			return false
		}
	}
	_, err := strconv.Atoi(rest)
	return err == nil
}

// notNetworks lists interfaces whose bytes stay on the machine, or cross another one as well.
var notNetworks = []string{"lo", "veth", "docker", "br-", "virbr", "tun", "tap", "ifb", "dummy", "wg", "cni", "flannel", "cali", "bond", "vlan"}

func (h *Host) net() (float64, error) {
	text, err := h.file("net/dev")
	if err != nil {
		return 0, err
	}
	bytes := 0.0
	for scanner := bufio.NewScanner(strings.NewReader(string(text))); scanner.Scan(); {
		name, figures, is := strings.Cut(scanner.Text(), ":")
		name = strings.TrimSpace(name)
		fields := strings.Fields(figures)
		if !is || name == "lo" || begins(name, notNetworks[1:]) || len(fields) < 9 {
			continue
		}
		for _, field := range []string{fields[0], fields[8]} {
			x, err := count(field)
			if err != nil {
				return 0, h.odd("net/dev")
			}
			bytes += x
		}
	}
	return bytes, nil
}

func begins(name string, with []string) bool {
	for _, w := range with {
		if strings.HasPrefix(name, w) {
			return true
		}
	}
	return false
}

// count reads a whole number.
func count(text string) (float64, error) {
	n, err := strconv.ParseUint(text, 10, 64)
	return float64(n), err
}

// lines returns the fields of every line that has some.
func lines(text []byte) (all [][]string) {
	for line := range bytes.Lines(text) {
		if fields := strings.Fields(string(line)); len(fields) > 0 {
			all = append(all, fields)
		}
	}
	return all
}

// busySeconds returns the processor time used so far by the processes of some groups.
func (h *Host) busySeconds(groups map[int]bool) (sum float64) {
	entries, err := os.ReadDir(h.proc)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if name := e.Name(); name[0] < '1' || name[0] > '9' {
			continue
		}
		text, err := os.ReadFile(filepath.Join(h.proc, e.Name(), "stat"))
		if err != nil {
			continue // it has ended
		}
		// The name stands in brackets and may have any character; state, parent and group follow it.
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) < 15 {
			continue
		}
		if group, err := strconv.Atoi(fields[2]); err != nil || !groups[group] {
			continue
		}
		for _, field := range fields[11:15] { // user, system, and those of ended children
			ticks, _ := strconv.ParseFloat(field, 64)
			sum += ticks / ticksPerSecond
		}
	}
	return sum
}

// ticksPerSecond is the unit that Linux uses towards programs, whatever its clock does.
const ticksPerSecond = 100
