package host

import "go/types"

func (im *Importer) Doc(obj types.Object) string { return "" }
