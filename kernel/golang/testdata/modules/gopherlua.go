package main

import (
	"fmt"
	"github.com/yuin/gopher-lua"
)

func main() {
	L := lua.NewState()
	defer L.Close()
	L.SetGlobal("double", L.NewFunction(func(L *lua.LState) int {
		L.Push(lua.LNumber(L.ToInt(1) * 2))
		return 1
	}))
	err := L.DoString(`
		local t = {}
		for i = 1, 5 do t[#t+1] = double(i) end
		print(table.concat(t, ","))
		function fact(n) if n < 2 then return 1 end return n * fact(n-1) end
		result = fact(10)
		local ok, e = pcall(function() error("bad") end)
		print(ok, e)
		print(string.format("%5.2f|%s", 3.14159, ("x"):rep(3)))
	`)
	fmt.Println(err, L.GetGlobal("result"))
	fmt.Println(L.DoString("x ="))
}
