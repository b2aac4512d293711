//go:build cgo

// Command headroom-solver solves linear and mixed-integer programs for headroom. It reads programs from standard
// input and writes solutions to standard output, in headroom's own binary frames. It is the only program with C++ in
// it, so that a crash there costs one process and no service.
package main

import (
	"flag"
	"fmt"
	"os"
	"syscall"

	"example.org/headroom/internal/core/lp"
	"example.org/headroom/internal/core/lp/coin"
	"example.org/headroom/internal/core/lp/worker"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "headroom-solver:", err)
		os.Exit(1)
	}
}

func run() error {
	version := flag.Bool("version", false, "print the versions of the engines and exit")
	memory := flag.Int("memory-mb", 0, "most memory in MB this process may use; 0 for no limit")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "headroom-solver is started by headroom, which sends it programs in a binary form.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *version {
		fmt.Println(coin.Version())
		return nil
	}
	if flag.NArg() > 0 || *memory < 0 {
		return fmt.Errorf("unexpected arguments: see headroom-solver --help")
	}
	if err := limitMemory(*memory); err != nil {
		return err
	}
	in, out, err := protocolFiles()
	if err != nil {
		return err
	}
	return worker.Serve(in, out, worker.Engine{Version: coin.Version(), Solve: solve})
}

func solve(p *lp.Program, o lp.Options, variation int) (lp.Solution, error) {
	if err := limitCPU(o.Seconds); err != nil {
		return lp.Solution{}, err
	}
	return coin.Solve(p, o, variation)
}

// protocolFiles moves the protocol away from the standard files, where C++ could print or read. Libraries then print
// to standard error and read an empty standard input.
func protocolFiles() (in, out *os.File, err error) {
	inFD, err := syscall.Dup(0)
	if err != nil {
		return nil, nil, fmt.Errorf("move standard input away: %w", err)
	}
	outFD, err := syscall.Dup(1)
	if err != nil {
		return nil, nil, fmt.Errorf("move standard output away: %w", err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if err := syscall.Dup3(int(null.Fd()), 0, 0); err != nil {
		return nil, nil, fmt.Errorf("empty standard input: %w", err)
	}
	if err := syscall.Dup3(2, 1, 0); err != nil {
		return nil, nil, fmt.Errorf("redirect standard output: %w", err)
	}
	return os.NewFile(uintptr(inFD), "programs"), os.NewFile(uintptr(outFD), "solutions"), nil
}
