package root

import (
	"fmt"
	"strings"
)

// renamed holds the names of commands before this release. They work until the next release.
var renamed = map[string]string{
	"pack": "batch pack", "packing": "batch packing", "pool": "batch pool",
	"pool set": "batch pool edit", "pool unset": "batch pool delete",

	"sweep": "whatif sweep", "months": "whatif months", "purchase": "whatif purchase", "simulate": "whatif simulate",
	"scenario": "whatif scenario", "scenario replace": "whatif scenario edit",
	"ask budget": "whatif budget", "ask all": "whatif all", "ask one-more": "whatif one-more", "ask deadline": "whatif deadline",

	"cluster replace": "cluster edit", "class replace": "class edit",
	"vm-type": "supply vm-type", "vm-type replace": "supply vm-type edit",
	"price": "supply price", "price replace": "supply price edit",
	"contract": "supply contract", "contract replace": "supply contract edit",
	"offer": "supply offer", "offer replace": "supply offer edit",
	"profile": "class profile", "profile add": "class profile edit",
	"forecast": "class forecast", "forecast put": "class forecast edit",

	"history show": "history get",
	"calibration":  "history calibration", "calibration show": "history calibration get",
	"observation": "history observation", "observation add": "history observation create",
	"measurement": "history measurement", "measurement add": "history measurement create", "fit": "history fit",

	"config": "server config", "doctor": "server doctor", "health": "server health", "host": "server host",
	"key": "server key", "migrate": "server migrate", "prune": "server prune", "run": "server run",
	"report": "server report", "report make": "server report create",
	"report-schedule": "server report-schedule", "report-schedule replace": "server report-schedule edit",
	"webhook": "server webhook", "webhook set": "server webhook edit",
	"admission": "live admission", "agent": "live agent",
	"live policy set": "live policy edit", "live node set": "live node edit",
	"plan diff": "plan compare",

	"classify": "lab classify", "decide": "lab decide", "generate": "lab generate", "interference": "lab interference",
	"judge": "lab judge", "learn": "lab learn", "reproduce": "lab reproduce",
}

// meant names a command for words that people try first.
var meant = map[string]string{ // #nosec G101 -- "token" leads to a command that makes keys
	"bill": "whatif months", "budget": "whatif budget", "buy": "whatif purchase", "commitment": "supply contract",
	"cost": "whatif months", "estimate": "solve", "explain": "plan explain", "import": "history import",
	"job": "class", "login": "server sign-in", "node": "live node", "optimize": "solve", "predict": "bounds", "quota": "supply vm-type",
	"reserve": "whatif purchase", "scale": "plan get", "show": "plan get", "sign-in": "server sign-in", "start": "serve", "status": "server doctor",
	"submit": "live admission run", "token": "server key create", "upgrade": "server migrate up", "user": "server key",
}

// Renamed returns arguments under the names of today, and a hint where they had others.
func Renamed(args []string) (today []string, hint string) {
	for n := min(3, len(args)); n > 0; n-- {
		before := strings.Join(args[:n], " ")
		if name, ok := renamed[before]; ok {
			return append(strings.Fields(name), args[n:]...),
				fmt.Sprintf("%q is %q now; the name before works until the next release.", "headroom "+before, "headroom "+name)
		}
	}
	return args, ""
}
