// Package agent is the program on a machine of a cluster. It reads the load of the machine, reports in heartbeats,
// and runs the tasks in the answers. It sets up a cgroup so that tasks do not disturb the other work of the machine.
//
// The server sends a job's name and a task's number. A file of this machine maps them to programs (see Commands): no
// answer can bring a command, an argument or a path.
//
// A directory holds the state that must outlive the process (see kept): the unanswered heartbeat, the ended tasks
// that were not reported, and the earlier settings of the cgroup.
package agent
