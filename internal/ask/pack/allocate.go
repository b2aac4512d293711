package pack

import (
	"math"

	"example.org/headroom/internal/core/perf"
)

// member is one job of a phase.
type member struct {
	kind int
	role perf.JobRole
	vms  int
}

// seconds returns the duration of the job in its phase.
func (b *batch) seconds(m member) float64 {
	t := b.kinds[m.kind].times[m.vms]
	if m.role != perf.PlainRole {
		t *= b.penalty
	}
	return t
}

// allocate gives the jobs of a phase roles and VMs: first the VMs that each needs for the phase's time, then the rest
// to the longest jobs. It returns nil if the jobs do not fit at all.
func (f *fitter) allocate(c contents) []member {
	rung := f.shortest(c, 0)
	if rung == f.never() {
		return nil
	}
	plain, special := f.at(rung)
	var hosts, guests map[int]int
	if !f.plainFit(c, rung) {
		host, guest, _ := f.roles(c, rung)
		give := func(kind int) int32 { return int32(plain[kind]) }
		hosts = f.hosts.chosen(host, func(kind int) int32 { return int32(special[kind] - plain[kind]) }, give)
		guests = f.guests.chosen(guest, func(kind int) int32 { return int32(special[kind]) }, give)
	}
	var members []member
	for _, s := range c {
		for i := range s.count {
			switch {
			case i < hosts[s.kind]:
				members = append(members, member{s.kind, perf.HostRole, int(special[s.kind])})
			case i < guests[s.kind]:
				members = append(members, member{s.kind, perf.GuestRole, int(special[s.kind])})
			default:
				members = append(members, member{s.kind, perf.PlainRole, int(plain[s.kind])})
			}
		}
	}
	f.spread(members)
	return members
}

// spread hands out the remaining VMs with a disk. Hosts get them until there are enough for the extra VMs. Then the
// longest job gets one at a time, as long as that makes it faster and the extra VMs still fit.
func (b *batch) spread(members []member) {
	var plain, hosts, extras int
	for _, m := range members {
		switch m.role {
		case perf.PlainRole:
			plain += m.vms
		case perf.HostRole:
			hosts += m.vms
		case perf.GuestRole:
			extras += m.vms
		}
	}
	for plain+hosts < b.vms {
		short := hosts < b.hostsPerExtra*extras
		longest, at := math.Inf(-1), -1
		for i, m := range members {
			switch {
			case m.role == perf.GuestRole || short && m.role == perf.PlainRole:
				continue
			case m.role == perf.PlainRole && extras > (b.machines-ceilDiv(plain+1, b.disks))*b.perMachine:
				continue
			case !short && b.kinds[m.kind].times[m.vms+1] >= b.kinds[m.kind].times[m.vms]:
				continue
			}
			if t := b.seconds(m); t > longest {
				longest, at = t, i
			}
		}
		if at < 0 {
			return
		}
		members[at].vms++
		if members[at].role == perf.PlainRole {
			plain++
		} else {
			hosts++
		}
	}
}

// longest returns the duration of a phase.
func (b *batch) longest(members []member) (t float64) {
	for _, m := range members {
		t = max(t, b.seconds(m))
	}
	return t
}
