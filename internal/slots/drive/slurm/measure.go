package slurm

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"example.org/headroom/internal/slots/drive"
)

// heading names the columns of a list of ended jobs as sacct writes it. The class stands as the job's name, by which
// executions belong together.
const heading = "JobID|User|Partition|AllocCPUS|Submit|Start|End|State|NodeList|Cluster|JobName\n"

// ended lists the states of jobs that have ended, as sacct abbreviates them.
const ended = "BF,CA,CD,DL,F,NF,OOM,PR,TO"

// Measure counts what runs, and lists the jobs of the classes that ended: by sacct where Slurm has accounting, otherwise
// from what slurmctld still knows, which forgets a job MinJobAge after its end.
func (s *Slurm) Measure(ctx context.Context, classes []string, from, until time.Time) (m drive.Measured, err error) {
	m.Heading = heading
	shown, err := nodes(ctx)
	if err != nil {
		return m, err
	}
	for _, n := range shown {
		if n.runs() || n.is("POWER_DOWN", "DRAIN") && !n.is("DOWN", "POWERED_DOWN") { // the last do not stay, and run
			m.Nodes++
			m.Processors += n.busy
		}
	}
	config, err := run(ctx, "scontrol", "show", "config")
	if err != nil {
		return m, err
	}
	of := s.byLicence(classes)
	switch name := clusterName().FindStringSubmatch(config); {
	case name == nil:
		return m, unread("scontrol show config", config)
	case strings.Contains(config, "accounting_storage/slurmdbd"):
		m.Ended, err = accounted(ctx, of, strings.Contains(config, "license/"), from, until)
	default:
		m.Ended, err = remembered(ctx, of, name[1])
	}
	return m, err
}

// byLicence returns classes by their licences.
func (s *Slurm) byLicence(classes []string) map[string]string {
	of := map[string]string{}
	for _, class := range classes {
		of[s.Licence(class)] = class
	}
	return of
}

// accounted asks sacct. The licence of a job stands among its resources if AccountingStorageTRES names licences; otherwise
// it is the one called as the job's partition, as deploy/slurm gives it. A job that is in the queue again is left for later.
func accounted(ctx context.Context, of map[string]string, tracked bool, from, until time.Time) (lines []string, err error) {
	text, err := run(ctx, "squeue", "--noheader", "--array", "--format=%A")
	if err != nil {
		return nil, err
	}
	again := map[string]bool{}
	for id := range strings.FieldsSeq(text) {
		again[id] = true
	}
	now := time.Now() // moments are told as distances, which no zone changes
	text, err = run(ctx, "env", "SLURM_TIME_FORMAT=%s", "sacct", "--allusers", "--allocations", "--parsable2", "--noheader", "--state="+ended,
		fmt.Sprintf("--starttime=now-%dminutes", int(now.Sub(from)/time.Minute)+1), fmt.Sprintf("--endtime=now-%dminutes", int(now.Sub(until)/time.Minute)),
		"--format=JobIDRaw,ReqTRES,JobID,User,Partition,AllocCPUS,Submit,Start,End,State,NodeList,Cluster")
	if err != nil {
		return nil, err
	}
	return listed(text, of, func(f []string) string {
		if again[f[0]] {
			return ""
		}
		if !tracked {
			return f[4]
		}
		var licences []string
		for each := range strings.SplitSeq(f[1], ",") {
			if licence, is := strings.CutPrefix(each, "license/"); is {
				licences = append(licences, strings.ReplaceAll(licence, "=", ":"))
			}
		}
		return strings.Join(licences, ",")
	})
}

// remembered asks slurmctld for the jobs that ended a while ago.
func remembered(ctx context.Context, of map[string]string, cluster string) ([]string, error) {
	text, err := run(ctx, "env", "SLURM_TIME_FORMAT=%s", "squeue", "--noheader", "--states="+ended,
		"--format=%A|%W|%i|%u|%P|%C|%V|%S|%e|%T|%N|"+cluster)
	if err != nil {
		return nil, err
	}
	return listed(text, of, func(f []string) string { return f[1] })
}

// clusterName finds the name of a Slurm in its settings.
var clusterName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^ClusterName\s*=\s*(\S+)`) })

// listed makes lines of a list of what an engine's command told; licences finds a job's among its columns.
func listed(text string, of map[string]string, licences func(columns []string) string) (lines []string, err error) {
	for line := range strings.Lines(text) {
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 12 {
			return nil, unread("a list of jobs", line)
		}
		if class, _ := placesOf(licences(f), of); class != "" {
			lines = append(lines, strings.Join(append(f[2:], class), "|")+"\n")
		}
	}
	return lines, nil
}
