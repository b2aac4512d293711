package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"example.org/headroom/internal/edge/postgres/private"
	"example.org/headroom/internal/test/pgtest"
)

// onDatabase starts a server of a siege on a database.
func onDatabase(t *testing.T, dir, url string) *served {
	t.Helper()
	return allOnDatabase(t, []string{dir}, url)[0]
}

// allOnDatabase starts servers beside each other.
func allOnDatabase(t *testing.T, dirs []string, url string) (all []*served) {
	t.Helper()
	for _, dir := range dirs {
		s := launch(t, dir, append([]string{"DATABASE_URL=" + url, "HEADROOM_ADMIN_KEY=" + crashKey}, unlimited...), "--demo=still")
		s.localKey = crashKey
		all = append(all, s)
	}
	for _, s := range all {
		s.await(t)
	}
	return all
}

// Servers on one database are killed -9 at once at random moments under writers, and are started again (R1, R3).
func TestKilledServersLoseNoWrite(t *testing.T) {
	t.Parallel()
	const servers = 3
	sieges, kills := 1, 6
	if wholeSamples {
		sieges, kills = 2, 1000
	}
	all := inSieges(t, sieges, kills, func(t *testing.T, seed uint64, kills int) toll {
		url := pgtest.Database(t)
		var dirs []string
		for range servers {
			dirs = append(dirs, dataDirectory(t))
		}
		g := besiege(t, 210+seed, allOnDatabase(t, dirs, url)...)
		var ready []time.Duration
		for g.faults["killed"] < kills && !g.late() {
			g.atOnce(servers, "killed", func() {
				for _, s := range g.servers {
					s.kill(t)
				}
				copy(g.servers, allOnDatabase(t, dirs, url))
			})
			for _, s := range g.servers {
				ready = append(ready, s.ready)
			}
			g.verifyEvery(50)
		}
		g.back = ready
		return g.lift(3)
	})
	t.Attr("R1", all.String())
	t.Attr("R3", all.tellBack("ready", "a kill"))
}

// Of three servers on one database one after the other is killed, or stands still for a while, or the database
// does; the others go on (R1, R2).
func TestReplicasLoseNoWrite(t *testing.T) {
	t.Parallel()
	rounds := 3
	if wholeSamples {
		rounds = 60
	}
	base := dataDirectory(t)
	database, err := private.Start(t.Context(), private.Config{Dir: base, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endDatabase(t, database) })
	dirs := []string{dataDirectory(t), dataDirectory(t), dataDirectory(t)}
	var servers []*served
	for _, dir := range dirs {
		servers = append(servers, onDatabase(t, dir, database.URL("")))
	}
	g := besiege(t, 23, servers...)
	for round := range rounds {
		if g.late() {
			break
		}
		hit := g.random.IntN(len(servers))
		pause := time.Duration(50+g.random.IntN(2000)) * time.Millisecond
		if wholeSamples && round%15 == 1 {
			pause = 17 * time.Second // longer than any lease
		}
		switch round % 3 {
		case 0:
			g.round("killed", func() {
				servers[hit].kill(t)
				g.othersGoOn(hit)
				servers[hit] = onDatabase(t, dirs[hit], database.URL(""))
			})
		case 1:
			g.round("paused", func() {
				server := servers[hit].Process.Pid
				for _, pid := range append([]int{server}, descendants(server)...) {
					_ = syscall.Kill(pid, syscall.SIGSTOP) // one that is just gone needs none
					defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
				}
				g.othersGoOn(hit)
				lasts(pause)
			})
		case 2:
			g.round("database paused", func() {
				_, goOn := hang(t, base)
				lasts(min(pause, 5*time.Second))
				goOn()
			})
		}
	}
	t.Attr("R1", "three replicas: "+g.lift(3).String())
}

// othersGoOn waits until the writers of the other servers had more acknowledged: where the one that is hit had begun
// something that they need, the database ends that before long.
func (g *siege) othersGoOn(hit int) {
	g.Helper()
	for i, w := range g.writers {
		if i%len(g.servers) != hit {
			before := w.acknowledged.Load()
			waits(g.T, "writers of the other servers go on", time.Minute, func() bool { return w.acknowledged.Load() > before })
		}
	}
}

// The private database is crashed under writers, as a whole and a process of it; the server starts it again
// by itself (R2, R3).
func TestCrashedDatabasesLoseNoWrite(t *testing.T) {
	t.Parallel()
	sieges, crashes := 1, 4
	if wholeSamples {
		sieges, crashes = 2, 200
	}
	all := inSieges(t, sieges, crashes, func(t *testing.T, seed uint64, crashes int) toll {
		dir := madeDirectory(t)
		s := startServingWith(t, dir, unlimited, "--demo=still")
		s.localKey = s.key(t)
		g := besiege(t, 220+seed, s)
		for crash := 0; crash < crashes && !g.late(); crash++ {
			pid := postmasterIn(t, dir)
			switch crash % 4 {
			case 0:
				g.round("postmaster killed", func() { strike(t, pid, pid, syscall.SIGKILL) })
			case 1: // the postmaster then ends all of them and recovers
				g.round("backend killed", func() { strike(t, pid, oneOf(g, backends(t, pid)), syscall.SIGKILL) })
			case 2:
				g.round("stopped at once", func() { strike(t, pid, pid, syscall.SIGQUIT) })
			case 3:
				g.round("another process of it killed", func() { strike(t, pid, oneOf(g, descendants(pid)), syscall.SIGKILL) })
			}
			g.verifyEvery(50)
		}
		return g.lift(3)
	})
	t.Attr("R2", all.String())
	t.Attr("R3", all.tellBack("writes again", "a crash of Postgres"))
}

// backends are the processes of a database that serve connections.
func backends(t *testing.T, postmaster int) (all []int) {
	t.Helper()
	waits(t, "the database has backends", 10*time.Second, func() bool {
		for _, pid := range descendants(postmaster) {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); bytes.Contains(line, []byte("[local]")) {
				all = append(all, pid)
			}
		}
		return len(all) > 0
	})
	return all
}

func oneOf(g *siege, pids []int) int { return pids[g.random.IntN(len(pids))] }

// strike ends a process of a database and waits until what the others knew is gone with them: until then they go on.
func strike(t *testing.T, postmaster, victim int, signal syscall.Signal) {
	t.Helper()
	before := descendants(postmaster)
	if err := syscall.Kill(victim, signal); err != nil {
		t.Logf("process %d was gone already", victim)
		return
	}
	waits(t, "the database's processes are gone", 30*time.Second, func() bool {
		return !slices.ContainsFunc(before, lives)
	})
}

// postmasterIn is the process of the private database.
func postmasterIn(t *testing.T, dir string) (pid int) {
	t.Helper()
	waits(t, "there is a postmaster", 10*time.Second, func() bool {
		pids, _ := filepath.Glob(filepath.Join(dir, "*", "postmaster.pid"))
		if len(pids) != 1 {
			return false
		}
		text, err := os.ReadFile(pids[0])
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(text), &pid)
		return err == nil && pid > 1
	})
	return pid
}
