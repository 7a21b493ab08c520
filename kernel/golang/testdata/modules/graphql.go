package main

import (
	"encoding/json"
	"fmt"
	"github.com/graphql-go/graphql"
)

func main() {
	fields := graphql.Fields{"hello": &graphql.Field{Type: graphql.String, Args: graphql.FieldConfigArgument{"n": &graphql.ArgumentConfig{Type: graphql.Int}},
		Resolve: func(p graphql.ResolveParams) (any, error) { return fmt.Sprint("world ", p.Args["n"]), nil }}}
	schema, err := graphql.NewSchema(graphql.SchemaConfig{Query: graphql.NewObject(graphql.ObjectConfig{Name: "Root", Fields: fields})})
	fmt.Println(err)
	r := graphql.Do(graphql.Params{Schema: schema, RequestString: `{ hello(n: 3) }`})
	j, err := json.Marshal(r)
	fmt.Println(string(j), err)
	r = graphql.Do(graphql.Params{Schema: schema, RequestString: `{ bye }`})
	fmt.Println(r.Errors)
}
