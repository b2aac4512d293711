package drive

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"example.org/headroom/internal/edge/cli/remote"
	"example.org/headroom/internal/slots/drive/yarn"
)

func yarnCommand(to *remote.Connection) *cobra.Command {
	f := driveFlags{classFlag: "queue"}
	var y yarn.Yarn
	c := &cobra.Command{
		Use: "yarn CLUSTER", Short: "Give each class in YARN the applications at once and the capacity that the plan has",
		Long: `Gives the queue of each class in YARN what the current plan has for the class. Further applications stay pending.

A class is a queue of the capacity scheduler below root, such as root.nightly-etl. Its max-parallel-apps is as many
applications as the plan admits at once. Its capacity and maximum-capacity are the plan's VMs of the class, as a share of
YARN's nodes. The queue --rest has what no class has. All queues change in one request, and YARN keeps them by itself.
No application is ended.

YARN must let its scheduler be changed: yarn.scheduler.configuration.store.class in yarn-site.xml is fs, leveldb or zk. It
needs Hadoop 3.4 or newer. Give both addresses of a pair of resource managers; the active one is found.

Run it with a key of the role agent; for --dry-run a viewer's is enough. To stop driving, end it and set the queues yourself.`,
		Example: "  headroom drive yarn shop --yarn http://rm:8088 --dry-run\n" +
			"  headroom drive yarn shop --yarn http://rm-1:8088,http://rm-2:8088 --user yarn --queue nightly-etl=root.etl",
		Args: cobra.ExactArgs(1),
	}
	f.add(c)
	c.Flags().StringSliceVar(&y.Addresses, "yarn", nil, "the web `address` of the resource manager; of a pair both")
	c.Flags().StringVar(&y.User, "user", "", "the `user` who changes the queues; yarn.admin.acl must have it")
	c.Flags().StringToStringVar(&f.classes, f.classFlag, nil, "the queue of a class, as `class=queue` (default root. and the class's name)")
	c.Flags().StringVar(&y.Rest, "rest", "root.default", "the `queue` that has what no class has")
	c.PreRunE = func(*cobra.Command, []string) error {
		if len(y.Addresses) == 0 {
			return fmt.Errorf("--yarn is missing; give the web address of the resource manager, such as http://rm:8088")
		}
		for _, address := range y.Addresses {
			if at, err := url.Parse(address); err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || strings.Trim(at.Path, "/") != "" || at.RawQuery != "" || at.User != nil {
				return fmt.Errorf("--yarn has %q; give addresses such as http://rm:8088", address)
			}
		}
		for class, queue := range f.classes {
			if !below(queue) {
				return fmt.Errorf("--queue has %q for the class %q; give a queue directly below root, such as root.etl", queue, class)
			}
		}
		if !below(y.Rest) {
			return fmt.Errorf("--rest is %q; give a queue directly below root, such as root.default", y.Rest)
		}
		return f.check()
	}
	return to.Command(c, func(c *cobra.Command, s *remote.Service, args []string) error {
		y.Queues = f.classes
		return f.run(c, s, args[0], "yarn", &y)
	})
}

// below reports whether a queue is one directly below root.
func below(queue string) bool {
	parts := strings.Split(queue, ".")
	return len(parts) == 2 && parts[0] == "root" && parts[1] != ""
}
