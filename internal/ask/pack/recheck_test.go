package pack_test

import (
	"example.org/headroom/internal/ask/pack"
	"example.org/headroom/internal/ask/recheck"
)

func init() { pack.Recheck = recheck.Packing }
