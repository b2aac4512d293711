package deploy_test

import (
	"testing"

	"headroom/internal/test/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
