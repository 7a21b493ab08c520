package widgets

// Each function makes the widget of its name in ipywidgets; props may be left out.

// IntSlider is a slider of whole numbers.
func IntSlider(props ...Props) *Widget { return New("IntSlider", props...) }

// FloatSlider is a slider.
func FloatSlider(props ...Props) *Widget { return New("FloatSlider", props...) }

// FloatLogSlider is a slider on a logarithmic scale: min and max are exponents of base.
func FloatLogSlider(props ...Props) *Widget { return New("FloatLogSlider", props...) }

// IntRangeSlider is a slider of two whole numbers, lower and upper.
func IntRangeSlider(props ...Props) *Widget { return New("IntRangeSlider", props...) }

// FloatRangeSlider is a slider of two numbers, lower and upper.
func FloatRangeSlider(props ...Props) *Widget { return New("FloatRangeSlider", props...) }

// IntText is a field for a whole number.
func IntText(props ...Props) *Widget { return New("IntText", props...) }

// FloatText is a field for a number.
func FloatText(props ...Props) *Widget { return New("FloatText", props...) }

// BoundedIntText is a field for a whole number between min and max.
func BoundedIntText(props ...Props) *Widget { return New("BoundedIntText", props...) }

// BoundedFloatText is a field for a number between min and max.
func BoundedFloatText(props ...Props) *Widget { return New("BoundedFloatText", props...) }

// IntProgress is a progress bar.
func IntProgress(props ...Props) *Widget { return New("IntProgress", props...) }

// FloatProgress is a progress bar.
func FloatProgress(props ...Props) *Widget { return New("FloatProgress", props...) }

// Text is a field for a line of text.
func Text(props ...Props) *Widget { return New("Text", props...) }

// Textarea is a field for text.
func Textarea(props ...Props) *Widget { return New("Textarea", props...) }

// Password is a field whose text is not shown.
func Password(props ...Props) *Widget { return New("Password", props...) }

// Combobox is a field for text with proposals, options.
func Combobox(props ...Props) *Widget { return New("Combobox", props...) }

// Label is a line of text.
func Label(props ...Props) *Widget { return New("Label", props...) }

// HTML is HTML.
func HTML(props ...Props) *Widget { return New("HTML", props...) }

// HTMLMath is HTML with formulas.
func HTMLMath(props ...Props) *Widget { return New("HTMLMath", props...) }

// Checkbox is a box to tick.
func Checkbox(props ...Props) *Widget { return New("Checkbox", props...) }

// ToggleButton is a button that stays down.
func ToggleButton(props ...Props) *Widget { return New("ToggleButton", props...) }

// Valid is a sign of what is valid.
func Valid(props ...Props) *Widget { return New("Valid", props...) }

// Button is a button; see [Widget.OnClick].
func Button(props ...Props) *Widget { return New("Button", props...) }

// Dropdown is a choice of one of options.
func Dropdown(props ...Props) *Widget { return New("Dropdown", props...) }

// Select is a choice of one of options.
func Select(props ...Props) *Widget { return New("Select", props...) }

// RadioButtons is a choice of one of options.
func RadioButtons(props ...Props) *Widget { return New("RadioButtons", props...) }

// ToggleButtons is a choice of one of options.
func ToggleButtons(props ...Props) *Widget { return New("ToggleButtons", props...) }

// SelectionSlider is a choice of one of options, by a slider.
func SelectionSlider(props ...Props) *Widget { return New("SelectionSlider", props...) }

// SelectMultiple is a choice of some of options.
func SelectMultiple(props ...Props) *Widget { return New("SelectMultiple", props...) }

// SelectionRangeSlider is a choice of a range of options, by a slider.
func SelectionRangeSlider(props ...Props) *Widget { return New("SelectionRangeSlider", props...) }

// Play is an animation: its value counts from min to max, each interval milliseconds.
func Play(props ...Props) *Widget { return New("Play", props...) }

// Image is a picture: value is a []byte in format, such as "png".
func Image(props ...Props) *Widget { return New("Image", props...) }

// Video is a film: value is a []byte.
func Video(props ...Props) *Widget { return New("Video", props...) }

// Audio is sound: value is a []byte.
func Audio(props ...Props) *Widget { return New("Audio", props...) }

// ColorPicker is a choice of a colour, such as "#ff8000".
func ColorPicker(props ...Props) *Widget { return New("ColorPicker", props...) }

// DatePicker is a choice of a day; value has year, month from 0, and date.
func DatePicker(props ...Props) *Widget { return New("DatePicker", props...) }

// TimePicker is a choice of a time of day.
func TimePicker(props ...Props) *Widget { return New("TimePicker", props...) }

// FileUpload is a button to upload files; value has name, size and content of each.
func FileUpload(props ...Props) *Widget { return New("FileUpload", props...) }

// TagsInput is a list of texts.
func TagsInput(props ...Props) *Widget { return New("TagsInput", props...) }

// IntsInput is a list of whole numbers.
func IntsInput(props ...Props) *Widget { return New("IntsInput", props...) }

// FloatsInput is a list of numbers.
func FloatsInput(props ...Props) *Widget { return New("FloatsInput", props...) }

// ColorsInput is a list of colours.
func ColorsInput(props ...Props) *Widget { return New("ColorsInput", props...) }

// Box shows widgets one beside the other, as layout says.
func Box(children ...*Widget) *Widget { return New("Box", Props{"children": children}) }

// HBox shows widgets one beside the other.
func HBox(children ...*Widget) *Widget { return New("HBox", Props{"children": children}) }

// VBox shows widgets one below the other.
func VBox(children ...*Widget) *Widget { return New("VBox", Props{"children": children}) }

// GridBox shows widgets in a grid, as layout says.
func GridBox(children ...*Widget) *Widget { return New("GridBox", Props{"children": children}) }

// Tab shows widgets one at a time, behind a tab each.
func Tab(titles []string, children ...*Widget) *Widget {
	return New("Tab", Props{"children": children, "titles": titles})
}

// Accordion shows widgets one at a time, below a title each.
func Accordion(titles []string, children ...*Widget) *Widget {
	return New("Accordion", Props{"children": children, "titles": titles})
}

// Stack shows one of several widgets, or none: selected_index.
func Stack(children ...*Widget) *Widget { return New("Stack", Props{"children": children}) }

// Link keeps properties of two widgets alike, in the program: both must be of one
// kind.
func Link(a *Widget, property string, b *Widget, other string) error {
	if err := DLink(a, property, b, other); err != nil {
		return err
	}
	return b.OnChange(func(v any) { a.Set(property, v) }, other)
}

// DLink gives b's property the value of a's, now and when that changes.
func DLink(a *Widget, property string, b *Widget, other string) error {
	if err := b.Set(other, a.Get(property)); err != nil {
		return err
	}
	return a.OnChange(func(v any) { b.Set(other, v) }, property)
}

// JSLink is Link done by the front end: it works in saved notebooks too.
func JSLink(a *Widget, property string, b *Widget, other string) *Widget {
	return New("Link", Props{"source": []any{a, property}, "target": []any{b, other}})
}

// JSDLink is DLink done by the front end.
func JSDLink(a *Widget, property string, b *Widget, other string) *Widget {
	return New("DirectionalLink", Props{"source": []any{a, property}, "target": []any{b, other}})
}
