//go:build linux && (amd64 || arm64)

package nvidia

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"gocuda/cudaapi/driver"
)

// structures are the structures of cuda.h, with the offsets of their fields and their size as gcc
// lays out those of CUDA 12 and 13.
var structures = []struct {
	name   string
	value  any
	fields string
	want   []uintptr
}{
	{"CUDA_ARRAY3D_DESCRIPTOR", arrayDescriptor{}, "Width Height Depth Format NumChannels Flags", []uintptr{0, 8, 16, 24, 28, 32, 40}},
	{"CUDA_MEMCPY3D", memcpy3D{}, "srcXInBytes srcY srcZ srcLOD srcMemoryType srcHost srcDevice srcArray reserved0 srcPitch srcHeight dstXInBytes dstY dstZ dstLOD dstMemoryType dstHost dstDevice dstArray reserved1 dstPitch dstHeight WidthInBytes Height Depth",
		[]uintptr{0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120, 128, 136, 144, 152, 160, 168, 176, 184, 192, 200}},
	{"CUDA_RESOURCE_DESC", resourceDesc{}, "resType res flags", []uintptr{0, 8, 136, 144}},
	{"CUDA_TEXTURE_DESC", textureDesc{}, "addressMode filterMode flags maxAnisotropy mipmapFilterMode mipmapLevelBias minMipmapLevelClamp maxMipmapLevelClamp borderColor reserved",
		[]uintptr{0, 12, 16, 20, 24, 28, 32, 36, 40, 56, 104}},
}

// offsets are those of a structure's fields, and of fields of structures in it, and its size.
func offsets(t reflect.Type, at uintptr) (list []uintptr) {
	for i := range t.NumField() {
		f := t.Field(i)
		switch {
		case f.Name == "_":
		case f.Type.Kind() == reflect.Struct:
			list = append(list, offsets(f.Type, at+f.Offset)...)
		default:
			list = append(list, at+f.Offset)
		}
	}
	return list
}

func TestLayoutsOfTextures(t *testing.T) {
	for _, l := range structures {
		got := append(offsets(reflect.TypeOf(l.value), 0), reflect.TypeOf(l.value).Size())
		if !reflect.DeepEqual(got, l.want) {
			t.Errorf("%s: %v, want %v", l.name, got, l.want)
		}
	}
	r := resourceOf(&driver.Resource{Ptr: 0x1000, Format: driver.FormatFloat, Channels: 4, Width: 5, Height: 6, Pitch: 128})
	if r.union[1] != 4<<32|0x20 || r.union[4] != 128 {
		t.Errorf("%+v", r)
	}
}

// Where there is a header of CUDA's, the table above is what a C compiler makes of it.
func TestLayoutsOfTheHeader(t *testing.T) {
	header := ""
	for _, p := range []string{filepath.Join(os.Getenv("GOCUDA_NVRTC"), "..", "include"), filepath.Join(os.Getenv("GOCUDA_NVRTC"), "..", "..", "cuda_runtime", "include"), "/usr/local/cuda/include"} {
		if _, err := os.Stat(filepath.Join(p, "cuda.h")); err == nil {
			header = p
		}
	}
	gcc, err := exec.LookPath("gcc")
	if header == "" || err != nil {
		t.Skip("no cuda.h or no gcc", err)
	}
	var code strings.Builder
	code.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include <cuda.h>\nint main(void) {\n")
	for _, l := range structures {
		for _, f := range strings.Fields(l.fields) {
			fmt.Fprintf(&code, "printf(\"%%zu \", offsetof(%s, %s));\n", l.name, f)
		}
		fmt.Fprintf(&code, "printf(\"%%zu\\n\", sizeof(%s));\n", l.name)
	}
	for _, f := range []string{"linear.format", "linear.numChannels", "linear.sizeInBytes", "pitch2D.width", "pitch2D.height", "pitch2D.pitchInBytes"} {
		fmt.Fprintf(&code, "printf(\"%%zu \", offsetof(CUDA_RESOURCE_DESC, res.%s));\n", f)
	}
	code.WriteString("return 0;\n}\n")
	dir := t.TempDir()
	source, program := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(source, []byte(code.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-I", header, "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(out), "\n")
	for i, l := range structures {
		if want := strings.Trim(fmt.Sprint(l.want), "[]"); lines[i] != want {
			t.Errorf("%s: the header has %s, the table %s", l.name, lines[i], want)
		}
	}
	if got := strings.TrimSpace(lines[len(structures)]); got != "16 20 24 24 32 40" {
		t.Errorf("the union of CUDA_RESOURCE_DESC: %s", got)
	}
}
