package main

import (
	"fmt"
	"math"
	"time"
)

// goal is the goal for one kind of instances. ms is the largest CPU time in milliseconds. times is the smallest ratio
// of the fastest peer, or the one in than, to ours. 0 means no goal.
type goal struct {
	ms    float64
	times float64
	than  string
}

// everyPeer names all solvers to compare with.
var everyPeer = []string{asProgram, "cbc-library", "cbc", "cbc-plain", "glpsol", "glpsol-cuts", "highs", "scip", "cp-sat"}

// inMillions names the peer that answers in reasonable time for many classes.
var inMillions = []string{"cbc-library"}

// standard lists the kinds with goals.
var standard = []work{
	{"table2", 20, 1e-4, everyPeer, goal{}},
	{"table2", 1000, 1e-4, everyPeer, goal{0.05, 100, ""}},
	{"table2", 1000, 0, everyPeer, goal{0.05, 100, ""}},
	{"mixed", 1000, 1e-6, everyPeer, goal{}},
	{"hard", 1000, 1e-4, everyPeer, goal{}},
	{"hard", 1000, 0, everyPeer, goal{10, 30, ""}},
	{"strong", 1000, 1e-6, everyPeer, goal{25, 10, "highs"}},
	{"inverse-strong", 1000, 1e-6, everyPeer, goal{25, 10, "highs"}},
	{"subset", 1000, 1e-6, everyPeer, goal{2, 10, ""}},
	{"evenodd", 1000, 1e-6, everyPeer, goal{2, 10, ""}},
	{"sevenths", 1000, 1e-6, everyPeer, goal{2, 10, ""}},
	{"spiky", 1000, 1e-6, everyPeer, goal{4, 1, ""}},
	{"binary-spiky", 1000, 1e-6, everyPeer, goal{0, 1, ""}},
	{"huge", 1000, 1e-6, everyPeer, goal{0, 1, ""}},
	{"lognormal", 100, 1e-6, everyPeer, goal{0, 1, ""}},
	{"lognormal", 1000, 1e-6, everyPeer, goal{2, 1, ""}},
	{"lognormal-strong", 1000, 1e-6, everyPeer, goal{0, 1, ""}},
	{"concave", 1000, 1e-6, everyPeer, goal{4, 1, ""}},
	{"circle", 1000, 1e-6, everyPeer, goal{0, 1, ""}},
	{"mixed", 30, 1e-6, everyPeer, goal{0, 1, ""}},
	{"twolevel", 100, 1e-6, nil, goal{1000, 0, ""}},
	{"twolevel", 1000, 1e-6, nil, goal{1000, 0, ""}},
	{"steps", 100, 1e-6, nil, goal{1000, 0, ""}},
	{"steps", 1000, 1e-6, nil, goal{1000, 0, ""}},
	{"hard", 10_000, 0, nil, goal{}},
	{"hard", 100_000, 0, nil, goal{}},
	{"strong", 100_000, 1e-6, nil, goal{150, 0, ""}},
	{"subset", 100_000, 1e-6, nil, goal{150, 0, ""}},
	{"table2", 1_000_000, 0, inMillions, goal{50, 0, ""}},
	{"hard", 1_000_000, 0, inMillions, goal{50, 0, ""}},
}

// judge returns the goal and whether it was reached; mine is 0 if not all instances were proved.
func (g goal) judge(c comparison, mine time.Duration) string {
	if g == (goal{}) {
		return ""
	}
	text, missed := "proved", mine == 0
	if g.ms > 0 {
		text = fmt.Sprintf("≤ %g ms", g.ms)
		missed = missed || float64(mine) > g.ms*float64(time.Millisecond)
	}
	if g.times > 0 {
		best := math.Inf(1)
		for name, results := range c.theirs {
			if name != asProgram && (g.than == "" || g.than == name) {
				best = min(best, float64(median(results)))
			}
		}
		than := "every peer"
		if g.than != "" {
			than = g.than
		}
		text += fmt.Sprintf(", %g × %s", g.times, than)
		missed = missed || best < g.times*float64(mine)
		if !missed && math.IsInf(best, 1) {
			return text + ": not compared"
		}
	}
	if missed {
		return text + ": missed"
	}
	return text + ": reached"
}
