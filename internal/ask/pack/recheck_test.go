package pack_test

import (
	"headroom/internal/ask/pack"
	"headroom/internal/ask/recheck"
)

func init() { pack.Recheck = recheck.Packing }
