package pieces

import (
	"math"
	"testing"

	"example.org/headroom/internal/ask/study"
)

// The highest point under some planes lies on two of the lines where planes meet or the box ends. All such points are tried.
func TestTheHighestPointUnderPlanes(t *testing.T) {
	s := &study.Stream{State: 77}
	for n := range 2_000 {
		var planes []Piece
		for range s.Whole(1, 7) {
			planes = append(planes, Piece{s.Between(-5, 5), []float64{s.Between(-3, 3), s.Between(-3, 3)}})
		}
		top := []float64{s.Between(0.5, 4), s.Between(0.5, 4)}
		at := func(x []float64) (least Piece, value, size float64) {
			value = math.Inf(1)
			for _, p := range planes {
				if v := p.Base + p.Slope[0]*x[0] + p.Slope[1]*x[1]; v < value {
					least, value = p, v
				}
				size = max(size, math.Abs(p.Base)+math.Abs(p.Slope[0]*x[0])+math.Abs(p.Slope[1]*x[1]))
			}
			return least, value, size
		}
		// Lines on which two planes are as high, and the four edges: a·x + b·y = c.
		lines := [][3]float64{{1, 0, 0}, {1, 0, top[0]}, {0, 1, 0}, {0, 1, top[1]}}
		for i := range planes {
			for _, q := range planes[:i] {
				lines = append(lines, [3]float64{planes[i].Slope[0] - q.Slope[0], planes[i].Slope[1] - q.Slope[1], q.Base - planes[i].Base})
			}
		}
		want := math.Inf(-1)
		for i, l := range lines {
			for _, k := range lines[:i] {
				det := l[0]*k[1] - l[1]*k[0]
				x := []float64{(l[2]*k[1] - l[1]*k[2]) / det, (l[0]*k[2] - l[2]*k[0]) / det}
				if math.Abs(det) > 1e-12 && x[0] >= -1e-9 && x[1] >= -1e-9 && x[0] <= top[0]+1e-9 && x[1] <= top[1]+1e-9 {
					_, value, _ := at(x)
					want = max(want, value)
				}
			}
		}
		got := Highest(top, [][]float64{{0, 0}}, at)
		if _, value, _ := at(got.At); math.Abs(got.Value-want) > 1e-6*(1+math.Abs(want)) || value != got.Value || got.Above < got.Value-1e-9 ||
			got.Missing > 1e-9 && got.At[0] < top[0] && got.At[1] < top[1] { // a limit holds the point back
			t.Errorf("case %d: got %+v, and the highest point is %g", n, got, want)
		}
	}
}
