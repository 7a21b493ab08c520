package cuda

import (
	"slices"

	"gocuda/cudaapi/cuda/internal/signature"
	"gocuda/cudaapi/driver"
	"gocuda/cudaapi/ptx"
)

// LoadPTX takes device code in PTX, NVIDIA's assembly language, as a module. Its kernels go by
// their names there, in the order of the text. Arguments are checked by the types of the
// parameters: f32 and f64 take numbers with a fraction, s32 and u32 whole numbers of either
// sign, and 64 bits a whole number or a buffer. An error in the text is ErrInvalidPTX, and
// names the line where that is known.
func LoadPTX(text string) (*Module, error) {
	if !ptx.IsText([]byte(text)) {
		d, err := CurrentDevice()
		if err != nil {
			return nil, err
		}
		return nil, misuse(driver.ErrInvalidPTX, "cuda.LoadPTX", d, "there is no .version, with which PTX begins")
	}
	m, err := LoadModule([]byte(text))
	parsed, wrong := ptx.Parse(text)
	if err != nil {
		if e, ok := err.(*Error); ok && wrong != nil && e.Detail == "" {
			e.Detail = wrong.Error()
		}
		return nil, err
	}
	if wrong != nil { // a GPU's driver knows more
		return m, nil
	}
	at := make(map[string]int)
	for i, d := range parsed.Decls {
		f, ok := d.(*ptx.Function)
		if !ok || !f.Kernel {
			continue
		}
		at[f.Name] = i
		for _, k := range m.kernels {
			if k.code.name == f.Name {
				k.code.sig = signatureOf(f)
			}
		}
	}
	slices.SortStableFunc(m.kernels, func(a, b *Kernel) int { return at[a.code.name] - at[b.code.name] })
	return m, nil
}

// signatureOf describes a kernel's parameters as PTX has them.
func signatureOf(f *ptx.Function) *signature.Kernel {
	k := &signature.Kernel{Name: f.Name, Symbol: f.Name, Line: f.Line}
	for _, v := range f.Params {
		t := signature.Type{Name: "." + string(v.Type), Size: v.Type.Bits() / 8}
		switch {
		case v.Dims != nil || v.Vector != 0:
			t.Size = 0 // a structure's, which the compiled code knows
		case v.Type == "f16":
			t.Kind = signature.Half
		case v.Type == "bf16":
			t.Kind = signature.BFloat16
		case v.Type.Float():
			t.Kind = signature.Float
		case (v.Type[0] == 's' || v.Type[0] == 'u') && t.Size < 8:
			t.Kind = signature.Integer
		}
		k.Params = append(k.Params, signature.Param{Name: v.Name, Type: t})
	}
	return k
}
