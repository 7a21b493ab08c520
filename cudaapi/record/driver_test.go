package record

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
)

// passedOn are the calls that order nothing, touch no memory and make nothing that later
// calls name.
var passedOn = []string{"ArrayDesc", "CanAccessPeer", "Compile", "DefaultMemPool", "DeviceAttribute", "DeviceCount", "DeviceName", "DeviceTotalMem", "DeviceUUID",
	"DisablePeerAccess", "EnablePeerAccess", "FunctionAttribute", "FunctionParams", "MaxActiveBlocks", "MemAdvise", "MemInfo", "MemPoolAttribute", "MemPoolCreate",
	"MemPoolDestroy", "MemPoolExport", "MemPoolImport", "MemPoolSetAccess", "MemPoolTrimTo", "MemRangeAttribute", "ModuleFunction", "ModuleFunctions", "ModuleLoad",
	"Name", "P2PAttribute", "PointerAttributes", "PrimaryRelease", "SetFunctionAttribute", "SetMemPoolAttribute", "StreamGetFlags",
	"StreamPriorityRange", "SurfObjectCreate", "SurfObjectDestroy", "SurfObjectResource", "TexObjectCreate", "TexObjectDestroy", "TexObjectResource", "Version"}

// A new call of a driver is recorded, or it is listed above: it is not forgotten.
func TestEachCallIsRecorded(t *testing.T) {
	own := map[string]bool{}
	notTests := func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }
	packages, err := parser.ParseDir(token.NewFileSet(), ".", notTests, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range packages["record"].Files {
		for _, d := range f.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				if p, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok && p.X.(*ast.Ident).Name == "Driver" {
					own[f.Name.Name] = true
				}
			}
		}
	}
	var passed []string
	calls := reflect.TypeFor[driver.Driver]()
	for i := range calls.NumMethod() {
		if name := calls.Method(i).Name; !own[name] {
			passed = append(passed, name)
		}
	}
	if !slices.Equal(passed, passedOn) {
		t.Errorf("passed on without a record:\n%v\nwant\n%v", passed, passedOn)
	}
}
