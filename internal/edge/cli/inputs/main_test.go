package inputs

import (
	"testing"

	"example.org/headroom/internal/test/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
