package sim

import (
	"fmt"
	"math"
	"strconv"
)

// HostHints sets up a Linux host with cgroup v2 so that batch work in a group gets the time that a policy gives it.
// The settings are written in their order, and no other file changes.
type HostHints struct {
	Cgroup   string         `json:"cgroup"`
	Settings []GroupSetting `json:"settings"`
	Commands []string       `json:"commands"` // the same, for a shell
	Notes    []string       `json:"notes"`    // effects and limits of the settings
}

// GroupSetting is a file of a cgroup with its new content.
type GroupSetting struct {
	File  string `json:"file"`
	Value string `json:"value"`
}

const (
	idleShare    = "cpu.idle makes the group SCHED_IDLE (Linux 5.15 and later): requests take the core at once, and the batch work keeps 3 of 1024 parts of a busy core, not quite none."
	quotaPeriod  = 100_000 // microseconds: the kernel's default
	minQuota     = 1_000
	fairWeight   = "As heavy as the requests' group, whose cpu.weight is %d: each gets half of a core that both want. The kernel's slices are shorter than those asked about."
	softFloor    = "The kernel does not write cpu.weight where cpu.idle is 1, so that it is set to 0 first. A weight of %d beside one of %d leaves the batch work %.3g %% of a busy core in the long run. That is at least its floor of %.3g %%, as long as no third group wants the core."
	hardFloor    = "No cgroup promises %s ms in every %s ms. Where heartbeats must not be late, run what sends them, and nothing else, under SCHED_DEADLINE with runtime %d ns and period %d ns (chrt --deadline)."
	ceilingNote  = "cpu.max stops the batch work once it has had %d µs of all cores in %d µs, also where cores are idle; the simulation has no ceiling."
	slicesOfIdle = "Linux does not let batch work keep a slice: requests take the core at once, so that they are as fast as under background."
)

// hintsFor returns the hints for a policy, or nil without batch work. Background is cpu.idle. A floor needs a weight,
// because the kernel has no weights among idle groups.
func hintsFor(p CorePolicy, host BatchHost) *HostHints {
	h := &HostHints{Cgroup: host.Cgroup}
	set := func(file, value string) { h.Settings = append(h.Settings, GroupSetting{file, value}) }
	note := func(format string, values ...any) { h.Notes = append(h.Notes, fmt.Sprintf(format, values...)) }
	switch p.Kind {
	case AloneOnCore:
		return nil
	case BackgroundOnCore, Nonpreemptive:
		set("cpu.idle", "1")
		note(idleShare)
		if p.Kind == Nonpreemptive {
			note(slicesOfIdle)
		}
	case FairOnCore:
		set("cpu.idle", "0")
		set("cpu.weight", strconv.FormatInt(host.InteractiveWeight, 10))
		note(fairWeight, host.InteractiveWeight)
	case AntiStarvation:
		weight := floorWeight(p, host.InteractiveWeight)
		set("cpu.idle", "0")
		set("cpu.weight", strconv.FormatInt(weight, 10))
		note(softFloor, weight, host.InteractiveWeight, 100*float64(weight)/float64(weight+host.InteractiveWeight), 100*floor(p))
		note(hardFloor, number(p.FloorMs), number(p.WindowMs), int64(math.Round(p.FloorMs*1e6)), int64(math.Round(p.WindowMs*1e6)))
	}
	if host.CeilingCores > 0 {
		quota := max(minQuota, int64(math.Round(host.CeilingCores*quotaPeriod)))
		set("cpu.max", fmt.Sprintf("%d %d", quota, quotaPeriod))
		note(ceilingNote, quota, quotaPeriod)
	}
	for _, s := range h.Settings {
		h.Commands = append(h.Commands, fmt.Sprintf("echo '%s' > %s/%s", s.Value, host.Cgroup, s.File))
	}
	return h
}

// floorWeight returns the smallest cpu.weight whose part beside another weight reaches the floor: w/(w + other) is
// e/(p + e) if w/other is e/p.
func floorWeight(p CorePolicy, other int64) int64 {
	weight := int64(math.Ceil(float64(other)*p.FloorMs/p.WindowMs - 1e-9))
	return min(max(1, weight), maxCgroupWeight)
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
