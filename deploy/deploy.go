// Package deploy holds no code: it is the files with which Headroom is installed, and the tests that
// read them as strictly as can be done without a container engine or a cluster.
package deploy
