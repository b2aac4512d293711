package worker

import (
	"fmt"
	"os"
	"path/filepath"

	"example.org/headroom/internal/core/lp"
)

// ProgramName is the file name of the solver program.
const ProgramName = "headroom-solver"

// ProgramVariable is the environment variable that may hold the solver program's path.
const ProgramVariable = "HEADROOM_SOLVER"

// Find returns the path of the solver program: beside the running executable, else the one in HEADROOM_SOLVER. It
// does not search PATH, because anyone who can put a file there could then answer for the solver.
func Find() (string, error) {
	if own, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(own), ProgramName)
		if executable(path) == nil {
			return path, nil
		}
	}
	named := os.Getenv(ProgramVariable)
	if named == "" {
		return "", lp.ErrUnavailable
	}
	if err := executable(named); err != nil {
		return "", fmt.Errorf("%w (%s: %w)", lp.ErrUnavailable, ProgramVariable, err)
	}
	return named, nil
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%s is not an executable file", path)
	}
	return nil
}
