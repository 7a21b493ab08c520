package rt

import "reflect"

func sendCase(ch, v any) reflect.SelectCase {
	c := reflect.ValueOf(ch)
	send := reflect.New(c.Type().Elem()).Elem()
	if v != nil {
		send.Set(reflect.ValueOf(v))
	}
	return reflect.SelectCase{Dir: reflect.SelectSend, Chan: nilChan(c), Send: send}
}

func recvCase(ch any) reflect.SelectCase {
	return reflect.SelectCase{Dir: reflect.SelectRecv, Chan: nilChan(reflect.ValueOf(ch))}
}

// nilChan makes of a nil channel what reflect.Select leaves out.
func nilChan(c reflect.Value) reflect.Value {
	if c.IsNil() {
		return reflect.Value{}
	}
	return c
}

// selectCase is the select statement. It returns the number of the case, -1
// for default, and what was received.
func selectCase(hasDefault bool, cases ...reflect.SelectCase) (int, any, bool) {
	for i, c := range cases {
		if !c.Chan.IsValid() {
			cases[i].Send = reflect.Value{}
		}
	}
	if hasDefault {
		cases = append(cases, reflect.SelectCase{Dir: reflect.SelectDefault})
	}
	i, v, ok := reflect.Select(cases)
	if hasDefault && i == len(cases)-1 {
		return -1, nil, false
	}
	if !v.IsValid() {
		return i, nil, ok
	}
	return i, v.Interface(), ok
}
