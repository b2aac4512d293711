package pack_test

import (
	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/recheck/machines"
)

func init() { pack.Recheck = machines.Packing }
