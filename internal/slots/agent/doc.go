// Package agent is what runs on a machine of a cluster: it reads how busy the machine is, tells the server in
// heartbeats, runs the tasks that the answers name, and sets up a cgroup so that they do not disturb what else
// runs here.
//
// The server names a job and the number of a task. What runs for it stands in a file of this machine (see
// Commands): no answer can bring a command, an argument or a path.
//
// What must outlive the process stands in a directory (see state): the heartbeat that was not answered yet, the
// tasks that have ended and were not told of, and the settings of the cgroup as they were.
package agent
