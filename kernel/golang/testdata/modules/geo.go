package main

import (
	"fmt"
	"github.com/golang/geo/s1"
	"github.com/golang/geo/s2"
)

func main() {
	a := s2.LatLngFromDegrees(52.52, 13.405)
	b := s2.LatLngFromDegrees(48.8566, 2.3522)
	fmt.Printf("%.3f km\n", a.Distance(b).Radians()*6371)
	c := s2.CellIDFromLatLng(a)
	fmt.Println(c, c.Parent(10).ToToken(), c.Level(), s1.Angle(1).Degrees())
	cap := s2.CapFromCenterAngle(s2.PointFromLatLng(a), s1.Angle(0.01))
	rc := &s2.RegionCoverer{MaxLevel: 12, MaxCells: 4}
	for _, id := range rc.Covering(cap) {
		fmt.Println(id.ToToken())
	}
}
