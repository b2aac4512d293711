// Package deploy holds no code, but the files for installing Headroom. Its tests read them as strictly as possible
// without a container engine or a cluster.
package deploy
