package slurm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.org/headroom/internal/slots/drive"
)

// node is a node as slurmctld shows it. It shows no nodes of the cloud that are switched off, unless PrivateData says so.
type node struct {
	name  string
	state []string // such as IDLE, CLOUD, POWERED_DOWN
	busy  int64    // processors that jobs have
}

// nodes returns the nodes that slurmctld shows.
func nodes(ctx context.Context) (all []node, err error) {
	text, err := run(ctx, "scontrol", "--all", "--oneliner", "show", "nodes")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		of := fields(line)
		n := node{name: of["NodeName"]}
		if n.name == "" && strings.TrimSpace(line) == "No nodes in the system" {
			continue
		}
		if n.busy, err = strconv.ParseInt(of["CPUAlloc"], 10, 64); err != nil || n.name == "" || of["State"] == "" {
			return nil, unread("scontrol show nodes", line)
		}
		for word := range strings.SplitSeq(of["State"], "+") {
			n.state = append(n.state, strings.TrimRight(word, "*$%#~@^!-"))
		}
		all = append(all, n)
	}
	return all, nil
}

func (n node) is(words ...string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return slices.Contains(n.state, word) })
}

// runs reports whether a node is there, or about to be, and stays.
func (n node) runs() bool {
	return n.is("POWERING_UP") && !n.is("POWER_DOWN") || !n.is("POWERED_DOWN", "POWERING_DOWN", "POWER_DOWN", "DOWN", "DRAIN", "FAIL", "FUTURE")
}

// power returns the nodes of each VM type: those of its partition.
func (s *Slurm) power(ctx context.Context) (map[string]drive.Nodes, error) {
	if len(s.Partitions) == 0 {
		return nil, nil
	}
	shown, err := nodes(ctx)
	if err != nil {
		return nil, err
	}
	by := map[string]node{}
	for _, n := range shown {
		by[n.name] = n
	}
	all := map[string]drive.Nodes{}
	for vmType, partition := range s.Partitions {
		text, err := run(ctx, "scontrol", "--all", "--oneliner", "show", "partition", partition)
		switch {
		case err != nil && strings.Contains(err.Error(), "not found"):
			return nil, fmt.Errorf("Slurm has no partition %q (--nodes %s=%s)", partition, vmType, partition)
		case err != nil:
			return nil, fmt.Errorf("the partition %q of the VM type %q: %w", partition, vmType, err)
		}
		list := fields(text)["Nodes"]
		if list == "" || list == "(null)" {
			return nil, fmt.Errorf("the partition %q of the VM type %q has no nodes; give it some in slurm.conf", partition, vmType)
		}
		if text, err = run(ctx, "scontrol", "show", "hostnames", list); err != nil {
			return nil, err
		}
		var of drive.Nodes
		for name := range strings.FieldsSeq(text) {
			switch n, there := by[name]; {
			case there && !n.is("CLOUD"):
				return nil, fmt.Errorf("the nodes of %q are not elastic (State=CLOUD), so they cannot follow the plan; name another partition (--nodes %s=%s)",
					partition, vmType, partition)
			case !there || n.is("POWERED_DOWN") && !n.is("DRAIN"):
				of.Off = append(of.Off, name)
			case !n.runs():
			case n.is("IDLE") && n.busy == 0 && !n.is("POWERING_UP", "COMPLETING", "PLANNED"):
				of.Idle = append(of.Idle, name)
				fallthrough
			default:
				of.Run++
			}
		}
		all[vmType] = of
	}
	return all, nil
}

// Power asks for nodes, or gives them back when their last job has ended.
func (s *Slurm) Power(ctx context.Context, names []string, on bool) error {
	state := "State=POWER_DOWN_ASAP"
	if on {
		state = "State=POWER_UP"
	}
	_, err := run(ctx, "scontrol", "update", "NodeName="+strings.Join(names, ","), state)
	return err
}
