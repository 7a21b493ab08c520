"""Jupyter's own kernel tests, each one enabled."""

import jupyter_kernel_test


class TestKernel(jupyter_kernel_test.KernelTests):
    kernel_name = "gocuda"
    language_name = "go"
    file_extension = ".go"

    code_hello_world = 'fmt.Println("hello, world")'
    code_stderr = 'fmt.Fprintln(os.Stderr, "to standard error")'
    code_page_something = "%pinfo fmt.Println"
    code_generate_error = 'panic("on purpose")'
    code_inspect_sample = "fmt.Println"
    code_clear_output = "display.Clear(false)"
    code_execute_result = [
        {"code": "1 + 2 + 3", "result": "6"},
        {"code": '"a" + "b"', "result": '"ab"'},
        {"code": "[]int{1, 2}", "result": "[]int{1, 2}"},
    ]
    code_display_data = [
        {"code": 'display.Show(display.HTML("<b>bold</b>"))', "mime": "text/html"},
        {"code": 'display.Show(display.Markdown("*text*"))', "mime": "text/markdown"},
        {"code": "display.Show(display.LaTeX(`$x^2$`))", "mime": "text/latex"},
        {"code": 'display.Show(display.SVG("<svg xmlns=\'http://www.w3.org/2000/svg\'/>"))', "mime": "image/svg+xml"},
        {"code": "display.Show(display.PNG(image.NewGray(image.Rect(0, 0, 2, 2))))", "mime": "image/png"},
        {"code": 'display.Show(display.JSON(map[string]int{"a": 1}))', "mime": "application/json"},
    ]
    completion_samples = [
        {"text": "strings.ToTi", "matches": {"ToTitle", "ToTitleSpecial"}},
        {"text": "fmt.Sprintl", "matches": {"Sprintln"}},
        {"text": "%%writef", "matches": {"%%writefile"}},
    ]
    complete_code_samples = ["1", "x := 1", "func f() int {\n\treturn 1\n}", "%ls", "for {\n}"]
    incomplete_code_samples = ["func f() {", "f(1,", "/* comment", "x := `raw", "if true {"]
    invalid_code_samples = ["func f() }", "x := )", 'x := "abc']
    code_history_pattern = "1 ? 2*"
    supported_history_operations = ("tail", "range", "search")
