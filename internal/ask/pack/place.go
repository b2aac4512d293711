package pack

import (
	"example.org/headroom/internal/core/perf"
)

// place puts the VMs of a phase onto machines. Without extra VMs they go round the machines, those of I/O-bound jobs
// first, so that these have their own machines' disks if there are enough. With extra VMs the first machines carry
// hosts and an extra VM for each required number of them. The remaining hosts fill up after them, and plain VMs get
// the last machines.
func (b *batch) place(members []member) []MachineVMs {
	machines := make([]MachineVMs, b.machines)
	for i := range machines {
		machines[i].Disks = make([]int, b.disks)
		for d := range machines[i].Disks {
			machines[i].Disks[d] = -1
		}
	}
	plain, hosts, guests := b.queue(members, perf.PlainRole), b.queue(members, perf.HostRole), b.queue(members, perf.GuestRole)
	if len(guests) == 0 {
		for t, job := range append(plain, hosts...) {
			machines[t%b.machines].Disks[t/b.machines] = job
		}
		return machines
	}
	for i := 0; len(guests) > 0; i++ {
		extras := min(b.perMachine, len(guests))
		copy(machines[i].Disks, hosts[:extras*b.hostsPerExtra])
		hosts = hosts[extras*b.hostsPerExtra:]
		machines[i].Extras = append(machines[i].Extras, guests[:extras]...)
		guests = guests[extras:]
	}
	last := machines[b.machines-ceilDiv(len(plain), b.disks):]
	for t, job := range plain {
		last[t%len(last)].Disks[t/len(last)] = job
	}
	for i := range machines {
		for d := range machines[i].Disks {
			if len(hosts) > 0 && machines[i].Disks[d] < 0 {
				machines[i].Disks[d], hosts = hosts[0], hosts[1:]
			}
		}
	}
	return machines
}

// queue returns the jobs of a role, one entry a VM: plain ones that are I/O-bound first and each job's VMs together,
// hosts and guests in turns, so that every machine gets a mixture.
func (b *batch) queue(members []member, role perf.JobRole) (queue []int) {
	if role == perf.PlainRole {
		for _, io := range []bool{true, false} {
			for i, m := range members {
				for n := 0; m.role == role && b.kinds[m.kind].io == io && n < m.vms; n++ {
					queue = append(queue, i)
				}
			}
		}
		return queue
	}
	for n, more := 0, true; more; n++ {
		more = false
		for i, m := range members {
			if m.role == role && n < m.vms {
				queue = append(queue, i)
				more = true
			}
		}
	}
	return queue
}
